// `attend compare` from the outside: trained, gone on with, failed in part, refused before anything is trained.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/changes.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/small_run.h"
#include "tests/support/xml.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;
using nlohmann::json;

class Compare : public testing::Test {
 protected:
  fs::path recipe(int steps = 20) const { return folder_.file("recipe.yml", small_recipe(tsv_, steps)); }
  fs::path out(const std::string& name = "report") const { return folder_.path() / name; }
  std::string test_files() const { return " --source " + in_quotes(source_) + " --target " + in_quotes(target_); }
  Result compare(const std::string& arguments, const std::string& name = "report") const {
    return attend_with("compare " + arguments + " --out " + in_quotes(out(name)) + " 2>&1");
  }
  json report(const std::string& name = "report") const {
    return json::parse(folder_.bytes(name + "/report.json"), nullptr, false);
  }
  fs::file_time_type written(const std::string& model) const {
    return fs::last_write_time(out() / "models" / model / "checkpoint.safetensors");
  }

  TestFolder folder_;
  fs::path tsv_ = folder_.file("pairs.tsv", small_corpus());
  fs::path source_ = folder_.file("test.source", "a b\nc d\ne a\nb b\n");
  fs::path target_ = folder_.file("test.target", "B A\nD C\nA E\nB B\n");
};

class CompareSlow : public Compare {};

TEST_F(CompareSlow, TrainsOneModelPerValueAndReportsWhatEvalSays) {
  const std::string asked = in_quotes(recipe()) + " --vary attention.score=general,additive" + test_files() +
                            " --variant 'none: decoder.input=initial_state'";
  const Result first = compare(asked);
  ASSERT_EQ(first.code, 0) << first.output;
  EXPECT_TRUE(has(first.output, "2/3 additive")) << first.output;
  const json numbers = report();
  ASSERT_EQ(numbers["models"].size(), 3u) << numbers.dump(2);
  for (const json& model : numbers["models"]) {
    const Result scored =
        attend_with("eval " + in_quotes(model["folder"].get<std::string>()) + test_files() + " 2>/dev/null");
    EXPECT_EQ(json::parse(scored.output), model["scores"]) << model["name"];
    EXPECT_EQ(model["state"], "finished");
    EXPECT_EQ(model["curve"]["step"], json::array({20}));
    EXPECT_GT(model["parameters"], 0);
  }
  const std::string html = folder_.bytes("report/report.html");
  EXPECT_EQ(xml_complaint(html), "");
  EXPECT_FALSE(has(html, "http")) << "nothing is loaded";
  EXPECT_TRUE(has(html, "This model does not attend to its source"));
  EXPECT_EQ(xml_complaint(folder_.bytes("report/learning-curves.svg")), "");
  EXPECT_EQ(xml_complaint(folder_.bytes("report/score-by-length.svg")), "");
  EXPECT_TRUE(has(folder_.bytes("report/report.md"), "| general |"));

  const auto trained = written("additive"), measured = fs::last_write_time(out() / "models/additive/compare.json");
  const Result again = compare(asked);
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_EQ(written("additive"), trained) << "a finished model is kept";
  EXPECT_EQ(fs::last_write_time(out() / "models/additive/compare.json"), measured) << "and so is what it said";
  EXPECT_EQ(report(), numbers);
  EXPECT_EQ(folder_.bytes("report/report.html"), html);

  const Result changed = compare(asked + " --train.rate 0.01");
  EXPECT_EQ(changed.code, 2) << changed.output;
  EXPECT_TRUE(has(changed.output, "train.rate was \"0.02\", now \"0.01\"")) << changed.output;
  EXPECT_EQ(written("additive"), trained);
  EXPECT_EQ(compare(asked + " --train.rate 0.01 --force").code, 0);
  EXPECT_NE(written("additive"), trained);
}

TEST_F(CompareSlow, TrainedModelsAreTakenAsTheyAre) {
  const std::string model = in_quotes(folder_.path() / "mine");
  ASSERT_EQ(attend_with("train " + in_quotes(recipe(5)) + " --out " + model + " 2>&1").code, 0);
  const Result result = compare(model + " " + in_quotes(recipe(5)) + " --train.seed 3" + test_files());
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(report()["models"][0]["name"], "mine");
  EXPECT_EQ(report()["models"][1]["name"], "recipe");
  EXPECT_EQ(report()["models"][0]["steps"], 5);
  EXPECT_FALSE(report()["models"][0]["scores"].contains("alignment"));
  const fs::path gold = folder_.file("gold", "0-1 1-0\n0-1 1-0\n0-1 1-0\n0-1 1-0\n");
  ASSERT_EQ(compare(model + test_files() + " --gold " + in_quotes(gold), "aligned").code, 0);
  const Result scored = attend_with("eval " + model + test_files() + " --gold " + in_quotes(gold) + " 2>/dev/null");
  EXPECT_EQ(report("aligned")["models"][0]["scores"]["alignment"], json::parse(scored.output)["alignment"]);
  EXPECT_TRUE(has(folder_.bytes("aligned/report.md"), "| AER |"));
  EXPECT_EQ(compare(model + " --vary train.seed=1,2" + test_files(), "other").code, 2);
}

