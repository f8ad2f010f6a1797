#include "attend/explain/sound_text.h"

#include <algorithm>
#include <cmath>

#include "attend/data/display_width.h"
#include "attend/explain/blocks.h"
#include "attend/explain/heard.h"
#include "attend/explain/labels.h"
#include "attend/explain/plot.h"

namespace attend::explain {
namespace {

constexpr size_t kWidest = 100, kRowLabel = 8;
constexpr double kColumnSeconds = 0.05;
constexpr int64_t kSoundLines = 5;
constexpr size_t kMostTextStrips = 30, kMostRows = 60;

/// A line of signs, in which texts are put at columns.
class TextLine {
 public:
  explicit TextLine(size_t columns) : columns_(columns) {}

  /// At `column` or, where something is, right of it (after a space where `apart`); false if it does not fit.
  bool put(size_t column, const std::string& text, bool apart) {
    const size_t from = std::max(column, used_ + (apart && used_ > 0 ? 1 : 0)), wide = data::display_width(text);
    if (from + wide > columns_) return false;
    text_ += std::string(from - used_, ' ') + text;
    used_ = from + wide;
    return true;
  }
  size_t used() const { return used_; }
  const std::string& text() const { return text_; }

 private:
  size_t columns_, used_ = 0;
  std::string text_;
};

class SoundText {
 public:
  SoundText(const Trace& trace, const std::string& level, const TextOptions& options)
      : trace_(trace), heard_(heard_of(trace, level)), ink_(options.ink) {
    const size_t width = std::clamp<size_t>(options.width > 0 ? options.width : kWidest, kRowLabel + 12, kWidest);
    room_ = width - kRowLabel - 1;
  }

  std::string text() {
    const std::vector<Strip> strips =
        strips_of(*heard_.sound, kColumnSeconds * static_cast<double>(room_) / 1.1, kMostTextStrips);
    double longest = kColumnSeconds;
    for (const Strip& strip : strips) longest = std::max(longest, strip.seconds());
    const double column = std::min(kColumnSeconds, longest / static_cast<double>(std::min<size_t>(room_, 24)));
    const double least = longest / static_cast<double>(room_);
    for (const Strip& strip : strips) {
      strip_ = strip, column_ = std::max(column, least);
      columns_ = std::clamp<size_t>(static_cast<size_t>(std::ceil(strip.seconds() / column_ - 1e-9)), 1, room_);
      if (!text_.empty()) text_ += "\n";
      add_strip();
    }
    return text_;
  }

 private:
  void add_strip() {
    add_spectrogram();
    if (!heard_.labelled.empty()) {
      add_times("heard", heard_.labelled);
      add_times("gold", heard_.sound->phonemes.empty() ? heard_.sound->words : heard_.sound->phonemes);
    } else {
      add_heard();
      add_times("gold", heard_.sound->words);
    }
    add_map();
    add_axis();
  }

  void add_line(const std::string& label, const std::string& line) {
    const std::string seen = shortened(label, kRowLabel);
    text_ += std::string(kRowLabel - data::display_width(seen), ' ') + seen + " " + line;
    while (text_.ends_with(' ')) text_.pop_back();
    text_ += "\n";
  }

  size_t column_of(double seconds) const {
    return static_cast<size_t>(std::clamp((seconds - strip_.begin) / column_, 0.0, static_cast<double>(columns_ - 1)));
  }
  double begin_of(size_t column) const { return strip_.begin + static_cast<double>(column) * column_; }

  /// Mean of the frames and bands under a pixel, `lines` of them high.
  real loudness(size_t column, int64_t line, int64_t lines) const {
    const TraceSound& sound = *heard_.sound;
    const int64_t frames = sound.spectrogram.dim(0), bands = sound.spectrogram.dim(1);
    const auto frame_at = [&](double t) {
      return std::clamp<int64_t>(static_cast<int64_t>(t / sound.frame_seconds), 0, frames - 1);
    };
    const int64_t first = frame_at(begin_of(column)), last = std::max(first + 1, frame_at(begin_of(column + 1)));
    const int64_t high = bands - line * bands / lines, low = std::min(high - 1, bands - (line + 1) * bands / lines);
    double sum = 0;
    for (int64_t f = first; f < last; ++f) {
      for (int64_t b = low; b < high; ++b) sum += static_cast<double>(sound.spectrogram.data()[f * bands + b]);
    }
    return static_cast<real>(sum / static_cast<double>((last - first) * (high - low)));
  }

