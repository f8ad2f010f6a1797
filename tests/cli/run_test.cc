// `attend run`: one line in, one line out, however the lines come.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/process.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;
using namespace std::string_literals;

class Run : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    const fs::path tsv = folder_->file("pairs.tsv", small_corpus());
    const fs::path recipe = folder_->file("recipe.yml", small_recipe(tsv, 200));
    const Result trained = attend_with("train " + in_quotes(recipe) + " --out " + in_quotes(model()) + " 2>&1");
    ASSERT_EQ(trained.code, 0) << trained.output;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static fs::path model() { return folder_->path() / "model"; }
  static Result run(std::string_view input, const std::string& flags = "") {
    const fs::path file = folder_->file("input", input);
    return attend_with("run " + in_quotes(model()) + " " + flags + " < " + in_quotes(file) + " 2>&1");
  }

  static std::unique_ptr<TestFolder> folder_;
};
std::unique_ptr<TestFolder> Run::folder_;

TEST_F(Run, AnswersThatWereCutAreCountedOnce) {
  const std::string said = run("a b\nc d\n\n", "--max-length 1").output;
  EXPECT_TRUE(has(said,
                  "2 of 3 answers reached the greatest length before the end (--max-length); the first is that of "
                  "line 1\n"))
      << said;
  EXPECT_FALSE(has(run("a b\n").output, "greatest length"));
}

TEST_F(Run, OneLineInOneLineOut) {
  const std::string one = run("a b\n").output, other = run("c d\n").output;
  EXPECT_NE(one, other);
  EXPECT_NE(one, "\n");
  EXPECT_EQ(run("a b\n\n  \nc d\n").output, one + "\n\n" + other);
  EXPECT_EQ(run("a b\nc d").output, one + other) << "the last line without its end";
  EXPECT_EQ(run("\xEF\xBB\xBF"
                "a b\n")
                .output,
            one)
      << "a byte order mark";
  EXPECT_EQ(run("a b\r\n\r\nc d\r\n").output, one + "\n" + other) << "as Windows ends lines";
  EXPECT_EQ(run("").output, "");
  EXPECT_EQ(run("\n").output, "\n");
  std::string many, answers;
  for (int i = 0; i < 300; ++i) many += i % 3 ? "a b\n" : "c d\n", answers += i % 3 ? one : other;
  EXPECT_EQ(run(many).output, answers) << "more than one batch";
  EXPECT_EQ(run(many, "--batch 7").output, answers);
}

TEST_F(Run, LinesBeforeABadOneAreAnswered) {
  const std::string good = run("a b\n").output;
  const Result result = run("a b\na \xff\nc d\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.output.starts_with(good)) << result.output;
  EXPECT_TRUE(has(result.output, "standard input:2")) << result.output;
}

TEST_F(Run, ABadLineStopsIsSkippedOrReplaced) {
  const std::string good = run("a b\n").output, other = run("c d\n").output, input = "a b\na \xff\nc d\nx\0y\n"s;
  const fs::path file = folder_->file("bad", input);
  const std::string command = "run " + in_quotes(model()) + " --input " + in_quotes(file) + " ";
  const auto said = [&](const std::string& flags) { return attend_with(command + flags + " 2>&1 >/dev/null"); };
  const std::string at = file.string() + ":";
  Result result = said("");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, at + "2: ") && has(result.output, "; 1 line before it was answered (--on-error skip"))
      << result.output;
  EXPECT_EQ(attend_with(command + "--on-error stop 2>/dev/null").output, good);

  for (const char* batch : {"", " --batch 1"}) {
    result = attend_with(command + "--on-error skip 2>/dev/null" + batch);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.output, good + other);
    result = attend_with(command + "--on-error replace 2>/dev/null" + batch);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.output, good + "\n" + other + "\n");
  }
  result = said("--on-error skip");
  EXPECT_EQ(lines(result.output), 3) << result.output;
  EXPECT_TRUE(has(result.output, at + "2: ") && has(result.output, at + "4: ") && has(result.output, "; left out\n"));
  EXPECT_TRUE(has(result.output, "attend run: 2 of 4 lines could not be answered and were left out\n")) << result.output;
  EXPECT_TRUE(has(said("--on-error replace").output, "2 of 4 lines could not be answered and were given an empty answer\n"));
  EXPECT_EQ(said("--on-error replace -q").output, "");
  result = said("--on-error ignore");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(has(result.output, "--on-error")) << result.output;
}

