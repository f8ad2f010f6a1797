// Scores of labels, tags, brackets and edits against what scikit-learn, seqeval, evalb and jiwer say
// (tests/golden/scores.json), and where those say nothing, against numbers by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/train/brackets.h"
#include "attend/train/edits.h"
#include "attend/train/labels.h"
#include "attend/train/scores.h"
#include "attend/train/tags.h"
#include "tests/support/message.h"

namespace attend::train {
namespace {

using nlohmann::json;
using test::message_of;
using Lines = std::vector<std::string>;

const json& goldens() {
  static const json all = [] {
    std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/scores.json");
    return json::parse(file);
  }();
  return all;
}

Lines lines_of(const json& list) { return list.get<Lines>(); }

/// Equal but for the order in which a formula is rounded.
void expect_same(double ours, double theirs, const std::string& where) { EXPECT_NEAR(ours, theirs, 1e-14) << where; }

TEST(LabelScoresTest, AreThoseOfScikitLearn) {
  ASSERT_GE(goldens()["labels"].size(), 7u);
  for (const json& expected : goldens()["labels"]) {
    const std::string where = expected["references"].dump();
    const LabelScores scores = label_scores(lines_of(expected["outputs"]), lines_of(expected["references"]));
    EXPECT_EQ(scores.count, static_cast<int64_t>(expected["outputs"].size()));
    expect_same(scores.accuracy, expected["accuracy"], where);
    expect_same(scores.macro_f1, expected["macro_f1"], where);
    EXPECT_EQ(json(scores.labels), expected["labels"]);
    EXPECT_EQ(json(scores.confusion), expected["confusion"]) << where;
    for (size_t i = 0; i < scores.labels.size(); ++i) {
      EXPECT_EQ(scores.by_label[i].references, expected["support"][i]);
      expect_same(scores.by_label[i].precision(), expected["precision"][i], where);
      expect_same(scores.by_label[i].recall(), expected["recall"][i], where);
      expect_same(scores.by_label[i].f1(), expected["f1"][i], where);
    }
  }
}

TEST(SpanScoresTest, AreThoseOfSeqeval) {
  ASSERT_GE(goldens()["spans"].size(), 10u);
  for (const json& expected : goldens()["spans"]) {
    const Lines outputs = lines_of(expected["outputs"]), references = lines_of(expected["references"]);
    const std::string where = outputs[0];
    const SpanScores scores = span_scores(outputs, references);
    expect_same(scores.all.precision(), expected["micro"][0], where);
    expect_same(scores.all.recall(), expected["micro"][1], where);
    expect_same(scores.all.f1(), expected["micro"][2], where);
    expect_same(scores.tags.accuracy(), expected["accuracy"], where);
    expect_same(tag_scores(outputs, references).accuracy(), expected["accuracy"], where);
    ASSERT_EQ(scores.types.size(), expected["types"].size()) << where;
    size_t i = 0;
    for (const auto& [type, matches] : scores.types) {
      EXPECT_EQ(type, expected["types"][i]);
      EXPECT_EQ(matches.references, expected["support"][i]) << type << " of " << where;
      expect_same(matches.precision(), expected["precision"][i], where);
      expect_same(matches.recall(), expected["recall"][i], where);
      expect_same(matches.f1(), expected["f1"][i], where);
      ++i;
    }
  }
}

TEST(TagScoresTest, CountWordsAndSentences) {
  const TagScores scores = tag_scores(Lines{"DT NN", "DT  VB ", ""}, Lines{"DT NN", "DT NN", ""});
  EXPECT_EQ(scores.words, 4);
  EXPECT_EQ(scores.right, 3);
  EXPECT_EQ(scores.sentences, 3);
  EXPECT_EQ(scores.exact, 2);
}

TEST(EditScoresTest, AreThoseOfJiwer) {
  ASSERT_GE(goldens()["edits"].size(), 100u);
  for (const json& expected : goldens()["edits"]) {
    const Lines outputs = lines_of(expected["outputs"]), references = lines_of(expected["references"]);
    const std::string where = references[0] + " | " + outputs[0];
    const EditScores scores = edit_scores(outputs, references);
    EXPECT_EQ(scores.substitutions, expected["substitutions"]) << where;
    EXPECT_EQ(scores.insertions, expected["insertions"]) << where;
    EXPECT_EQ(scores.deletions, expected["deletions"]) << where;
    EXPECT_EQ(scores.tokens, expected["tokens"]) << where;
    expect_same(scores.error_rate(), expected["error_rate"], where);
  }
}

TEST(SpeechScores, CountCharactersAsJiwer) {
  std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/characters.json");
  const json all = json::parse(file)["cases"];
  ASSERT_GE(all.size(), 100u);
  for (const json& expected : all) {
    Judged judged{.outputs = lines_of(expected["outputs"])};
    for (const std::string& one : lines_of(expected["references"])) judged.right.push_back({one});
    const json report = report_of(std::array<std::string_view, 1>{"cer"}, judged, {});
    const std::string where = expected["references"].dump() + expected["outputs"].dump();
    EXPECT_NEAR(report["cer"], 100 * expected["rate"].get<double>(), 1e-4) << where;
    EXPECT_EQ(report["letter_edits"]["substitutions"], expected["substitutions"]) << where;
    EXPECT_EQ(report["letter_edits"]["insertions"], expected["insertions"]) << where;
    EXPECT_EQ(report["letter_edits"]["deletions"], expected["deletions"]) << where;
    EXPECT_EQ(report["letter_edits"]["letters"], expected["letters"]) << where;
  }
}

TEST(EditScoresTest, TakeTheNearestReference) {
  const std::vector<Lines> references{{"a b c d", "x y"}, {"a b", "b"}, {"a", "a b"}};
  const EditScores scores = edit_scores(Lines{"x z", "c", "a b"}, references);
  EXPECT_EQ(scores.substitutions, 2) << "x z → x y; c → b";
  EXPECT_EQ(scores.deletions, 0);
  EXPECT_EQ(scores.insertions, 0);
  EXPECT_EQ(scores.tokens, 2 + 1 + 2);
  EXPECT_EQ(scores.wrong, 2);
  EXPECT_DOUBLE_EQ(scores.wrong_rate(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.error_rate(), 2.0 / 5);
  EXPECT_EQ(edit_scores(Lines{"c"}, std::vector<Lines>{{"a c", "b"}}).deletions, 1)
      << "of equally near ones, the first";
  EXPECT_DOUBLE_EQ(edit_scores(Lines{"a b"}, Lines{" "}).error_rate(), 2) << "as jiwer has it";
}

/// evalb prints two decimals of a percentage.
void expect_printed(double ours, double theirs, const std::string& where) {
  EXPECT_NEAR(ours, theirs, 0.00501) << where;
}

TEST(BracketScoresTest, AreThoseOfEvalbBySentence) {
  const json& brackets = goldens()["brackets"];
  const Lines outputs = lines_of(brackets["outputs"]), references = lines_of(brackets["references"]);
  size_t failed = 0, crossed = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& row = brackets["rows"][i];
    const std::string where = outputs[i] + " against " + references[i];
    const BracketTotals totals =
        bracket_scores(std::span(outputs).subspan(i, 1), std::span(references).subspan(i, 1)).all;
    EXPECT_EQ(totals.failed, row["status"] == 1) << where;
    EXPECT_EQ(totals.skipped, row["status"] == 2) << where;
    failed += row["status"] != 0;
    if (row["status"] != 0) continue;
    EXPECT_EQ(totals.brackets.right, row["matched"]) << where;
    EXPECT_EQ(totals.brackets.references, row["gold"]) << where;
    EXPECT_EQ(totals.brackets.outputs, row["test"]) << where;
    EXPECT_EQ(totals.crossing, row["cross"]) << where;
    EXPECT_EQ(totals.words, row["words"]) << where;
    EXPECT_EQ(totals.right_tags, row["tags"]) << where;
    crossed += totals.crossing > 0;
  }
  EXPECT_GT(failed, 15u);
  EXPECT_GT(crossed, 20u);
}

TEST(BracketScoresTest, AreThoseOfEvalbInTotal) {
  const json& brackets = goldens()["brackets"];
  const BracketScores scores = bracket_scores(lines_of(brackets["outputs"]), lines_of(brackets["references"]));
  for (const auto& [name, totals] : {std::pair("all", scores.all), std::pair("up_to_40", scores.up_to_40)}) {
    const json& expected = brackets[name];
    EXPECT_EQ(totals.sentences, expected["Number of sentence"]);
    EXPECT_EQ(totals.failed, expected["Number of Error sentence"]);
    EXPECT_EQ(totals.skipped, expected["Number of Skip  sentence"]);
    EXPECT_EQ(totals.valid(), expected["Number of Valid sentence"]);
    expect_printed(100 * totals.recall(), expected["Bracketing Recall"], name);
    expect_printed(100 * totals.precision(), expected["Bracketing Precision"], name);
    expect_printed(100 * totals.f1(), expected["Bracketing FMeasure"], name);
    expect_printed(100 * totals.exact_match(), expected["Complete match"], name);
    expect_printed(totals.average_crossing(), expected["Average crossing"], name);
    expect_printed(100 * Matches::share(totals.without_crossing, totals.valid()), expected["No crossing"], name);
    expect_printed(100 * Matches::share(totals.with_two_at_most, totals.valid()), expected["2 or less crossing"], name);
    expect_printed(100 * totals.tag_accuracy(), expected["Tagging accuracy"], name);
  }
  EXPECT_LT(scores.up_to_40.sentences, scores.all.sentences);
}

// What evalb cannot read, and what it leaves out.
TEST(BracketScoresTest, CountOutputsThatAreNoTrees) {
  const std::string dog = "(S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .))";
  const Lines outputs{dog, "(S (NP (DT the) (NN dog)", "", "(S (NN the) (NN dog) (NN barks))", "(S (DT a) (. .))"};
  const BracketScores scores = bracket_scores(outputs, Lines(5, dog));
  EXPECT_EQ(scores.all.failed, 2) << "the second and the last";
  EXPECT_EQ(scores.all.skipped, 1);
  EXPECT_EQ(scores.well_formed, 1) << "the fourth lacks the full stop, which evalb deletes anyway";
  EXPECT_DOUBLE_EQ(scores.well_formed_share(), 0.2);
  EXPECT_EQ(scores.all.missed, 9);
  EXPECT_DOUBLE_EQ(scores.all.recall(), 4.0 / 6);
  EXPECT_DOUBLE_EQ(scores.all.strict().recall(), 4.0 / 15);
  EXPECT_DOUBLE_EQ(scores.all.strict().precision(), 1);
  EXPECT_DOUBLE_EQ(scores.all.strict().f1(), 8.0 / 19);
}

TEST(Scores, WrongRequestsAreRefused) {
  const Lines none, one{"(A b)"}, two{"(A b)", "(A b)"};
  const std::string counts = ": expected as many outputs as references, got 1 outputs and 2 references";
  EXPECT_EQ(message_of([&] { label_scores(one, two); }), "label_scores" + counts);
  EXPECT_EQ(message_of([&] { tag_scores(one, two); }), "tag_scores" + counts);
  EXPECT_EQ(message_of([&] { span_scores(one, two); }), "span_scores" + counts);
  EXPECT_EQ(message_of([&] { bracket_scores(one, two); }), "bracket_scores" + counts);
  EXPECT_EQ(message_of([&] { edit_scores(one, two); }), "edit_scores" + counts);
  EXPECT_EQ(message_of([&] { label_scores(none, none); }), "label_scores: expected at least one line, got none");
  EXPECT_EQ(message_of([&] {
              tag_scores(Lines{"a", "a"}, Lines{"a", "a b"});
            }),
            "tag_scores: expected as many tags in output 2 as in its reference, 2, got 1");
  EXPECT_EQ(message_of([&] { edit_scores(one, std::vector<Lines>{{}}); }),
            "edit_scores: expected at least one reference for output 1, got none");
  EXPECT_EQ(message_of([&] {
              bracket_scores(two, Lines{"(A b)", "(A"});
            }),
            "bracket_scores: reference 2: expected balanced brackets, got one that is never closed: \"(A\"");
}

}  // namespace
}  // namespace attend::train
