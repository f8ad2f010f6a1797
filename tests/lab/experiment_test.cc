// The experiments: what they ask for can be trained, and what they find is reported as it is.
#include "lab/experiment.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "attend/base/error.h"
#include "attend/tasks/config.h"
#include "tests/support/folder.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::lab {
namespace {

using test::has;
using test::xml_complaint;

TEST(Experiments, HaveANameAClaimAndModelsThatCanBeTrained) {
  std::set<std::string_view> names;
  for (const Experiment& experiment : experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_TRUE(experiment.claim.ends_with('.')) << experiment.claim;
    EXPECT_GT(experiment.minutes, 0) << experiment.name;
    EXPECT_GT(experiment.seeds, 0) << experiment.name;
    for (const Scale scale : {Scale::quick, Scale::full}) {
      std::set<std::string> runs;
      for (const lab::Run& run : experiment.runs(scale)) {
        EXPECT_TRUE(runs.insert(run.name).second) << experiment.name << ": " << run.name;
        EXPECT_NO_THROW(tasks::TaskConfig(run.list()).check()) << experiment.name << ": " << run.name;
      }
      EXPECT_FALSE(runs.empty()) << experiment.name;
    }
  }
}

TEST(Experiments, AreFoundByNameOrTheNearestIsNamed) {
  EXPECT_EQ(experiment_named("told").name, "told");
  try {
    experiment_named("tolt");
    FAIL() << "an unknown name was taken";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.what(), "the nearest is \"told\"")) << error.what();
  }
}

TEST(Run, IsATaskAndItsOptions) {
  const SettingList list = lab::Run{"one", "task=reverse model.hidden=8"}.list();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].name, "model.hidden");
  EXPECT_EQ(list[1].value, "8");
  EXPECT_THROW((lab::Run{"one", "task"}.list()), Error);
}

TEST(Estimate, IsTheMeanWithItsStandardError) {
  const Estimate none = estimate_of({}), one = estimate_of(std::array{3.0}),
                 three = estimate_of(std::array{1.0, 2.0, 6.0});
  EXPECT_EQ(none.text(), "–");
  EXPECT_EQ(one.text(), "3.0");
  EXPECT_DOUBLE_EQ(three.mean, 3);
  EXPECT_NEAR(three.error, 1.5275, 1e-4) << "of 1, 2, 6: √7 divided by √3";
  EXPECT_EQ(three.text(2), "3.00 ± 1.53");
}

Report small_report() {
  Report report{.name = "told", .title = "A title", .claim = "One < two & \"three\"."};
  report.set_up = "Two | models.";
  report.runs = {.head = {"Model", "Options"}, .rows = {{"a|b", "x=1"}}, .words = true};
  report.check("more", true, "2 against 1");
  report.numbers = {{"x", 1}};
  report.plot("figure", {.title = "t", .x_label = "x", .y_label = "y", .series = {{"a", {1, 2}, {3, 4}}}}, "a caption");
  report.next = {{"attend list", "why:"}};
  return report;
}

TEST(Report, SaysWhetherItsClaimHeld) {
  Report report = small_report();
  EXPECT_EQ(report.verdict(), "held");
  report.check("less", false, "1 against 2");
  EXPECT_EQ(report.verdict(), "held in part");
  EXPECT_TRUE(has(markdown_of(report), "- ✗ less: no, 1 against 2")) << markdown_of(report);
  report.checks.erase(report.checks.begin());
  EXPECT_EQ(report.verdict(), "refuted");
  EXPECT_TRUE(has(html_of(report), "Here it is refuted"));
}

TEST(Report, IsAPageAMarkdownFileNumbersAndPictures) {
  const test::TestFolder folder;
  write_report(small_report(), folder.path());
  const std::string html = folder.bytes("report.html"), markdown = folder.bytes("report.md");
  EXPECT_EQ(xml_complaint(html), "");
  EXPECT_FALSE(has(html, "http")) << "nothing is loaded";
  EXPECT_TRUE(has(html, "One &lt; two &amp;"));
  EXPECT_TRUE(has(markdown, "| a\\|b | x=1 |")) << markdown;
  EXPECT_TRUE(has(markdown, "![a caption](figure.svg)")) << markdown;
  EXPECT_EQ(xml_complaint(folder.bytes("figure.svg")), "");
  const auto json = nlohmann::json::parse(folder.bytes("report.json"));
  EXPECT_EQ(json["numbers"]["x"], 1);
  EXPECT_EQ(json["verdict"], "held");
}

}  // namespace
}  // namespace attend::lab