TEST_F(Run, LinesKeepTheirNumbersAroundABadOne) {
  const fs::path file = folder_->file("bad", "a b\n\xff\nc d\n"), whole = folder_->file("whole", "a b\n\nc d\n");
  const auto answers = [&](const fs::path& input, const std::string& flags) {
    return attend_with("run " + in_quotes(model()) + " --input " + in_quotes(input) + " " + flags + " 2>/dev/null").output;
  };
  const std::string drawn = "--sample --temperature 5 --seed 3 ";
  EXPECT_EQ(answers(file, drawn + "--on-error replace"), answers(whole, drawn)) << "the same draws";
  const std::string links = in_quotes(folder_->path() / "links"), list = answers(file, "--n-best 2 --on-error replace");
  EXPECT_TRUE(has(list, "\n1 |||  ||| nan\n2 ||| ")) << list;
  EXPECT_TRUE(has(answers(file, "--n-best 2 --on-error skip"), "\n2 ||| ")) << "numbers of the lines that were read";
  EXPECT_TRUE(has(answers(file, "--scores --on-error replace"), "\nnan\t\n"));
  answers(file, "--on-error replace --alignments " + links);
  EXPECT_EQ(lines(folder_->bytes("links")), 3);
}

TEST_F(Run, ALineThatTheSearchRefusesIsFoundAmongOthers) {
  const std::string prefixes = in_quotes(folder_->file("prefixes", "A\nA A A A A A A A A A A A A A A A A A A A\nB\n"));
  const fs::path file = folder_->file("three", "a b\na b\na b\n");
  const std::string command = "run " + in_quotes(model()) + " --input " + in_quotes(file) + " --max-length 5 --prefixes " +
                              prefixes + " ";
  const Result stopped = attend_with(command + "2>&1");
  EXPECT_EQ(stopped.code, 1) << stopped.output;
  EXPECT_TRUE(stopped.output.starts_with("A")) << stopped.output;
  EXPECT_TRUE(has(stopped.output, file.string() + ":2: ")) << stopped.output;
  const Result replaced = attend_with(command + "--on-error replace 2>/dev/null");
  EXPECT_EQ(replaced.code, 0);
  EXPECT_EQ(lines(replaced.output), 3) << replaced.output;
  EXPECT_TRUE(has(replaced.output, "\n\nB")) << replaced.output;
}

TEST_F(Run, WhatIsReadIsNotWrittenOver) {
  const std::string file = in_quotes(folder_->file("lines", "a b\n"));
  for (const std::string& flags : {"--input " + file + " --output " + file, "--input " + file + " --alignments " + file,
                                   "--output " + file + " --alignments " + file}) {
    EXPECT_EQ(run("a b\n", flags).code, 2) << flags;
  }
  EXPECT_EQ(folder_->bytes("lines"), "a b\n");
  EXPECT_EQ(run("a b\n", "--output /dev/null --alignments /dev/null").code, 0);
}

TEST_F(Run, FlagsMayComeBeforeTheFolder) {
  const fs::path file = folder_->file("input", "a b\nc d\n");
  const auto scored = [&](const std::string& arguments) {
    return attend_with("run " + arguments + " < " + in_quotes(file) + " 2>&1").output;
  };
  EXPECT_EQ(scored("--scores " + in_quotes(model())), scored(in_quotes(model()) + " --scores"));
  EXPECT_EQ(scored("--scores --beam 2 " + in_quotes(model())), scored(in_quotes(model()) + " --scores --beam 2"));
}

