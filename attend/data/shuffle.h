// A random order that is the same with every standard library.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "attend/base/random.h"

namespace attend::data {

/// Fisher & Yates. Not std::shuffle, whose result differs between libraries.
template <class T>
void shuffle(std::vector<T>& list, Random& random) {
  for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

}  // namespace attend::data
