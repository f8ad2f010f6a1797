// Sounds on the command line: files, lists and pipes, times in the formats of others, and what cannot be heard.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "attend/base/random.h"
#include "attend/data/sound_file.h"
#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"
#include "tests/support/untrained.h"

namespace {

using namespace attend;
using namespace attend::test;

data::Sound murmur(double seconds, uint64_t seed) {
  data::Sound sound{.rate = 16000};
  Random random(seed);
  for (int64_t i = 0; i < static_cast<int64_t>(seconds * 16000); ++i) sound.samples.push_back(0.2F * (random.uniform() - 0.5F));
  return sound;
}

tasks::Corpus sound_corpus() {
  return {.train = tasks::examples_of({{.inputs = {murmur(1, 1)}, .right = {"say some words"}, .name = "a"}})};
}

class Sounds : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TestFolder>();
    const SettingList small{{"task", "listen", ""}, {"longest", "3", ""}, {"search.max_length", "6", ""}};
    SettingList joint = small, ctc = small;
    joint.push_back({"model.encoder.size", "8", ""}), joint.push_back({"model.decoder.size", "8", ""});
    for (const auto& [name, value] : {std::pair{"model.name", "ctc"}, {"model.encoder.kind", "listener"},
                                      {"model.encoder.size", "8"}, {"model.encoder.bidirectional", "false"}}) {
      ctc.push_back({name, value, ""});
    }
    save_untrained(folder_->path() / "joint", joint, sound_corpus());
    save_untrained(folder_->path() / "ctc", ctc, sound_corpus());
    save_untrained(folder_->path() / "frames", {{"task", "frames", ""}, {"longest", "3", ""}, {"model.encoder.size", "8", ""}},
                   {.train = tasks::examples_of({{.inputs = {murmur(0.04, 1)}, .right = {"s t"}, .name = "a"}}), .labels = {"s", "t"}});
    data::write_wav(folder_->path() / "a.wav", murmur(1.5, 2));
    data::write_wav(folder_->path() / "b.wav", murmur(2, 3));
    data::write_wav(folder_->path() / "long.wav", murmur(10, 4));
    folder_->file("not.wav", "this is text\n");
    folder_->file("empty.wav", "");
    folder_->file("list", path("a.wav") + "\n" + path("b.wav") + "\n");
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static std::string path(const std::string& name) { return (folder_->path() / name).string(); }
  static Result run(const std::string& model, const std::string& arguments) {
    return attend_with("run " + in_quotes(path(model)) + " " + arguments + " 2>&1");
  }

  static std::unique_ptr<TestFolder> folder_;
};
std::unique_ptr<TestFolder> Sounds::folder_;

TEST_F(Sounds, AreNamedListedOrPiped) {
  const Result one = run("joint", path("a.wav"));
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_EQ(lines(one.output), 1);
  const Result piped = attend_with("run " + path("joint") + " - < " + path("a.wav"));
  EXPECT_EQ(piped.output, one.output);
  const Result two = run("joint", path("a.wav") + " " + path("b.wav"));
  EXPECT_TRUE(two.output.starts_with(path("a.wav") + "\t" + one.output)) << two.output;
  EXPECT_EQ(run("joint", "--list " + path("list")).output, two.output);
}

TEST_F(Sounds, LongOnesAreHeardInWindowsWithTimesThatGoOn) {
  const Result result = run("joint", "-q --times tsv " + path("long.wav"));
  ASSERT_EQ(result.code, 0) << result.output;
  double before = 0;
  std::istringstream in(result.output);
  for (std::string line; std::getline(in, line);) {
    std::string name, begin, end;
    std::istringstream columns(line);
    std::getline(columns, name, '\t'), std::getline(columns, begin, '\t'), std::getline(columns, end, '\t');
    EXPECT_EQ(name, "long");
    EXPECT_LE(before, std::stod(begin)) << line;
    EXPECT_LE(std::stod(begin), std::stod(end)) << line;
    before = std::stod(end);
  }
  EXPECT_LE(before, 10.0);
  EXPECT_GT(before, 3.0) << "words of later windows have later times";
}

