// Training steps of whole networks: what the rows of several groups share.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/data/batch.h"
#include "attend/models/model.h"
#include "attend/train/optimiser.h"

namespace attend::bench {

/// What a training loop has in its hands.
class Training {
 public:
  Training(std::unique_ptr<models::Model> model, data::Batch batch)
      : model_(std::move(model)),
        batch_(std::move(batch)),
        adam_(train::make_optimiser("adam", {}, nn::parameters(*model_))) {}

  void step() {
    adam_->clear_gradients();
    {
      Tape tape;
      tape.backward(model_->loss(batch_, &training_));
    }
    adam_->step(1e-3, train::clip_scale(train::gradient_norm(adam_->parameters()), 1));
    ++training_.update;
  }
  /// Without dropout.
  double loss() const { return model_->loss(batch_, nullptr).item(); }

 private:
  std::unique_ptr<models::Model> model_;
  data::Batch batch_;
  std::unique_ptr<train::Optimiser> adam_;
  models::Training training_{Random(3), 0};
};

/// A few steps as a check, then what is timed.
inline std::function<void()> checked_step(const std::string& name, std::shared_ptr<Training> training, int steps = 3) {
  const double before = training->loss();
  for (int i = 0; i < steps; ++i) training->step();
  const double after = training->loss();
  require(std::isfinite(before) && after < before, "bench: ", steps, " steps must lower the loss of ", name, ", from ",
          before, ", got ", after);
  return [training] { training->step(); };
}

/// Products of one reading, both ways, of `words` words.
inline double lstm_flop(double words, double in, double H) { return 2 * words * 2 * 4 * H * (in + H); }

inline data::Sequences random_words(int64_t count, int64_t length, int64_t vocabulary, uint64_t stream) {
  Random random(2, stream);
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(count));
  for (auto& row : rows) {
    for (int64_t t = 0; t < length; ++t) {
      row.push_back(data::kFirstWord + static_cast<int32_t>(random.below(vocabulary - data::kFirstWord)));
    }
  }
  return data::Sequences(rows);
}

/// What the rows step/NAME and memory/NAME of readers, of networks that copy and of those that listen train; nothing if none is
/// called that.
std::optional<Training> reader_training(const std::string& name);
std::optional<Training> copying_training(const std::string& name);
std::optional<Training> speech_training(const std::string& name);

}  // namespace attend::bench
