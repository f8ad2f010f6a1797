// `attend eval`: files in, JSON out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.h"

namespace {

namespace fs = std::filesystem;
using attend::test::attend_with;
using attend::test::has;
using attend::test::lines;
using attend::test::Result;

/// A folder of files, removed at the end.
class Eval : public testing::Test {
 protected:
  Eval() {
    std::string name = (fs::temp_directory_path() / "attend-eval-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Eval() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return "'" + (folder_ / name).string() + "' ";
  }
  Result eval(const std::string& output, const std::string& target, const std::string& more = "") const {
    return attend_with("eval --output " + file("out", output) + "--target " + file("ref", target) + more);
  }

  fs::path folder_;
};

/// One line on standard error, nothing on standard output, and the exit code.
void expect_one_line(const Result& result, int code, const std::string& part) {
  EXPECT_EQ(result.code, code) << result.output;
  EXPECT_EQ(lines(result.output), 1) << result.output;
  EXPECT_TRUE(result.output.starts_with("attend")) << result.output;
  EXPECT_TRUE(has(result.output, part)) << result.output;
}

TEST_F(Eval, ScoresAreJsonWithTextAndSignature) {
  const Result result = eval("The cat sat on the mat.\nyes\n", "The cat sat on a mat.\nyes\n");
  ASSERT_EQ(result.code, 0);
  const auto scores = nlohmann::json::parse(result.output);
  EXPECT_EQ(scores["lines"], 2);
  EXPECT_EQ(scores["exact"], 50) << "in percent, as in logs, reports and answers of the server";
  EXPECT_FALSE(scores.contains("exact_match"));
  EXPECT_EQ(scores["bleu"]["text"],
            "BLEU = 49.14 87.5/66.7/40.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 8 ref_len = 8)");
  EXPECT_NEAR(scores["bleu"]["score"].get<double>(), 49.14, 0.005);
  EXPECT_EQ(scores["bleu"]["signature"], "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(scores["bleu"]["precisions"][0], 87.5);
  EXPECT_EQ(scores["bleu"]["hyp_len"], 8);
  EXPECT_EQ(scores["chrf"]["signature"], "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
  EXPECT_EQ(scores["chrf"]["text"], "chrF2 = 72.20");
  EXPECT_FALSE(scores.contains("alignment"));
}

TEST_F(Eval, TokeniserCaseAndSmoothingAreOptions) {
  const Result result = eval("A B c!\n", "a b C !\n", "--tokenise char --lowercase --smooth add-k");
  ASSERT_EQ(result.code, 0);
  const auto scores = nlohmann::json::parse(result.output);
  EXPECT_NEAR(scores["bleu"]["score"].get<double>(), 100, 1e-9);
  EXPECT_EQ(scores["bleu"]["signature"], "nrefs:1|case:lc|eff:no|tok:char|smooth:add-k[1.00]|version:2.6.0");
  EXPECT_NEAR(scores["chrf"]["score"].get<double>(), 100, 1e-9);
  EXPECT_EQ(scores["exact"], 0);
}

// What `sacrebleu ref -i out -m bleu chrf -w 2` (2.6.0) prints: a byte order mark is a letter of the first word.
TEST_F(Eval, AByteOrderMarkCountsAsInSacreBleu) {
  const std::string mark = "\xEF\xBB\xBF";
  const std::string output = "The cat sat on the mat.\nyes\n", target = "The cat sat on a mat.\nyes\n";
  const auto scored = [&](const std::string& before, const std::string& before_target) {
    const auto scores = nlohmann::json::parse(eval(before + output, before_target + target).output);
    return scores["bleu"]["text"].get<std::string>().substr(0, 12) + ", " + scores["chrf"]["text"].get<std::string>();
  };
  EXPECT_EQ(scored("", ""), "BLEU = 49.14, chrF2 = 72.20");
  EXPECT_EQ(scored("", mark), "BLEU = 31.12, chrF2 = 68.53");
  EXPECT_EQ(scored(mark, ""), "BLEU = 31.12, chrF2 = 71.25");
  EXPECT_EQ(scored(mark, mark), "BLEU = 49.14, chrF2 = 74.17");
}

// Labels are not scored by sacreBLEU: there a mark is not part of the first one.
TEST_F(Eval, AByteOrderMarkIsNoPartOfALabel) {
  const auto scores = nlohmann::json::parse(eval("\xEF\xBB\xBFgood\nbad\n", "good\nbad\n", "--task classify").output);
  EXPECT_EQ(scores["accuracy"], 100);
}

TEST_F(Eval, AlignmentsHaveAnErrorRate) {
  const std::string links =
      "eval --alignments " + file("links", "0-0 1-1\n2-2\n") + "--gold " + file("gold", "0-0\n\n");
  const Result sure = attend_with(links);
  ASSERT_EQ(sure.code, 0);
  const auto scores = nlohmann::json::parse(sure.output);
  EXPECT_DOUBLE_EQ(scores["alignment"]["aer"], 0.5);
  EXPECT_EQ(scores["alignment"]["lines"], 2);
  EXPECT_FALSE(scores.contains("bleu"));
  const Result possible = attend_with(links + "--possible " + file("possible", "1-1\n2-2\n"));
  ASSERT_EQ(possible.code, 0);
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(possible.output)["alignment"]["aer"], 0.0);
}

TEST_F(Eval, BothKindsOfScoresMayBeAskedForAtOnce) {
  const Result result =
      eval("a\n", "a\n", "--alignments " + file("links", "0-0\n") + "--gold " + file("gold", "0-0\n"));
  ASSERT_EQ(result.code, 0);
  const auto scores = nlohmann::json::parse(result.output);
  EXPECT_TRUE(scores.contains("bleu") && scores.contains("alignment")) << result.output;
}

TEST_F(Eval, WrongRequestsAreOneLine) {
  const Result counts = eval("a\nb\n", "a\n", "2>&1");
  expect_one_line(counts, 1, "2 lines in ");
  expect_one_line(counts, 1, "1 line in ");
  expect_one_line(eval("", "", "2>&1"), 1, "at least one line");
  expect_one_line(eval("a\n", "a\n", "--tokenise intel 2>&1"), 2, "the nearest is \"intl\"");
  expect_one_line(attend_with("eval --output no-such-file --target no-such-file 2>&1"), 2, "no-such-file");
  expect_one_line(attend_with("eval --output " + file("out", "a\n") + "2>&1"), 2, "--target");
  expect_one_line(attend_with("eval --gold " + file("gold", "\n") + "2>&1"), 2, "--alignments");
  expect_one_line(attend_with("eval 2>&1"), 2, "--output and --target");
}

TEST_F(Eval, WhatIsWrongInAFileIsNamedWithItsPlace) {
  expect_one_line(
      attend_with("eval --alignments " + file("links", "0-0\n0:1\n") + "--gold " + file("gold", "\n\n") + "2>&1"), 1,
      "links:2: ");
  expect_one_line(eval("a\n\xff\n", "a\nb\n", "2>&1"), 1, "UTF-8");
}

}  // namespace
