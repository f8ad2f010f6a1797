#include "attend/data/timed_text.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/display_width.h"

namespace attend::data {
namespace {

/// "01:02:03,456".
std::string clock_time(double seconds, char point) {
  const long long all = std::llround(seconds * 1000);
  char text[32];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60, point,
                all % 1000);
  return text;
}

std::string with_decimals(double number, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return text;
}

/// The text with each of these characters replaced by what it is to become.
std::string replaced(std::string_view text, std::span<const std::pair<char, std::string_view>> table) {
  std::string out;
  for (const char c : text) {
    std::string_view as(&c, 1);
    for (const auto& [from, to] : table) {
      if (c == from) as = to;
    }
    out += as;
  }
  return out;
}

std::string srt(const TimedTranscript& transcript) {
  std::string out;
  int64_t number = 0;
  for (const TimedLabel& line : subtitles(transcript.words)) {
    out += std::to_string(++number) + "\n" + clock_time(line.begin, ',') + " --> " + clock_time(line.end, ',') + "\n" +
           line.label + "\n\n";
  }
  return out;
}

std::string vtt(const TimedTranscript& transcript) {
  static constexpr std::pair<char, std::string_view> kEscaped[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
  std::string out = "WEBVTT\n\n";
  for (const TimedLabel& line : subtitles(transcript.words)) {
    out += clock_time(line.begin, '.') + " --> " + clock_time(line.end, '.') + "\n" + replaced(line.label, kEscaped) + "\n\n";
  }
  return out;
}

/// One line a word: sound, channel, begin, duration, word (NIST's sclite). Fields have no blanks.
std::string ctm(const TimedTranscript& transcript) {
  static constexpr std::pair<char, std::string_view> kBlanks[] = {{' ', "_"}, {'\t', "_"}};
  const std::string name = transcript.name.empty() ? "-" : replaced(transcript.name, kBlanks);
  std::string out;
  for (const TimedLabel& word : transcript.words) {
    out += name + " 1 " + with_decimals(word.begin, 3) + " " + with_decimals(word.end - word.begin, 3) + " " +
           replaced(word.label, kBlanks) + "\n";
  }
  return out;
}

/// Praat's long text format: one tier whose intervals leave no gap, those without a word being empty.
std::string text_grid(const TimedTranscript& transcript) {
  static constexpr std::pair<char, std::string_view> kQuotes[] = {{'"', "\"\""}};
  std::vector<TimedLabel> all;
  double at = 0;
  const auto silence_to = [&](double begin) {
    if (begin > at) all.push_back({"", at, begin});
  };
  for (const TimedLabel& word : transcript.words) {
    if (word.end <= word.begin) continue;  // Praat refuses an interval without length
    silence_to(word.begin);
    all.push_back(word), at = word.end;
  }
  silence_to(transcript.seconds);
  const auto place = [](double seconds) { return with_decimals(seconds, 6); };
  const std::string end = place(transcript.seconds);
  std::string out = "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = " + end +
                    "\ntiers? <exists>\nsize = 1\nitem []:\n    item [1]:\n        class = \"IntervalTier\"\n"
                    "        name = \"words\"\n        xmin = 0\n        xmax = " +
                    end + "\n        intervals: size = " + std::to_string(all.size()) + "\n";
  for (size_t i = 0; i < all.size(); ++i) {
    out += "        intervals [" + std::to_string(i + 1) + "]:\n            xmin = " + place(all[i].begin) +
           "\n            xmax = " + place(all[i].end) + "\n            text = \"" + replaced(all[i].label, kQuotes) + "\"\n";
  }
  return out;
}

constexpr TimedFormat kFormats[] = {
    {"srt", ".srt", "subtitles, as SubRip writes them", srt},
    {"vtt", ".vtt", "subtitles for browsers (WebVTT)", vtt},
    {"textgrid", ".TextGrid", "a tier of words for Praat", text_grid},
    {"ctm", ".ctm", "a line for each word: sound, channel, begin, duration, word", ctm, true},
};

}  // namespace

std::span<const TimedFormat> timed_formats() { return kFormats; }
const TimedFormat& timed_format_named(std::string_view name) { return row_named("times", kFormats, name); }

void require_in_order(const TimedTranscript& transcript) {
  double at = 0;
  for (const TimedLabel& word : transcript.words) {
    require(std::isfinite(word.begin) && std::isfinite(word.end) && at <= word.begin && word.begin <= word.end &&
                word.end <= transcript.seconds,
            transcript.name, ": expected words one after another within ", transcript.seconds, " s, got ", quoted(word.label),
            " from ", word.begin, " to ", word.end, " s after ", at, " s");
    at = word.end;
  }
}

std::vector<TimedLabel> subtitles(std::span<const TimedLabel> words, const SubtitleOptions& options) {
  std::vector<TimedLabel> lines;
  size_t letters = 0;
  for (const TimedLabel& word : words) {
    const size_t more = static_cast<size_t>(display_width(word.label)) + 1;
    const bool fits = !lines.empty() && word.begin - lines.back().end < options.pause &&
                      word.end - lines.back().begin <= options.most_seconds && letters + more <= options.most_letters;
    if (fits) {
      lines.back().label += " " + word.label, lines.back().end = word.end, letters += more;
    } else {
      lines.push_back(word), letters = more - 1;
    }
  }
  return lines;
}

}  // namespace attend::data
