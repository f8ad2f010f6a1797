// `attend train` from the outside: trained, resumed, interrupted, and refused without leaving half a model behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "attend/base/real.h"
#include "tests/support/changes.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

/// Exactly one line of an error, and no success.
void expect_refused(const Result& result, const std::vector<std::string>& parts) {
  EXPECT_TRUE(result.code == 1 || result.code == 2) << result.code << ": " << result.output;
  std::istringstream in(result.output);
  int errors = 0;
  for (std::string line; std::getline(in, line);) {
    EXPECT_TRUE(line.starts_with("attend") || line.ends_with(" …")) << result.output;
    errors += line.starts_with("attend");
  }
  EXPECT_EQ(errors, 1) << result.output;
  for (const std::string& part : parts) EXPECT_TRUE(has(result.output, part)) << part << " in: " << result.output;
}

class Train : public testing::Test {
 protected:
  std::string recipe(int steps = 40, const std::string& more = "") const {
    return in_quotes(folder_.file("recipe.yml", small_recipe(tsv_, steps) + more));
  }
  fs::path out(const std::string& name = "model") const { return folder_.path() / name; }
  Result train(const std::string& arguments, const std::string& name = "model") const {
    return attend_with("train " + arguments + " --out " + in_quotes(out(name)) + " 2>&1");
  }
  void expect_nothing_written(const std::string& name = "model") const {
    EXPECT_TRUE(!fs::exists(out(name)) || fs::is_empty(out(name)));
  }

  TestFolder folder_;
  fs::path tsv_ = folder_.file("pairs.tsv", small_corpus());
};

class TrainSlow : public Train {};

TEST_F(Train, AnOptionOfAnotherNetworkIsToldWithWhatThisOneHas) {
  const Result result =
      train("translate --tsv " + in_quotes(tsv_) + " --model.name transformer --model.attention.score dot");
  expect_refused(result, {"the network transformer has no --model.attention.score (recurrent", "it has --model.texts, --model.size",
                          "--model.heads"});
  expect_nothing_written();
  expect_refused(train("translate --model.atention.score dot"), {"the nearest is --model.attention.score"});
}

TEST_F(Train, TheHelpSaysWhoseDefaultsItShows) {
  const std::string builtin = attend_with("train translate --help").output;
  EXPECT_TRUE(has(builtin, "for the built-in corpus of translate")) << builtin;
  EXPECT_TRUE(has(builtin, "[128]")) << builtin;
  const std::string files = attend_with("train translate --tsv x --help").output;
  EXPECT_FALSE(has(files, "built-in corpus of translate")) << files;
  EXPECT_TRUE(has(files, "[1200]")) << files;
  for (const char* command : {"run", "eval", "explain"}) {
    EXPECT_TRUE(has(attend_with(std::string(command) + " --help").output, "search (defaults: the model's own"))
        << command;
  }
}

TEST_F(Train, AHandfulOfPairsIsWarnedOf) {
  const fs::path few = folder_.file("few.tsv", "a b\tB A\nc d\tD C\ne f\tF E\n");
  const std::string asked =
      " --held-out 0.4 --tokeniser.kind words --model.name recurrent --model.hidden 8 "
      "--model.embedding 6 --train.steps 2 --tsv ";
  const Result result = train("translate" + asked + in_quotes(few));
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "warning: only 2 examples to learn from")) << result.output;
  EXPECT_FALSE(has(train("translate" + asked + in_quotes(tsv_), "other").output, "warning"));
}

TEST_F(Train, ATimeAndANumberOfStepsAreRefused) {
  for (const std::string& flag : {std::string("--train.steps"), std::string("--train.epochs")}) {
    const Result result = train(recipe() + " --train.minutes 30 " + flag + " 5");
    EXPECT_EQ(result.code, 2);
    expect_refused(result, {"--train.minutes or " + flag + ", not both: the time sets the number of steps"});
  }
  const Result dumped = train(recipe(40) + " --train.minutes 30 --dump-config");
  EXPECT_TRUE(has(dumped.output, "minutes: 30") && has(dumped.output, "steps: 0")) << "in place of the recipe's: "
                                                                                   << dumped.output;
  expect_nothing_written();
}

TEST_F(TrainSlow, AResumedRunTakesNoOtherTime) {
  ASSERT_EQ(train(recipe(20)).code, 0);
  const Result result = train("--resume --train.minutes 30");
  EXPECT_EQ(result.code, 2);
  expect_refused(result, {"--train.minutes: a resumed run keeps"});
}