  void add_spectrogram() {
    const int64_t lines = ink_ == Ink::true_colour ? 2 * kSoundLines : kSoundLines;
    const auto columns = static_cast<int64_t>(columns_);
    Tensor shares({lines, columns});
    for (int64_t y = 0; y < lines; ++y) {
      for (int64_t x = 0; x < columns; ++x) shares.data()[y * columns + x] = loudness(static_cast<size_t>(x), y, lines);
    }
    if (ink_ == Ink::true_colour) {
      data::Image image(lines, columns, 3);
      for (int64_t y = 0; y < lines; ++y) {
        for (int64_t x = 0; x < columns; ++x) {
          const Colour colour = loudness_colour(static_cast<double>(shares.data()[y * columns + x]));
          image.at(y, x, 0) = static_cast<uint8_t>(colour.red), image.at(y, x, 1) = static_cast<uint8_t>(colour.green);
          image.at(y, x, 2) = static_cast<uint8_t>(colour.blue);
        }
      }
      for (const std::string& line : half_blocks(image)) add_line("", line);
    } else {
      for (const std::string& line : shades(shares)) add_line("", line);
    }
  }

  /// Letters at the middle of what they heard, in a second line where the first is full; words from where they begin.
  void add_heard() {
    TextLine lines[2] = {TextLine(columns_), TextLine(columns_)};
    const bool letters = trace_.target.tokens.size() - ended() != trace_.target.words.size();
    for (size_t t = 0; letters && t + ended() < trace_.target.tokens.size(); ++t) {
      if (!is_here(heard_.tokens[t]) || trace_.target.tokens[t] == kSpace) continue;
      const size_t column = column_of(heard_.tokens[t].middle());
      TextLine& line = column < lines[0].used() && lines[1].used() <= column ? lines[1] : lines[0];
      line.put(column, trace_.target.tokens[t], false);
    }
    for (const TextLine& line : lines) {
      if (line.used() > 0) add_line(&line == lines ? "heard" : "", line.text());
    }
    TextLine words(columns_);
    for (size_t w = 0; w < trace_.target.words.size(); ++w) {
      if (is_here(heard_.words[w])) words.put(column_of(heard_.words[w].begin), trace_.target.words[w], true);
    }
    if (words.used() > 0) add_line(letters ? "words" : "heard", words.text());
  }

  size_t ended() const { return !trace_.target.tokens.empty() && trace_.target.tokens.back() == "</s>" ? 1 : 0; }
  bool is_here(const Stretch& one) const {
    return one.known && one.middle() >= strip_.begin && one.middle() <= strip_.end;
  }

  void add_times(const std::string& name, const std::vector<data::TimedLabel>& times) {
    TextLine line(columns_);
    for (const data::TimedLabel& one : times) {
      if (is_here({one.begin, one.end, true})) line.put(column_of(one.begin), one.label, true);
    }
    if (line.used() > 0) add_line(name, line.text());
  }

  /// The largest weight of the places under a column.
  double most_at(size_t row, size_t column) const {
    const TraceSound& sound = *heard_.sound;
    const Tensor& values = heard_.map->values;
    double most = 0;
    for (int64_t p = 0; p < values.dim(1); ++p) {
      const double middle = sound.begin_of(p) + sound.place_seconds / 2;
      const bool inside = sound.place_seconds >= column_ ? begin_of(column) + column_ / 2 >= sound.begin_of(p) &&
                                                               begin_of(column) + column_ / 2 < sound.begin_of(p + 1)
                                                         : middle >= begin_of(column) && middle < begin_of(column + 1);
      const auto value = static_cast<double>(values.data()[static_cast<int64_t>(row) * values.dim(1) + p]);
      if (inside && std::abs(value) > std::abs(most)) most = value;
    }
    return most;
  }

  void add_map() {
    const std::vector<size_t> rows = rows_in(heard_, strip_);
    if (rows.size() > kMostRows) {
      add_line("", "(" + std::to_string(rows.size()) + " rows of weights are not shown)");
      return;
    }
    const double most = heard_.map ? scale_of(*heard_.map).most : 1;
    for (const size_t row : rows) {
      Tensor shares({1, static_cast<int64_t>(columns_)});
      for (size_t x = 0; x < columns_; ++x) shares.data()[x] = static_cast<real>(std::abs(most_at(row, x)) / most);
      add_line(shown_token(heard_.map->rows[row]), shades(shares)[0]);
    }
  }

  void add_axis() {
    TextLine line(columns_);
    const int count = std::max(2, static_cast<int>(columns_ / 12));
    for (const double tick : round_ticks(strip_.begin, strip_.end, count)) {
      if (tick < strip_.begin - 1e-9 || tick > strip_.end + 1e-9) continue;
      line.put(column_of(tick), "|" + seconds_name(tick), true);
    }
    add_line("seconds", line.text());
  }

  const Trace& trace_;
  const Heard heard_;
  const Ink ink_;
  size_t room_ = 0, columns_ = 0;
  double column_ = kColumnSeconds;
  Strip strip_;
  std::string text_;
};

}  // namespace

std::string text_sound(const Trace& trace, const std::string& level, const TextOptions& options) {
  return SoundText(trace, level, options).text();
}

}  // namespace attend::explain
