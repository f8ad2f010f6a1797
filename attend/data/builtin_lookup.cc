// Texts whose words each say a fact and ask for another: what has to be looked at depends on what is read, or does not.
#include <algorithm>

#include "attend/data/builtin_split.h"

namespace attend::data {
namespace {

constexpr size_t kLookupTrain = 15000, kLookupLeast = 5, kLookupMost = 10;
constexpr size_t kLookupBack = 2;  // how far before itself each word of "lookback" asks
constexpr std::string_view kLookupNames = "abcdefghijklmnop", kLookupNone = "none";
constexpr int kLookupValues = 6;

/// "b=3,d?" says that b is 3 and asks what d is. `asked(i, names)` is the name that word i asks for, of which the first
/// `count` are those of the text.
template <class Asked>
Example draw_facts(Random& random, Asked asked) {
  std::string names(kLookupNames);
  const size_t count = kLookupLeast + random.below(kLookupMost - kLookupLeast + 1);
  for (size_t i = 0; i + 1 < names.size(); ++i) std::swap(names[i], names[i + random.below(names.size() - i)]);
  std::string values(count, ' ');
  for (char& value : values) value = static_cast<char>('1' + random.below(kLookupValues));
  Example example;
  for (size_t i = 0; i < count; ++i) {
    const size_t place = asked(i, count);
    const std::string blank = i == 0 ? "" : " ";
    example.source.append(blank).append({names[i], '=', values[i], ',', names[place], '?'});
    example.target.append(blank).append(place < count ? std::string(1, values[place]) : std::string(kLookupNone));
  }
  return example;
}

/// A name that is not in the text.
size_t unknown_name(Random& random, size_t count) { return count + random.below(kLookupNames.size() - count); }

/// Each word asks for any of the text, or for one that is not in it.
Example draw_lookup(Random& random) {
  return draw_facts(random, [&](size_t, size_t count) {
    constexpr uint64_t kOneIn = 5;
    return random.below(kOneIn) == 0 ? unknown_name(random, count) : random.below(count);
  });
}

/// Each word asks for the one two places before it; the first ones, for one that is not in the text.
Example draw_lookback(Random& random) {
  return draw_facts(
      random, [&](size_t i, size_t count) { return i < kLookupBack ? unknown_name(random, count) : i - kLookupBack; });
}

}  // namespace

BuiltinCorpus make_lookup(uint64_t seed) {
  return drawn_corpus("lookup", seed, kLookupTrain, HoldOut::kKnownWords, draw_lookup);
}

BuiltinCorpus make_lookback(uint64_t seed) {
  return drawn_corpus("lookback", seed, kLookupTrain, HoldOut::kKnownWords, draw_lookback);
}

}  // namespace attend::data