TEST_F(TrainSlow, QuietItSaysNothingButErrors) {
  for (const char* flag : {"-q", "--quiet"}) {
    const Result result = train(recipe(20) + " --force " + flag);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.output, "") << flag;
    EXPECT_EQ(train("--resume --train.steps 25 " + std::string(flag)).output, "");
    fs::remove_all(out());
  }
  EXPECT_TRUE(has(train("-q revers").output, "attend train:"));
  EXPECT_TRUE(has(train(recipe(20) + " -q --tsv none.tsv").output, "none.tsv"));
}

TEST_F(TrainSlow, ATaskIsTrainedUsedAndScored) {
  const Result trained = train(
      "reverse --train.steps 30 --model.embedding 8 --model.hidden 8 --batch.tokens 100 "
      "--valid-sentences 10 --train.validate-every 20");
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(has(trained.output, "step 20, epoch 0: validation loss")) << trained.output;
  EXPECT_TRUE(has(trained.output, "saved " + out().string())) << trained.output;
  const auto result = nlohmann::json::parse(folder_.bytes("model/result.json"));
  EXPECT_EQ(result["outcome"], "finished");
  EXPECT_EQ(result["steps"], 30);
  const Result used = attend_with("run " + in_quotes(out()) + " 2>/dev/null", "printf 'abc\\nde\\n' |");
  EXPECT_EQ(used.code, 0);
  EXPECT_EQ(lines(used.output), 2);
  const Result scored = attend_with("eval " + in_quotes(out()) + " --max-length 15 2>/dev/null");
  ASSERT_EQ(scored.code, 0);
  const auto scores = nlohmann::json::parse(scored.output);
  EXPECT_TRUE(scores.contains("exact") && scores.contains("chrf")) << scored.output;
  EXPECT_FALSE(scores.contains("bleu")) << "not a score of this task: " << scored.output;
}

TEST_F(TrainSlow, ARecipeIsTrainedAndTheModelNotOverwritten) {
  const Result first = train(recipe());
  ASSERT_EQ(first.code, 0) << first.output;
  const std::string weights = folder_.bytes("model/weights.safetensors");
  expect_refused(train(recipe()), {"has a model already", "--resume", "--force"});
  EXPECT_EQ(folder_.bytes("model/weights.safetensors"), weights);
  EXPECT_EQ(train(recipe() + " --force --train.seed 2").code, 0);
  EXPECT_NE(folder_.bytes("model/weights.safetensors"), weights);
  EXPECT_EQ(train(recipe() + " --force --tokeniser.kind characters").code, 0);
  EXPECT_EQ(attend_with("run " + in_quotes(out()) + " 2>&1", "echo a |").code, 0) << "no vocabulary of before is left";
}

TEST_F(TrainSlow, FurtherColumnsAreNotRead) {
  std::string with_licence;
  for (const char c : small_corpus()) with_licence += c == '\n' ? "\tCC-BY 2.0 (France)\n" : std::string(1, c);
  tsv_ = folder_.file("licensed.tsv", with_licence);
  const Result trained = train(recipe(5));
  EXPECT_EQ(trained.code, 0) << trained.output;
}

TEST_F(Train, AFolderOfATasksNameIsNotInItsWay) {
  fs::create_directories(folder_.path() / "reverse");
  const Result result = attend_with("train reverse --dump-config", "cd " + in_quotes(folder_.path()) + " &&");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.output, "task: reverse")) << result.output;
}

TEST_F(Train, DumpedOptionsAreARecipeOfTheSame) {
  for (const std::string& subject :
       {std::string("reverse --model.hidden 24"), recipe(), recipe(40, "search: {beam: 3}\n") + " --train.clip 0.5"}) {
    const Result dumped = attend_with("train " + subject + " --dump-config");
    ASSERT_EQ(dumped.code, 0);
    const fs::path file = folder_.file("dumped.yml", dumped.output);
    EXPECT_EQ(attend_with("train " + in_quotes(file) + " --dump-config").output, dumped.output);
  }
  EXPECT_TRUE(has(attend_with("train reverse --model.hidden 24 --dump-config").output, "hidden: 24"));
}

/// Lines of log.jsonl without what hangs on the clock, and without the sentence that is shown.
std::vector<std::string> logged(const std::string& log) {
  std::vector<std::string> all;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    auto entry = nlohmann::json::parse(line);
    for (const char* name : {"seconds", "source", "output", "reference"}) entry.erase(name);
    all.push_back(entry.dump());
  }
  return all;
}

