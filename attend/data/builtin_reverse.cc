#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

constexpr size_t kReverseTrain = 20000, kReverseShortest = 2, kReverseLongest = 12;

Example draw_reverse(Random& random) {
  std::string letters(kReverseShortest + random.below(kReverseLongest - kReverseShortest + 1), ' ');
  for (char& letter : letters) letter = static_cast<char>('a' + random.below(26));
  return {letters, {letters.rbegin(), letters.rend()}, {}};
}

}  // namespace

BuiltinCorpus make_reverse(uint64_t seed) { return drawn_corpus("reverse", seed, kReverseTrain, HoldOut::kAny, draw_reverse); }

}  // namespace attend::data
