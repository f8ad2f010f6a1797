#include "attend/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/support/message.h"

namespace attend::train {
namespace {

using test::message_of;

void expect_rates(const Schedule& schedule, const std::vector<std::pair<int64_t, double>>& expected) {
  for (const auto& [step, rate] : expected) EXPECT_NEAR(schedule.rate(step), rate, 1e-15) << "step " << step;
}

TEST(Schedule, Constant) {
  const auto schedule = make_schedule("constant", {.rate = 0.25, .warmup = 10});
  expect_rates(*schedule, {{1, 0.25}, {1000000, 0.25}});
  EXPECT_EQ(make_schedule("constant")->rate(1), 1e-3);
}

TEST(Schedule, WarmupRisesLinearlyAndStays) {
  expect_rates(*make_schedule("warmup", {.rate = 0.8, .warmup = 4}),
               {{1, 0.2}, {2, 0.4}, {3, 0.6}, {4, 0.8}, {5, 0.8}, {4000, 0.8}});
  expect_rates(*make_schedule("warmup", {.rate = 0.8}), {{1, 0.8}});
}

TEST(Schedule, NoamPeaksAtTheEndOfItsWarmup) {
  // d = 64, w = 4: s/8/8 up to s = 4, then 1/8/√s.
  expect_rates(*make_schedule("noam", {.warmup = 4, .width = 64}),
               {{1, 1.0 / 64}, {2, 2.0 / 64}, {4, 1.0 / 16}, {16, 1.0 / 32}, {100, 1.0 / 80}});
  expect_rates(*make_schedule("noam", {.rate = 2, .warmup = 4, .width = 64}), {{4, 1.0 / 8}});
  expect_rates(*make_schedule("noam", {.width = 64}), {{1, 1.0 / 8}, {4, 1.0 / 16}});
  // The paper's base model: the highest rate is 512^-0.5 · 4000^-0.5 = 6.99e-4.
  EXPECT_NEAR(make_schedule("noam", {.warmup = 4000, .width = 512})->rate(4000), 6.98771e-4, 1e-9);
}

TEST(Schedule, CosineFallsFromTheWarmupToTheFloor) {
  const auto schedule = make_schedule("cosine", {.rate = 1, .warmup = 2, .steps = 10, .floor = 0.2});
  const double quarter = 0.2 + 0.4 * (1 + std::sqrt(0.5));
  expect_rates(*schedule,
               {{1, 0.5}, {2, 1}, {4, quarter}, {6, 0.6}, {8, 1.2 - quarter}, {10, 0.2}, {11, 0.2}, {99, 0.2}});
}

TEST(Schedule, StairsFallEverySoManySteps) {
  expect_rates(*make_schedule("stairs", {.rate = 0.8, .warmup = 2, .every = 3}),
               {{1, 0.8}, {3, 0.8}, {4, 0.4}, {6, 0.4}, {7, 0.2}, {10, 0.1}, {12, 0.1}});
  expect_rates(*make_schedule("stairs", {.rate = 1, .every = 1, .factor = 0.1}), {{1, 1}, {2, 0.1}, {4, 1e-3}});
}

TEST(Schedule, PlateauHalvesAfterItsPatience) {
  const auto schedule = make_schedule("plateau", {.rate = 0.8, .patience = 1, .minimum = 0.15, .threshold = 0.01});
  struct Observed {
    double score, rate;
    const char* why;
  };
  const Observed all[] = {
      {5.00, 0.8, "the first score is the best so far"},
      {4.96, 0.8, "not better by 1 %: one to bear"},
      {4.90, 0.8, "better"},
      {4.90, 0.8, "one to bear"},
      {6.00, 0.4, "the second in a row is one too many"},
      {4.89, 0.4, "one to bear"},
      {4.89, 0.2, "the second in a row"},
      {4.80, 0.2, "better again"},
      {std::nan(""), 0.2, "no score is no improvement"},
      {9.00, 0.15, "0.1 would be below the minimum"},
      {9.00, 0.15, "one to bear"},
      {9.00, 0.15, "still the minimum"},
  };
  for (const Observed& observed : all) {
    schedule->observe(observed.score);
    EXPECT_NEAR(schedule->rate(1), observed.rate, 1e-15) << observed.why;
    EXPECT_EQ(schedule->rate(1000), schedule->rate(1));
  }
}

TEST(Schedule, PlateauKnowsScoresThatRiseAndScoresBelowZero) {
  const auto rising = make_schedule("plateau", {.rate = 1, .threshold = 0.1, .higher_is_better = true});
  for (const auto& [score, rate] : {std::pair{-100.0, 1.0}, {-95.0, 0.5}, {-89.0, 0.5}, {-120.0, 0.25}, {5.0, 0.25}}) {
    rising->observe(score);
    EXPECT_EQ(rising->rate(1), rate) << "after " << score;
  }
  const auto falling = make_schedule("plateau", {.rate = 1, .threshold = 0.1});
  for (const auto& [score, rate] : {std::pair{-100.0, 1.0}, {-105.0, 0.5}, {-111.0, 0.5}}) {
    falling->observe(score);
    EXPECT_EQ(falling->rate(1), rate) << "after " << score;
  }
}

TEST(Schedule, PlateauNeverTakesForTheBestWhatIsNotFinite) {
  const auto schedule = make_schedule("plateau", {.rate = 1});
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [score, rate] : {std::pair{std::nan(""), 0.5}, {5.0, 0.5}, {-inf, 0.25}, {4.0, 0.25}}) {
    schedule->observe(score);
    EXPECT_EQ(schedule->rate(1), rate) << "after " << score;
  }
}

TEST(Schedule, PlateauGoesOnFromItsState) {
  const ScheduleOptions options{.rate = 0.7, .factor = 0.3, .patience = 2};
  const std::vector<double> scores = {3, 2, 2.5, std::nan(""), 2.1, 1.9, 2, 2, 2, 2, 1.8};
  for (size_t cut = 0; cut <= scores.size(); ++cut) {
    const auto whole = make_schedule("plateau", options), before = make_schedule("plateau", options);
    const auto after = make_schedule("plateau", options);
    for (const double score : scores) whole->observe(score);
    for (size_t i = 0; i < cut; ++i) before->observe(scores[i]);
    std::map<std::string, double> kept;
    before->state([&](const std::string& name, double& value) { kept[name] = value; });
    EXPECT_EQ(kept.size(), 4u);
    for (const auto& [name, value] : kept) EXPECT_TRUE(std::isfinite(value)) << name << ": JSON has no infinity";
    after->state([&](const std::string& name, double& value) { value = kept.at(name); });
    for (size_t i = cut; i < scores.size(); ++i) after->observe(scores[i]);
    EXPECT_EQ(after->rate(1), whole->rate(1)) << "cut after " << cut;
  }
}

TEST(Schedule, PlateauRefusesAStateThatCannotBeAndKeepsItsOwn) {
  const auto schedule = make_schedule("plateau", {.rate = 0.5});
  const std::map<std::string, double> bad = {{"plateau.rate", -1.0},
                                             {"plateau.best", std::numeric_limits<double>::infinity()},
                                             {"plateau.improvements", 0.5},
                                             {"plateau.worse", -2.0}};
  for (const auto& [wrong, number] : bad) {
    const std::string message = message_of(
        [&] { schedule->state([&](const std::string& name, double& value) { value = name == wrong ? number : 0; }); });
    EXPECT_TRUE(message.starts_with("schedule plateau: expected ")) << message;
  }
  EXPECT_EQ(schedule->rate(1), 0.5);
}

TEST(Schedule, OnlyPlateauHasAStateAndListens) {
  for (const ScheduleRow& row : schedules()) {
    const auto schedule = make_schedule(row.name, {.rate = 0.5, .steps = 100});
    const double before = schedule->rate(7);
    int visited = 0;
    schedule->state([&](const std::string&, double&) { ++visited; });
    EXPECT_EQ(visited > 0, row.name == "plateau") << row.name;
    schedule->observe(1);
    schedule->observe(2);
    EXPECT_EQ(schedule->rate(7) != before, row.name == "plateau") << row.name;
  }
}

TEST(Schedule, TheTableIsComplete) {
  std::vector<std::string_view> names;
  for (const ScheduleRow& row : schedules()) {
    names.push_back(row.name);
    EXPECT_FALSE(row.formula.empty()) << row.name;
    EXPECT_GT(row.rate, 0) << row.name;
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"constant", "warmup", "noam", "cosine", "stairs", "plateau"}));
}