TEST_F(TrainSlow, ResumedItGoesOnWithItsOwnOptions) {
  // A schedule that does not hang on the number of steps, so that a shorter run is the beginning of a longer one.
  ASSERT_EQ(train(recipe(60) + " --train.schedule constant", "straight").code, 0);
  ASSERT_EQ(train(recipe(40) + " --train.schedule constant").code, 0);
  const Result resumed = train("--resume --train.steps 60");
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  if (sizeof(attend::real) == 4) {  // checkpoints have 32 bits
    EXPECT_EQ(logged(folder_.bytes("model/log.jsonl")), logged(folder_.bytes("straight/log.jsonl")));
    EXPECT_EQ(folder_.bytes("model/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
  }
  for (const char* flags : {"--resume", "--resume=true", "--resume true"}) {
    EXPECT_EQ(train(flags).code, 0) << flags << ": nothing is left to do, which is no error";
  }
  fs::remove(out() / "result.json");
  EXPECT_EQ(train("--resume").code, 0) << "killed between its last step and its end";
  EXPECT_TRUE(fs::exists(out() / "result.json"));
  expect_refused(train("--resume", "none"), {"--resume", "no run"});
}

TEST_F(TrainSlow, CtrlCSavesAndSaysHowToGoOn) {
  const std::string errors = (folder_.path() / "errors").string();
  recipe(1'000'000);
  int code = 0;
  {
    Changes changes(folder_.path());
    Process process({"train", (folder_.path() / "recipe.yml").string(), "--out", out().string()}, errors);
    EXPECT_TRUE(changes.wait_until(process.output(), [&] { return !folder_.bytes("model/log.jsonl").empty(); }));
    process.signal(SIGINT);
    code = process.wait();
  }
  const std::string said = folder_.bytes("errors");
  EXPECT_EQ(code, 130) << said;
  const size_t at = said.find("interrupted at step ");
  ASSERT_NE(at, std::string::npos) << said;
  const std::string hint = "attend train --resume --out " + out().string();
  EXPECT_TRUE(has(said, hint)) << said;
  EXPECT_FALSE(fs::exists(out() / "result.json")) << "it has not come to its end";
  const int step = std::stoi(said.substr(at + std::string("interrupted at step ").size()));
  const Result rest = train("--resume --train.steps " + std::to_string(step + 15));
  EXPECT_EQ(rest.code, 0) << rest.output;
  EXPECT_TRUE(fs::exists(out() / "result.json"));
}

TEST_F(TrainSlow, ResumedItKeepsItsDataAndItsNetwork) {
  ASSERT_EQ(train(recipe(20)).code, 0);
  const std::string same = in_quotes(folder_.path() / "recipe.yml");
  const std::string checkpoint = folder_.bytes("model/checkpoint.safetensors");
  const auto file = [&](const char* name) { return in_quotes(folder_.file(name, small_corpus())); };
  const std::pair<const char*, std::string> others[] = {
      {"--tsv", file("other.tsv")},    {"--source", file("s.txt") + " --target " + file("t.txt")},
      {"--corpus", "dates"},           {"--held-out", "0.3"},
      {"--filter.longest", "50"},      {"--tokeniser.kind", "characters"},
      {"--batch.tokens", "31"},        {"--model.hidden", "9"},
      {"--model.name", "transformer"}, {"--train.seed", "2"},
      {"--train.optimiser", "sgd"},    {"--train.best_by", "bleu"}};
  for (const auto& [flag, value] : others) {
    const Result result = train("--resume --train.steps 25 " + std::string(flag) + " " + value);
    EXPECT_EQ(result.code, 2) << flag << ": " << result.output;
    expect_refused(result, {std::string(flag) + ": a resumed run keeps"});
  }
  const std::string other = in_quotes(folder_.file("other.yml", "batch: {tokens: 31}\nmodel: {hidden: 9}\n"));
  const Result refused = train(other + " --resume");
  EXPECT_EQ(refused.code, 2);
  expect_refused(refused, {"other.yml:1: batch.tokens: ", "30", "31"});
  expect_refused(train(in_quotes(folder_.file("net.yml", "model: {name: transformer, heads: 2}\n")) + " --resume"),
                 {"net.yml:1: model.name", "recurrent", "transformer"});
  EXPECT_EQ(folder_.bytes("model/checkpoint.safetensors"), checkpoint);
  for (const std::string& fine : {std::string("--resume --batch.tokens 30"), same + " --resume",
                                  same + " --resume --search.beam 2 --model.hidden 8"}) {
    EXPECT_EQ(train(fine).code, 0) << fine;
  }
}

TEST_F(TrainSlow, WhatChangesWhenItGoesOnIsTold) {
  ASSERT_EQ(train(recipe(20)).code, 0);
  const std::string longer = in_quotes(folder_.file("longer.yml", "train: {steps: 25, rate: 0.02}\n"));
  const Result told = train(longer + " --resume");
  EXPECT_EQ(told.code, 0);
  EXPECT_TRUE(has(told.output, "train.steps: 25 (it was 20)")) << told.output;
  EXPECT_FALSE(has(told.output, "train.rate")) << "which is what it was: " << told.output;
  EXPECT_EQ(nlohmann::json::parse(folder_.bytes("model/result.json"))["steps"], 25);
  const Result flag = train(longer + " --resume --train.steps 30");
  EXPECT_TRUE(has(flag.output, "train.steps: 30 (it was 25)")) << "a flag comes after the recipe: " << flag.output;
  EXPECT_EQ(nlohmann::json::parse(folder_.bytes("model/result.json"))["steps"], 30);
}

TEST_F(TrainSlow, ResumedAfterItStoppedEarlyItSaysSo) {
  const Result stopped = train(recipe(200) + " --train.schedule constant --train.rate 0 --train.patience 1");
  ASSERT_EQ(stopped.code, 0) << stopped.output;
  ASSERT_TRUE(has(stopped.output, "stopped at step 40")) << stopped.output;
  const std::string log = folder_.bytes("model/log.jsonl");
  const Result resumed = train("--resume");
  EXPECT_EQ(resumed.code, 0);
  EXPECT_TRUE(has(resumed.output, "stopped at step 40")) << resumed.output;
  EXPECT_TRUE(has(resumed.output, "--train.patience")) << resumed.output;
  EXPECT_EQ(folder_.bytes("model/log.jsonl"), log) << "no further step";
  EXPECT_EQ(train("--resume --train.patience 0 --train.steps 50").code, 0);
  EXPECT_EQ(nlohmann::json::parse(folder_.bytes("model/result.json"))["steps"], 50);
}

TEST_F(TrainSlow, TwoRunsDoNotWriteIntoOneFolder) {
  recipe(1'000'000);
  const std::vector<std::string> arguments{"train", (folder_.path() / "recipe.yml").string(), "--out", out().string()};
  Changes changes(folder_.path());
  Process process(arguments);
  ASSERT_TRUE(changes.wait_until(process.output(), [&] { return !folder_.bytes("model/log.jsonl").empty(); }));
  const std::string before = folder_.bytes("model/config.yml");
  for (const char* flags : {" --force --train.steps 5", " --resume --train.steps 5"}) {
    const Result second = train(in_quotes(folder_.path() / "recipe.yml") + flags);
    EXPECT_EQ(second.code, 1) << flags;
    expect_refused(second, {out().string(), "another run"});
    EXPECT_FALSE(has(second.output, "reading the pairs")) << second.output;
  }
  EXPECT_EQ(folder_.bytes("model/config.yml"), before);
  process.signal(SIGKILL);
  process.wait();
  const Result after = train("--resume --train.steps 1");
  EXPECT_EQ(after.code, 0) << after.output;
  EXPECT_FALSE(fs::exists(out() / "lock"));
}

TEST_F(Train, FilesThatCannotBeReadAreNamed) {
  const auto file = [&](const char* name, std::string_view bytes) { return in_quotes(folder_.file(name, bytes)); };
  const std::string tiny = "--tokeniser.kind words --model.name recurrent --model.hidden 8 --train.steps 5";
  const auto pair = [&](const std::string& source, const std::string& target) {
    return train("translate " + tiny + " --source " + source + " --target " + target);
  };
  const std::string three = file("three.txt", "a\nb\nc\n"), two = file("two.txt", "A\nB\n");
  expect_refused(pair(three, two), {"three.txt", "two.txt", "3", "2"});
  expect_refused(pair(three, in_quotes(folder_.path() / "none.txt")), {"none.txt"});
  expect_refused(pair(three, in_quotes(folder_.path())), {folder_.path().string()});
  expect_refused(pair(file("empty.txt", ""), file("empty2.txt", "")), {"empty.txt"});
  expect_refused(pair(three, file("latin.txt", "A\nB\xfc\nC\n")), {"latin.txt:2", "UTF-8"});
  expect_refused(train("translate " + tiny + " --source " + three), {"target"});
  expect_refused(train("translate " + tiny + " --tsv " + file("x.tsv", "a\tb\nonly one column\n")), {"x.tsv:2"});
  expect_refused(train("translate " + tiny + " --tsv " + in_quotes(tsv_) + " --valid-tsv " + file("v.tsv", "")),
                 {"v.tsv"});
  expect_nothing_written();
}

TEST_F(Train, MistakesInWhatIsAskedForAreOneLine) {
  expect_refused(train(recipe(5, "modle: {hidden: 3}\n")), {"recipe.yml:7", "modle.hidden", "model.hidden"});
  expect_refused(train(recipe(5, "search: {beam: many}\n")), {"recipe.yml:7", "search.beam", "many"});
  expect_refused(train(recipe(5, "search: {beam: [\n")), {"recipe.yml:"});
  expect_refused(train(recipe() + " --train.ratee 1"), {"--train.ratee", "--train.rate"});
  expect_refused(train(recipe() + " --train.rate fast"), {"--train.rate", "fast"});
  expect_refused(train(recipe() + " --train.schedule cosin"), {"cosin", "cosine"});
  expect_refused(train(recipe() + " --train.best_by blue"), {"blue", "bleu"});
  expect_refused(train(recipe() + " --model.name transfomer"), {"transfomer", "transformer"});
  expect_refused(train("revers"), {"\"revers\"", "reverse"});
  expect_refused(train("none.yml"), {"none.yml"});
  expect_refused(train(""), {"recipe or a task"});
  expect_refused(train("--threads 1 reverse"), {"first", "attend train reverse"});
  expect_refused(attend_with("train reverse 2>&1"), {"--out"});
  expect_refused(attend_with("train reverse --out 2>&1"), {"--out"});
  expect_nothing_written();
}

TEST_F(Train, AnOutThatCannotBeWrittenIsNamed) {
  folder_.file("file", "x");
  expect_refused(train(recipe(), "file/below"), {(folder_.path() / "file" / "below").string()});
  expect_refused(train(recipe(), "file"), {(folder_.path() / "file").string()});
  EXPECT_EQ(folder_.bytes("file"), "x");
}

TEST_F(TrainSlow, DamagedModelsAreRefusedByTheFileThatIsWrong) {
  ASSERT_EQ(train(recipe(5), "whole").code, 0);
  const auto run = [&] { return attend_with("run " + in_quotes(out()) + " 2>&1", "echo a |"); };
  const auto damaged = [&](const std::string& name, const auto& damage) {
    fs::remove_all(out());
    fs::copy(out("whole"), out(), fs::copy_options::recursive);
    EXPECT_EQ(run().code, 0) << "as it was";
    damage(out() / name);
    const Result result = run();
    expect_refused(result, {out().string()});
    EXPECT_EQ(lines(result.output), 1) << result.output;
  };
  const auto missing = [](const fs::path& path) { fs::remove(path); };
  const auto cut = [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); };
  const auto emptied = [](const fs::path& path) { fs::resize_file(path, 0); };
  const auto rubbish = [](const fs::path& path) { std::ofstream(path, std::ios::binary) << "\x01{[: \xff nonsense\n"; };
  for (const char* name : {"weights.safetensors", "config.yml", "source.words", "target.words"}) {
    SCOPED_TRACE(name);
    damaged(name, missing);
    damaged(name, rubbish);
    if (std::string_view(name) != "config.yml") damaged(name, emptied);  // an empty recipe is one
  }
  damaged("weights.safetensors", cut);
  damaged("config.yml", [](const fs::path& path) { std::ofstream(path, std::ios::app) << "serch: 1\n"; });
  damaged("source.words", [](const fs::path& path) { std::ofstream(path, std::ios::app) << "one more word\t1\n"; });
  expect_refused(attend_with("run " + in_quotes(out("none")) + " 2>&1"), {out("none").string()});
  expect_refused(attend_with("run " + in_quotes(tsv_) + " 2>&1"), {tsv_.string()});
  expect_refused(attend_with("eval " + in_quotes(out("none")) + " 2>&1"), {out("none").string()});
}

TEST_F(TrainSlow, ADamagedCheckpointIsRefused) {
  ASSERT_EQ(train(recipe(5)).code, 0);
  fs::resize_file(out() / "checkpoint.safetensors", 100);
  expect_refused(train("--resume --train.steps 10"), {"checkpoint.safetensors"});
  fs::remove(out() / "checkpoint.safetensors");
  expect_refused(train("--resume --train.steps 10"), {"checkpoint.safetensors"});
}

}  // namespace
