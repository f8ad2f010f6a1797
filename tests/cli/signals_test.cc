// Signals that end a training: all of them leave a checkpoint of the step that it had reached.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "attend/tensor/safetensors.h"
#include "tests/support/changes.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class SignalsSlow : public testing::Test {
 protected:
  fs::path out() const { return folder_.path() / "model"; }
  std::string said() const { return folder_.bytes("errors"); }
  std::vector<std::string> arguments() const { return {"train", recipe_.string(), "--out", out().string()}; }
  bool begun() const { return !folder_.bytes("model/log.jsonl").empty(); }

  /// The step of the last line of the log.
  int64_t logged() const {
    int64_t step = 0;
    std::istringstream in(folder_.bytes("model/log.jsonl"));
    for (std::string line; std::getline(in, line);) step = nlohmann::json::parse(line)["step"].get<int64_t>();
    return step;
  }
  int64_t saved() const {
    const attend::SafetensorsFile file(out() / "checkpoint.safetensors");
    return static_cast<int64_t>(nlohmann::json::parse(file.metadata().at("place"))["step"].get<double>());
  }

  TestFolder folder_;
  // Validated once at most, as each validation saves too.
  fs::path recipe_ = folder_.file("recipe.yml", "tsv: \"" + folder_.file("pairs.tsv", small_corpus()).string() +
                                                    "\"\nheld_out: 0.2\ntokeniser: {kind: words}\nbatch: {tokens: 30}\n"
                                                    "model: {name: recurrent, embedding: 6, hidden: 8}\n"
                                                    "train: {steps: 1000000, validate_every: 500000}\n");
};

TEST_F(SignalsSlow, ATerminalThatIsClosedLeavesACheckpoint) {
  Changes changes(folder_.path());
  Process process(arguments(), (folder_.path() / "errors").string());
  ASSERT_TRUE(changes.wait_until(process.output(), [&] { return begun(); })) << said();
  process.signal(SIGHUP);
  process.signal(SIGHUP);  // from the system and from the shell
  EXPECT_EQ(process.wait(), 128 + SIGHUP) << said();
  EXPECT_TRUE(has(said(), "interrupted at step " + std::to_string(saved()) + "; saved")) << said();
  EXPECT_GT(saved(), 0);
}

TEST_F(SignalsSlow, NohupIsObeyed) {
  Changes changes(folder_.path());
  const auto before = ::signal(SIGHUP, SIG_IGN);  // which a process that is started now inherits
  Process process(arguments(), (folder_.path() / "errors").string());
  ::signal(SIGHUP, before);
  ASSERT_TRUE(changes.wait_until(process.output(), [&] { return begun(); })) << said();
  process.signal(SIGHUP);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM) << said();
}

TEST_F(SignalsSlow, ALineThatNobodyReadsLeavesACheckpoint) {
  Changes changes(folder_.path());
  Process process(arguments(), (folder_.path() / "errors").string());
  ASSERT_TRUE(changes.wait_until(process.output(), [&] { return begun(); })) << said();
  process.signal(SIGPIPE);
  process.signal(SIGPIPE);  // from the next line
  EXPECT_EQ(process.wait(), 128 + SIGPIPE) << said();
  EXPECT_TRUE(has(said(), "interrupted at step " + std::to_string(saved()) + "; saved")) << said();
  EXPECT_GT(saved(), 0);
}

TEST_F(SignalsSlow, ProgressThatNobodyReadsLeavesACheckpoint) {
  // One validation after another, each of which says a line; the first one ends the reader.
  const std::string flags = " --train.validate_every 7 --train.save_minutes 1000 ";
  const std::string code = in_quotes(folder_.path() / "code");
  attend_with("train " + in_quotes(recipe_) + " --out " + in_quotes(out()) + flags + "2>&1; echo $? >" + code +
                  "; } | sed '/validation loss/q' >/dev/null",
              "{ ");
  EXPECT_EQ(folder_.bytes("code"), std::to_string(128 + SIGPIPE) + "\n");
  EXPECT_EQ(saved(), logged());
  const Result rest = attend_with("train --resume --out " + in_quotes(out()) + " --train.steps " +
                                  std::to_string(saved() + 5) + " 2>&1");
  EXPECT_EQ(rest.code, 0) << rest.output;
}

}  // namespace
