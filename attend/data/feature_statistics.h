// Mean and deviation of features over a corpus, with which those of every sound are normalised.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::data {

/// Mean and deviation of every column of the frames of a corpus, collected in one pass (Welford 1962; Chan et al. 1979).
class FeatureStatistics {
 public:
  FeatureStatistics() = default;
  explicit FeatureStatistics(int64_t width);

  /// [frames, width]. The first one decides the width.
  void add(const Tensor& features);
  void add(const FeatureStatistics& other);
  double frames() const { return frames_; }
  int64_t width() const { return static_cast<int64_t>(mean_.size()); }
  std::span<const double> mean() const { return mean_; }
  /// √(mean of squared distances); 1 where all frames have the same number.
  std::vector<double> deviation() const;
  /// (x − mean)/deviation, column by column, in place.
  void normalise(Tensor& features) const;

  /// As a small JSON file {"frames": n, "mean": […], "squares": […]}.
  void save(const std::filesystem::path& path) const;
  static FeatureStatistics load(const std::filesystem::path& path);

 private:
  double frames_ = 0;
  std::vector<double> mean_, squares_;  // squares: sums of squared distances from the mean
};

}  // namespace attend::data
