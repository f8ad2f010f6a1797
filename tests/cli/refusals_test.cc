// What is asked wrongly is refused at once, by the name that was typed, with exit code 2, and leaves nothing behind;
// what goes wrong ends with 1.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "attend/tasks/config.h"
#include "cli/exit_code.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

const std::string kSaved = ATTEND_SOURCE_DIR "/tests/tasks/saved/";

struct Asked {
  std::string arguments;
  std::vector<std::string> said;
  std::vector<std::string> not_said = {};
  int code = 2;
};

class Refusals : public testing::Test {
 protected:
  /// Runs it where there is nothing but `kept`; afterwards there is nothing more.
  void expect_refused(const Asked& asked) const {
    const size_t before = entries();
    const Result result = attend_with(asked.arguments + " 2>&1 < /dev/null", "cd " + in_quotes(folder_.path()) + " &&");
    EXPECT_EQ(result.code, asked.code) << asked.arguments << "\n" << result.output;
    EXPECT_LE(lines(result.output), 6) << asked.arguments << "\n" << result.output;
    EXPECT_LE(result.output.size(), 1600u) << asked.arguments;
    for (const std::string& part : asked.said) {
      EXPECT_TRUE(has(result.output, part)) << part << "\n" << result.output;
    }
    for (const std::string& part : asked.not_said) {
      EXPECT_FALSE(has(result.output, part)) << part << "\n" << result.output;
    }
    EXPECT_EQ(entries(), before) << asked.arguments;
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::recursive_directory_iterator(folder_.path()), {}));
  }

  TestFolder folder_;
};
class RefusalsSlow : public Refusals {};

// The data is not there: whatever is said of an option was said before it was looked for.
const std::string kTrain = "train translate --source nosuch --target nosuch --out model ";

TEST_F(Refusals, TrainChecksEveryGroupOfOptionsBeforeItReads) {
  const std::vector<std::string> late{"reading", "nosuch"};
  for (const Asked& asked : std::vector<Asked>{
           {kTrain + "--model.label_smoothing 1",
            {"--model.label_smoothing: expected at least 0 and less than 1, got 1"},
            late},
           {kTrain + "--search.top-p 2",
            {"attend train: --search.top-p: expected more than 0 and at most 1, got 2"},
            late},
           {kTrain + "--train.optimiser foo", {"--train.optimiser: expected one of sgd"}, {"make_", "nearest"}},
           {kTrain + "--train.rate nan", {"--train.rate: expected a finite number"}, late},
           {kTrain + "--tokeniser.vocabulary 2", {"--tokeniser.vocabulary: expected 5 to"}, late},
           {kTrain + "--tokeniser.normalise nfd", {"--tokeniser.normalise: expected one of none, nfkc"}, late},
           {kTrain + "--batch.tokens 0", {"--batch.tokens: expected 1 to"}, late},
           {kTrain + "--filter.ratio -1", {"--filter.ratio: expected at least 0"}, late},
           {kTrain + "--model.name transformer --model.heads 7", {"--model.heads: expected a divisor of size 256, got 7"}, late},
           {kTrain + "--model.name recurent", {"--model.name: expected one of", "the nearest is \"recurrent\""}, late},
           {kTrain + "--threads -1", {"--threads: expected 0 to 1024, got -1"}, late},
           {kTrain + "--threads 100000", {"--threads: expected 0 to 1024"}, late},
           {kTrain + "--search.beam 0", {"--search.beam: expected 1 to"}, late},
           {kTrain + "--valid-sentences -1", {"--valid-sentences: expected 0 to"}, late},
           {kTrain, {"--source: there is no file \"nosuch\""}, {"reading"}},
           {"train trnslate --out model", {"got \"trnslate\""}},
           {"train nosuch.yml --out model", {"nosuch.yml", "No such file"}},
           {"train . --out model", {"regular file"}}}) {
    expect_refused(asked);
  }
}

TEST_F(Refusals, TheNearestOptionIsNearAndDestroysNothing) {
  expect_refused({"train translate --sorce x --out model",
                  {"there is no option --sorce; the nearest is --source"},
                  {"--force"}});
  expect_refused({"train translate --forse --out model", {"there is no option --forse"}, {"nearest"}});
  expect_refused({"train translate --elephants 3 --out model", {"there is no option --elephants"}, {"nearest"}});
  expect_refused({"trian", {"there is no command \"trian\"; the nearest is \"train\""}});
  expect_refused({"elephants", {"there is no command \"elephants\""}, {"nearest"}});
  expect_refused({"list elephants", {"expected one of tasks", "got \"elephants\""}, {"nearest"}});
}

