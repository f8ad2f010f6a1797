#include "attend/train/tree_sum.h"

#include <algorithm>

namespace attend::train {

bool are_halves(const Share& left, const Share& right, int64_t parts) {
  const int64_t half = left.size();
  const bool is_power = (half & (half - 1)) == 0;
  return is_power && left.end == right.begin && left.begin % (2 * half) == 0 &&
         right.end == std::min(right.begin + half, parts);
}

std::vector<Share> nodes_of(const Share& share, int64_t parts) {
  struct Nothing {};
  TreeSum<Nothing> sum(parts);
  for (int64_t i = share.begin; i < share.end; ++i) sum.push({i, i + 1}, {}, [](Nothing&, Nothing&&) {});
  std::vector<Share> nodes;
  for (const auto& node : sum.nodes()) nodes.push_back(node.parts);
  return nodes;
}

}  // namespace attend::train
