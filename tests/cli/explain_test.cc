// `attend explain`, and `attend run --trace`: what a model looked at, in every form, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "attend/explain/png.h"
#include "attend/explain/trace.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class Explain : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    const fs::path tsv = folder_->file("pairs.tsv", small_corpus());
    const fs::path recipe = folder_->file("recipe.yml", small_recipe(tsv, 100));
    const Result trained = attend_with("train " + in_quotes(recipe) + " --out " + in_quotes(model()) + " 2>&1");
    ASSERT_EQ(trained.code, 0) << trained.output;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static fs::path model() { return folder_->path() / "model"; }
  static Result explain(const std::string& arguments, const std::string& environment = "") {
    return attend_with("explain " + in_quotes(model()) + " " + arguments + " 2>&1", environment);
  }
  /// The answer alone, as `attend run` gives it.
  static std::string answer(const std::string& text) {
    const fs::path file = folder_->file("input", text + "\n");
    return attend_with("run " + in_quotes(model()) + " < " + in_quotes(file)).output;
  }

  static std::unique_ptr<TestFolder> folder_;
};
std::unique_ptr<TestFolder> Explain::folder_;

TEST_F(Explain, ShowsTheAnswerAndItsMap) {
  const Result shown = explain("'a b'");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(has(shown.output, "a b\n  → " + answer("a b"))) << shown.output;
  EXPECT_TRUE(has(shown.output, "attention: source above")) << shown.output;
  EXPECT_FALSE(has(shown.output, "\x1b[")) << "no colour where it is no terminal";
  EXPECT_TRUE(has(explain("'a b' --colour always").output, "\x1b[48;2;"));
  EXPECT_TRUE(has(shown.output, "██ from ")) << "what the shades mean: " << shown.output;
  const std::string saliency = explain("'a b' --method saliency --heads").output;
  EXPECT_TRUE(has(saliency, "saliency: source above")) << saliency;
  EXPECT_TRUE(has(saliency, "against the word")) << saliency;
  EXPECT_TRUE(has(saliency, "\nattention of decoder.memory, layer 0 · head 0\n")) << saliency;
}

TEST_F(Explain, TakesThreadsAsTheOthersDo) {
  const Result one = explain("'a b' --threads 1");
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_EQ(one.output, explain("'a b'").output) << "the same bits with any number";
}

TEST_F(Explain, EvidenceIsInPlainWords) {
  const Result shown = explain("'a b' --evidence");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(has(shown.output, "without the source word that the map points at")) << shown.output;
  EXPECT_TRUE(has(shown.output, "with equal weights on all source tokens")) << shown.output;
}

TEST_F(Explain, AnAnswerOfOnesOwn) {
  const Result shown = explain("'a b' --target 'A A A'");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(has(shown.output, "→ A A A   (given)")) << shown.output;
}

TEST_F(Explain, WritesEveryKindOfFile) {
  for (const std::string ending : {"html", "svg", "json", "png"}) {
    if (ending == "png" && !attend::explain::can_write_png()) continue;
    const fs::path out = folder_->path() / ("x." + ending);
    const Result result = explain("'a b' --out " + in_quotes(out));
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_TRUE(has(result.output, "wrote " + out.string())) << result.output;
    EXPECT_GT(fs::file_size(out), 500u);
  }
  EXPECT_EQ(attend::explain::read_traces(folder_->path() / "x.json").at(0).source.text, "a b");
  EXPECT_TRUE(folder_->bytes("x.svg").starts_with("<svg"));
}