TEST_F(Refusals, ARecipeIsRefusedByItsLine) {
  folder_.file("r.yml", "task: translate\ntsv: nosuch\ntrain:\n  rate: -3\n");
  expect_refused({"train r.yml --out model", {"r.yml:4: train.rate: expected at least 0, got -3"}});
  folder_.file("r.yml", "task: translate\ntsv: nosuch\nmodel: {name: transformer, heads: 7}\n");
  expect_refused({"train r.yml --out model", {"r.yml:3: model.heads: expected a divisor"}});
  folder_.file("r.yml", "task: translate\ntsv: nosuch\n");
  expect_refused({"train r.yml --out model", {"r.yml:2: tsv: there is no file \"nosuch\""}});
}

TEST_F(Refusals, AFileOfDataInPlaceOfARecipeIsToldInALine) {
  std::string value = "tsv: ", alias = "a: *", words, pairs;
  for (int i = 0; i < 16'000; ++i) {
    value += "word ", alias += "word", words += "the cat sat: on the mat\n", pairs += "a b\tB A\n";
  }
  const std::string json = "{\"a\": 1}\n{\"a\": 2}\n", program = "\x7f" "ELF\x02";
  for (const std::string& text : {value, alias, words, pairs, json, program}) {
    folder_.file("data.txt", text);
    expect_refused({"train data.txt --out model", {"attend train: data.txt"}});
  }
}

TEST_F(Refusals, CompareChecksAllVariantsFirst) {
  for (const Asked& asked : std::vector<Asked>{
           {"compare translate --vary train.optimiser=sgd,foo --out report",
            {"attend compare: --vary train.optimiser: expected one of sgd"}, {"reading", "make_optimiser"}},
           {"compare translate --vary model.attention.heads=1,3 --out report",
            {"variant \"heads 3\": --vary model.attention.heads: 3 heads must divide"}},
           {"compare translate --variant 'good: model.hidden=8' --variant 'bad: search.top_p=2' --out report",
            {"--variant \"bad\": search.top_p: expected more than 0 and at most 1, got 2"}},
           {"compare translate --threads -2 --out report", {"--threads: expected 0 to 1024"}},
           {"compare nosuch --out report", {"got \"nosuch\""}},
           {"compare translate --source nosuch --target nosuch --out report", {"--source: there is no file"}}}) {
    expect_refused(asked);
  }
}

TEST_F(Refusals, UsersOfAModelCheckBeforeTheyLoadIt) {
  const std::string words = kSaved + "recurrent ", digits = kSaved + "glimpse ";
  for (const Asked& asked : std::vector<Asked>{
           {"run " + words + "--beam 0", {"attend run: --beam: expected 1 to 10000, got 0"}},
           {"run " + words + "--beam 100000", {"--beam: expected 1 to 10000, got 100000"}},
           {"run " + words + "--beam 2 --n-best 5", {"--n-best: expected at most the beam, 2, got 5"}},
           {"run " + words + "--sample --beam 3", {"--sample or --beam, not both"}},
           {"run " + words + "--top-p 2", {"--top-p: expected more than 0"}},
           {"run " + words + "--max-length 2147483647", {"--max-length: expected 0 to"}},
           {"run " + words + "--threads 100000000", {"--threads: expected 0 to 1024"}},
           {"run " + words + "--batch 0", {"--batch: expected 1 to"}},
           {"run " + words + "--input nosuch", {"--input: there is no file \"nosuch\""}},
           {"run " + words + "--prefixes nosuch", {"--prefixes: there is no file"}},
           {"run " + words + "--output nosuch/x", {"--output: there is no folder \"nosuch\""}},
           {"run " + digits + "nosuch.png", {"there is no file \"nosuch.png\""}},
           {"run nosuch", {"nosuch: not a model folder"}},
           {"run .", {"not a model folder"}},
           {"run", {"expected DIR"}},
           {"eval " + words + "--beam 2 --n-best 5", {"--n-best: expected at most the beam"}},
           {"eval " + words + "--source nosuch --target nosuch", {"--source: there is no file"}},
           {"eval " + words, {"name files to test with (--source)"}},
           {"eval " + digits + "--copies 0", {"--copies: expected 1 to"}, {"copies_in_use"}},
           {"eval " + kSaved + "image_classifier --copies 2", {"--copies is for glimpse networks"}},
           {"eval " + digits + "--confusion x.gif", {"--confusion: expected a file that ends in"}},
           {"eval " + digits + "--confusion nosuch/x.svg", {"--confusion: there is no folder"}},
           {"eval --output nosuch --target nosuch", {"--output: there is no file"}},
           {"eval --output nosuch --target nosuch --tokenise intel", {"--tokenise: expected one of"}},
           {"eval --output x --target x --task elephants", {"--task: expected one of"}},
           {"explain " + words + "hello --method foo", {"--method: expected one of"}},
           {"explain " + words + "hello --layer 99", {"99"}},
           {"explain " + words + "hello --out x.txt", {"--out: expected a file that ends in"}},
           {"explain " + words + "hello --out nosuch/x.svg", {"--out: there is no folder \"nosuch\""}},
           {"explain " + words + "hello --level letters", {"--level: expected one of words, tokens"}},
           {"explain " + words + "hello --n-best 5 --beam 2", {"--n-best: expected at most the beam"}},
           {"explain " + digits + "--example 99999", {"--example: expected numbers from 0 to"}},
           {"explain " + digits + "nosuch.png", {"there is no file \"nosuch.png\""}},
           {"serve nosuch", {"nosuch: not a model folder"}},
           {"serve " + words + "--port 99999", {"--port: expected 0 to 65535"}},
           {"serve " + words + "--beam 0", {"--beam: expected 1 to"}},
           {"serve " + words + "--threads -1", {"--threads: expected 0 to 1024"}},
           {"demo --picture nosuch/x.svg hello", {"--picture: there is no folder"}},
           {"demo --agian", {"there is no option --agian"}, {"nearest"}}}) {
    expect_refused(asked);
  }
}

