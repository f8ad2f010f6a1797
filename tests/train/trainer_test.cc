// The training loop: what a resumed run repeats to the last bit, what is kept as the best, and what is refused.
#include "attend/train/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attend/autograd/ops/elementwise.h"
#include "attend/autograd/tape.h"
#include "attend/tensor/safetensors.h"
#include "tests/support/folder.h"
#include "tests/support/learning.h"
#include "tests/support/message.h"

namespace attend::train {
namespace {

namespace fs = std::filesystem;
using test::message_of;

constexpr int32_t kKinds = 5;
constexpr int64_t kEpoch = 7;  // batches of an epoch

Settings tiny(const std::string& model, Settings more = {}) {
  const std::string words = std::to_string(data::kFirstWord + kKinds);
  Settings settings{{"source_vocabulary", words}, {"target_vocabulary", words}};
  const Settings sizes =
      model == "recurrent"
          ? Settings{{"embedding", "6"}, {"hidden", "8"}}
          : Settings{{"size", "8"}, {"heads", "2"}, {"hidden", "12"}, {"encoder_layers", "1"}, {"decoder_layers", "1"}};
  settings.insert(sizes.begin(), sizes.end());
  for (auto& [name, value] : more) settings[name] = std::move(value);
  return settings;
}

std::unique_ptr<models::Model> make(const std::string& model = "recurrent", const Settings& more = {}) {
  Random random(3);
  return models::make_model(model, tiny(model, more), random);
}

data::Batch batch_of(uint64_t number, int64_t rows = 4) {
  Random random = Random(number).named("batch");
  return test::draw(test::reverse_task(kKinds), 2, 5, rows, random);
}

BatchSource made_batches() {
  return {[](int64_t) { return kEpoch; },
          [](int64_t epoch, int64_t index) { return batch_of(static_cast<uint64_t>(epoch * kEpoch + index)); }};
}

Validation by_loss(const models::Model& model) {
  const TapePause pause;
  return {.loss = static_cast<double>(model.loss(batch_of(999, 8)).item())};
}

std::vector<std::vector<real>> weights_of(const models::Model& model) {
  std::vector<std::vector<real>> all;
  for (const nn::NamedParam& p : nn::parameters(const_cast<models::Model&>(model))) {
    const Tensor& value = std::as_const(p.var).value();
    all.emplace_back(value.begin(), value.end());
  }
  return all;
}

std::vector<std::vector<real>> weights_in(const fs::path& path) {
  const auto model = make();
  models::load_weights(*model, path);
  return weights_of(*model);
}

/// As files keep them.
std::vector<std::vector<float>> in_32_bits(const std::vector<std::vector<real>>& weights) {
  std::vector<std::vector<float>> all;
  for (const std::vector<real>& one : weights) {
    auto& rounded = all.emplace_back();
    for (const real x : one) rounded.push_back(static_cast<float>(x));
  }
  return all;
}

/// Remembers what it receives, and stops where it should.
struct Recorder : Watcher {
  int64_t stop_after = 0, steps = 0;
  std::vector<StepReport> reports;
  std::vector<double> validations;
  std::vector<bool> best;

