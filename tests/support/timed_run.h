// A run on a clock of its own: time is a number that updates and validations add to.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "attend/autograd/tape.h"
#include "attend/models/zoo.h"
#include "attend/train/trainer.h"
#include "tests/support/folder.h"
#include "tests/support/learning.h"

namespace attend::test::timed {

constexpr int32_t kWords = 5;
constexpr int64_t kBatches = 9;  // of an epoch

/// What work costs, in seconds.
struct Costs {
  double update = 0.1, token = 0.01, validation = 2;
};

/// A network whose training takes time on a clock of its own.
class TimedModel : public models::Model {
 public:
  TimedModel(const Costs& costs, double& time) : costs_(costs), time_(time) {
    const std::string words = std::to_string(data::kFirstWord + kWords);
    Random random(3);
    inner_ = models::make_model("recurrent",
                                {{"source_vocabulary", words},
                                 {"target_vocabulary", words},
                                 {"embedding", "4"},
                                 {"hidden", "5"},
                                 {"dropout", "0.2"}},
                                random);
  }
  void params(const nn::VisitParams& visit) override { inner_->params(visit); }
  Var loss(const data::Batch& batch, models::Training* training) const override {
    if (training) time_ += costs_.update + costs_.token * static_cast<double>(data::target_tokens(batch));
    return inner_->loss(batch, training);
  }
  std::unique_ptr<models::State> begin(const data::Source& source) const override { return inner_->begin(source); }
  Tensor next(models::State& state, std::span<const int32_t> last) const override { return inner_->next(state, last); }
  int64_t vocabulary() const override { return inner_->vocabulary(); }

 private:
  std::unique_ptr<models::Model> inner_;
  Costs costs_;
  double& time_;
};

/// Batches of very different sizes: 1 to 9 rows.
inline data::Batch sized_batch(int64_t epoch, int64_t index) {
  Random random = Random(static_cast<uint64_t>(epoch * kBatches + index)).named("sized");
  return test::draw(test::reverse_task(kWords), 2, 5, 1 + (epoch + 4 * index) % kBatches, random);
}

inline train::BatchSource sized_batches() {
  train::BatchSource source{[](int64_t) { return kBatches; }, sized_batch};
  for (int64_t i = 0; i < kBatches; ++i) source.an_epoch += data::target_tokens(sized_batch(0, i));
  return source;
}

/// A run with its own folder and clock.
struct TimedRun {
  explicit TimedRun(train::TrainerOptions options, const Costs& costs = {})
      : model(costs, time),
        trainer(model, sized_batches(),
                [this, costs](const models::Model& judged) {
                  time += costs.validation;
                  const TapePause pause;
                  return train::Validation{.loss = static_cast<double>(judged.loss(sized_batch(99, 0)).item())};
                },
                std::move(options), folder.path()) {
    trainer.set_clock([this] { return time; });
  }
  train::TrainResult run(train::Watcher& watcher) {
    train::Watcher* const watchers[] = {&watcher};
    return trainer.run(watchers);
  }

  double time = 1000;
  test::TestFolder folder;
  TimedModel model;
  train::Trainer trainer;
};

struct LastReport : train::Watcher {
  train::StepReport last;
  int64_t validations = 0, stop_after = 0, asked = 0;
  void stepped(const train::StepReport& report) override { last = report; }
  void validated(const train::StepReport&, const train::Validation&, bool) override { ++validations; }
  bool stop() override { return ++asked == stop_after; }
};

inline train::TrainerOptions in_minutes(double minutes) {
  train::TrainerOptions options;
  options.minutes = minutes, options.rate = 1e-2;
  return options;
}

}  // namespace attend::test::timed