TEST_F(Run, FilesInPlaceOfPipes) {
  const std::string in = in_quotes(folder_->file("lines", "a b\n\nc d\n")), wanted = run("a b\n\nc d\n").output;
  EXPECT_EQ(attend_with("run " + in_quotes(model()) + " --input " + in).output, wanted);
  const std::string out = in_quotes(folder_->path() / "out"), links = in_quotes(folder_->path() / "links");
  ASSERT_EQ(run("a b\n\nc d\n", "--output " + out + " --alignments " + links).code, 0);
  EXPECT_EQ(folder_->bytes("out"), wanted);
  const std::string alignments = folder_->bytes("links");
  EXPECT_EQ(lines(alignments), 3);
  EXPECT_TRUE(has(alignments, "-") && has(alignments, "\n\n")) << alignments;
}

TEST_F(Run, DrawnAnswersDoNotHangOnTheBatch) {
  const std::string input = "a b\n\nc d\ne a\n\n\nb b\nd\n", flags = "--sample --temperature 5 --seed 3 ";
  const Result all = run(input, flags);
  EXPECT_EQ(lines(all.output), 8);
  for (const char* batch : {"--batch 1", "--batch 2", "--batch 3"}) {
    EXPECT_EQ(run(input, flags + batch).output, all.output) << batch;
  }
  EXPECT_NE(run(input, "--sample --temperature 5 --seed 4").output, all.output);
}

TEST_F(Run, ManyAnswersAreNumbered) {
  const Result result = run("a b\n\nc d\n", "--n-best 2");
  EXPECT_EQ(result.code, 0);
  for (const char* part : {"0 ||| ", "1 |||  ||| ", "2 ||| "}) EXPECT_TRUE(has(result.output, part)) << result.output;
  EXPECT_EQ(lines(result.output), 5) << result.output;
}

TEST_F(Run, EachOfManyAnswersHasItsScore) {
  const Result scored = run("a b\nc d\n", "--n-best 3 --scores");
  EXPECT_EQ(scored.code, 0);
  EXPECT_EQ(scored.output, run("a b\nc d\n", "--n-best 3").output);
  const std::string best = run("a b\n", "--beam 4 --scores").output;
  const std::string first = scored.output.substr(0, scored.output.find('\n'));
  EXPECT_TRUE(first.ends_with(" ||| " + best.substr(0, best.find('\t')))) << first << " and " << best;
}

TEST_F(Run, ABeginningThatIsUnknownIsNamedOnce) {
  const std::string both = "a b\nc d\n";
  const Result known = run(both, "--prefix A");
  EXPECT_EQ(known.code, 0);
  EXPECT_FALSE(has(known.output, "attend run")) << known.output;
  const auto warnings = [](const Result& result) {
    const std::string warning = "attend run: the vocabulary does not contain \"zebra\"";
    const size_t first = result.output.find(warning);
    if (first == std::string::npos) return 0;
    return result.output.find(warning, first + 1) == std::string::npos ? 1 : 2;
  };
  for (const std::string& flags : {std::string("--prefix 'A zebra' --batch 1"),
                                   "--prefixes " + in_quotes(folder_->file("prefixes", "zebra\nA zebra\n"))}) {
    const Result unknown = run(both, flags);
    EXPECT_EQ(unknown.code, 0) << unknown.output;
    EXPECT_EQ(warnings(unknown), 1) << unknown.output;
    EXPECT_EQ(lines(unknown.output), 3) << unknown.output;
  }
}

TEST_F(Run, WrongSearchesAreRefused) {
  for (const char* flags :
       {"--beam 0", "--beam -1", "--n-best 0", "--n-best 9 --beam 4", "--top-p 2 --sample", "--top-p 2", "--top-k -1",
        "--temperature 0", "--length-penalty -1", "--min-length 5 --max-length 4", "--no-repeat-ngram -1",
        "--sample --n-best 0", "--sample --beam 3"}) {
    const Result result = run("a b\n", flags);
    EXPECT_EQ(result.code, 2) << flags << ": " << result.output;
    EXPECT_EQ(lines(result.output), 1) << flags << ": " << result.output;
  }
  const std::string pair = in_quotes(folder_->file("pair", "a b\n"));
  const Result scored =
      attend_with("eval " + in_quotes(model()) + " --source " + pair + " --target " + pair + " --beam 0 2>&1");
  EXPECT_EQ(scored.code, 2) << scored.output;
  EXPECT_EQ(run("a b\n", "--n-best 6").code, 0) << "as wide as it has to be";
  EXPECT_EQ(run("a b\n", "--n-best 3 --sample").code, 0);
}

