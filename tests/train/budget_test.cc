// Runs that have a time instead of a number of steps: how many steps that gives, that the run ends in time with its schedule
// complete, and that what was measured once is kept. Time is a number that work adds to.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/message.h"
#include "tests/support/timed_run.h"

namespace attend::train {
namespace {

using namespace test::timed;

TEST(Pace, TheLongestRunWithinATimeFillsItAndNoMore) {
  for (const double seconds : {10.0, 59.0, 600.0, 3600.0}) {
    for (const double validation : {0.0, 0.3, 5.0}) {
      for (const int64_t every : {0, 7, 1000}) {
        const Pace pace{0.05, validation};
        const RunLength length = length_within(seconds, pace, 40, every);
        EXPECT_LE(seconds_of(length, pace), seconds + 1e-9);
        EXPECT_GT(seconds_of({length.steps + 1, length.validate_every}, pace), seconds - validation);
        if (every > 0) {
          EXPECT_EQ(length.validate_every, every);
        }
      }
    }
  }
}

TEST(Pace, ValidationsAreOnceAnEpochUnlessTheyWouldTakeMostOfTheTime) {
  EXPECT_EQ(length_within(600, {0.1, 0.2}, 50, 0).validate_every, 50);
  const Pace slow{0.01, 6};
  const RunLength length = length_within(600, slow, 50, 0);
  EXPECT_LE(static_cast<double>(length.validations()) * slow.validation, 0.11 * 600);
  EXPECT_EQ(length_within(3, {0.1, 5}, 50, 0).steps, 0) << "no time for any";
}

TEST(Pace, SmallDataIsReadMoreOftenThanLargeData) {
  EXPECT_EQ(usual_epochs(970), 8) << "70,000 short pairs";
  EXPECT_EQ(usual_epochs(400), 10) << "29,000";
  EXPECT_EQ(usual_epochs(1), 40);
  EXPECT_EQ(usual_epochs(100'000), 1);
  for (int64_t steps = 1; steps < 20'000; steps += 7) EXPECT_GE(usual_epochs(steps), usual_epochs(steps + 7));
  TrainerOptions options = in_minutes(0);
  options.epochs = 0;
  EXPECT_EQ(TimedRun(options).trainer.steps(), 40 * kBatches);
}

TEST(Budget, ARunEndsInItsTimeWithItsScheduleComplete) {
  const Costs kCosts[] = {{0.1, 0.01, 2}, {0, 0.05, 0}, {0.5, 0.02, 20}};
  for (const Costs& costs : kCosts) {
    for (const double minutes : {1.0, 5.0}) {
      TimedRun run(in_minutes(minutes), costs);
      LastReport report;
      const double begun = run.time;
      if (minutes == 1 && costs.validation > 10) continue;  // a third of the time for each
      const TrainResult result = run.run(report);
      const double taken = (run.time - begun) / 60;
      EXPECT_NEAR(taken, minutes, 0.1 * minutes) << costs.update << ", " << costs.validation;
      EXPECT_EQ(result.step, run.trainer.steps());
      EXPECT_EQ(report.last.steps, result.step);
      EXPECT_NEAR(report.last.rate, 0, 1e-12) << "the cosine has come to its end";
      EXPECT_GE(report.validations, 1);
    }
  }
}

TEST(Budget, WhatTheAverageCostsCounts) {
  TrainerOptions options = in_minutes(4);
  options.average = 2, options.validate_every = 100;
  TimedRun run(options, {0.1, 0.01, 15});
  LastReport report;
  const double begun = run.time;
  run.run(report);
  EXPECT_NEAR((run.time - begun) / 60, 4, 0.4);
}

TEST(Budget, ARehearsalChangesNothing) {
  TrainerOptions options;
  options.steps = 60, options.rate = 1e-2, options.validate_every = 25;
  TimedRun plain(options), rehearsed(options);
  for (TimedRun* run : {&plain, &rehearsed}) run->trainer.save_start();
  const Pace pace = rehearsed.trainer.rehearse(3);
  EXPECT_GT(pace.step, 0);
  EXPECT_NEAR(pace.validation, 2, 1e-9);
  EXPECT_EQ(rehearsed.trainer.step(), 0);
  LastReport one, other;
  plain.run(one), rehearsed.run(other);
  EXPECT_EQ(one.last.loss, other.last.loss);
  EXPECT_EQ(one.last.tokens, other.last.tokens);
  EXPECT_EQ(plain.folder.bytes("weights.safetensors"), rehearsed.folder.bytes("weights.safetensors"));
}

TEST(Budget, TheSameStepsByNumberAreTheSameRun) {
  TimedRun timed(in_minutes(1));
  LastReport report, other;
  const TrainResult result = timed.run(report);
  TrainerOptions options = in_minutes(0);
  options.steps = result.step, options.validate_every = timed.trainer.length().validate_every;
  TimedRun counted(options);
  counted.run(other);
  EXPECT_EQ(timed.folder.bytes("weights.safetensors"), counted.folder.bytes("weights.safetensors"));
}

TEST(Budget, TheSpeedOfAnEpochCountsNotThatOfTheFirstBatches) {
  double time = 0;
  TimedModel model({0, 1, 0}, time);
  const test::TestFolder folder;
  // The first batches have one row, all others nine.
  const auto batch = [](int64_t, int64_t index) {
    Random random = Random(static_cast<uint64_t>(index)).named("skewed");
    return test::draw(test::reverse_task(kWords), 3, 3, index < 20 ? 1 : 9, random);
  };
  BatchSource source{[](int64_t) { return 100; }, batch};
  for (int64_t i = 0; i < 100; ++i) source.an_epoch += data::target_tokens(batch(0, i));
  Trainer trainer(
      model, source, [](const models::Model&) { return Validation{}; }, in_minutes(60), folder.path());
  trainer.set_clock([&] { return time; });
  EXPECT_NEAR(trainer.rehearse(0).step, static_cast<double>(source.an_epoch) / 100, 1e-6);
}

TEST(Budget, AResumedRunDoesNotMeasureAgain) {
  TrainerOptions options = in_minutes(2);
  options.schedule = "cosine";
  TimedRun straight(options);
  LastReport all;
  const TrainResult whole = straight.run(all);
  TimedRun stopped(options);
  LastReport first;
  first.stop_after = 37;
  ASSERT_EQ(stopped.run(first).outcome, Outcome::interrupted);
  double time = 0;
  TimedModel model({5, 1, 100}, time);  // by now the machine is much slower
  Trainer again(
      model, sized_batches(),
      [](const models::Model& judged) {
        const TapePause pause;
        return Validation{.loss = static_cast<double>(judged.loss(sized_batch(99, 0)).item())};
      },
      options, stopped.folder.path());
  again.set_clock([&] { return time; });
  EXPECT_TRUE(again.awaits_fit());
  again.resume();
  EXPECT_FALSE(again.awaits_fit());
  EXPECT_EQ(again.steps(), whole.step);
  EXPECT_EQ(again.length().validate_every, straight.trainer.length().validate_every);
  LastReport rest;
  Watcher* const watchers[] = {&rest};
  EXPECT_EQ(again.run(watchers).step, whole.step);
  if (sizeof(real) == 4) {
    EXPECT_EQ(rest.last.loss, all.last.loss);
    EXPECT_EQ(stopped.folder.bytes("weights.safetensors"), straight.folder.bytes("weights.safetensors"));
  }
}

TEST(Budget, KilledBeforeItWasMeasuredItIsMeasured) {
  TimedRun run(in_minutes(1));
  run.trainer.save_start();
  run.trainer.resume();
  EXPECT_TRUE(run.trainer.awaits_fit());
  LastReport report;
  EXPECT_GT(run.run(report).step, 20);
}

TEST(Budget, WhatCannotBeIsRefused) {
  const auto message = [](TrainerOptions options) {
    return test::message_of([&] {
      TimedRun run(std::move(options));
      LastReport report;
      run.run(report);
    });
  };
  TrainerOptions both = in_minutes(5);
  both.steps = 100;
  EXPECT_NE(message(both).find("minutes: expected minutes or steps, as the time sets the number of steps, got both: 5 and 100"), std::string::npos)
      << message(both);
  EXPECT_NE(message(in_minutes(-1)).find("minutes: expected 0 to"), std::string::npos);
  EXPECT_NE(message(in_minutes(1e9)).find("minutes: expected 0 to"), std::string::npos);
  EXPECT_NE(message(in_minutes(std::nan(""))).find("minutes: expected"), std::string::npos);
  const std::string little = message(in_minutes(0.05));
  for (const char* part : {"train.minutes: expected enough for 20 steps", "0.05", "a smaller network"}) {
    EXPECT_NE(little.find(part), std::string::npos) << little;
  }
}

}  // namespace
}  // namespace attend::train