TEST_F(CompareSlow, WhereModelsReadLettersTheirAlignmentsAreOfLetters) {
  ASSERT_EQ(compare(in_quotes(recipe(5)) + " --tokeniser.kind characters" + test_files()).code, 0);
  ASSERT_EQ(compare(in_quotes(recipe(5)) + test_files(), "words").code, 0);
  const json letters = json::parse(folder_.bytes("report/models/recipe/compare.json"))["shown"][0];
  const json words = json::parse(folder_.bytes("words/models/recipe/compare.json"))["shown"][0];
  const auto columns = [](const json& shown) {  // the slanted words above the map
    const std::string picture = shown["picture"];
    size_t count = 0;
    for (size_t at = picture.find("rotate(-45"); at != picture.npos; at = picture.find("rotate(-45", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(columns(letters), 3u) << "a letter, a blank, a letter: " << letters;
  EXPECT_EQ(columns(words), 2u) << words;
}

TEST_F(CompareSlow, AModelThatFailsDoesNotLoseTheOthers) {
  const Result result =
      compare(in_quotes(recipe()) + " --variant 'mad: train.rate=1e300 train.warmup=0 train.clip=0' --variant calm" +
              test_files());
  EXPECT_EQ(result.code, 1) << result.output;
  const json numbers = report();
  EXPECT_EQ(numbers["models"][0]["state"], "failed") << numbers.dump(2);
  EXPECT_TRUE(has(numbers["models"][0]["error"], "finite")) << numbers.dump(2);
  EXPECT_EQ(numbers["models"][1]["state"], "finished");
  EXPECT_TRUE(has(folder_.bytes("report/report.html"), "What failed"));
  EXPECT_TRUE(has(result.output, "mad (failed)")) << result.output;
}

/// Runs until the second model has made some steps, then asks for an end.
int interrupt_second(const std::vector<std::string>& arguments, const TestFolder& folder, const fs::path& log) {
  const auto size = [&] { return fs::exists(log) ? fs::file_size(log) : 0; };
  const auto before = size();
  Changes changes(folder.path());
  Process process(arguments, (folder.path() / "errors").string());
  EXPECT_TRUE(changes.wait_until(process.output(), [&] { return size() > before + 500; }));
  process.signal(SIGINT);
  return process.wait();
}

TEST_F(CompareSlow, AfterCtrlCTheSameCommandGoesOn) {
  const std::vector<std::string> asked{
      "compare",  recipe().string(), "--variant", "first",          "--variant", "second: train.steps=1000000",
      "--source", source_.string(),  "--target",  target_.string(), "--out",     out().string()};
  const fs::path log = out() / "models/second/log.jsonl";
  EXPECT_EQ(interrupt_second(asked, folder_, log), 130) << folder_.bytes("errors");
  EXPECT_EQ(report()["models"][0]["state"], "finished");
  EXPECT_EQ(report()["models"][1]["state"], "interrupted");
  const auto trained = written("first");
  const std::string learnt = folder_.bytes("report/models/second/log.jsonl");
  EXPECT_EQ(interrupt_second(asked, folder_, log), 130) << folder_.bytes("errors");
  EXPECT_TRUE(has(folder_.bytes("errors"), "trained before")) << folder_.bytes("errors");
  EXPECT_EQ(written("first"), trained);
  const std::string later = folder_.bytes("report/models/second/log.jsonl");
  EXPECT_GT(later.size(), learnt.size());
  EXPECT_TRUE(later.starts_with(learnt.substr(0, learnt.find('\n')))) << "resumed, not begun anew";
}

TEST_F(Compare, WhatCannotBeIsRefusedBeforeAnythingIsTrained) {
  const std::string asked = in_quotes(recipe()) + test_files();
  const auto expect_refused = [&](const std::string& arguments, const std::string& part, int code = 2) {
    const Result result = compare(arguments);
    EXPECT_EQ(result.code, code) << result.output;
    EXPECT_EQ(lines(result.output), 1) << result.output;
    EXPECT_TRUE(has(result.output, part)) << part << " in: " << result.output;
    EXPECT_FALSE(fs::exists(out())) << arguments;
  };
  expect_refused(asked + " --vary attention.scor=dot,general", "model.attention.score");
  expect_refused(asked + " --vary attention.score=generl,additive", "general");
  expect_refused(asked + " --vary hidden=8,abc", "expected a whole number");
  expect_refused(asked + " --variant 'x: model.name=transformer size=10 heads=3'", "variant \"x\"");
  expect_refused(asked + " --variant 'x: attention.score=location'", "variant \"x\"");
  expect_refused(asked + " --variant 'x: tsv=missing.tsv'", "missing.tsv");
  expect_refused(asked + " --trian.epochs 3", "--train.epochs");
  expect_refused(asked + " --variant a --variant a", "two called");
  expect_refused(in_quotes(recipe()), "source: name files to score with");
  expect_refused(in_quotes(recipe()) + " --source " + in_quotes(source_), "go together");
  expect_refused(in_quotes(recipe()) + " --gold " + in_quotes(source_), "--gold needs --source and --target");
  expect_refused(asked + " --gold " + in_quotes(folder_.file("gold", "0-1 1-0\n")), "4, got 1", 1);
  expect_refused(asked + " --gold " + in_quotes(folder_.file("gold", "0-1\n1:0\n\n\n")), ":2", 1);
  expect_refused("nothing" + test_files(), "tasks: translate");
  expect_refused(test_files(), "name a recipe, a task or models' folders");
  expect_refused(in_quotes(folder_.path()) + test_files(), "not a model folder");
  EXPECT_EQ(attend_with("compare reverse 2>/dev/null").code, 2) << "--out is missing";
  EXPECT_EQ(attend_with("compare --help").code, 0);
}

}  // namespace
