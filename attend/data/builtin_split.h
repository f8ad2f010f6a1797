// How the examples of a built-in corpus are drawn and split.
#pragma once

#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "attend/base/random.h"
#include "attend/data/builtin.h"

namespace attend::data {

constexpr size_t kBuiltinValid = 500, kBuiltinTest = 1000;

/// `count` examples with distinct sources, from a function of the random numbers that may repeat itself.
template <class Draw>
std::vector<Example> distinct_examples(size_t count, Random random, Draw draw) {
  std::unordered_set<std::string> seen;
  seen.reserve(count);
  std::vector<Example> examples;
  examples.reserve(count);
  while (examples.size() < count) {
    Example example = draw(random);
    if (seen.insert(example.source).second) examples.push_back(std::move(example));
  }
  return examples;
}

/// Which words of an example must also occur in training before it may be held out.
enum class HoldOut {
  kAny,          ///< none: characters occur in training anyway
  kKnownSource,  ///< all words of the source
  kKnownWords,   ///< all words of source and target
};

/// Shuffles the examples and holds out a test and a validation part.
BuiltinCorpus part_examples(std::vector<Example> examples, Random random, HoldOut which);

/// Splits the `known` examples into training and one half of each held-out part; the other half is `novel` examples,
/// which contain something that no `known` one does. There must be enough of both.
BuiltinCorpus part_novel(std::vector<Example> known, std::vector<Example> novel, Random random);

/// A corpus with `train` examples to train on, from a function of the random numbers.
template <class Draw>
BuiltinCorpus drawn_corpus(std::string_view name, uint64_t seed, size_t train, HoldOut which, Draw draw) {
  const Random random = Random(seed).named(name);
  return part_examples(distinct_examples(train + kBuiltinValid + kBuiltinTest, random, draw), random.named("parts"),
                       which);
}

/// The same of texts that are made by Text(random).draw(); half of those held out are novel, and none to train on.
template <class Text>
BuiltinCorpus corpus_with_novel(std::string_view name, uint64_t seed, size_t train) {
  const auto drawn = [](bool novel, size_t count, Random random) {
    return distinct_examples(count, random, [novel](Random& draws) {
      for (;;) {
        Text text(draws);
        Example example = text.draw();
        if (text.is_novel() == novel) return example;
      }
    });
  };
  const Random random = Random(seed).named(name);
  constexpr size_t kNovel = (kBuiltinValid + kBuiltinTest) / 2;
  return part_novel(drawn(false, train + kNovel, random.named("known")), drawn(true, kNovel, random.named("novel")),
                    random.named("parts"));
}

/// A random element of a list.
template <class List>
const auto& one_of(Random& random, const List& list) {
  return list[random.below(std::size(list))];
}

/// Whether a word is in a list separated by blanks.
bool is_listed(std::string_view list, std::string_view word);

/// True with probability `share`.
inline bool chance(Random& random, double share) { return random.uniform53() < share; }

/// Uniform in [low, high).
inline float between(Random& random, float low, float high) { return low + (high - low) * random.uniform(); }

/// True for a fixed share of all texts, which training never sees; the same for every seed.
inline bool is_withheld(std::string_view text, double share) { return Random(11).named(text).uniform53() < share; }

}  // namespace attend::data
