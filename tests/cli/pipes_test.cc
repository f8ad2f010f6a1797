// Data that comes through a pipe: `attend train --tsv -`, `--source <(command)`, named pipes.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "tests/support/snapshot.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;
using namespace std::string_literals;

constexpr const char* kSmall =
    " --tokeniser.kind words --batch.tokens 30 --model.name recurrent --model.embedding 6 --model.hidden 8"
    " --held-out 0.2 --train.validate-every 20 --train.rate 0.02";

class Pipes : public testing::Test {
 protected:
  fs::path out(const std::string& name) const { return folder_.path() / name; }
  /// As typed into bash, in the folder with the data.
  Result bash(const std::string& command) const {
    const fs::path script = folder_.file("typed.sh", "attend() { '" ATTEND_BINARY "' \"$@\"; }\ncd " +
                                                         in_quotes(folder_.path()) + "\n" + command + "\n");
    return shell("bash " + in_quotes(script) + " 2>&1");
  }
  Result train(const std::string& data, const std::string& name, const std::string& before = "",
               const std::string& after = "") const {
    return bash(before + "attend train translate " + data + kSmall + " --train.steps 20 --out " + name + after);
  }
  std::string weights(const std::string& name) const { return folder_.bytes(name + "/weights.safetensors"); }

  TestFolder folder_;
  const fs::path tsv_ = folder_.file("pairs.tsv", small_corpus(300));
};

TEST_F(Pipes, TrainTheSameModelAsFiles) {
  ASSERT_EQ(train("--tsv pairs.tsv", "files").code, 0);
  const std::string wanted = weights("files");
  const struct {
    const char *name, *before, *data, *after;
  } kWays[] = {
      {"standard-input", "cat pairs.tsv | ", "--tsv -", ""},
      {"redirected", "", "--tsv -", " < pairs.tsv"},
      {"device", "cat pairs.tsv | ", "--tsv /dev/stdin", ""},
      {"packed", "gzip -c pairs.tsv | ", "--tsv -", ""},
      {"substituted", "", "--source <(cut -f1 pairs.tsv) --target <(cut -f2 pairs.tsv)", ""},
      {"one-of-two", "cut -f2 pairs.tsv | ", "--source <(cut -f1 pairs.tsv) --target -", ""},
      {"named", "mkfifo s t; awk -F'\t' '{print $2 > \"t\"; print $1 > \"s\"}' pairs.tsv & ", "--source s --target t", ""},
  };
  for (const auto& way : kWays) {
    const Result result = train(way.data, way.name, way.before, way.after);
    EXPECT_EQ(result.code, 0) << way.name << ": " << result.output;
    EXPECT_TRUE(weights(way.name) == wanted) << way.name;
  }
  EXPECT_EQ(snapshot(out("substituted")).size(), snapshot(out("files")).size()) << "nothing is left of the copies";
}

TEST_F(Pipes, LargerThanTheirBuffersAreReadByTurns) {
  std::string text;
  for (int i = 0; i < 9; ++i) text += small_corpus(4000);
  folder_.file("pairs.tsv", text);
  const Result result = train("--source s --target t", "named",
                              "mkfifo s t; awk -F'\t' '{print $2 > \"t\"; print $1 > \"s\"}' pairs.tsv & ");
  EXPECT_EQ(result.code, 0) << result.output;
}

TEST_F(Pipes, ValidateAndBeginWithVectors) {
  const Result valid = train("--tsv pairs.tsv --valid-tsv <(head -30 pairs.tsv)", "valid");
  EXPECT_EQ(valid.code, 0) << valid.output;
  EXPECT_TRUE(has(valid.output, "30 validation pairs")) << valid.output;
  const std::string vectors = " --vectors <(printf 'a 1 2 3 4 5 6\\nb 6 5 4 3 2 1\\n')";
  const Result begun = train("--tsv pairs.tsv" + vectors, "vectors");
  EXPECT_EQ(begun.code, 0) << begun.output;
  EXPECT_TRUE(has(begun.output, "2 of 5 words begin with a vector of /dev/fd/")) << begun.output;
  const Result resumed = bash("attend train --resume --out vectors --train.steps 40");
  EXPECT_EQ(resumed.code, 0) << "vectors are not read again: " << resumed.output;
}

