// Questions about documents on the command line: lines of JSON or columns, a document by its file, and others' answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "tests/support/untrained.h"

namespace {

using namespace attend::test;
using nlohmann::json;

class Documents : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    save_untrained(folder_->path() / "reader", small_reader(), question_corpus());
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string model() { return in_quotes(folder_->path() / "reader"); }
  static std::string file(const std::string& name, const std::string& text) {
    return in_quotes(folder_->file(name, text));
  }
  static Result run(const std::string& input, const std::string& flags = "") {
    return attend_with("run " + model() + " " + flags + " < " + file("input", input) + " 2>&1");
  }
  static void expect_refused(const Result& result, const std::string& part) {
    EXPECT_NE(result.code, 0);
    EXPECT_TRUE(has(result.output, part)) << result.output;
  }

  static std::unique_ptr<TestFolder> folder_;
};
std::unique_ptr<TestFolder> Documents::folder_;

TEST_F(Documents, LinesAreColumnsOrJson) {
  const std::string one = run("a b c d\twhere is b ?\n").output, other = run("h i j\twhere is i ?\n").output;
  EXPECT_TRUE(has("a b c d", one.substr(0, one.size() - 1))) << one;
  EXPECT_EQ(run("a b c d\twhere is b ?\nh i j\twhere is i ?\n").output, one + other);
  EXPECT_EQ(run(R"({"document": "a b c d", "question": "where is b ?"})" "\nh i j\twhere is i ?\n").output, one + other);
  const Result best = run("a b c d\twhere is b ?\n", "--n-best 3");
  EXPECT_EQ(lines(best.output), 3);
  EXPECT_TRUE(best.output.starts_with("0 ||| " + one.substr(0, one.size() - 1) + " ||| ")) << best.output;
}

TEST_F(Documents, ADocumentIsGivenOnceAndAskedAbout) {
  const std::string document = file("story.txt", "a b c d\ne f g");
  const std::string one = run("where is b ?\n", "--document " + document).output;
  const std::string line = R"({"document": "a b c d\ne f g", "question": "where is b ?"})";
  EXPECT_EQ(run(line + "\n").output, one);
  EXPECT_EQ(run("where is b ?\nwhere is b ?\n", "--document " + document).output, one + one) << "and no prompt";
}

TEST_F(Documents, WhatIsWrongIsNamedWithItsLine) {
  const std::string good = run("a b\twhere is b ?\n").output;
  const Result bad = run("a b\twhere is b ?\na b\twhere is b ?\tc\n");
  expect_refused(bad, "standard input:2: expected \"document<tab>question\"");
  EXPECT_TRUE(bad.output.starts_with(good)) << bad.output;
  expect_refused(run("a b\n"), "got 1 column");
  expect_refused(run("\twhy ?\n"), "expected a document with at least one word, got an empty one");
  expect_refused(run("a\t \n"), "expected a question with at least one word, got an empty one");
  expect_refused(run("{\"document\": \"a\"}\n"), "got no \"question\"");
  expect_refused(run("{\"document\": \"a\"\n"), "expected a JSON object");
  expect_refused(run("why ?\n", "--document " + file("empty.txt", " \n")), "expected a document with at least one word");
  expect_refused(run("why ?\n", "--document /nowhere/x"), "--document");
}

TEST_F(Documents, FilesAreScoredAndPredictionsWritten) {
  const std::string data = file("dev.json", R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "a b c d",
    "qas": [{"id": "q1", "question": "where is b ?", "answers": [{"text": "b", "answer_start": 2}]},
            {"id": "q2", "question": "where is d ?", "answers": [{"text": "d", "answer_start": 6}]}]}]}]})");
  const std::string predictions = in_quotes(folder_->path() / "predictions.json");
  const Result scored = attend_with("eval " + model() + " --data " + data + " --predictions " + predictions + " 2>/dev/null");
  ASSERT_EQ(scored.code, 0) << scored.output;
  const json report = json::parse(scored.output);
  EXPECT_EQ(report["lines"], 2);
  EXPECT_TRUE(report.contains("squad_f1") && report.contains("squad_exact")) << report;
  const json written = json::parse(folder_->bytes("predictions.json"));
  EXPECT_EQ(written.size(), 2u);
  const auto others = [&](const std::string& output) {
    return attend_with("eval --task answer --output " + output + " --data " + data + " 2>&1");
  };
  const json again = json::parse(others(predictions).output);
  EXPECT_EQ(again["squad_f1"], report["squad_f1"]);
  EXPECT_EQ(json::parse(others(file("right.txt", "b\nthe d.\n")).output)["squad_exact"], 100);
  EXPECT_EQ(json::parse(others(file("half.json", R"({"q2": "x", "q1": "B"})")).output)["squad_exact"], 50);
  expect_refused(others(file("few.txt", "b\n")), "as many lines in both files");
  expect_refused(others(file("few.json", R"({"q1": "B"})")), "the question named \"q2\"");
  expect_refused(attend_with("eval --output " + file("o", "b\n") + " --data " + data + " 2>&1"), "--data needs --task");
}

TEST_F(Documents, AreExplained) {
  const std::string document = file("story.txt", "a b c d");
  const Result told = attend_with("explain " + model() + " --document " + document + " where is b '?' 2>&1");
  EXPECT_EQ(told.code, 0) << told.output;
  const std::string out = in_quotes(folder_->path() / "x.json");
  EXPECT_EQ(attend_with("explain " + model() + " 'a b c d' 'where is b ?' --out " + out + " 2>&1").code, 0);
  EXPECT_TRUE(has(folder_->bytes("x.json"), "\"question\""));
  expect_refused(attend_with("explain " + model() + " 'where is b ?' 2>&1"), "--document FILE and a question");
}

}  // namespace
