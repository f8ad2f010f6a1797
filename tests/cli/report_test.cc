// The report of a comparison: one page that loads nothing, whatever the names; the best in bold; numbers as they are.
#include "cli/report.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/xml.h"

namespace attend::cli {
namespace {

using test::has;

Compared model(const std::string& name, double bleu, double seconds) {
  Compared one;
  one.name = name, one.folder = "models/" + name, one.options = "attention.score=" + name, one.state = "finished";
  one.steps = 10, one.tokens = 1000, one.seconds = seconds;
  one.test = {"two files",
              tasks::examples_of({{.inputs = {"ein kleiner hund"}, .right = {"a small dog"}},
                                  {.inputs = {"ja"}, .right = {"yes"}}}),
              ""};
  one.groups = {{1, 2, 1}, {3, {}, 1}};
  one.by_length = {bleu - 1, std::numeric_limits<double>::quiet_NaN()};
  one.curve = {{5, 10}, {0.5, 1}, {3, 2}, {1, bleu}};
  tasks::Measured measured;
  measured.scores = {{"bleu", bleu}, {"chrf", bleu + 10}, {"exact", 50}}, measured.parameters = 12345;
  measured.shown = {{0, "ein kleiner hund", "a small dog", "a <small> dog & more", "<svg></svg>"}};
  one.measured = measured;
  one.scores = {{"bleu", {{"score", bleu}}}};
  return one;
}

Comparison comparison() {
  Comparison c{"recipe.yml", "words", true, {model("dot", 30.04, 60), model("<script> & \"additive\"", 31.2, 90)}};
  c.score = &train::score_named(c.row->scores[0]);
  Compared failed;
  failed.name = "mad", failed.state = "failed", failed.error = "the loss is not finite | <at step> 3";
  c.models.push_back(failed);
  return c;
}

TEST(Report, ThePageIsWholeAndLoadsNothing) {
  const std::string html = html_report(comparison());
  EXPECT_EQ(test::xml_complaint(html), "");
  for (const char* part : {"http://", "https://", "src=", "href=", "url(", "@import", "<link"}) {
    EXPECT_FALSE(has(html, part)) << part;
  }
  EXPECT_FALSE(has(html, "<script> &")) << "names are escaped";
  EXPECT_TRUE(has(html, "&lt;script&gt; &amp; &quot;additive&quot;"));
  EXPECT_TRUE(has(html, "prefers-color-scheme: dark"));
  EXPECT_TRUE(has(html, "the loss is not finite | &lt;at step&gt; 3"));
  EXPECT_TRUE(has(html, "a &lt;small&gt; dog &amp; more"));
  EXPECT_TRUE(has(html, "<strong>31.2</strong>"));
  EXPECT_FALSE(has(html, "<strong>30.0</strong>"));
  EXPECT_FALSE(has(html, "AER")) << "no model has it";
}

TEST(Report, WithoutAnyResultItIsStillAPage) {
  Comparison waiting{"translate", "words", true, {{.name = "a"}, {.name = "b"}}};
  const std::string html = html_report(waiting);
  EXPECT_EQ(test::xml_complaint(html), "");
  EXPECT_TRUE(has(html, "No model has been scored yet"));
  EXPECT_TRUE(has(markdown_report(waiting), "| a (waiting) |"));
  const test::TestFolder folder;
  write_report(waiting, folder.path());
  EXPECT_EQ(test::xml_complaint(folder.bytes("score-by-length.svg")), "");
}

TEST(Report, TheMarkdownTableHasOneRowPerModelAndTheBestInBold) {
  const std::string text = markdown_report(comparison());
  EXPECT_TRUE(has(text, "| dot | 30.0 | 40.0 | 50.0 | 12.3k | **1:00** | 17 |")) << text;
  EXPECT_TRUE(has(text, " | **31.2** | **41.2** | 50.0 | 12.3k | 1:30 | 11 |")) << text;
  EXPECT_TRUE(has(text, "| mad (failed) | – |")) << text;
  EXPECT_TRUE(has(text, "mad failed: the loss")) << text;
}

TEST(Report, WhereAnswersAreOneWordExactMatchIsTheScore) {
  Comparison c = comparison();
  c.row = &tasks::task_named("reverse");
  c.score = &train::score_named(c.row->scores[0]);
  EXPECT_TRUE(has(markdown_report(c), "| model | Exact % | chrF |")) << markdown_report(c);
  EXPECT_EQ(length_plot(c).title, "Exact match by length of the source");
  EXPECT_EQ(length_plot(c).y_label, "exact match, %");
  for (const explain::Plot& plot : learning_plots(c)) {
    EXPECT_FALSE(has(plot.title, "BLEU"));
    EXPECT_EQ(plot.bounds.has_value(), plot.y_label == "exact match, %") << plot.title;
  }
  for (const char* part : {">BLEU", "BLEU by", "BLEU:"}) EXPECT_FALSE(has(html_report(c), part)) << part;
  EXPECT_EQ(json_report(c)["score"], "exact");
  EXPECT_EQ(json_report(c)["models"][0]["curve"]["exact"][1], 30.04);
}

TEST(Report, TheTableForTheTerminalHasStraightColumns) {
  const std::string text = text_table(comparison());
  EXPECT_EQ(test::lines(text), 4);
  EXPECT_TRUE(has(text, "31.2*")) << text;
  EXPECT_TRUE(has(text, "mad (failed)")) << text;
}

TEST(Report, NumbersAreInTheJsonAndWhatIsNoneIsNull) {
  const nlohmann::ordered_json json = json_report(comparison());
  ASSERT_EQ(json["models"].size(), 3u);
  EXPECT_EQ(json["models"][0]["scores"]["bleu"]["score"], 30.04);
  EXPECT_EQ(json["models"][0]["by_length"][0]["sentences"], 1);
  EXPECT_TRUE(json["models"][0]["by_length"][1]["bleu"].is_null());
  EXPECT_TRUE(json["models"][0]["by_length"][1]["to"].is_null());
  EXPECT_EQ(json["models"][0]["curve"]["bleu"][1], 30.04);
  EXPECT_EQ(json["models"][2]["error"], "the loss is not finite | <at step> 3");
}

}  // namespace
}  // namespace attend::cli
