// The table of tasks: every row is whole, and everything it names exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "attend/data/builtin.h"
#include "attend/data/examples.h"
#include "attend/models/zoo.h"
#include "attend/tasks/config.h"
#include "attend/tasks/corpus.h"
#include "attend/tasks/output.h"
#include "attend/train/scores.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

TEST(Tasks, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const TaskRow& row : tasks()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.inputs.empty()) << row.name;
    EXPECT_EQ(&task_named(row.name), &row);
  }
  EXPECT_NE(test::message_of([] { task_named("translat"); }).find("\"translate\""), std::string::npos);
}

TEST(Tasks, CanBeConfiguredByTheirNamesAlone) {
  for (const TaskRow& row : tasks()) {
    SCOPED_TRACE(row.name);
    const TaskConfig config({{"task", std::string(row.name), ""}});
    EXPECT_EQ(&config.row(), &row);
    EXPECT_EQ(config.options.corpus, row.corpus);
    EXPECT_EQ(test::message_of([&] { config.check(); }), "");
  }
}

TEST(Tasks, NameNetworksThatReadTheirInput) {
  for (const TaskRow& row : tasks()) {
    for (const std::string_view name : row.networks) {
      SCOPED_TRACE(std::string(row.name) + ": " + std::string(name));
      EXPECT_TRUE(models::can_read(models::model_row(name).reads, row.input().reads));
      const TaskConfig config({{"task", std::string(row.name), ""}, {"model.name", std::string(name), ""}});
      EXPECT_EQ(config.model.name, name);
    }
  }
}

TEST(Tasks, NameScoresThatExist) {
  for (const TaskRow& row : tasks()) {
    for (const std::string_view name : row.scores) EXPECT_EQ(train::score_named(name).name, name) << row.name;
    EXPECT_EQ(row.scores.empty(), row.output == &kImageOutput) << row.name << ": what has words can be scored";
  }
}

TEST(Tasks, ReadAFormatThatExists) {
  for (const TaskRow& row : tasks()) {
    const bool known = row.format == "pairs" || row.format == "images" || row.format == "sounds" ||
                       std::ranges::any_of(data::example_formats(), [&](const auto& f) { return f.name == row.format; });
    EXPECT_TRUE(known) << row.name << ": " << row.format;
    EXPECT_EQ(row.format == "images", row.input().is_image()) << row.name;
    EXPECT_EQ(row.format == "sounds", row.input().reads == models::Reads::sound) << row.name;
  }
}

/// The right answers to the first examples of a task's test, or in their place others that have as many words.
train::Judged judged(const Examples& test, bool right) {
  const auto words = [](const std::string& text) { return std::ranges::count(text, ' '); };
  train::Judged all;
  for (int64_t i = 0; i < 20; ++i) {
    const Example one = test.at(i);
    all.right.push_back(one.right), all.outputs.push_back(one.right.at(0));
    for (int64_t k = 1; k < 20 && !right; ++k) {
      const std::string other = test.right((i + k) % 20).at(0);
      if (other == one.right[0] || words(other) != words(one.right[0])) continue;
      all.outputs.back() = other;
      break;
    }
  }
  return all;
}

TEST(Tasks, AreScoredBestForRightAnswersAndReportEveryScore) {
  for (const TaskRow& row : tasks()) {
    if (row.scores.empty()) continue;
    SCOPED_TRACE(row.name);
    const Examples test = read_test(TaskConfig({{"task", std::string(row.name), ""}}), {});
    ASSERT_GE(test.count, 20);
    const train::Judged right = judged(test, true), wrong = judged(test, false);
    const nlohmann::ordered_json report = train::report_of(row.scores, right, {});
    for (const std::string_view name : row.scores) {
      const train::ScoreRow& score = train::score_named(name);
      const double best = score.score(right);
      EXPECT_EQ(report.contains(name), !std::isnan(best)) << name;
      if (std::isnan(best)) continue;  // it does not apply: parts of speech are no spans
      EXPECT_NEAR(best, score.better > 0 ? 100 : 0, 1e-9) << name;
      EXPECT_GT(score.better * best, score.better * score.score(wrong)) << name;
    }
  }
}

TEST(Scores, RefuseToJudgeNothing) {
  EXPECT_EQ(test::message_of([] { train::report_of(tasks()[0].scores, {}, {}); }),
            "scores: expected as many right answers as outputs and at least one, got 0 and 0");
}

}  // namespace
}  // namespace attend::tasks
