// The built-in corpora, made once for all tests of a run.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/data/builtin.h"

namespace attend::test {

inline const data::BuiltinCorpus& corpus_of(std::string_view name, uint64_t seed = 1) {
  static std::map<std::pair<std::string_view, uint64_t>, data::BuiltinCorpus> made;
  const auto [found, fresh] = made.try_emplace({name, seed});
  if (fresh) found->second = data::make_builtin(name, seed);
  return found->second;
}

inline std::vector<const data::Example*> all_of(const data::BuiltinCorpus& corpus) {
  std::vector<const data::Example*> all;
  for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test})
    for (const data::Example& example : *part) all.push_back(&example);
  return all;
}

}  // namespace attend::test