TEST_F(Sounds, TimesComeInTheFormatsOfOthers) {
  EXPECT_TRUE(run("joint", "-q --times vtt " + path("a.wav")).output.starts_with("WEBVTT"));
  EXPECT_TRUE(has(run("joint", "-q --times textgrid " + path("a.wav")).output, "Object class = \"TextGrid\""));
  const Result ctm = run("joint", "-q --times ctm " + path("a.wav") + " " + path("b.wav"));
  EXPECT_TRUE(ctm.output.starts_with("a 1 ")) << ctm.output;
  const Result refused = run("joint", "--times srt " + path("a.wav") + " " + path("b.wav"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(has(refused.output, "name a folder")) << refused.output;
  const Result several = run("joint", "-q --times srt --output " + path("subtitles") + " " + path("a.wav") + " " + path("b.wav"));
  EXPECT_EQ(several.code, 0) << several.output;
  EXPECT_TRUE(std::filesystem::exists(path("subtitles/a.srt")) && std::filesystem::exists(path("subtitles/b.srt")));
}

TEST_F(Sounds, OfTheSameNameDoNotReplaceEachOther) {
  std::filesystem::create_directory(folder_->path() / "sub");
  data::write_wav(folder_->path() / "sub" / "a.wav", murmur(1, 7));
  const std::string two = path("a.wav") + " " + path("sub/a.wav");
  const Result refused = run("joint", "--times srt --output " + path("same") + " " + two);
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_TRUE(has(refused.output, "would both become " + path("same/a.srt"))) << refused.output;
  EXPECT_FALSE(std::filesystem::exists(path("same")));
  const Result rows = run("joint", "-q --times ctm " + two);
  EXPECT_TRUE(has(rows.output, path("a.wav") + " 1 ") && has(rows.output, path("sub/a.wav") + " 1 ")) << rows.output;
}

TEST_F(Sounds, OfAListAreRefusedBeforeAnyIsHeard) {
  const Result folder = run("joint", "--times srt --list " + path("list"));
  EXPECT_EQ(folder.code, 2) << folder.output;
  EXPECT_TRUE(has(folder.output, "name a folder")) << folder.output;
  folder_->file("missing", path("a.wav") + "\n" + path("none.wav") + "\n");
  const Result missing = run("joint", "--list " + path("missing"));
  EXPECT_EQ(missing.code, 2) << missing.output;
  EXPECT_FALSE(has(missing.output, path("a.wav") + "\t")) << missing.output;
  EXPECT_TRUE(has(run("joint", "-q --on-error skip --list " + path("missing")).output, path("a.wav") + "\t"));
}

TEST_F(Sounds, AreNotReplacedByWhatIsSaidInThem) {
  data::write_wav(folder_->path() / "kept.wav", murmur(1, 8));
  const auto size = std::filesystem::file_size(path("kept.wav"));
  for (const char* how : {"", "--times srt "}) {
    EXPECT_EQ(run("joint", how + ("--output " + path("kept.wav") + " " + path("kept.wav"))).code, 2) << how;
    EXPECT_EQ(run("joint", how + ("--output " + path("kept.wav") + " " + path("a.wav") + " " + path("kept.wav"))).code == 0, false);
  }
  EXPECT_EQ(run("ctc", "--stream --output " + path("kept.wav") + " " + path("kept.wav")).code, 2);
  EXPECT_EQ(std::filesystem::file_size(path("kept.wav")), size);
}

TEST_F(Sounds, ThatCannotBeHeardHaveNoTimes) {
  const std::string three = path("a.wav") + " " + path("not.wav") + " " + path("b.wav");
  for (const char* format : {"tsv", "ctm"}) {
    const Result rows = run("joint", "-q --on-error replace --times " + std::string(format) + " " + three);
    EXPECT_EQ(rows.code, 0) << rows.output;
    EXPECT_FALSE(has(rows.output, path("not.wav") + "\t")) << rows.output;
  }
  for (const char* format : {"srt", "textgrid"}) {
    const std::string out = path(std::string("replaced-") + format);
    const Result files = run("joint", "-q --on-error replace --times " + std::string(format) + " --output " + out + " " + three);
    EXPECT_EQ(files.code, 0) << files.output;
    EXPECT_FALSE(has(files.output, path("not.wav") + "\t")) << files.output;
    EXPECT_TRUE(std::filesystem::exists(out + "/not." + (std::string(format) == "srt" ? "srt" : "TextGrid")));
  }
}

TEST_F(Sounds, HaveALabelForEachFrameHoweverLongTheyAre) {
  const auto labels = [](const Result& result) { return std::ranges::count(result.output, ' ') + 1; };
  EXPECT_EQ(labels(run("frames", "-q " + path("a.wav"))), 148);
  EXPECT_NEAR(static_cast<double>(labels(run("frames", "-q " + path("long.wav")))), 998, 2);
  const Result times = run("frames", "-q --times ctm " + path("a.wav"));
  EXPECT_EQ(times.code, 0) << times.output;
  EXPECT_TRUE(times.output.starts_with("a 1 0.000 ")) << times.output;
}

TEST_F(Sounds, TimesAreOfTheBestAnswerAlone) {
  EXPECT_EQ(run("joint", "--times ctm --scores " + path("a.wav")).code, 2);
  EXPECT_EQ(run("joint", "--times ctm --n-best 2 --beam 2 " + path("a.wav")).code, 2);
}

TEST_F(Sounds, AreHeardWhileTheyComeByNetworksThatCan) {
  const Result whole = run("ctc", "--beam 1 " + path("a.wav"));
  const Result streamed = run("ctc", "--stream " + path("a.wav"));
  EXPECT_EQ(streamed.code, 0) << streamed.output;
  EXPECT_EQ(lines(streamed.output), 1);
  EXPECT_EQ(lines(whole.output), 1);
  const Result refused = run("joint", "--stream " + path("a.wav"));
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(has(refused.output, "expected a network that hears sounds by ctc")) << refused.output;
}

TEST_F(Sounds, WhatCannotBeHeardIsNamed) {
  for (const char* name : {"not.wav", "empty.wav"}) {
    const Result result = run("joint", path(name));
    EXPECT_EQ(result.code, 1) << name;
    EXPECT_TRUE(has(result.output, path(name))) << result.output;
    EXPECT_LE(lines(result.output), 2) << result.output;
  }
  const Result skipped = run("joint", "-q --on-error skip " + path("not.wav") + " " + path("a.wav"));
  EXPECT_TRUE(has(skipped.output, path("a.wav") + "\t")) << skipped.output;
  EXPECT_EQ(run("joint", "").code, 2);
  EXPECT_TRUE(has(run("joint", "no.wav").output, "there is no file"));
  EXPECT_EQ(run("joint", "--list " + path("list") + " " + path("a.wav")).code, 2);
}

TEST_F(Sounds, TheirPicturesShowThemInTheTerminalAndInFiles) {
  const Result shown = attend_with("explain " + path("joint") + " " + path("a.wav") + " 2>&1");
  EXPECT_EQ(shown.code, 0);
  EXPECT_TRUE(has(shown.output, "seconds")) << shown.output;
  for (const char* name : {"a.svg", "a.html", "a.json"}) {
    const Result written = attend_with("explain " + path("joint") + " " + path("a.wav") + " --out " + path(name) + " 2>&1");
    EXPECT_EQ(written.code, 0) << written.output;
    EXPECT_GT(std::filesystem::file_size(path(name)), 1000U);
  }
}

TEST_F(Sounds, TimesToCompareWithHaveToBeTheirs) {
  const TestFolder data;
  data::write_wav(data.path() / "x1.wav", murmur(1, 5));
  data.file("test.tsv", "x1\tsay words\n");
  const auto eval_with = [&](const std::string& times) {
    data.file("times.ctm", times);
    return attend_with("eval " + path("joint") + " --sounds " + (data.path() / "test.tsv").string() + " --word-times " +
                       (data.path() / "times.ctm").string() + " 2>&1");
  };
  EXPECT_TRUE(has(eval_with("x1 1 0.1 0.2 say\nx1 1 0.5 0.3 words\n").output, "times_ms"));
  const Result others = eval_with("y1 1 0.1 0.2 say\ny1 1 0.5 0.3 words\n");
  EXPECT_EQ(others.code, 2);
  EXPECT_TRUE(has(others.output, "such as \"x1\", got none of theirs")) << others.output;
  const Result fewer = eval_with("x1 1 0.1 0.2 say\n");
  EXPECT_TRUE(has(fewer.output, "got 1 for the 2 of x1")) << fewer.output;
}

TEST_F(Sounds, LongOnesAreExplainedInParts) {
  const Result shown = attend_with("explain " + path("joint") + " " + path("long.wav") + " --out " + path("long.html") + " 2>&1");
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_TRUE(has(shown.output, "the sound is longer than 3.0 s")) << shown.output;
  const Result parts = attend_with("explain " + path("joint") + " " + path("long.wav") + " 2>/dev/null");
  EXPECT_TRUE(has(parts.output, "part 4")) << parts.output;
}

TEST_F(Sounds, AreTestedFromAListOrFolder) {
  const TestFolder data;
  data::write_wav(data.path() / "x1.wav", murmur(1, 5));
  data.file("test.tsv", "x1\tsay words\n");
  const Result result = attend_with("eval " + path("joint") + " --sounds " + (data.path() / "test.tsv").string() + " 2>/dev/null");
  ASSERT_EQ(result.code, 0) << result.output;
  const auto report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report["sounds"], 1);
  EXPECT_TRUE(report.contains("wer") && report.contains("cer") && report["word_edits"]["words"] == 2);
  const Result missing = attend_with("eval " + path("joint") + " --sounds " + (data.path() / "none.tsv").string() + " 2>&1");
  EXPECT_EQ(missing.code, 2) << missing.output;
}

}  // namespace
