// `attend completion` and what its scripts ask for; `attend man`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "attend/attention/score.h"
#include "attend/models/zoo.h"
#include "attend/tasks/task.h"
#include "attend/train/optimiser.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

/// The candidates for the last of these words, as a shell would give them, without explanations.
std::vector<std::string> candidates(const std::string& words) {
  const Result result = attend_with("--complete " + words + " 2>&1");
  EXPECT_EQ(result.code, 0) << words;
  std::vector<std::string> all;
  for (const std::string& line : lines_of(result.output)) all.push_back(line.substr(0, line.find('\t')));
  return all;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

TEST(Completion, Commands) {
  const auto all = candidates("''");
  for (const char* name : {"train", "run", "eval", "explain", "serve", "compare", "list", "demo", "completion", "man"}) {
    EXPECT_TRUE(contains(all, name)) << name;
  }
  EXPECT_EQ(candidates("tr"), std::vector<std::string>{"train"});
  EXPECT_EQ(candidates("--v"), std::vector<std::string>{"--version"});
  EXPECT_EQ(candidates("nonsense ''"), std::vector<std::string>{});
}

TEST(Completion, FlagsOfACommandWithWhatTheyDo) {
  EXPECT_TRUE(contains(candidates("serve --"), "--port"));
  EXPECT_TRUE(contains(candidates("run --"), "--length-penalty"));
  EXPECT_EQ(candidates("explain --thr"), std::vector<std::string>{"--threads"});
  EXPECT_TRUE(has(attend_with("--complete run --be").output, "--beam\thypotheses kept per sentence")) << "with help";
  EXPECT_TRUE(contains(candidates("train --he"), "--help"));
  EXPECT_EQ(candidates("run -- --be"), std::vector<std::string>{":folders"}) << "no flags after --";
}

TEST(Completion, FlagsDependOnTaskRecipeAndNetwork) {
  EXPECT_TRUE(contains(candidates("train translate --model."), "--model.attention.score"));
  EXPECT_FALSE(contains(candidates("train translate --model.name transformer --model."), "--model.attention.score"));
  EXPECT_TRUE(contains(candidates("train translate --model.name transformer --model."), "--model.heads"));
  EXPECT_TRUE(contains(candidates("train glimpse --"), "--images"));
  EXPECT_TRUE(contains(candidates("train multi30k-de-en-transformer --model."), "--model.heads"));
  EXPECT_TRUE(contains(candidates("train no-such-thing --model."), "--model.name")) << "whatever it is";
}

TEST(Completion, NamesFromMenus) {
  EXPECT_EQ(candidates("train translate --model.attention.score ''"), names_of(attend::scores()));
  EXPECT_EQ(candidates("train translate --train.optimiser ''"), names_of(attend::train::optimisers()));
  EXPECT_EQ(candidates("train translate --model.name=trans"), std::vector<std::string>{"--model.name=transformer"});
  EXPECT_EQ(candidates("train tag --model.name ''"), std::vector<std::string>{"tagger"}) << "those of the task";
  EXPECT_TRUE(contains(candidates("train tag --train.best-by ''"), "span_f1"));
  EXPECT_TRUE(contains(candidates("explain --method ''"), "saliency"));
  EXPECT_TRUE(contains(candidates("eval --task ''"), "parse"));
  EXPECT_EQ(candidates("list sco"), std::vector<std::string>{"scores"});
  EXPECT_EQ(candidates("completion ''"), (std::vector<std::string>{"bash", "zsh", "fish"}));
  EXPECT_EQ(candidates("man comple"), std::vector<std::string>{"completion"});
  EXPECT_EQ(candidates("run --beam ''"), std::vector<std::string>{}) << "a number is nobody's name";
}

TEST(Completion, TasksRecipesFilesAndFolders) {
  const auto subjects = candidates("train ''");
  for (const std::string& task : names_of(attend::tasks::tasks())) EXPECT_TRUE(contains(subjects, task)) << task;
  EXPECT_TRUE(contains(subjects, "multi30k-de-en-transformer"));
  EXPECT_EQ(subjects.back(), ":files");
  EXPECT_EQ(candidates("run ''"), std::vector<std::string>{":folders"});
  EXPECT_EQ(candidates("run --threads 1 ''"), std::vector<std::string>{":folders"});
  EXPECT_EQ(candidates("train translate --out ''"), std::vector<std::string>{":folders"});
  EXPECT_EQ(candidates("train translate --source ''"), std::vector<std::string>{":files"});
  EXPECT_EQ(candidates("explain DIR --out ''"), std::vector<std::string>{":files"});
  EXPECT_EQ(candidates("serve one ''"), std::vector<std::string>{":folders"}) << "any number of them";
  EXPECT_EQ(candidates("list scores ''"), std::vector<std::string>{}) << "nothing more";
}

TEST(Completion, AModelsFolderDecidesWithoutItsWeights) {
  const TestFolder folder;
  folder.file("config.yml", "task: tag\nmodel: {name: tagger}\n");  // no weights: nothing else is read
  const std::string model = in_quotes(folder.path());
  EXPECT_TRUE(contains(candidates("eval " + model + " --"), "--data"));
  EXPECT_FALSE(contains(candidates("eval " + model + " --"), "--source"));
  EXPECT_TRUE(contains(candidates("eval nowhere --"), "--source"));
}

/// What bash would offer for these words, of which the last is being typed.
std::string in_bash(const TestFolder& folder, const std::string& words) {
  const std::string script = "cd " + in_quotes(folder.path()) +
                             "; source <('" ATTEND_BINARY "' completion bash); COMP_WORDS=(attend " + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _attend '" ATTEND_BINARY
                             "'; echo \"${COMPREPLY[*]}\"";
  const fs::path file = folder.file("script.sh", script);
  return shell("bash --norc " + in_quotes(file) + " 2>&1").output;
}

TEST(Completion, BashOffersWhatTheProgramSays) {
  const TestFolder folder;
  fs::create_directories(folder.path() / "my-model");
  folder.file("my data.txt", "");
  EXPECT_EQ(in_bash(folder, "comple"), "completion\n");
  EXPECT_EQ(in_bash(folder, "run my"), "my-model\n");
  EXPECT_EQ(in_bash(folder, "train translate --source 'my d'"), "my data.txt\n");
  EXPECT_EQ(in_bash(folder, "train translate --model.name trans"), "transformer\n");
  EXPECT_EQ(in_bash(folder, "train translate --model.name = trans"), "transformer\n") << "bash splits at =";
  EXPECT_EQ(in_bash(folder, "run --input = 'my d'"), "my data.txt\n");
  EXPECT_EQ(in_bash(folder, "list aligns ''"), "\n");
}

TEST(Completion, ScriptsAreWellFormed) {
  const TestFolder folder;
  for (const char* name : {"bash", "zsh", "fish"}) {
    const Result script = attend_with("completion " + std::string(name));
    EXPECT_EQ(script.code, 0);
    EXPECT_TRUE(has(script.output, "--complete")) << name;
    const fs::path file = folder.file("script", script.output);
    const std::string check = "if command -v " + std::string(name) + " > /dev/null; then " + name + " -n ";
    const Result read = shell(check + in_quotes(file) + " 2>&1; fi");
    EXPECT_EQ(read.code, 0) << name << ": " << read.output;
    EXPECT_EQ(read.output, "") << name;
  }
  const Result other = attend_with("completion tcsh 2>&1");
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(has(other.output, "bash, zsh, fish")) << other.output;
}

TEST(Man, HasEveryCommandAndItsOptions) {
  const std::string overview = attend_with("man").output;
  EXPECT_TRUE(overview.starts_with(".TH ATTEND 1 ")) << overview.substr(0, 80);
  for (const char* name : {"train", "run", "list", "man"}) {
    EXPECT_TRUE(has(overview, "\\fBattend\\-" + std::string(name) + "\\fR(1)")) << name;
  }
  const std::string run = attend_with("man run").output;
  EXPECT_TRUE(has(run, ".TH ATTEND\\-RUN 1 ")) << run.substr(0, 80);
  EXPECT_TRUE(has(run, "\\fB\\-\\-length\\-penalty\\fR\\fI X\\fR")) << run;
  EXPECT_TRUE(has(attend_with("man serve").output, "[8080]")) << "defaults";
}

TEST(Man, TrainHasTheOptionsOfEveryTaskAndNetwork) {
  const std::string page = attend_with("man train").output;
  for (const char* flag : {"source", "images", "data", "train.rate", "search.beam", "scored\\-images"}) {
    EXPECT_EQ(count(page, "\\fB\\-\\-" + std::string(flag) + "\\fR"), 1u) << flag;
  }
  for (const char* network : {"recurrent", "transformer", "captioner", "glimpse", "autoencoder", "tagger"}) {
    EXPECT_TRUE(has(page, "model, with \\-\\-model.name " + std::string(network) + ": ")) << network;
  }
  EXPECT_FALSE(has(attend_with("man compare").output, "train.rate")) << "they are on the page of train";
}

TEST(Man, PagesAreWrittenAndRead) {
  const TestFolder folder;
  ASSERT_EQ(attend_with("man --out " + in_quotes(folder.path() / "man1")).code, 0);
  EXPECT_TRUE(fs::exists(folder.path() / "man1" / "attend.1"));
  size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "man1")) {
    ++pages;
    // groff's own complaints, where it is installed.
    const std::string check = "if command -v groff > /dev/null; then groff -Kutf8 -Tutf8 -man -ww -z ";
    EXPECT_EQ(shell(check + in_quotes(entry.path()) + " 2>&1; fi").output, "") << entry.path();
  }
  EXPECT_GE(pages, 10u);
  EXPECT_EQ(attend_with("man nonsense 2>&1").code, 2);
}

}  // namespace
