// Invented names for built-in corpora, each of which belongs to one part of a corpus: held-out texts are about people,
// places and firms that training never mentions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attend/base/random.h"
#include "attend/data/builtin_split.h"
#include "attend/data/examples.h"

namespace attend::data {

/// What a name is of decides how it may end.
struct NameEndings {
  std::span<const std::string_view> endings;
};
extern const NameEndings kPeopleNames, kFamilyNames, kPlaceNames, kFirmNames;

/// A beginning, a vowel and an ending: "Dor-i-len". The name's own letters say which part it belongs to (split_of), the
/// same for every seed.
std::string invented_name(Random& random, Split part, const NameEndings& kind);

/// Whether two names could be taken for one another: they begin or end alike.
bool look_alike(std::string_view a, std::string_view b);

/// A corpus whose parts are made by draw(random, part), each with distinct sources.
template <class Draw>
BuiltinCorpus corpus_with_unseen_names(std::string_view name, uint64_t seed, size_t train, Draw draw) {
  const Random random = Random(seed).named(name);
  const auto part = [&](Split which, std::string_view stream, size_t count) {
    return distinct_examples(count, random.named(stream), [&](Random& draws) { return draw(draws, which); });
  };
  return {part(Split::kTrain, "train", train), part(Split::kValid, "valid", kBuiltinValid),
          part(Split::kTest, "test", kBuiltinTest)};
}

}  // namespace attend::data
