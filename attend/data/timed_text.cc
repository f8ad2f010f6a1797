#include "attend/data/timed_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/display_width.h"

namespace attend::data {
namespace {

constexpr double kLeastGrid = 1e-3;  // seconds: Praat refuses a grid without length

/// "01:02:03,456".
std::string clock_time(long long all, char point) {
  char text[32];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld%c%03lld", all / 3'600'000, all / 60'000 % 60, all / 1000 % 60,
                point, all % 1000);
  return text;
}

/// "01:02:03,456 --> 01:02:04,000": at least a millisecond, as players and WebVTT refuse a line that ends where it begins.
std::string shown_from_to(const TimedLabel& line, char point) {
  const long long begin = std::llround(line.begin * 1000), end = std::max(begin + 1, std::llround(line.end * 1000));
  return clock_time(begin, point) + " --> " + clock_time(end, point);
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
    out += std::to_string(++number) + "\n" + shown_from_to(line, ',') + "\n" + line.label + "\n\n";
  }
  return out;
}

std::string vtt(const TimedTranscript& transcript) {
  static constexpr std::pair<char, std::string_view> kEscaped[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
  std::string out = "WEBVTT\n\n";
  for (const TimedLabel& line : subtitles(transcript.words)) {
    out += shown_from_to(line, '.') + "\n" + replaced(line.label, kEscaped) + "\n\n";
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

/// Intervals without gaps up to `seconds`, those without a word being empty. As Praat refuses one without length, a word that has
/// none is in the interval of the next word, or in the last one.
std::vector<TimedLabel> intervals(const TimedTranscript& transcript, double seconds) {
  std::vector<TimedLabel> all;
  std::string waiting;
  double at = 0;
  const auto silence_to = [&](double begin) {
    if (begin > at) all.push_back({"", at, begin});
  };
  for (const TimedLabel& word : transcript.words) {
    waiting += (waiting.empty() ? "" : " ") + word.label;
    if (word.end <= word.begin) continue;
    silence_to(word.begin);
    all.push_back({std::exchange(waiting, ""), word.begin, word.end}), at = word.end;
  }
  silence_to(seconds);
  if (!waiting.empty() && !all.empty()) all.back().label += (all.back().label.empty() ? "" : " ") + waiting;
  return all;
}

/// Praat's long text format: one tier of words.
std::string text_grid(const TimedTranscript& transcript) {
  static constexpr std::pair<char, std::string_view> kQuotes[] = {{'"', "\"\""}};
  const double seconds = std::max(transcript.seconds, kLeastGrid);
  const std::vector<TimedLabel> all = intervals(transcript, seconds);
  const auto place = [](double seconds) { return with_decimals(seconds, 6); };
  const std::string end = place(seconds);
  std::string out = "File type = \"ooTextFile\"\nObject class = \"TextGrid\"\n\nxmin = 0\nxmax = " + end +
                    "\ntiers? <exists>\nsize = 1\nitem []:\n    item [1]:\n        class = \"IntervalTier\"\n"
                    "        name = \"words\"\n        xmin = 0\n        xmax = " +
                    end + "\n        intervals: size = " + std::to_string(all.size()) + "\n";
  for (size_t i = 0; i < all.size(); ++i) {
    out += "        intervals [" + std::to_string(i + 1) + "]:\n            xmin = " + place(all[i].begin) +
           "\n            xmax = " + place(all[i].end) + "\n            text = \"" + replaced(all[i].label, kQuotes) +
           "\"\n";
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
            transcript.name, ": expected words one after another within ", transcript.seconds, " s, got ",
            quoted(word.label), " from ", word.begin, " to ", word.end, " s after ", at, " s");
    at = word.end;
  }
}

void without_overlap(std::span<TimedLabel> words, double first, double last) {
  double from = first;
  for (size_t i = 0; i < words.size(); ++i) {
    TimedLabel& one = words[i];
    if (i + 1 < words.size() && one.end > words[i + 1].begin) {
      one.end = words[i + 1].begin = (one.end + words[i + 1].begin) / 2;
    }
    one.begin = std::clamp(one.begin, from, last);
    one.end = std::clamp(one.end, one.begin, last);
    from = one.end;
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