TEST_F(Run, AnAnswerComesBeforeTheNextLine) {
  Process process({"run", model().string()});
  for (const char* line : {"a b\n", "c d\n", "\n", "a b\n"}) {
    ASSERT_TRUE(process.write(line));
    EXPECT_EQ(process.line(20) + "\n", run(line).output);
  }
  process.close_input();
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(Run, AnAnswerComesThroughANamedPipeToo) {
  const std::string pipe = (folder_->path() / "pipe").string(), wanted = run("a b\n").output;
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Process process({"run", model().string(), "--input", pipe});
  const int writer = ::open(pipe.c_str(), O_WRONLY);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(::write(writer, "a b\nc", 5), 5);
  EXPECT_EQ(process.line(20) + "\n", wanted) << "the next line has begun, but not come";
  ASSERT_EQ(::write(writer, " d", 2), 2);
  ::close(writer);
  EXPECT_EQ(process.line(20) + "\n", run("c d\n").output);
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(Run, TheFirstLineMayBeEmpty) {
  Process process({"run", model().string()});
  ASSERT_TRUE(process.write("\n"));
  pollfd output{process.output(), POLLIN, 0};
  EXPECT_EQ(::poll(&output, 1, 20'000), 1) << "one byte is a line";
}

TEST_F(Run, StandardInputIsReadAsFilesAre) {
  const std::string wanted = run("a b\nc d\n").output;
  EXPECT_EQ(run("a b\nc d\n", "--input -").output, wanted);
  const std::string packed = in_quotes(folder_->path() / "packed.gz");
  ASSERT_EQ(std::system(("printf 'a b\\nc d\\n' | gzip > " + packed).c_str()), 0);
  EXPECT_EQ(attend_with("run " + in_quotes(model()) + " < " + packed + " 2>&1").output, wanted);
  const Result zero = run(std::string_view("a b\na\0b\n", 8));
  EXPECT_EQ(zero.code, 1);
  EXPECT_TRUE(has(zero.output, "standard input:2: expected text, got a zero byte")) << zero.output;
  const Result endless = run(std::string((16 << 20) + 1, 'x'));
  EXPECT_EQ(endless.code, 1);
  EXPECT_TRUE(has(endless.output, "standard input:1: expected a line of at most")) << endless.output;
}

TEST_F(Run, WhatIsNotUtf8IsNamedByItsLine) {
  const Result result = run("a b\n\xff\xfe\n");
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(has(result.output, "standard input:2: ")) << result.output;
}

TEST_F(Run, AReaderThatGoesAwayEndsItQuietly) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "a b\n";
  const std::string in = in_quotes(folder_->file("many", many)), errors = in_quotes(folder_->path() / "errors");
  const Result result = attend_with("run " + in_quotes(model()) + " < " + in + " 2> " + errors + " | head -n 1");
  EXPECT_EQ(lines(result.output), 1);
  EXPECT_EQ(folder_->bytes("errors"), "");
}

TEST_F(Run, WhatCannotBeWrittenIsAnError) {
  const Result full = run("a b\n", "--output /dev/full");
  EXPECT_EQ(full.code, 1) << full.output;
  EXPECT_TRUE(has(full.output, "/dev/full")) << full.output;
  const Result none = run("a b\n", "--output " + in_quotes(folder_->path() / "no" / "folder"));
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(lines(none.output), 1) << none.output;
}

TEST_F(Run, MistakesAreOneLine) {
  for (const char* flags : {"--beem 3", "--beam many", "--batch 0", "--prefix a --prefixes b", "--prefixes none",
                            "--input none", "--beam 0", "--temperature 0 --sample"}) {
    const Result result = run("a b\n", flags);
    EXPECT_EQ(result.code, 2) << flags << ": " << result.output;
    EXPECT_EQ(lines(result.output), 1) << flags << ": " << result.output;
    EXPECT_TRUE(result.output.starts_with("attend")) << flags << ": " << result.output;
  }
}

}  // namespace
