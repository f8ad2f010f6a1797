#include "attend/data/feature_statistics.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/replacement.h"
#include "attend/data/shallow_json.h"

namespace attend::data {
namespace {

constexpr size_t kMostStatisticsBytes = size_t{4} << 20;

std::vector<double> numbers_of(const std::string& where, const nlohmann::json& all, const char* key) {
  const auto found = all.find(key);
  require(found != all.end() && found->is_array(), where, ": expected a list of numbers \"", key, "\", got ",
          found == all.end() ? "none" : found->type_name());
  std::vector<double> numbers;
  for (const nlohmann::json& one : *found) {
    require(one.is_number() && std::isfinite(one.get<double>()), where, ": expected finite numbers in \"", key,
            "\", got ", one.type_name());
    numbers.push_back(one.get<double>());
  }
  return numbers;
}

}  // namespace

FeatureStatistics::FeatureStatistics(int64_t width)
    : mean_(static_cast<size_t>(width), 0), squares_(static_cast<size_t>(width), 0) {}

void FeatureStatistics::add(const Tensor& features) {
  require(features.defined() && features.rank() == 2 && (mean_.empty() || features.dim(1) == width()),
          "feature statistics: expected [frames,", mean_.empty() ? "width" : std::to_string(width()), "], got ",
          features.shape());
  FeatureStatistics batch(features.dim(1));
  const size_t width = static_cast<size_t>(features.dim(1));
  batch.frames_ = static_cast<double>(features.dim(0));
  for (size_t i = 0; i < features.size(); ++i) batch.mean_[i % width] += features.data()[i];
  for (double& mean : batch.mean_) mean /= std::max(1.0, batch.frames_);
  for (size_t i = 0; i < features.size(); ++i) {
    const double distance = features.data()[i] - batch.mean_[i % width];
    batch.squares_[i % width] += distance * distance;
  }
  add(batch);
}

void FeatureStatistics::add(const FeatureStatistics& other) {
  if (other.frames_ == 0) return;
  if (frames_ == 0) {
    *this = other;
    return;
  }
  require(other.width() == width(), "feature statistics: expected frames of ", width(), " numbers, got ",
          other.width());
  const double all = frames_ + other.frames_;
  for (size_t i = 0; i < mean_.size(); ++i) {
    const double apart = other.mean_[i] - mean_[i];
    mean_[i] += apart * other.frames_ / all;
    squares_[i] += other.squares_[i] + apart * apart * frames_ * other.frames_ / all;
  }
  frames_ = all;
}

std::vector<double> FeatureStatistics::deviation() const {
  constexpr double kLeast = 1e-5;  // less is rounding, which must not be blown up
  std::vector<double> deviations;
  for (const double squares : squares_) {
    const double deviation = std::sqrt(squares / std::max(1.0, frames_));
    deviations.push_back(deviation < kLeast ? 1 : deviation);
  }
  return deviations;
}

void FeatureStatistics::normalise(Tensor& features) const {
  require(features.defined() && features.rank() == 2 && features.dim(1) == width(),
          "feature statistics: expected [frames,", width(), "], got ", features.shape());
  const std::vector<double> deviations = deviation();
  for (int64_t t = 0; t < features.dim(0); ++t) {
    real* row = features.data() + t * width();
    for (size_t i = 0; i < mean_.size(); ++i) row[i] = static_cast<real>((row[i] - mean_[i]) / deviations[i]);
  }
}

void FeatureStatistics::save(const std::filesystem::path& path) const {
  const nlohmann::ordered_json all{{"frames", frames_}, {"mean", mean_}, {"squares", squares_}};
  write_file(path, all.dump() + "\n");
}

FeatureStatistics FeatureStatistics::load(const std::filesystem::path& path) {
  const std::string& where = path.native();
  const nlohmann::json all = shallow_json(read_file(path, kMostStatisticsBytes), 2);
  require(all.is_object() && all.contains("frames") && all["frames"].is_number() && all["frames"].get<double>() >= 0,
          where, ": expected {\"frames\": n, \"mean\": […], \"squares\": […]}, got something else");
  FeatureStatistics loaded;
  loaded.frames_ = all["frames"].get<double>();
  loaded.mean_ = numbers_of(where, all, "mean");
  loaded.squares_ = numbers_of(where, all, "squares");
  const bool positive = std::ranges::all_of(loaded.squares_, [](double x) { return x >= 0; });
  require(loaded.squares_.size() == loaded.mean_.size() && positive, where, ": expected ", loaded.mean_.size(),
          " sums of squares, none below 0, got ", loaded.squares_.size());
  return loaded;
}

}  // namespace attend::data