TEST_F(Refusals, WhatGoesWrongEndsWithOne) {
  folder_.file("pairs.tsv", "one column\nand no tab\n");
  expect_refused({"train translate --tsv pairs.tsv --out model", {"pairs.tsv"}, {"--help"}, 1});
  fs::copy(kSaved + "recurrent", folder_.path() / "copy", fs::copy_options::recursive);
  folder_.file("copy/weights.safetensors", "nothing");
  expect_refused({"run copy", {"weights.safetensors"}, {"--help"}, 1});
  folder_.file("copy/config.yml", "search: {beam: 2000000000}\n");
  expect_refused({"run copy", {"copy/config.yml:1: search.beam: expected 1 to 10000"}, {"--help"}, 1});
}

TEST_F(Refusals, ABatchThatCannotHoldAPairLeavesNoFolder) {
  folder_.file("pairs.tsv", small_corpus());
  const std::string asked = "train translate --tsv pairs.tsv --tokeniser.kind words --held-out 0.2 --out a/model ";
  expect_refused({asked + "--batch.tokens 1",
                  {"--batch.tokens: expected room for the longest pair, which has 2 tokens on a side, got 1"}});
}

/// Each with a value that it cannot have, over files that are not there.
TEST_F(RefusalsSlow, EveryOptionOfEveryTaskIsRefusedByItsFlag) {
  using attend::OptionInfo;
  for (const attend::tasks::TaskRow& task : attend::tasks::tasks()) {
    const std::string name(task.name);
    for (const OptionInfo& option : attend::tasks::TaskConfig({{"task", name, "task"}}).all()) {
      std::string flag = "--" + option.name, value = "no-such-thing";
      std::ranges::replace(flag, '_', '-');
      if (std::isfinite(option.bounds.least)) value = std::to_string(static_cast<int64_t>(option.bounds.least) - 2);
      const std::string typed = option.type == "true or false" ? flag + "=" + value : flag + " " + value;
      expect_refused({"train " + name + " " + typed + " --out model", {flag}, {"reading"}});
    }
  }
}

TEST(ExitCode, LongMessagesAreCut) {
  const std::string said = attend::cli::message_of(attend::Error(std::string(100'000, 'x')));
  EXPECT_LT(said.size(), 1600u);
  EXPECT_TRUE(said.ends_with(" …"));
  EXPECT_EQ(lines(attend::cli::message_of(attend::Error("a\nb\nc\nd\ne\nf\ng\nh"))), 5);
  EXPECT_EQ(attend::cli::exit_code(attend::Error("x")), 1);
  EXPECT_EQ(attend::cli::exit_code(attend::UsageError("x")), 2);
  EXPECT_EQ(attend::cli::exit_code(std::bad_alloc()), 1);
}

}  // namespace
