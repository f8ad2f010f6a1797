#include "attend/data/builtin.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "attend/base/names.h"
#include "attend/data/builtin_split.h"
#include "attend/data/shuffle.h"

namespace attend::data {
namespace {

constexpr BuiltinRow kTextCorpora[] = {
    {"hindi", "English sentences to romanised Hindi, with gold word alignments", make_hindi, "words", "words", true},
    {"english", "romanised Hindi sentences to English, with gold word alignments", make_english, "words", "words",
     true},
    {"chains", "such sentences joined by \"and\", up to sixty words, with gold word alignments", make_chains, "words",
     "words", true},
    {"dates", "dates as people write them to ISO 8601", make_dates, "characters", "characters"},
    {"reverse", "strings of letters to the same letters backwards", make_reverse, "characters", "characters"},
    {"sort", "letters to the same letters from a to z", make_sort, "characters", "characters"},
    {"courses", "which of two courses is harder, by the order of the words alone", make_courses, "words", "words"},
    {"recall", "which colour was named, up to sixty words ago", make_recall, "words", "words"},
    {"lookup", "words that each say a fact and ask for another, anywhere in the text or nowhere", make_lookup, "words",
     "words"},
    {"lookback", "the same, where each asks for the one two places before it", make_lookback, "words", "words"},
    {"feelings", "reviews to positive, negative or mixed, with the words that tell", make_feelings, "words", "words"},
    {"tags", "English sentences to parts of speech, with unseen forms of words held out", make_tags, "words", "words"},
    {"names", "news to the people, places and organisations in it, with unseen names held out", make_names, "words",
     "words"},
    {"trees", "English sentences to their trees", make_trees, "words", "words"},
    {"letters", "invented words to their phonemes, with stress", make_letters, "characters", "words"},
    {"stories", "small stories to the answer of a question about them, with unseen people held out", make_stories,
     "punctuated", "words"},
    {"headlines", "news to their headlines, with unseen people, places and firms held out", make_headlines, "words",
     "words"},
};

std::vector<BuiltinRow>& table() {
  static std::vector<BuiltinRow> rows = [] {
    std::vector<BuiltinRow> all = with_room<BuiltinRow>({});
    all.assign(std::begin(kTextCorpora), std::end(kTextCorpora));
    return all;
  }();
  return rows;
}

// How often a word must remain in training before a sentence with it may be held out.
constexpr int kLeftInTraining = 5;

template <class Visit>
void each_word(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Word counts of each side that matters; the views point into the examples.
class WordCounts {
 public:
  explicit WordCounts(HoldOut which) : target_matters_(which == HoldOut::kKnownWords) {}

  void add(const Example& example, int times) {
    each_word(example.source, [&](std::string_view word) { source_[word] += times; });
    if (!target_matters_) return;
    each_word(example.target, [&](std::string_view word) { target_[word] += times; });
  }
  int rarest(const Example& example) const {
    int least = std::numeric_limits<int>::max();
    each_word(example.source, [&](std::string_view word) { least = std::min(least, source_.at(word)); });
    if (!target_matters_) return least;
    each_word(example.target, [&](std::string_view word) { least = std::min(least, target_.at(word)); });
    return least;
  }

 private:
  bool target_matters_;
  std::unordered_map<std::string_view, int> source_, target_;
};

/// Which examples are held out: the first ones that qualify.
std::vector<size_t> choose_held_out(const std::vector<Example>& examples, size_t count, HoldOut which) {
  const bool by_words = which != HoldOut::kAny;
  WordCounts counts(which);
  if (by_words)
    for (const Example& example : examples) counts.add(example, 1);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < examples.size() && chosen.size() < count; ++i) {
    if (by_words) {
      counts.add(examples[i], -1);
      if (counts.rarest(examples[i]) < kLeftInTraining) {
        counts.add(examples[i], 1);
        continue;
      }
    }
    chosen.push_back(i);
  }
  require(chosen.size() == count, "built-in corpus: expected ", count, " sentences to hold out, got ", chosen.size());
  return chosen;
}

}  // namespace

std::span<const BuiltinRow> builtin_corpora() { return table(); }
void add_builtin(const BuiltinRow& row) { table().push_back(row); }

BuiltinCorpus make_builtin(std::string_view name, uint64_t seed) {
  return row_named("built-in corpus", builtin_corpora(), name).make(seed);
}

bool is_listed(std::string_view list, std::string_view word) {
  for (size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

BuiltinCorpus part_examples(std::vector<Example> examples, Random random, HoldOut which) {
  shuffle(examples, random);
  const std::vector<size_t> chosen = choose_held_out(examples, kBuiltinTest + kBuiltinValid, which);
  BuiltinCorpus corpus;
  corpus.train.reserve(examples.size() - chosen.size());
  size_t next = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    const bool out = next < chosen.size() && chosen[next] == i;
    auto& part = !out ? corpus.train : next < kBuiltinTest ? corpus.test : corpus.valid;
    part.push_back(std::move(examples[i]));
    next += out;
  }
  return corpus;
}

BuiltinCorpus part_novel(std::vector<Example> known, std::vector<Example> novel, Random random) {
  shuffle(known, random);
  shuffle(novel, random);
  BuiltinCorpus corpus;
  const auto move_to = [](std::vector<Example>& part, std::vector<Example>& from, size_t count) {
    require(from.size() >= count, "built-in corpus: expected ", count, " sentences to hold out, got ", from.size());
    std::move(from.end() - static_cast<std::ptrdiff_t>(count), from.end(), std::back_inserter(part));
    from.resize(from.size() - count);
  };
  for (auto [part, count] : {std::pair(&corpus.valid, kBuiltinValid), std::pair(&corpus.test, kBuiltinTest)}) {
    move_to(*part, known, count - count / 2);
    move_to(*part, novel, count / 2);
    shuffle(*part, random);
  }
  corpus.train = std::move(known);
  return corpus;
}

}  // namespace attend::data
