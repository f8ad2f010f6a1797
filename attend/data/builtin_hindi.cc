// English to romanised Hindi, by a grammar: enough of both languages that word order (subject-object-verb, question words
// before the verb), agreement (of verbs with subjects or, after "ne", with objects) and small words (postpositions,
// "apna") must be learned, and nothing else.
//
// English leaves open what Hindi must express. So that a source has one target:
//   - the speaker is a woman: main ja rahi hoon;
//   - "you" is "tum", a man: tum ja rahe ho; "we" and "they" are men too;
//   - friends, doctors and teachers are men when they act; as predicates they agree with the subject: she is my
//     friend, woh meri dost hai;
//   - fathers and mothers are spoken of in the plural, out of respect: mere pitaji ja rahe hain;
//   - possessions of the subject are its own: he reads his book, woh apni kitaab padhta hai;
//   - persons and animals as objects take "ko" (or what the verb requires), things take nothing;
//   - "a" is "ek", except in "she is a doctor"; "the" is nothing;
//   - "nahin" stands before the verb, which keeps its auxiliary.
//
// Gold links join words that mean the same. Articles without a counterpart, "ne", "ko" and the "kya" of yes-or-no
// questions are linked to nothing. Tense is linked by itself: am–hoon, going–ja, going–rahi; a word that says both tense
// and deed has both links: eat–khati, eat–hoon; will–khaungi, eat–khaungi; did–khaya, eat–khaya.
#include <algorithm>
#include <numeric>

#include "attend/data/builtin_split.h"
#include "attend/data/hindi_sentence.h"
#include "attend/data/hindi_unambiguous.h"

namespace attend::data {
namespace {

using hindi::Choices, hindi::Lexicon;

constexpr size_t kHindiTrain = 30000, kHindiShortest = 2, kHindiLongest = 14;
constexpr size_t kChainTrain = 15000, kChainLongest = 60;

class RandomChoices : public Choices {
 public:
  explicit RandomChoices(Random& random) : random_(random) {}
  size_t among(std::span<const int> weights) override {
    const int total = std::accumulate(weights.begin(), weights.end(), 0);
    int left = static_cast<int>(random_.below(static_cast<uint64_t>(total)));
    size_t index = 0;
    while (left >= weights[index]) left -= weights[index++];
    return index;
  }

 private:
  Random& random_;
};

/// Every derivation in turn: repeats the choices of the previous one, except the last that has an alternative.
class AllChoices : public Choices {
 public:
  size_t among(std::span<const int> weights) override {
    if (depth_ == way_.size()) way_.push_back({0, weights.size()});
    return way_[depth_++].index;
  }
  /// False when there are no more derivations.
  bool next() {
    way_.resize(depth_);
    depth_ = 0;
    while (!way_.empty() && way_.back().index + 1 == way_.back().count) way_.pop_back();
    if (way_.empty()) return false;
    ++way_.back().index;
    return true;
  }

 private:
  struct Step {
    size_t index, count;
  };
  std::vector<Step> way_;
  size_t depth_ = 0;
};

size_t count_words(std::string_view text) { return 1 + static_cast<size_t>(std::count(text.begin(), text.end(), ' ')); }

bool of_fitting_length(const Example& example) {
  const auto fits = [](size_t count) { return count >= kHindiShortest && count <= kHindiLongest; };
  return fits(count_words(example.source)) && fits(count_words(example.target));
}

Example draw_clause(Random& numbers, const Lexicon& lexicon, bool (*fits)(const hindi::Clause&) = nullptr) {
  RandomChoices choices(numbers);
  for (;;) {
    const auto clause = choose_clause(choices, lexicon);
    if (!clause || (fits && !fits(*clause))) continue;
    Example example = say(*clause);
    if (of_fitting_length(example)) return example;
  }
}

/// Appends "and …" with its links behind those of `chain`.
void add_clause(Example& chain, const Example& clause) {
  const auto source = static_cast<int32_t>(count_words(chain.source)), target = static_cast<int32_t>(count_words(chain.target));
  chain.source += " and " + clause.source;
  chain.target += " aur " + clause.target;
  chain.links.push_back({source, target});
  for (const Link& link : clause.links) chain.links.push_back({link.source + source + 1, link.target + target + 1});
}

/// From Hindi to English.
Example reversed(Example example) {
  std::swap(example.source, example.target);
  for (Link& link : example.links) std::swap(link.source, link.target);
  std::ranges::sort(example.links);
  return example;
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

BuiltinCorpus make_hindi(uint64_t seed) {
  const Lexicon lexicon;
  const auto draw = [&](Random& numbers) { return draw_clause(numbers, lexicon); };
  return drawn_corpus("hindi", seed, kHindiTrain, HoldOut::kKnownWords, draw);
}

BuiltinCorpus make_english(uint64_t seed) {
  const Lexicon lexicon;
  const auto draw = [&](Random& numbers) { return reversed(draw_clause(numbers, lexicon, hindi::is_usual_reading)); };
  return drawn_corpus("english", seed, kHindiTrain, HoldOut::kKnownWords, draw);
}

BuiltinCorpus make_chains(uint64_t seed) {
  const Lexicon lexicon;
  // As many of every length: a length is drawn first, and clauses are joined until another one would exceed it.
  const auto draw = [&](Random& numbers) {
    const size_t longest = kHindiLongest + numbers.below(kChainLongest - kHindiLongest + 1);
    const auto exceeds = [longest](const std::string& text, const std::string& more) {
      return count_words(text) + 1 + count_words(more) > longest;
    };
    Example chain = draw_clause(numbers, lexicon);
    for (;;) {
      const Example clause = draw_clause(numbers, lexicon);
      if (exceeds(chain.source, clause.source) || exceeds(chain.target, clause.target)) return chain;
      add_clause(chain, clause);
    }
  };
  return drawn_corpus("chains", seed, kChainTrain, HoldOut::kKnownWords, draw);
}

std::vector<Example> hindi_derivations(std::string_view english) {
  const Lexicon lexicon(words_in(english));
  AllChoices choices;
  std::vector<Example> found;
  do {
    const auto clause = choose_clause(choices, lexicon);
    if (!clause) continue;
    Example example = say(*clause);
    if (example.source == english) found.push_back(std::move(example));
  } while (choices.next());
  return found;
}

}  // namespace attend::data
