// How the examples of a built-in corpus are parted.
#pragma once

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

/// Shuffles, and holds out a test and a validation part. By words, only sentences are held out whose words all occur
/// in training; characters do anyway.
BuiltinCorpus part_examples(std::vector<Example> examples, Random random, bool by_words);

}  // namespace attend::data
