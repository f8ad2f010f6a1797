#include "attend/tasks/sound_stream.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::tasks {

SoundStream::SoundStream(const TaskModel& model) : model_(model), features_(model.input().sound_features()) {
  const auto* network = dynamic_cast<const models::CtcModel*>(&model.model());
  require_usage(network && features_ && model.output().words(), "stream: expected a network that hears sounds by ctc (model.name), got ",
          model.config().model.name);
  frames_.emplace(*features_);
  network_.emplace(*network);
}

std::string SoundStream::add(std::span<const float> samples) {
  const Tensor frames = frames_->add(samples);
  return frames.dim(0) == 0 ? "" : heard(network_->push(frames));
}

std::string SoundStream::finish() {
  const Tensor frames = frames_->finish();
  std::string text = frames.dim(0) == 0 ? "" : heard(network_->push(frames));
  return text + heard(network_->finish());
}

std::string SoundStream::heard(const Tensor& logits) {
  const int64_t labels = logits.dim(1);
  for (int64_t t = 0; t < logits.dim(0); ++t) {
    const real* row = logits.data() + t * labels;
    const auto label = static_cast<int32_t>(std::max_element(row, row + labels) - row);
    if (label != last_ && label != data::kPad) said_.push_back(label);
    last_ = label;
  }
  const std::string before = std::exchange(text_, model_.output().words()->decode(said_));
  require(text_.starts_with(before), "stream: expected text that goes on from ", before, ", got ", text_);
  return text_.substr(before.size());
}

}  // namespace attend::tasks
