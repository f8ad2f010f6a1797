// Spectra of several short signals at once, side by side: number i of signal j is at [i·kSpectrumLanes + j]. All do the same in
// the same order, so that what one gives depends neither on its place nor on the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attend::kernels {

// Eight signals of 512 points fit into the first cache with a copy of them; of sixteen, neither.
inline constexpr size_t kSpectrumLanes = 8;

/// Tables for the transform of real signals of `points` numbers.
class SpectrumPlan {
 public:
  /// Powers of two from 8 on.
  static bool possible(size_t points);
  explicit SpectrumPlan(size_t points);

  size_t points() const { return points_; }
  /// e^(−2πikp/n) for k = 1, 2, 3 and p = 0 … n/4 − 1, for each stage of length n = points/2, points/8, …
  const std::vector<float>& stages() const { return stages_; }
  /// e^(−2πik/points) for k = 0 … points/4.
  const std::vector<float>& halves() const { return halves_; }

 private:
  size_t points_;
  std::vector<float> stages_, halves_;
};

/// power[k] = |Σᵢ signal[i]·e^(−2πjik/points)|² for k = 0 … points/2. `room`: 2·points·kSpectrumLanes floats. Stockham's
/// transform with radix 4 of points/2 complex numbers, each of two neighbours of the signal.
void power_spectra(const SpectrumPlan& plan, const float* signals, float* room, float* power);

/// A weighted sum of neighbours: weights[first], … times power[begin], power[begin + 1], … (count).
struct Band {
  uint32_t begin = 0, count = 0, first = 0;
};
/// logs[b] = ln(least + Σₖ weights·power) of each band.
void log_bands(const std::vector<Band>& bands, const std::vector<float>& weights, const float* power, float least,
               float* logs);

}  // namespace attend::kernels
