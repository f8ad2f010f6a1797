// What is said in a sound, while it comes: for CTC networks that hear forwards alone.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/data/sound_features.h"
#include "attend/models/ctc_stream.h"
#include "attend/tasks/model.h"

namespace attend::tasks {

/// The best path, label by label as frames decide on it: what it has said in the end is what the whole sound gives.
///
///   SoundStream stream(model);
///   while (…) std::cout << stream.add(samples);
///   std::cout << stream.finish();
class SoundStream {
 public:
  /// `model` must outlive it. Throws Error if its network cannot say anything before the sound has ended.
  explicit SoundStream(const TaskModel& model);
  /// Of samples to be added, a second.
  int64_t rate() const { return features_->options().rate; }
  /// What these samples add to the text.
  std::string add(std::span<const float> samples);
  std::string finish();

 private:
  std::string heard(const Tensor& logits);

  const TaskModel& model_;
  const data::SoundFeatures* features_;
  std::optional<data::FeatureStream> frames_;
  std::optional<models::CtcStream> network_;
  int32_t last_ = data::kPad;  // the label of the frame before
  std::vector<int32_t> said_;
  std::string text_;
};

}  // namespace attend::tasks
