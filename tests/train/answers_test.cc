// Scores of answers and summaries against what SQuAD's scripts, rouge-score and NLTK say (tests/golden/answers.json),
// and where those say nothing, against numbers by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/base/utf8.h"
#include "attend/data/unicode.h"
#include "attend/train/copying.h"
#include "attend/train/porter.h"
#include "attend/train/rouge.h"
#include "attend/train/scores.h"
#include "attend/train/squad.h"
#include "tests/support/message.h"

namespace attend::train {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using Texts = std::vector<std::string>;

const json& answers() {
  static const json all = [] {
    std::ifstream file(ATTEND_SOURCE_DIR "/tests/golden/answers.json");
    return json::parse(file);
  }();
  return all;
}

TEST(SquadScoresTest, AreThoseOfTheOfficialScripts) {
  ASSERT_EQ(answers()["squad"].size(), 500u);
  for (const json& one : answers()["squad"]) {
    const std::string output = one["output"];
    const Texts right = one["right"].get<Texts>();
    EXPECT_EQ(squad_normalised(output), data::code_points("golden", one["normalised"].get<std::string>())) << output;
    for (const auto& [name, script] : {std::pair("v1_1", SquadScript::v1_1), std::pair("v2_0", SquadScript::v2_0)}) {
      const SquadScore score = squad_score(output, right, script);
      EXPECT_EQ(score.exact, one[name][0]) << name << " " << one;
      EXPECT_EQ(score.f1, one[name][1]) << name << " " << one;
    }
  }
}

Judged judged_answers() {
  Judged judged;
  for (const json& one : answers()["squad"]) {
    judged.outputs.push_back(one["output"]);
    judged.right.push_back(one["right"].get<Texts>());
  }
  return judged;
}

TEST(SquadScoresTest, OfWholeFilesAreThoseOfTheOfficialScripts) {
  Judged judged = judged_answers();
  const json& totals = answers()["squad_totals"];
  EXPECT_DOUBLE_EQ(score_named("squad_exact").score(judged), totals["v1_1"]["exact_match"]);
  EXPECT_DOUBLE_EQ(score_named("squad_f1").score(judged), totals["v1_1"]["f1"]);
  const std::string_view names[] = {"squad_exact", "squad_f1"};
  EXPECT_FALSE(report_of(names, judged, {}).contains("squad_v2")) << "every question has an answer";

  for (size_t i = 0; i < judged.right.size(); i += 4) judged.right[i] = {""};
  EXPECT_DOUBLE_EQ(score_named("squad_exact").score(judged), totals["v2_0"]["exact"]);
  EXPECT_DOUBLE_EQ(score_named("squad_f1").score(judged), totals["v2_0"]["f1"]);
  const ordered_json report = report_of(names, judged, {});
  EXPECT_NEAR(report["squad_f1"], totals["v2_0"]["f1"], 1e-4);
  for (const char* key : {"HasAns_exact", "HasAns_f1", "HasAns_total", "NoAns_exact", "NoAns_f1", "NoAns_total"}) {
    EXPECT_NEAR(report["squad_v2"][key], totals["v2_0"][key], 1e-4) << key;
  }
}

TEST(RougeScoresTest, AreThoseOfRougeScore) {
  ASSERT_EQ(answers()["rouge"].size(), 500u);
  for (const json& one : answers()["rouge"]) {
    for (const bool stems : {false, true}) {
      const RougeScores scores = rouge_of(one["output"].get<std::string>(), one["right"].get<Texts>(), stems);
      for (size_t kind = 0; kind < scores.size(); ++kind) {
        const json& expected = one[stems ? "stemmed" : "plain"][kind];
        EXPECT_NEAR(scores[kind].precision, expected[0], 1e-12) << kRougeNames[kind] << " " << one;
        EXPECT_NEAR(scores[kind].recall, expected[1], 1e-12) << kRougeNames[kind] << " " << one;
        EXPECT_NEAR(scores[kind].f1, expected[2], 1e-12) << kRougeNames[kind] << " " << one;
      }
    }
  }
}

TEST(RougeScoresTest, AreMeansOverAllInPercent) {
  const Judged judged{{"a b c", "x"}, {{"a c"}, {"y", "x"}}};
  EXPECT_DOUBLE_EQ(score_named("rouge1").score(judged), 90);
  EXPECT_DOUBLE_EQ(score_named("rouge2").score(judged), 0);
  EXPECT_DOUBLE_EQ(score_named("rougeL").score(judged), 90);
  const std::string_view names[] = {"rouge1", "rouge2", "rougeL"};
  const ordered_json report = report_of(names, judged, {});
  EXPECT_DOUBLE_EQ(report["rouge1"], 90);
  EXPECT_NEAR(report["rouge"]["rouge1"]["precision"], 100 * (2.0 / 3 + 1) / 2, 1e-4);
  EXPECT_DOUBLE_EQ(report["rouge_stemmed"]["rougeL"]["recall"], 100);
}

TEST(PorterStems, AreThoseOfNltk) {
  ASSERT_GE(answers()["stems"].size(), 1500u);
  for (const auto& [word, stem] : answers()["stems"].items()) EXPECT_EQ(porter_stem(word), stem) << word;
}

TEST(CopiedWords, AreThoseOfTheSource) {
  const Texts outputs = {"The cat sat", "a  dog"}, sources = {"the CAT lay\nthere", "no cat"};
  const Novelty one = novelty(outputs, sources);
  EXPECT_EQ(one.count, (std::array<int64_t, 4>{5, 3, 1, 0}));
  EXPECT_EQ(one.novel, (std::array<int64_t, 4>{3, 2, 1, 0}));
  Judged judged{outputs, {{"the cat"}, {"cat"}}};
  EXPECT_TRUE(std::isnan(score_named("copied").score(judged))) << "without sources";
  judged.sources = sources;
  EXPECT_DOUBLE_EQ(score_named("copied").score(judged), 40);
  const std::string_view names[] = {"copied"};
  const ordered_json report = report_of(names, judged, {});
  EXPECT_DOUBLE_EQ(report["novel"], 60);
  EXPECT_DOUBLE_EQ(report["copying"]["references"]["copied_words"], 100);
  EXPECT_DOUBLE_EQ(report["copying"]["outputs"]["novel_ngrams"][2], 100);
  judged.sources.pop_back();
  EXPECT_TRUE(test::says(test::message_of([&] { score_named("copied").score(judged); }), "expected a source for each"));
}

TEST(GroupErrors, AreMeansOverKinds) {
  Judged judged{{"a", "b", "c", "d"}, {{"a"}, {"x", "b"}, {"x"}, {"d"}}};
  EXPECT_TRUE(std::isnan(score_named("group_error").score(judged))) << "without kinds";
  judged.groups = {"qa10_x", "qa2_y", "qa2_y", "qa10_x"};
  EXPECT_DOUBLE_EQ(score_named("group_error").score(judged), 25);
  const std::string_view names[] = {"group_error"};
  const ordered_json report = report_of(names, judged, {});
  EXPECT_EQ(report.dump(),
            R"({"group_error":25.0,"failed_groups":1,"groups":{"qa2_y":{"accuracy":50.0,"error":50.0,"examples":2},)"
            R"("qa10_x":{"accuracy":100.0,"error":0.0,"examples":2}}})");
  judged.groups = {"b", "b10", "b9", "a"};
  std::string order;
  const ordered_json sorted = report_of(names, judged, {});
  for (const auto& [name, scores] : sorted["groups"].items()) order += name + " ";
  EXPECT_EQ(order, "a b b9 b10 ");
}

}  // namespace
}  // namespace attend::train
