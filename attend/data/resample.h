// Sounds at another rate: band-limited interpolation by soxr, quality HQ (20 bits), linear phase, without delay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/data/sound.h"

namespace attend::data {

/// Converts a sound piece by piece. n samples become about n·to/from; what comes out depends on the samples alone, not on
/// how they were cut into pieces.
class Resampler {
 public:
  Resampler(double from, double to);
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;
  ~Resampler();

  /// Appends to `out` what can be said after these samples.
  void add(std::span<const float> samples, std::vector<float>& out);
  /// Appends the rest, after which nothing may be added.
  void finish(std::vector<float>& out);

 private:
  class Filter;

  std::unique_ptr<Filter> filter_;
  std::vector<float> waiting_;  // the beginning of the next block
};

/// The same sound at another rate.
Sound resampled(const Sound& sound, int64_t rate);
/// Played `factor` times as fast, and so much higher: n samples become n/factor, at the same rate.
Sound faster(const Sound& sound, double factor);

}  // namespace attend::data
