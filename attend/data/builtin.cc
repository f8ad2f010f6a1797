#include "attend/data/builtin.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "attend/base/names.h"
#include "attend/data/builtin_split.h"
#include "attend/data/shuffle.h"

namespace attend::data {
namespace {

constexpr BuiltinRow kCorpora[] = {
    {"hindi", "English sentences to romanised Hindi, with gold word alignments", make_hindi, "words"},
    {"dates", "dates as people write them to ISO 8601", make_dates, "characters"},
    {"reverse", "strings of letters to the same letters backwards", make_reverse, "characters"},
};

// How often a word has to be left in training before a sentence with it may be held out.
constexpr int kLeftInTraining = 5;

template <class Visit>
void each_word(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Counts of the words of each side; the views belong to the examples.
class WordCounts {
 public:
  void add(const Example& example, int times) {
    each_word(example.source, [&](std::string_view word) { source_[word] += times; });
    each_word(example.target, [&](std::string_view word) { target_[word] += times; });
  }
  int rarest(const Example& example) const {
    int least = std::numeric_limits<int>::max();
    each_word(example.source, [&](std::string_view word) { least = std::min(least, source_.at(word)); });
    each_word(example.target, [&](std::string_view word) { least = std::min(least, target_.at(word)); });
    return least;
  }

 private:
  std::unordered_map<std::string_view, int> source_, target_;
};

/// Which examples are held out: the first that may be.
std::vector<size_t> held_out(const std::vector<Example>& examples, size_t wanted, bool by_words) {
  WordCounts counts;
  if (by_words)
    for (const Example& example : examples) counts.add(example, 1);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < examples.size() && chosen.size() < wanted; ++i) {
    if (by_words) {
      counts.add(examples[i], -1);
      if (counts.rarest(examples[i]) < kLeftInTraining) {
        counts.add(examples[i], 1);
        continue;
      }
    }
    chosen.push_back(i);
  }
  require(chosen.size() == wanted, "built-in corpus: wanted ", wanted, " sentences to hold out, got ", chosen.size());
  return chosen;
}

}  // namespace

std::span<const BuiltinRow> builtin_corpora() { return kCorpora; }

BuiltinCorpus make_builtin(std::string_view name, uint64_t seed) {
  return row_named("built-in corpus", builtin_corpora(), name).make(seed);
}

BuiltinCorpus part_examples(std::vector<Example> examples, Random random, bool by_words) {
  shuffle(examples, random);
  const std::vector<size_t> chosen = held_out(examples, kBuiltinTest + kBuiltinValid, by_words);
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

}  // namespace attend::data
