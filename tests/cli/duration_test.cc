// How long a run takes, in words, and which of a time, steps and epochs counts.
#include "cli/duration.h"

#include <gtest/gtest.h>

#include "attend/base/recipe.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/timed_run.h"

namespace attend::cli {
namespace {

using test::has;

std::string kept(SettingList asked) {
  settle_length(asked);
  std::string text;
  for (const Setting& setting : asked) text += setting.name + "=" + setting.value + " ";
  return text;
}

TEST(Duration, IsRoughAndReadable) {
  EXPECT_EQ(rough_time(4.4), "4 s");
  EXPECT_EQ(rough_time(59), "59 s");
  EXPECT_EQ(rough_time(90), "2 min");
  EXPECT_EQ(rough_time(3540), "59 min");
  EXPECT_EQ(rough_time(3600), "1 h");
  EXPECT_EQ(rough_time(4800), "1 h 20 min");
}

TEST(Duration, ALongRunComesWithAShorterChoice) {
  train::TrainerOptions options;
  const train::RunLength length{18400, 920};
  const std::string said = duration_text(options, length, 20, 5400);
  EXPECT_TRUE(has(said, "about 1 h 30 min: 18400 steps, 20 epochs, 20 validations")) << said;
  EXPECT_TRUE(has(said, "--train.minutes 30")) << said;
  EXPECT_TRUE(has(said, "--train.epochs 6, about 27 min")) << said;
  options.steps = 18400;
  EXPECT_TRUE(has(duration_text(options, length, 20, 5400), "--train.steps 6133, about 30 min"));
  options.steps = 0;
  const std::string large = duration_text(options, length, 0.5, 5400);
  EXPECT_TRUE(has(large, "0.5 epochs") && has(large, "--train.steps 6133")) << "less than an epoch fits: " << large;
}

TEST(Duration, AShortRunAndOneThatHasATimeComeWithout) {
  train::TrainerOptions options;
  EXPECT_EQ(duration_text(options, {100, 50}, 1, 600), "this will take about 10 min: 100 steps, 1 epoch, 2 validations");
  options.minutes = 90;
  EXPECT_FALSE(has(duration_text(options, {18400, 920}, 20, 5400), "--train"));
}

TEST(Duration, AFlagTakesThePlaceOfWhatARecipeSays) {
  const Setting steps{"train.steps", "40", "x.yml:3"}, epochs{"train.epochs", "9", "x.yml:4"},
      minutes{"train.minutes", "5", "x.yml:5"};
  EXPECT_EQ(kept({steps, epochs, {"train.minutes", "30", "--train.minutes"}}), "train.minutes=30 ");
  EXPECT_EQ(kept({minutes, {"train.steps", "7", "--train.steps"}}), "train.steps=7 ");
  EXPECT_EQ(kept({steps, {"train.rate", "1", "--train.rate"}}), "train.steps=40 train.rate=1 ");
  EXPECT_EQ(kept({steps, {"train.minutes", "0", "--train.minutes"}}), "train.steps=40 train.minutes=0 ");
}

TEST(Duration, ATimeAndANumberAreRefused) {
  for (const char* name : {"train.steps", "train.epochs"}) {
    const std::string flag = "--" + std::string(name);
    const std::string message = test::message_of(
        [&] { kept({{"train.minutes", "30", "--train.minutes"}, {name, "5", flag}}); });
    EXPECT_EQ(message, "--train.minutes or " + flag + ", not both: the time sets the number of steps");
  }
}

/// What is told of a run before it starts.
std::string told(test::timed::TimedRun& run, double spent = 0) {
  std::string text;
  announce_duration(run.trainer, spent, [&](const std::string& line) { text += line; });
  return text;
}

TEST(Duration, IsToldBeforeTheFirstStepAndTrue) {
  train::TrainerOptions options;
  options.steps = 400, options.validate_every = 100;
  test::timed::TimedRun run(options);
  const std::string text = told(run);
  EXPECT_TRUE(text.starts_with("this will take about ") && has(text, " min: 400 steps")) << text;
  EXPECT_EQ(run.trainer.step(), 0);
  const double begun = run.time;
  test::timed::LastReport report;
  run.run(report);
  const std::string taken = rough_time(run.time - begun);
  EXPECT_TRUE(has(text, "about " + taken)) << text << "; it took " << taken;
}

TEST(Duration, OfARunThatIsOverInAMomentNothingIsTold) {
  train::TrainerOptions options;
  options.steps = 300, options.validate_every = 300;
  test::timed::TimedRun quick(options, {0.01, 0, 0.1});
  EXPECT_EQ(told(quick), "");
  options.steps = 50, options.validate_every = 50;
  test::timed::TimedRun few(options);
  EXPECT_EQ(told(few), "");
  EXPECT_EQ(few.time, 1000) << "and nothing is measured";
}

TEST(Duration, WhatWasSpentBeforeTheRunCounts) {
  test::timed::TimedRun run(test::timed::in_minutes(5));
  const double begun = run.time;
  const std::string text = told(run, 120);
  EXPECT_TRUE(text.starts_with("this will take about 3 min")) << text;
  test::timed::LastReport report;
  run.run(report);
  EXPECT_NEAR(run.time - begun, 180, 18);
}

}  // namespace
}  // namespace attend::cli