TEST(Schedule, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_EQ(
      message_of([] { make_schedule("cosin"); }),
      "schedule: expected one of constant, warmup, noam, cosine, stairs, plateau, got \"cosin\"; the nearest is \"cosine\"");
  EXPECT_NE(message_of([] { make_schedule("NOAMS"); }).find("the nearest is \"noam\""), std::string::npos);
  EXPECT_NE(message_of([] { make_schedule(""); }), "");
}

TEST(Schedule, BadOptionsAreRefused) {
  const double nan = std::nan("");
  struct Case {
    const char* name;
    ScheduleOptions options;
    const char* message;
  };
  const Case cases[] = {
      {"constant", {.rate = -1}, "schedule constant: the rate must not be negative, got -1"},
      {"constant", {.rate = nan}, "schedule constant: the rate must not be negative, got nan"},
      {"warmup", {.warmup = -4}, "schedule warmup: the warm-up must not be negative, got -4"},
      {"noam", {.width = 0}, "schedule noam: the width must be positive, got 0"},
      {"cosine", {.warmup = 10, .steps = 10}, "warmup: expected fewer steps than the 10 of the run, got 10"},
      {"cosine",
       {.rate = 1, .steps = 5, .floor = 2},
       "schedule cosine: the floor must be within 0 … 1 (the rate), got 2"},
      {"stairs", {.factor = 0}, "schedule stairs: the factor must lie between 0 and 1, got 0"},
      {"stairs", {.every = 0}, "schedule stairs: expected a positive number of steps between falls, got 0"},
      {"plateau", {.factor = 1}, "schedule plateau: the factor must lie between 0 and 1, got 1"},
      {"plateau", {.patience = -1}, "schedule plateau: the patience must not be negative, got -1"},
      {"plateau", {.rate = 1, .minimum = 2}, "schedule plateau: the minimum must be within 0 … 1 (the rate), got 2"},
      {"plateau", {.threshold = -1}, "schedule plateau: the threshold must be within 0 … 1, got -1"},
  };
  for (const Case& c : cases) EXPECT_EQ(message_of([&] { make_schedule(c.name, c.options); }), c.message);
  EXPECT_EQ(message_of([] { make_schedule("noam")->rate(0); }), "schedule: steps count from 1, got 0");
}

}  // namespace
}  // namespace attend::train
