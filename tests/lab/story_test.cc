// The story of a report: its steps, in the order of its blocks, and where its models are tried.
#include "lab/story.h"

#include <gtest/gtest.h>

#include "lab/experiment.h"

namespace attend::lab {
namespace {

using nlohmann::ordered_json;

std::vector<std::string> titles_of(const ordered_json& story) {
  std::vector<std::string> titles;
  for (const ordered_json& step : story) titles.push_back(step["title"]);
  return titles;
}

std::vector<std::string> kinds_of(const ordered_json& step) {
  std::vector<std::string> kinds;
  for (const ordered_json& block : step["blocks"]) kinds.push_back(block["kind"]);
  return kinds;
}

using Names = std::vector<std::string>;

Report long_report() {
  Report report{.name = "told", .title = "A title", .claim = "A claim."};
  report.set_up = "Two models.";
  report.common = "task=reverse";
  report.check("more", true, "2 against 1");
  report.figure("by-length", "<svg/>", "a caption");
  report.live({.text = "try", .runs = {"a", "b"}, .longest = 9});
  report.blocks.emplace_back(Table{.title = "", .head = {"Model", "Exact"}, .rows = {{"a", "1"}}});
  report.text("What it costs", "Little.");
  report.text("", "And less.");
  report.figure("cost", "<svg/>", "another caption");
  report.blocks.emplace_back(Table{.title = "BLEU", .head = {"Model"}, .rows = {}});
  report.live({.title = "Now you", .text = "try again", .runs = {"a"}});
  report.next = {{"attend list", "why:"}};
  return report;
}

TEST(Story, HasAStepForEachFigureAndTableWithItsText) {
  const ordered_json story = story_of(long_report());
  EXPECT_EQ(titles_of(story), (Names{"The claim", "Did it hold?", "By length", "In numbers", "What it costs", "BLEU",
                                     "Now you", "What to try next"}));
  EXPECT_EQ(kinds_of(story[0]), (Names{"text", "table", "command"}));
  EXPECT_EQ(kinds_of(story[1]), Names{"checks"});
  Report nothing_in_common = long_report();
  nothing_in_common.common.clear();
  EXPECT_EQ(kinds_of(story_of(nothing_in_common)[0]), (Names{"text", "table"}));
  EXPECT_EQ(kinds_of(story[2]), (Names{"figure", "live"})) << "it is tried where it was shown";
  EXPECT_EQ(kinds_of(story[4]), (Names{"text", "text", "figure"}));
  EXPECT_EQ(kinds_of(story[6]), Names{"live"});
  EXPECT_EQ(story[2]["blocks"][1]["runs"], ordered_json({"a", "b"}));
  EXPECT_EQ(story[2]["blocks"][1]["sliders"], ordered_json({"length"}));
}

TEST(Story, IsThereWithoutAnyBlocks) {
  EXPECT_EQ(titles_of(story_of(Report{})), (Names{"The claim", "Did it hold?"}));
  Report report;
  report.live({.text = "try"});
  EXPECT_EQ(titles_of(story_of(report)).back(), "Try it yourself");
}

TEST(Story, IsInNoFileButJson) {
  const Report report = long_report();
  EXPECT_EQ(html_of(report).find("try again"), std::string::npos);
  EXPECT_EQ(markdown_of(report).find("Now you"), std::string::npos);
  EXPECT_EQ(json_of(report)["story"], story_of(report));
}

TEST(Lives, AreOneForTheRunsOfEachTask) {
  const std::vector<Live> lives = lives_of({{"a", "task=reverse x=1"}, {"b", "task=classify"}, {"c", "task=reverse"}});
  ASSERT_EQ(lives.size(), 2u);
  EXPECT_EQ(lives[0].runs, (Names{"a", "c"}));
  EXPECT_EQ(lives[1].runs, Names{"b"});
}

}  // namespace
}  // namespace attend::lab
