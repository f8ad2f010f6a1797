#include "attend/data/timed_text.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"

namespace attend::data {
namespace {

const TimedTranscript kSaid{"call one.wav", 5.5, {{"turn", 0.25, 0.5}, {"it", 0.5, 0.5}, {"\"on\" <b>&", 0.5, 1.125},
                                                  {"now", 4, 4.5}}};

std::string written(std::string_view format) { return timed_format_named(format).write(kSaid); }

TEST(TimedText, SubtitlesEndAtAPause) {
  EXPECT_EQ(written("srt"),
            "1\n00:00:00,250 --> 00:00:01,125\nturn it \"on\" <b>&\n\n2\n00:00:04,000 --> 00:00:04,500\nnow\n\n");
}

TEST(TimedText, HoursAndMinutesAreCounted) {
  const TimedTranscript late{"", 4000, {{"late", 3661.5, 3725.25}}};
  EXPECT_EQ(timed_format_named("srt").write(late), "1\n01:01:01,500 --> 01:02:05,250\nlate\n\n");
}

TEST(TimedText, WebVttEscapesWhatIsMarkup) {
  EXPECT_EQ(written("vtt"), "WEBVTT\n\n00:00:00.250 --> 00:00:01.125\nturn it \"on\" &lt;b&gt;&amp;\n\n"
                            "00:00:04.000 --> 00:00:04.500\nnow\n\n");
}

TEST(TimedText, CtmHasOneLineAWord) {
  EXPECT_EQ(written("ctm"), "call_one.wav 1 0.250 0.250 turn\ncall_one.wav 1 0.500 0.000 it\n"
                            "call_one.wav 1 0.500 0.625 \"on\"_<b>&\ncall_one.wav 1 4.000 0.500 now\n");
}

TEST(TimedText, IntervalsOfATextGridLeaveNoGap) {
  const std::string grid = written("textgrid");
  EXPECT_NE(grid.find("xmax = 5.500000\ntiers? <exists>"), std::string::npos);
  EXPECT_NE(grid.find("intervals: size = 6\n"), std::string::npos) << grid;  // three of words, three pauses
  EXPECT_NE(grid.find("text = \"it \"\"on\"\" <b>&\""), std::string::npos) << grid << "a word without length is not lost";
  double at = 0;  // each begins where the one before ended
  for (size_t found = grid.find("intervals ["); found != std::string::npos; found = grid.find("intervals [", found + 1)) {
    const double begin = std::stod(grid.substr(grid.find("xmin = ", found) + 7));
    EXPECT_EQ(begin, at);
    at = std::stod(grid.substr(grid.find("xmax = ", found) + 7));
  }
  EXPECT_EQ(at, 5.5);
}

std::string written(std::string_view format, const TimedTranscript& said) { return timed_format_named(format).write(said); }

// Of a sound with a single sample, or of words that are heard at the same place.
TEST(TimedText, WhatHasNoLengthIsShownAllTheSame) {
  const TimedTranscript said{"", 6e-5, {{"o", 6e-5, 6e-5}}};
  EXPECT_EQ(written("srt", said), "1\n00:00:00,000 --> 00:00:00,001\no\n\n");
  EXPECT_EQ(written("vtt", said), "WEBVTT\n\n00:00:00.000 --> 00:00:00.001\no\n\n");
  const std::string grid = written("textgrid", said);
  EXPECT_NE(grid.find("intervals: size = 1\n"), std::string::npos) << grid;
  EXPECT_NE(grid.find("text = \"o\""), std::string::npos) << grid;
}

TEST(TimedText, AGridOfNothingHasAnIntervalAllTheSame) {
  const std::string grid = written("textgrid", {"", 0, {}});
  EXPECT_NE(grid.find("intervals: size = 1\n"), std::string::npos) << grid;
  EXPECT_EQ(grid.find("xmax = 0.000000"), std::string::npos) << grid;
}

TEST(TimedText, SubtitlesAreNeitherTooLongNorTooWide) {
  std::vector<TimedLabel> words;
  for (int i = 0; i < 200; ++i) words.push_back({i % 2 ? "ein" : "größer", 0.25 * i, 0.25 * i + 0.25});
  for (const TimedLabel& line : subtitles(words)) EXPECT_LE(line.end - line.begin, 6.0);
  const SubtitleOptions narrow{.most_seconds = 1000, .most_letters = 10};
  const std::vector<TimedLabel> lines = subtitles(words, narrow);
  EXPECT_EQ(lines.size(), 100u);  // "größer ein" has ten letters in twelve bytes
  EXPECT_EQ(lines[0].label, "größer ein");
}

TEST(TimedText, WordsMustBeInOrderAndWithinTheSound) {
  EXPECT_NO_THROW(require_in_order(kSaid));
  for (const TimedLabel& bad : {TimedLabel{"x", 4.4, 4.6}, {"x", 5, 4.9}, {"x", 5, 5.6}, {"x", 0.0 / 0.0, 5}}) {
    TimedTranscript said = kSaid;
    said.words.push_back(bad);
    EXPECT_THROW(require_in_order(said), Error) << bad.begin;
  }
}

TEST(TimedText, AnUnknownFormatSuggestsTheNearest) {
  try {
    timed_format_named("strt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("srt"), std::string::npos) << error.what();
  }
}

TEST(TimedText, WordsThatOverlapPartInTheMiddle) {
  std::vector<TimedLabel> words{{"before", -1, 0.25}, {"one", 0.5, 2}, {"two", 1, 3}, {"behind", 3.5, 9}};
  without_overlap(words, 0, 5);
  EXPECT_EQ(words, (std::vector<TimedLabel>{{"before", 0, 0.25}, {"one", 0.5, 1.5}, {"two", 1.5, 3}, {"behind", 3.5, 5}}));
}

TEST(TimedText, WordsStayInTheirOrderWhateverTheirTimes) {
  std::vector<TimedLabel> words{{"late", 4, 5}, {"early", 0, 1}, {"far", 7, 9}};
  without_overlap(words, 0, 6);
  EXPECT_NO_THROW(require_in_order({"sound", 6, words}));
}

}  // namespace
}  // namespace attend::data