TEST_F(Pipes, OfOtherTasks) {
  const std::string steps = " --train.steps 4 --out labels", labels = "good\tit is fine\\nbad\tit is awful\\n";
  const Result result = bash("for i in 1 2 3 4 5 6 7 8 9; do printf '" + labels + "'; done | attend train classify --data -" +
                             " --held-out 0.2" + steps);
  EXPECT_EQ(result.code, 0) << result.output;
  const Result eval = bash("printf '" + labels + "' | attend eval labels --data -");
  EXPECT_EQ(eval.code, 0) << eval.output;
  EXPECT_TRUE(has(eval.output, "\"lines\": 2")) << eval.output;
}

TEST_F(Pipes, ARunIsResumedWithThePipeOrWhatWasInIt) {
  ASSERT_EQ(train("--tsv -", "model", "cat pairs.tsv | ").code, 0);
  EXPECT_TRUE(has(folder_.bytes("model/model-card.md"), "standard input"));
  const Snapshot before = snapshot(out("model"));
  const auto resume = [&](const std::string& more) { return bash("attend train --resume --out model " + more); };
  const auto refused = [&](const std::string& more, const std::string& part) {
    const Result result = resume(more);
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_TRUE(has(result.output, part)) << result.output;
    EXPECT_TRUE(snapshot(out("model")) == before);
  };
  refused("--train.steps 40 < /dev/null", "--tsv is needed: the run read it from a pipe, which is gone");
  refused("--train.steps 40 --tsv - < /dev/null", "standard input: 300 lines before, 0 now");
  refused("--train.steps 40 --tsv <(sed 's/a/b/' pairs.tsv)", "300 lines as before, but with other contents");
  refused("--train.steps 40 --tsv - --source s --target t < pairs.tsv", "--source: ");
  EXPECT_EQ(resume("--train.steps 40 --tsv <(cat pairs.tsv)").code, 0) << "by another name";
  EXPECT_EQ(resume("--train.steps 60 --tsv pairs.tsv").code, 0) << "from now on it is a file";
  EXPECT_EQ(resume("--train.steps 80").code, 0);
  ASSERT_EQ(train("--tsv pairs.tsv", "files").code, 0);
  for (const char* steps : {"40", "60", "80"}) {
    ASSERT_EQ(bash("attend train --resume --out files --train.steps "s + steps).code, 0);
  }
  EXPECT_TRUE(weights("model") == weights("files"));
}

TEST_F(Pipes, ThatCannotBeReadTwiceAreRefusedByNameAndLeaveNothing) {
  const auto refused = [&](const std::string& command, const std::string& part) {
    const Result result = bash(command);
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_TRUE(has(result.output, part)) << result.output;
    EXPECT_FALSE(fs::exists(out("model"))) << command;
  };
  refused("attend train translate --tsv - --valid-tsv - --out model < pairs.tsv",
          "--valid-tsv: expected another file, as a pipe can be read only once, got standard input twice");
  refused("attend train glimpse --images <(cat pairs.tsv) --labels pairs.tsv --out model",
          "--images: expected a file or a folder, got a pipe (/dev/fd/");
  refused("attend train glimpse --images - --labels pairs.tsv --out model < pairs.tsv",
          "--images: expected a file or a folder, got a pipe (standard input)");
  refused("attend compare translate --tsv - --source pairs.tsv --target pairs.tsv --out model < pairs.tsv",
          "expected files, which every model reads, got a pipe (standard input)");
  refused("attend compare translate --tsv pairs.tsv --source <(cut -f1 pairs.tsv) --target <(cut -f2 pairs.tsv) --out model",
          "got a pipe (/dev/fd/");
  const Result empty = bash("attend train translate --tsv - --out model < /dev/null");
  EXPECT_EQ(empty.code, 1) << empty.output;
  EXPECT_TRUE(has(empty.output, "standard input: expected pairs, got none")) << empty.output;
  const Result bad = bash("printf 'a\\tb\\nno tab\\n' | attend train translate --tsv - --out model");
  EXPECT_TRUE(has(bad.output, "standard input:2: expected source<tab>target")) << bad.output;
  EXPECT_FALSE(fs::exists(out("model")));
}

TEST_F(Pipes, OverAModelThatStaysUntilTheFirstCheckpoint) {
  ASSERT_EQ(train("--tsv pairs.tsv", "model").code, 0);
  const Snapshot before = snapshot(out("model"));
  const Result failed = train("--tsv - --force", "model", "printf 'no tab\\n' | ");
  EXPECT_EQ(failed.code, 1) << failed.output;
  EXPECT_TRUE(snapshot(out("model")) == before);
  EXPECT_EQ(train("--tsv - --force", "model", "head -200 pairs.tsv | ").code, 0);
  EXPECT_TRUE(has(folder_.bytes("model/data.json"), "\"count\": 200"));
}

}  // namespace
