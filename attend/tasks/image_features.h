// The features of images, where a published network of which nothing is trained encodes them: computed once, kept on disk,
// and learned from in place of the images.
#pragma once

#include <filesystem>
#include <string>

#include "attend/models/image_encoder.h"
#include "attend/tasks/config.h"
#include "attend/tasks/input.h"
#include "attend/tasks/model.h"

namespace attend::tasks {

/// The options of the encoder of images that a run trains or uses: "model.encoder.…".
models::ImageEncoderOptions image_encoder_options(const TaskConfig& config);
/// Refuses a published network without weights, and weights that are not its own; reads names and shapes only.
void check_encoder_weights(const TaskConfig& config);

/// Where a run is: the folder that it was given, the one in which it works until it replaces another, whether it goes on there.
struct RunPlace {
  std::filesystem::path out, folder;
  bool resume = false;
};

/// Gives a new run's model the weights of its encoder and, where that is fixed and the examples are files, replaces the images
/// of the corpus by their features. Returns what it did, in one line; "" if there was nothing to do.
std::string take_features(TaskModel& model, Corpus& corpus, const RunPlace& place, const Prepared& prepared);

/// Features by the content of images. Files are replaced as a whole; one that is broken counts as missing.
class FeatureCache {
 public:
  /// For what this encoder makes of images: its kind, stage and weights are part of every key.
  FeatureCache(std::filesystem::path folder, const models::ImageEncoderOptions& options, models::Encoder& encoder);
  std::filesystem::path file_of(const data::Image& image) const;
  /// Those examples with features in place of images, the ones that are missing computed. `done` counts examples.
  Examples encoded(const Examples& examples, const Input& input, const Done& done);
  int64_t computed() const { return computed_; }

 private:
  bool has(const std::filesystem::path& file, const data::Image& image) const;
  void compute(std::span<const data::Image> images, std::span<const std::filesystem::path> files);

  std::filesystem::path folder_;
  models::ImageEncoderOptions options_;
  const models::Encoder& encoder_;
  std::string key_;
  int64_t computed_ = 0;
};

}  // namespace attend::tasks
