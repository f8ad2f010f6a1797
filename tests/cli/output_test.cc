// Output that cannot be written, because the device is full, the stream was closed or nobody reads it any more.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

const std::string kTranslator = in_quotes(ATTEND_SOURCE_DIR "/tests/tasks/saved/recurrent");
const std::string kClassifier = in_quotes(ATTEND_SOURCE_DIR "/tests/tasks/saved/image_classifier");

class Output : public testing::Test {
 protected:
  /// What prints something and ends soon, one for each command and for what is printed without one.
  std::vector<std::string> commands() const {
    const std::string text = in_quotes(folder_.file("text", "the red house\n"));
    std::vector<std::string> all{"",
                                 "--version",
                                 "help",
                                 "list",
                                 "list scores --json",
                                 "train --help",
                                 "train translate --dump-config",
                                 "run " + kTranslator + " -q <" + text,
                                 "eval --output " + text + " --target " + text,
                                 "explain " + kTranslator + " -q 'the red house'",
                                 "demo --help",
                                 "serve --help",
                                 "compare --help",
                                 "info " + kTranslator,
                                 "completion bash",
                                 "man train"};
    if (has(attend_with("").output, "attend bench")) all.push_back("bench --match nothing-of-this-name --no-peer");
    return all;
  }

  TestFolder folder_;
};

TEST_F(Output, OnAFullDeviceIsAnError) {
  for (const std::string& command : commands()) {
    const Result result = attend_with(command + " 2>&1 >/dev/full");
    EXPECT_EQ(result.code, 1) << command << ": " << result.output;
    EXPECT_TRUE(has(result.output, "standard output: cannot be written")) << command << ": " << result.output;
    EXPECT_EQ(lines(result.output), 1) << result.output;
  }
  EXPECT_TRUE(has(attend_with("--version 2>&1 >/dev/full").output, ": No space left on device\n"));
}

TEST_F(Output, OnAClosedStreamIsAnError) {
  for (const std::string& command : commands()) {
    const Result result = attend_with(command + " 2>&1 >&-");
    EXPECT_EQ(result.code, 1) << command << ": " << result.output;
    EXPECT_TRUE(has(result.output, "standard output: cannot be written")) << command << ": " << result.output;
  }
}

TEST_F(Output, ThatIsNotNeededMayBeClosed) {
  const fs::path recipe = folder_.file("recipe.yml", small_recipe(folder_.file("pairs.tsv", small_corpus()), 20));
  const fs::path model = folder_.path() / "model";
  EXPECT_EQ(attend_with("train " + in_quotes(recipe) + " --out " + in_quotes(model) + " <&- >&- 2>&-").code, 0);
  const Result used = attend_with("run " + in_quotes(model), "echo 'a b' |");
  EXPECT_EQ(used.code, 0) << "no file of the model has taken the number of a closed stream";
  EXPECT_EQ(lines(used.output), 1);
  EXPECT_EQ(attend_with("--version 2>&-").code, 0);
}

TEST_F(Output, InAFileOnAFullDeviceIsAnError) {
  const std::string text = in_quotes(folder_.file("text", "the red house\n"));
  for (const char* flag : {"--output", "--alignments", "--trace"}) {
    const Result result = attend_with("run " + kTranslator + " " + flag + " /dev/full <" + text + " 2>&1 >/dev/null");
    EXPECT_EQ(result.code, 1) << flag << ": " << result.output;
    EXPECT_TRUE(has(result.output, "/dev/full: cannot be written")) << flag << ": " << result.output;
  }
}

TEST_F(Output, ThatNobodyReadsAnyMoreEndsQuietly) {
  const auto said_by = [&](const std::string& before) {
    const std::string code = in_quotes(folder_.path() / "code"), errors = in_quotes(folder_.path() / "errors");
    // The text is longer than what a pipe holds.
    const std::string many = "i=0; while [ $i -lt 1500 ]; do echo 'the red house sees the tree'; i=$((i+1)); done | ";
    attend_with("run " + kTranslator + " -q --n-best 4 --batch 8 2>" + errors + "; echo $? >" + code + "; } | head -n 1",
                many + "{ " + before);
    return folder_.bytes("code") + folder_.bytes("errors");
  };
  EXPECT_EQ(said_by(""), "141\n");
  EXPECT_EQ(said_by("trap '' PIPE;"), "1\nattend: standard output: cannot be written\n") << "where signals are ignored";
}

}  // namespace
