#include "attend/decode/sampling.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "attend/kernels/elementwise.h"
#include "attend/kernels/rows.h"

namespace attend::decode {
namespace {

/// First id at which the running sum of `probabilities` passes `aim`; if rounding leaves the sum short, the last one
/// that can be drawn.
template <class Id>
int32_t walk(size_t count, Id id, std::span<const real> probabilities, double aim) {
  double sum = 0;
  int32_t last = -1;
  for (size_t i = 0; i < count; ++i) {
    const real p = probabilities[id(i)];
    if (p <= 0) continue;
    last = static_cast<int32_t>(id(i));
    sum += static_cast<double>(p);
    if (sum > aim) break;
  }
  return last;
}

}  // namespace

int32_t draw(std::span<const real> logits, std::span<const int32_t> banned, const SamplingOptions& options,
             Random& random, std::span<real> scratch) {
  const size_t n = logits.size();
  const double u = random.uniform53();
  constexpr real kLowest = -std::numeric_limits<real>::infinity();
  std::copy(logits.begin(), logits.end(), scratch.begin());
  for (const int32_t id : banned) {
    if (id >= 0 && static_cast<size_t>(id) < n) scratch[static_cast<size_t>(id)] = kLowest;
  }
  const real top = *std::max_element(scratch.begin(), scratch.end());
  if (top == kLowest) return -1;
  // The largest becomes 0 before it is scaled: no temperature, however low, makes it infinite.
  kernels::affine(scratch.data(), 1, -top, scratch.data(), n);
  kernels::affine(scratch.data(), static_cast<real>(std::min(1 / options.temperature, 1e30)), 0, scratch.data(), n);
  for (real& x : scratch) x = std::max(x, kernels::kMaskedLog);
  kernels::softmax(scratch.data(), 1, n, {}, scratch.data());

  const size_t most = options.top_k > 0 ? std::min(n, static_cast<size_t>(options.top_k)) : n;
  if (most == n && options.top_p >= 1)
    return walk(
        n, [](size_t i) { return i; }, scratch, u);

  // The likeliest come first; more and more of them are sorted until they suffice.
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const auto likelier = [&](uint32_t a, uint32_t b) {
    return scratch[a] != scratch[b] ? scratch[a] > scratch[b] : a < b;
  };
  const auto sort_up_to = [&](size_t begin, size_t end) {
    std::partial_sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
                      order.begin() + static_cast<std::ptrdiff_t>(end), order.end(), likelier);
  };
  double whole = 1;
  size_t sorted = 0;
  if (most < n) {
    sort_up_to(0, sorted = most);
    whole = 0;
    for (size_t i = 0; i < most; ++i) whole += static_cast<double>(scratch[order[i]]);
  }
  double kept = 0;
  size_t count = 0;
  while (count < most && (count == 0 || options.top_p >= 1 || kept < options.top_p * whole)) {
    if (count == sorted) {
      const size_t end = std::min(most, std::max<size_t>(64, 2 * sorted));
      sort_up_to(sorted, end);
      sorted = end;
    }
    kept += static_cast<double>(scratch[order[count++]]);
  }
  return walk(
      count, [&](size_t i) { return order[i]; }, scratch, u * kept);
}

}  // namespace attend::decode