  void stepped(const StepReport& report) override { reports.push_back(report); }
  void validated(const StepReport&, const Validation& validation, bool is_best) override {
    validations.push_back(validation.loss), best.push_back(is_best);
  }
  bool stop() override { return ++steps == stop_after; }
};

TrainResult run(Trainer& trainer, Recorder& recorder) {
  Watcher* const watchers[] = {&recorder};
  return trainer.run(watchers);
}

TrainerOptions options_of(int64_t steps) {
  TrainerOptions options;
  options.steps = steps, options.rate = 1e-2, options.validate_every = 30;
  return options;
}

struct Case {
  const char* name;
  Settings model;
  TrainerOptions options;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> cases() {
  const auto with = [](auto&& change) {
    TrainerOptions options = options_of(200);
    change(options);
    return options;
  };
  const Settings dropout{{"dropout", "0.2"}};
  return {
      {"AdamCosineDropout", dropout, with([](TrainerOptions& o) { o.warmup = 10; })},
      {"Accumulate", dropout, with([](TrainerOptions& o) { o.accumulate = 3; })},
      {"Plateau", dropout, with([](TrainerOptions& o) { o.schedule = "plateau", o.validate_every = 6, o.rate = 0.3; })},
      {"Average", dropout, with([](TrainerOptions& o) { o.average = 3; })},
      {"Patience", dropout, with([](TrainerOptions& o) { o.patience = 3, o.validate_every = 10, o.rate = 0.05; })},
      {"ScheduledSampling", dropout, with([](TrainerOptions& o) { o.scheduled_sampling = 0.5; })},
      {"SgdMomentum", {}, with([](TrainerOptions& o) { o.optimiser = "sgd", o.momentum = 0.9; })},
      {"Adadelta", {}, with([](TrainerOptions& o) { o.optimiser = "adadelta", o.rate = 1; })},
      {"SampledAlign", {{"attention.align", "sample"}}, with([](TrainerOptions&) {})},
  };
}

class ResumedSlow : public testing::TestWithParam<Case> {};

TEST_P(ResumedSlow, TakesTheSameStepsToTheLastBit) {
  if (sizeof(real) == 8) GTEST_SKIP() << "checkpoints have 32 bits";
  const test::TestFolder straight_folder;
  const auto straight_model = make("recurrent", GetParam().model);
  Trainer straight(*straight_model, made_batches(), by_loss, GetParam().options, straight_folder.path());
  straight.save_start();
  Recorder all;
  const TrainResult whole = run(straight, all);
  ASSERT_GT(whole.step, 60);
  if (GetParam().options.schedule == "plateau") {
    ASSERT_LT(all.reports.at(2).rate, GetParam().options.rate) << "there is something to remember";
  }
  for (const int64_t stop : {37, 60, 100}) {  // within an epoch and between reports; at a validation; at half
    if (stop >= whole.step) continue;         // patience came to its end before
    const test::TestFolder folder;
    Recorder recorder;
    recorder.stop_after = stop;
    {
      const auto model = make("recurrent", GetParam().model);
      Trainer trainer(*model, made_batches(), by_loss, GetParam().options, folder.path());
      trainer.save_start();
      const TrainResult first = run(trainer, recorder);
      ASSERT_EQ(first.outcome, Outcome::interrupted);
      ASSERT_EQ(first.step, stop);
    }
    const auto model = make("recurrent", GetParam().model);
    Trainer trainer(*model, made_batches(), by_loss, GetParam().options, folder.path());
    trainer.resume();
    const TrainResult last = run(trainer, recorder);
    EXPECT_EQ(last.outcome, whole.outcome);
    EXPECT_EQ(last.step, whole.step);
    EXPECT_EQ(last.best_step, whole.best_step);
    EXPECT_EQ(last.tokens, whole.tokens);
    EXPECT_EQ(last.averaged, whole.averaged);
    ASSERT_EQ(recorder.reports.size(), all.reports.size());
    for (size_t i = 0; i < all.reports.size(); ++i) {
      const StepReport &got = recorder.reports[i], &expected = all.reports[i];
      EXPECT_EQ(got.step, expected.step);
      EXPECT_EQ(got.epoch, expected.epoch);
      EXPECT_EQ(got.loss, expected.loss) << "step " << expected.step << ", stopped at " << stop;
      EXPECT_EQ(got.rate, expected.rate) << "step " << expected.step << ", stopped at " << stop;
      EXPECT_EQ(got.gradient_norm, expected.gradient_norm) << "step " << expected.step << ", stopped at " << stop;
      EXPECT_EQ(got.tokens, expected.tokens);
    }
    EXPECT_EQ(recorder.validations, all.validations) << "stopped at " << stop;
    EXPECT_EQ(recorder.best, all.best) << "stopped at " << stop;
    EXPECT_EQ(folder.bytes("weights.safetensors"), straight_folder.bytes("weights.safetensors"));
  }
}

INSTANTIATE_TEST_SUITE_P(Trainer, ResumedSlow, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(Trainer, ARunThatWasKilledAtItsStartCanBeResumed) {
  for (const char* schedule : {"cosine", "plateau", "constant"}) {
    const test::TestFolder folder;
    TrainerOptions options = options_of(10);
    options.schedule = schedule;
    const auto model = make();
    Trainer(*model, made_batches(), by_loss, options, folder.path()).save_start();
    Trainer again(*model, made_batches(), by_loss, options, folder.path());
    again.resume();
    EXPECT_EQ(again.step(), 0);
    Recorder recorder;
    EXPECT_EQ(run(again, recorder).step, 10);
  }
}

TEST(Trainer, AccumulatedBatchesAreOneBatchOfAllRows) {
  TrainerOptions options = options_of(12);
  options.optimiser = "sgd", options.schedule = "constant", options.rate = 0.1, options.clip = 0;
  constexpr int64_t kParts = 3;
  const auto part = [](int64_t index) { return batch_of(static_cast<uint64_t>(index), 2 + index % kParts); };
  const auto all = [&](int64_t index) {
    std::vector<std::vector<int32_t>> sources, targets;
    for (int64_t i = 0; i < kParts; ++i) {
      const data::Batch one = part(index * kParts + i);
      for (int64_t b = 0; b < one.source.count(); ++b) {
        sources.push_back(one.source.text().row(b)), targets.push_back(one.target.row(b));
      }
    }
    return data::Batch{data::Sequences(sources), data::Sequences(targets)};
  };
  const test::TestFolder folder;
  const auto one = make(), many = make();
  Recorder of_one, of_many;
  Trainer together(*one, {[](int64_t) { return 100; }, [&](int64_t, int64_t index) { return all(index); }}, by_loss,
                   options, folder.path());
  run(together, of_one);
  options.accumulate = kParts;
  Trainer apart(*many, {[](int64_t) { return 100; }, [&](int64_t, int64_t index) { return part(index); }}, by_loss,
                options, folder.path());
  run(apart, of_many);
  ASSERT_EQ(of_one.reports.size(), of_many.reports.size());
  for (size_t i = 0; i < of_one.reports.size(); ++i) {
    EXPECT_NEAR(of_one.reports[i].loss, of_many.reports[i].loss, 1e-5);
    EXPECT_EQ(of_one.reports[i].tokens, of_many.reports[i].tokens);
  }
  const auto first = weights_of(*one), second = weights_of(*many);
  for (size_t i = 0; i < first.size(); ++i) {
    for (size_t k = 0; k < first[i].size(); ++k) ASSERT_NEAR(first[i][k], second[i][k], 1e-5);
  }
}

/// A network that answers as another one does, and shows what it was asked; its loss may be spoilt from some update on.
class Watched : public models::Model {
 public:
  explicit Watched(std::unique_ptr<models::Model> inner) : inner_(std::move(inner)) {}
  void params(const nn::VisitParams& visit) override { inner_->params(visit); }
  Var loss(const data::Batch& batch, models::Training* training) const override {
    if (training) shares.push_back(training->own_words);
    const Var loss = inner_->loss(batch, training);
    const bool spoilt = training && training->update >= spoilt_from;
    return spoilt ? affine(loss, std::numeric_limits<real>::quiet_NaN()) : loss;
  }
  std::unique_ptr<models::State> begin(const data::Source& source) const override { return inner_->begin(source); }
  Tensor next(models::State& state, std::span<const int32_t> last) const override { return inner_->next(state, last); }
  int64_t vocabulary() const override { return inner_->vocabulary(); }

  int64_t spoilt_from = 1'000'000;
  mutable std::vector<double> shares;

 private:
  std::unique_ptr<models::Model> inner_;
};

TEST(Trainer, ALossThatIsNotFiniteSaysWhereAndWhatToDo) {
  const test::TestFolder folder;
  Watched model(make());
  model.spoilt_from = 40;
  TrainerOptions options = options_of(100);
  options.schedule = "constant", options.rate = 0.015625;
  Trainer trainer(model, made_batches(), by_loss, options, folder.path());
  trainer.save_start();
  Recorder recorder;
  const std::string message = message_of([&] { run(trainer, recorder); });
  for (const char* part : {"step 41", "not finite", "0.015625", "the weights of step 30 are kept", "train.rate",
                           "--resume continues from step 30"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_NO_THROW(weights_in(folder.path() / "weights.safetensors"));
  const auto fresh = make();
  Trainer again(*fresh, made_batches(), by_loss, options, folder.path());
  again.resume();
  EXPECT_EQ(again.step(), 30) << "the last validation";
  for (const std::vector<real>& values : weights_of(*fresh)) {
    for (const real value : values) ASSERT_TRUE(std::isfinite(value));
  }
}

/// Puts a number in the place of a weight after an update: the next loss is not yet known to be spoilt.
struct Spoiler : Recorder {
  Spoiler(models::Model& model, int64_t step) : model(model), at(step) {}
  models::Model& model;
  int64_t at;
  bool stop() override {
    if (++steps == at) nn::parameters(model).back().var.value().data()[0] = std::numeric_limits<real>::infinity();
    return false;
  }
};

TEST(Trainer, WeightsThatAreNotFiniteAreNeverWritten) {
  const test::TestFolder folder;
  const auto model = make();
  TrainerOptions options = options_of(100);
  options.validate_every = 20, options.average = 2;
  Trainer trainer(*model, made_batches(), [](const models::Model&) { return Validation{.loss = 1}; }, options,
                  folder.path());
  trainer.save_start();
  Spoiler spoiler(*model, 39);
  Watcher* const watchers[] = {&spoiler};
  const std::string message = message_of([&] { trainer.run(watchers); });
  for (const char* part : {"step 40", "not finite", "the weights of step 20 are kept"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_NO_THROW(weights_in(folder.path() / "weights.safetensors"));
  const auto fresh = make();
  Trainer again(*fresh, made_batches(), by_loss, options, folder.path());
  EXPECT_TRUE(again.resume().empty());
  EXPECT_EQ(again.step(), 20);
}

TEST(Trainer, AValidationLossThatIsNoNumberStopsTheRun) {
  const test::TestFolder folder;
  const auto model = make();
  int validations = 0;
  const auto validate = [&](const models::Model&) {
    return Validation{.loss = ++validations < 3 ? 1.0 / validations : std::numeric_limits<double>::quiet_NaN()};
  };
  TrainerOptions options = options_of(100);
  options.validate_every = 10;
  Trainer trainer(*model, made_batches(), validate, options, folder.path());
  Recorder recorder;
  const std::string message = message_of([&] { run(trainer, recorder); });
  for (const char* part : {"step 30", "validation loss is not finite", "the weights of step 20 are kept"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
}

/// Validation losses as written down, scores that follow from them or are written down too, and the weights that were judged.
struct Script {
  std::vector<double> losses;
  std::vector<std::vector<std::vector<real>>> seen;
  std::vector<double> scores = {};
  Validate validate() {
    return [this](const models::Model& model) {
      seen.push_back(weights_of(model));
      const double loss = losses.at(seen.size() - 1), score = scores.empty() ? -loss : scores.at(seen.size() - 1);
      return Validation{.loss = loss, .scores = {{"bleu", score}}};
    };
  }
};

TEST(Trainer, EqualScoresAreDecidedByTheLoss) {
  const test::TestFolder folder;
  Script script{{13.7, 9, 9, 11, 6, 7}, {}, {0, 0, 0, 0, 0, -1}};
  TrainerOptions options = options_of(30);
  options.validate_every = 5, options.best_by = "bleu", options.patience = 3;
  options.schedule = "plateau", options.rate = 0.01, options.factor = 0.5;
  const auto model = make();
  {
    Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
    Recorder recorder;
    recorder.stop_after = 15;
    run(trainer, recorder);
    EXPECT_EQ(recorder.best, (std::vector<bool>{true, true, false}));
  }
  Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
  trainer.resume();
  Recorder recorder;
  const TrainResult result = run(trainer, recorder);
  EXPECT_EQ(recorder.best, (std::vector<bool>{false, true, false})) << "the loss to beat is in the checkpoint";
  EXPECT_EQ(result.best_step, 25);
  EXPECT_EQ(result.outcome, Outcome::finished) << "a lower loss is an improvement, for patience too";
  EXPECT_EQ(recorder.reports.back().rate, 0.0025) << "two validations were no better: steps 15 and 20";
  if (sizeof(real) == 4) {
    EXPECT_EQ(weights_in(folder.path() / "weights.safetensors"), script.seen[4]);
  }
}

TEST(Trainer, StopsEarlyAndKeepsTheBestWeights) {
  for (const char* by : {"loss", "bleu"}) {
    const test::TestFolder folder;
    Script script{{3, 2, 2, 2.5, 1, 1, 1}, {}};
    TrainerOptions options = options_of(100);
    options.validate_every = 5, options.patience = 2, options.best_by = by;
    const auto model = make();
    Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
    Recorder recorder;
    const TrainResult result = run(trainer, recorder);
    EXPECT_EQ(result.outcome, Outcome::stopped_early);
    EXPECT_EQ(result.step, 20);
    EXPECT_EQ(result.best_step, 10);
    EXPECT_EQ(recorder.best, (std::vector<bool>{true, true, false, false}));
    EXPECT_NE(script.seen[1], script.seen[3]);
    if (sizeof(real) == 4) {
      EXPECT_EQ(weights_in(folder.path() / "weights.safetensors"), script.seen[1]);
    }
  }
}

TEST(Trainer, ResumedAfterItStoppedEarlyItStaysThere) {
  const test::TestFolder folder;
  Script script{{3, 4, 4, 4, 4, 4, 4}, {}};
  TrainerOptions options = options_of(100);
  options.validate_every = 5, options.patience = 2;
  Recorder recorder;
  const auto model = make();
  Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
  EXPECT_FALSE(trainer.out_of_patience());
  ASSERT_EQ(run(trainer, recorder).step, 15);
  const auto resumed = [&] {
    Trainer again(*model, made_batches(), script.validate(), options, folder.path());
    again.resume();
    const bool impatient = again.out_of_patience();
    const TrainResult result = run(again, recorder);
    EXPECT_EQ(result.outcome, Outcome::stopped_early);
    return std::pair(impatient, result.step);
  };
  EXPECT_EQ(resumed(), std::pair(true, int64_t{15}));
  options.patience = 4;
  EXPECT_EQ(resumed(), std::pair(false, int64_t{25})) << "with more patience it continues";
}

TEST(Trainer, AnotherRateIsTakenByAPlateauToo) {
  const test::TestFolder folder;
  Script script{{3, 4, 2, 1, 0.5, 0.25, 0.125, 0.06}, {}};
  TrainerOptions options = options_of(10);
  options.validate_every = 5, options.schedule = "plateau", options.rate = 0.5, options.factor = 0.5;
  const auto model = make();
  const auto next_rate = [&](double rate, int64_t steps, const char* schedule = "plateau") {
    options.rate = rate, options.steps = steps, options.schedule = schedule;
    Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
    if (steps > 10) trainer.resume();
    Recorder recorder;
    run(trainer, recorder);
    return recorder.reports.back().rate;
  };
  ASSERT_EQ(next_rate(0.5, 10), 0.5);  // the second validation is the worse one: from here on 0.25
  EXPECT_EQ(next_rate(0.5, 12), 0.25) << "the same rate is what the plateau has made of it";
  EXPECT_EQ(next_rate(0.125, 14), 0.125);
  EXPECT_EQ(next_rate(0.125, 16), 0.125);
  EXPECT_EQ(next_rate(0.0625, 18, "constant"), 0.0625);
  EXPECT_EQ(next_rate(0.03125, 20), 0.03125) << "a schedule that the run did not have begins anew";
}

TEST(Trainer, AScoreThatIsNotFiniteIsNeverTheBest) {
  const test::TestFolder folder;
  const double infinite = std::numeric_limits<double>::infinity();
  Script script{{infinite, 2, -infinite}, {}};
  TrainerOptions options = options_of(15);
  options.validate_every = 5;
  const auto model = make();
  Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
  trainer.save_start();
  Recorder recorder;
  recorder.stop_after = 5;
  EXPECT_EQ(run(trainer, recorder).best_step, 0) << "the weights of the start";
  trainer.resume();
  EXPECT_EQ(run(trainer, recorder).best_step, 10);
  EXPECT_EQ(recorder.best, (std::vector<bool>{false, true, false}));
}

TEST(Trainer, AnUnknownScoreIsRefusedWithTheNearest) {
  const test::TestFolder folder;
  Script script{{1, 1, 1}, {}};
  TrainerOptions options = options_of(4);
  options.best_by = "blue", options.validate_every = 2;
  const auto model = make();
  Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
  Recorder recorder;
  const std::string message = message_of([&] { run(trainer, recorder); });
  EXPECT_NE(message.find("train.best_by"), std::string::npos) << message;
  EXPECT_NE(message.find("blue"), std::string::npos) << message;
  EXPECT_NE(message.find("bleu"), std::string::npos) << message;
}

TEST(Trainer, TheMeanOfTheLastWeightsIsTriedInTheEnd) {
  for (const int64_t steps : {20, 23}) {  // 23: the last validation comes early
    for (const bool better : {true, false}) {
      const test::TestFolder folder;
      Script script{{5, 4, 3, 4}, {}};
      if (steps == 23) script.losses.push_back(4);
      script.losses.push_back(better ? 2 : 3);
      TrainerOptions options = options_of(steps);
      options.validate_every = 5, options.average = 3;
      const auto model = make();
      Trainer trainer(*model, made_batches(), script.validate(), options, folder.path());
      trainer.save_start();
      Recorder recorder;
      const TrainResult result = run(trainer, recorder);
      EXPECT_EQ(result.averaged, better);
      ASSERT_EQ(script.seen.size(), script.losses.size());
      const auto files = std::distance(fs::directory_iterator(folder.path() / "average"), fs::directory_iterator());
      EXPECT_EQ(files, 3) << "of " << steps << " steps";
      const size_t last = script.seen.size() - 1;
      for (size_t i = 0; i < script.seen[last].size(); ++i) {
        for (size_t k = 0; k < script.seen[last][i].size(); ++k) {
          const double sum = static_cast<double>(script.seen[last - 1][i][k]) +
                             static_cast<double>(script.seen[last - 2][i][k]) +
                             static_cast<double>(script.seen[last - 3][i][k]);
          ASSERT_NEAR(script.seen[last][i][k], sum / 3, 1e-6) << "of " << steps << " steps";
        }
      }
      if (sizeof(real) == 4) {
        EXPECT_EQ(weights_in(folder.path() / "weights.safetensors"), script.seen[better ? last : 2]);
      }
    }
  }
}

TEST(Trainer, StoppedBeforeAnyValidationItKeepsTheNewestWeights) {
  const test::TestFolder folder;
  const auto model = make();
  TrainerOptions options = options_of(9);
  options.validate_every = 6;
  Trainer trainer(*model, made_batches(), by_loss, options, folder.path());
  trainer.save_start();
  const auto before = weights_of(*model);
  Recorder recorder;
  recorder.stop_after = 3;
  Watcher* const watchers[] = {&recorder};
  trainer.run(watchers);
  EXPECT_NE(weights_of(*model), before);
  EXPECT_EQ(in_32_bits(weights_in(folder.path() / "weights.safetensors")), in_32_bits(weights_of(*model)));
}

TEST(Trainer, BeginsWithTheWeightsOfAnother) {
  const test::TestFolder folder;
  const auto first = make(), second = make();
  Trainer trained(*first, made_batches(), by_loss, options_of(3), folder.path() / "first");
  trained.check_room();
  trained.run({});
  ASSERT_NE(weights_of(*first), weights_of(*second));
  TrainerOptions options = options_of(3);
  Trainer fresh(*second, made_batches(), by_loss, options, folder.path() / "second");
  EXPECT_EQ(fresh.take_start(), "");
  EXPECT_NE(weights_of(*second), weights_in(folder.path() / "first/weights.safetensors"));
  options.start_from = (folder.path() / "first").string();
  Trainer again(*second, made_batches(), by_loss, options, folder.path() / "second");
  EXPECT_TRUE(again.take_start().ends_with(" weights of " + options.start_from));
  EXPECT_EQ(weights_of(*second), weights_in(folder.path() / "first/weights.safetensors"));
  options.start_from = (folder.path() / "nowhere").string();
  EXPECT_THROW(Trainer(*second, made_batches(), by_loss, options, folder.path() / "second").take_start(), Error);
}

TEST(Trainer, AFolderThatCannotBeWrittenIsRefused) {
  const test::TestFolder folder;
  const auto file = folder.file("file", "x");
  const auto model = make();
  const auto message = [&](const fs::path& path) {
    return message_of([&] { Trainer(*model, made_batches(), by_loss, options_of(5), path).check_room(); });
  };
  EXPECT_TRUE(message(file).starts_with(file.string())) << message(file);
  EXPECT_TRUE(message(file / "below").starts_with((file / "below").string())) << message(file / "below");
  EXPECT_EQ(message(folder.path() / "new" / "folder"), "");
  EXPECT_TRUE(fs::is_empty(folder.path() / "new" / "folder")) << "the probe is gone";
  if (::geteuid() == 0) return;  // may write anywhere
  fs::permissions(folder.path() / "new", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(message(folder.path() / "new"), "");
  fs::permissions(folder.path() / "new", fs::perms::owner_all);
}

TEST(Trainer, ACheckpointBehindTheLastBatchIsRefused) {
  const test::TestFolder folder;
  const auto model = make();
  Trainer trainer(*model, made_batches(), by_loss, options_of(50), folder.path());
  Recorder recorder;
  recorder.stop_after = kEpoch - 2;
  run(trainer, recorder);
  BatchSource fewer = made_batches();
  fewer.count = [](int64_t) { return kEpoch - 2; };
  const std::string message =
      message_of([&] { Trainer(*model, fewer, by_loss, options_of(50), folder.path()).resume(); });
  for (const char* part : {"checkpoint.safetensors", "epoch 0", "number 6", "there are 5"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
}

TEST(Trainer, ACheckpointOfAnotherRunIsRefused) {
  const test::TestFolder folder;
  const auto model = make(), wider = make("recurrent", {{"hidden", "10"}});
  Trainer(*model, made_batches(), by_loss, options_of(5), folder.path()).save_start();
  const std::string path = (folder.path() / "checkpoint.safetensors").string();
  const auto message = [&](models::Model& of, const TrainerOptions& options) {
    return message_of([&] { Trainer(of, made_batches(), by_loss, options, folder.path()).resume(); });
  };
  EXPECT_EQ(message(*model, options_of(5)), "");
  EXPECT_TRUE(message(*wider, options_of(5)).starts_with(path)) << message(*wider, options_of(5));
  TrainerOptions other = options_of(5);
  other.optimiser = "adadelta";
  EXPECT_TRUE(message(*model, other).starts_with(path)) << message(*model, other);
  // The optimiser's tensors are distrusted, too.
  std::vector<NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
  {
    const SafetensorsFile file(path);
    metadata = {file.metadata().begin(), file.metadata().end()};
    metadata.erase("attend.checksum");
    for (const auto& entry : file.entries()) {
      tensors.push_back({entry.name, entry.name.starts_with("adam.m.") ? Tensor::zeros({1}) : file.read(entry.name)});
    }
  }
  write_safetensors(path, tensors, metadata);
  EXPECT_NE(message(*model, options_of(5)), "");
  models::save_weights(*model, path);
  EXPECT_TRUE(message(*model, options_of(5)).starts_with(path)) << message(*model, options_of(5));
  folder.file("checkpoint.safetensors", "nonsense");
  EXPECT_NE(message(*model, options_of(5)), "");
  fs::remove(path);
  EXPECT_NE(message(*model, options_of(5)), "");
}

TEST(Trainer, OptionsThatCannotBeAreNamed) {
  const test::TestFolder folder;
  const auto model = make();
  const auto message = [&](auto&& change) {
    TrainerOptions options = options_of(5);
    change(options);
    return message_of([&] { Trainer(*model, made_batches(), by_loss, options, folder.path()); });
  };
  EXPECT_NE(message([](TrainerOptions& o) { o.accumulate = 0; }).find("accumulate: expected 1 to"), std::string::npos);
  EXPECT_NE(message([](TrainerOptions& o) { o.scheduled_sampling = 1.5; }).find("1.5"), std::string::npos);
  EXPECT_NE(message([](TrainerOptions& o) { o.optimiser = "adm"; }).find("adam"), std::string::npos);
  EXPECT_NE(message([](TrainerOptions& o) { o.schedule = "cosin"; }).find("cosine"), std::string::npos);
  EXPECT_NE(message([](TrainerOptions& o) { o.steps = -1; }), "");
  EXPECT_NE(message_of([&] {
              Trainer(*model, {[](int64_t) { return 0; }, {}}, by_loss, options_of(5), folder.path());
            }),
            "");
}

TEST(Trainer, TheShareOfOwnWordsRisesOverTheRun) {
  const test::TestFolder folder;
  Watched model(make());
  TrainerOptions options = options_of(8);
  options.scheduled_sampling = 0.5;
  Trainer trainer(model, made_batches(), by_loss, options, folder.path());
  Recorder recorder;
  run(trainer, recorder);
  ASSERT_EQ(model.shares.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(model.shares[i], 0.5 * static_cast<double>(i) / 8);
}

}  // namespace
}  // namespace attend::train
