// The probability of every labelling of a few frames, by going through all paths.
#pragma once

#include <map>
#include <vector>

#include "tests/support/array.h"

namespace attend::test {

/// logits [T,V] → labelling → p, in double.
inline std::map<std::vector<int32_t>, double> all_labellings(const Array& logits, int32_t blank) {
  const int64_t T = logits.dim(0), V = logits.dim(1);
  std::map<std::vector<int32_t>, double> all;
  std::vector<int32_t> path(static_cast<size_t>(T), 0);
  for (;;) {
    double p = 1;
    std::vector<int32_t> labels;
    for (int64_t t = 0; t < T; ++t) {
      double sum = 0;
      for (int64_t v = 0; v < V; ++v) sum += std::exp(logits(t, v));
      const int32_t label = path[static_cast<size_t>(t)];
      p *= std::exp(logits(t, label)) / sum;
      if (label != blank && (t == 0 || label != path[static_cast<size_t>(t) - 1])) labels.push_back(label);
    }
    all[labels] += p;
    size_t t = 0;
    while (t < path.size() && ++path[t] == V) path[t++] = 0;
    if (t == path.size()) return all;
  }
}

}  // namespace attend::test