TEST_F(Explain, RefusesWithTwoAndOneLine) {
  const auto refused = [](const Result& result, const std::string& part) {
    EXPECT_EQ(result.code, 2) << result.output;
    EXPECT_EQ(lines(result.output), 1) << result.output;
    EXPECT_TRUE(has(result.output, part)) << result.output;
  };
  refused(explain("''"), "expected a text with at least one word");
  refused(explain("'a b' --head 3"), "expected head 0 to 0, or -1 for all; got 3");
  refused(explain("'a b' --layer 2"), "expected a layer of decoder.memory or -1 for all: 0 (1 head); got 2");
  refused(explain("'a b' --method atention"), "attention");
  refused(explain("'a b' --level letters"), "words, tokens");
  refused(explain("'a b' --out x.gif"), ".html, .svg, .png or .json");
  refused(explain("'a b' --colour blue"), "auto, always, never");
  refused(attend_with("explain " + in_quotes(folder_->path() / "none") + " 'a b' 2>&1"), "not a model folder");
  refused(explain("'a b' --out " + in_quotes(folder_->path() / "none" / "x.svg")),
          "there is no folder \"" + (folder_->path() / "none").string() + "\"");
  refused(explain("'a b' --layer -2"), "--layer: expected at least -1, got -2");
  refused(explain("'a b' --method saliency --layer 9"), "--layer chooses among attentions, but the method is saliency");
  refused(explain("'a b' --site encoder.self"),
          "expected a site that the model has: decoder.memory; got encoder.self");
  refused(explain(""), "say what the model is to answer");
}

TEST_F(Explain, WordsWithoutQuotesAreOneText) {
  EXPECT_EQ(explain("a b").output, explain("'a b'").output);
  EXPECT_EQ(explain("a b --method saliency").code, 0);
}

TEST_F(Explain, TheEndingOfAFileMayBeInCapitals) {
  const fs::path out = folder_->path() / "x.SVG";
  EXPECT_EQ(explain("'a b' --out " + in_quotes(out)).code, 0);
  EXPECT_TRUE(folder_->bytes("x.SVG").starts_with("<svg"));
}

TEST_F(Explain, ALongTextIsCutAsRunCutsIt) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += i % 2 ? "a " : "b ";
  text.pop_back();
  const fs::path json = folder_->path() / "long.json", svg = folder_->path() / "long.svg";
  const Result result = explain("'" + text + "' --out " + in_quotes(json) + " --max-length 1");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_TRUE(has(result.output, "explained in 2 parts")) << result.output;
  EXPECT_TRUE(has(result.output, "reached its greatest length")) << result.output;
  const auto parts = attend::explain::read_traces(json);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].part, 2);
  const fs::path input = folder_->file("long", text + "\n"), traced = folder_->path() / "long.jsonl";
  const Result run = attend_with("run " + in_quotes(model()) + " --max-length 1 --trace " + in_quotes(traced) + " < " +
                                 in_quotes(input) + " 2>&1");
  EXPECT_TRUE(has(run.output, parts[0].target.text + " " + parts[1].target.text + "\n")) << run.output;
  EXPECT_EQ(attend::explain::read_traces(traced).at(1).source.text, parts[1].source.text);
  EXPECT_EQ(explain("'" + text + "' --out " + in_quotes(svg)).code, 0);
  EXPECT_TRUE(fs::exists(folder_->path() / "long.2.svg"));
  EXPECT_TRUE(has(explain("'" + text + "' --target 'A B'").output, "in one piece"));
}

TEST_F(Explain, ATraceChangesNoAnswer) {
  const fs::path input = folder_->file("lines", "a b\n\nc d\ne\n"), trace = folder_->path() / "t.jsonl";
  const std::string run = "run " + in_quotes(model()) + " --input " + in_quotes(input);
  const Result plain = attend_with(run), traced = attend_with(run + " --trace " + in_quotes(trace));
  EXPECT_EQ(plain.output, traced.output);
  const auto traces = attend::explain::read_traces(trace);
  ASSERT_EQ(traces.size(), 3u) << "an empty line has none";
  EXPECT_EQ(traces[1].source.text, "c d");
  EXPECT_EQ(traces[1].line, 3) << "the empty one counts";
  EXPECT_EQ(traces[1].part, 0);
  EXPECT_EQ(traces[1].sites.at(0).weights.dim(2), 2);
  EXPECT_EQ(attend_with(run + " --trace " + in_quotes(input) + " 2>&1").code, 2) << "what is read is not written over";
}

}  // namespace
