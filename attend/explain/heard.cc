#include "attend/explain/heard.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

constexpr double kTail = 0.1;      // of a row's weight, at either end, that it is not said to have listened to
constexpr double kMuch = 0.2;      // of a row's weight: a strip that has so much shows the row
constexpr double kNearCut = 0.08;  // of a strip: how far from its place a cut may be where it is quiet
constexpr const char* kEnd = "</s>";

std::span<const real> row_of(const Tensor& values, size_t row) {
  const auto width = static_cast<size_t>(values.dim(1));
  return {values.data() + row * width, width};
}

/// Of all rows of a map over the sound.
std::vector<Stretch> listened_rows(const Tensor& values, const TraceSound& sound) {
  std::vector<Stretch> rows;
  for (size_t r = 0; r < static_cast<size_t>(values.dim(0)); ++r) rows.push_back(listened(row_of(values, r), sound));
  return rows;
}

bool over_sound(const TraceMap& map) { return map.queries == "target" && map.keys == "source"; }

/// What all rows have of each place, as shares of the largest. Attention is read row by row: together its rows only say where
/// something was said.
std::vector<double> depended_on(const TraceMap& map, const Grid& grid) {
  if (map.method == "attention" || map.method == "rollout") return {};
  std::vector<double> shares(grid.columns.size());
  for (size_t i = 0; i < grid.values.size(); ++i) {
    const double size = std::abs(static_cast<double>(grid.values.data()[i]));
    if (std::isfinite(size)) shares[i % shares.size()] += size;
  }
  const double most = shares.empty() ? 0 : *std::ranges::max_element(shares);
  for (double& share : shares) share = most > 0 ? share / most : 0;
  return shares;
}

/// The map that says best where something was heard: an attention's, if there is one.
const TraceMap* listening_map(const Trace& trace) {
  const TraceMap* best = nullptr;
  for (const TraceMap& map : trace.maps) {
    if (over_sound(map) && (!best || (map.method == "attention" && best->method != "attention"))) best = &map;
  }
  return best;
}

/// One for each of `count`; the times of tokens may be without that of the end.
std::vector<Stretch> timed(const std::vector<data::TimedLabel>& times, size_t count) {
  std::vector<Stretch> stretches(count);
  for (size_t i = 0; i < times.size(); ++i) stretches[i] = {times[i].begin, times[i].end, true};
  return stretches;
}

std::vector<Stretch> token_stretches(const Trace& trace) {
  const TraceSide& target = trace.target;
  const size_t ended = !target.tokens.empty() && target.tokens.back() == kEnd ? 1 : 0;
  const size_t timed_tokens = target.times.size();
  if (timed_tokens > 0 && (timed_tokens == target.tokens.size() || timed_tokens + ended == target.tokens.size())) {
    return timed(target.times, target.tokens.size());
  }
  const TraceMap* map = listening_map(trace);
  if (!map || !map->tokens.defined()) return std::vector<Stretch>(target.tokens.size());
  const Grid grid = map_grid(trace, *map, "tokens");
  return listened_rows(grid.values, *trace.source.sound);
}

/// From their own times, otherwise from the first to the last of their tokens; the space before a word is not heard in it.
std::vector<Stretch> word_stretches(const Trace& trace, const std::vector<Stretch>& tokens) {
  const TraceSide& target = trace.target;
  if (!target.times.empty() && target.times.size() == target.words.size()) {
    return timed(target.times, target.words.size());
  }
  std::vector<Stretch> words(target.words.size());
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (target.word_of[t] < 0 || !tokens[t].known || target.tokens[t] == kSpace) continue;
    Stretch& word = words[static_cast<size_t>(target.word_of[t])];
    word = word.known ? Stretch{std::min(word.begin, tokens[t].begin), std::max(word.end, tokens[t].end), true}
                      : tokens[t];
  }
  return words;
}

/// Runs of one label; "" is none.
std::vector<data::TimedLabel> runs_of(const TraceSide& target, const TraceSound& sound) {
  std::vector<data::TimedLabel> runs;
  for (size_t p = 0; p < target.tokens.size(); ++p) {
    const double begin = sound.begin_of(static_cast<int64_t>(p)),
                 end = std::min(begin + sound.place_seconds, sound.seconds);
    if (end <= begin || target.tokens[p].empty()) continue;
    if (!runs.empty() && runs.back().label == target.tokens[p] && p > 0 && target.tokens[p - 1] == target.tokens[p]) {
      runs.back().end = end;
    } else {
      runs.push_back({target.tokens[p], std::max(0.0, begin), end});
    }
  }
  return runs;
}

/// Mean of a frame's bands.
double loudness(const TraceSound& sound, int64_t frame) {
  const auto row = row_of(sound.spectrogram, static_cast<size_t>(frame));
  double sum = 0;
  for (const real x : row) sum += static_cast<double>(x);
  return sum / static_cast<double>(row.size());
}

/// The beginning of the quietest frame within `reach` seconds of `at`; the nearest of several.
double quiet_near(const TraceSound& sound, double at, double reach) {
  const auto frame_at = [&](double seconds) {
    return std::clamp<int64_t>(std::llround(seconds / sound.frame_seconds), 0, sound.spectrogram.dim(0) - 1);
  };
  const int64_t near = frame_at(at);
  int64_t best = near;
  for (int64_t f = frame_at(at - reach); f <= frame_at(at + reach); ++f) {
    const double gain = loudness(sound, best) - loudness(sound, f);
    if (gain > 0 || (gain == 0 && std::abs(f - near) < std::abs(best - near))) best = f;
  }
  return static_cast<double>(best) * sound.frame_seconds;
}

/// Its share of a row's weight that is within a strip.
double share_in(std::span<const real> weights, const TraceSound& sound, const Strip& strip) {
  double inside = 0, all = 0;
  for (size_t p = 0; p < weights.size(); ++p) {
    const double size = std::abs(static_cast<double>(weights[p]));
    const double middle = sound.begin_of(static_cast<int64_t>(p)) + sound.place_seconds / 2;
    if (!std::isfinite(size)) continue;
    all += size;
    if (middle >= strip.begin && middle < strip.end) inside += size;
  }
  return all > 0 ? inside / all : 0;
}

}  // namespace

std::string shown_token(const std::string& token) { return token == kSpace ? "␣" : token; }

bool is_sound(const Trace& trace) { return trace.source.sound != nullptr; }

Heard heard_of(const Trace& trace, const std::string& level) {
  require(is_sound(trace), "picture: expected a trace of a sound, got one of ", trace.source.kind);
  Heard heard;
  heard.sound = trace.source.sound.get();
  check_sound(*heard.sound, static_cast<int64_t>(trace.source.tokens.size()));
  check_times("times of the answer", trace.target.times, heard.sound->seconds);
  (void)axis_of(trace, "target", level == "words");
  const bool per_place = trace.target.kind == "tags" && trace.target.tokens.size() == trace.source.tokens.size();
  if (per_place) heard.labelled = runs_of(trace.target, *heard.sound);
  if (!trace.maps.empty() && over_sound(trace.maps[0]) && !per_place) {
    heard.map = map_grid(trace, trace.maps[0], level);
    heard.rows = listened_rows(heard.map->values, *heard.sound);
    heard.depended = depended_on(trace.maps[0], *heard.map);
  }
  if (!per_place) {
    heard.tokens = token_stretches(trace);
    heard.words = word_stretches(trace, heard.tokens);
  }
  require(heard.map || per_place || !trace.target.times.empty() || heard.sound->posteriors.defined(),
          "picture: expected a trace with a map, times or posteriors over its sound, got one without");
  return heard;
}

Stretch listened(std::span<const real> weights, const TraceSound& sound) {
  const auto size = [&](size_t p) {
    const double x = std::abs(static_cast<double>(weights[p]));
    return std::isfinite(x) ? x : 0;
  };
  double all = 0;
  for (size_t p = 0; p < weights.size(); ++p) all += size(p);
  if (!(all > 0)) return {};
  // The time at which a share of the weight has passed; a place's own passes evenly while it lasts.
  const auto passed = [&](double share) {
    double sum = 0;
    size_t p = 0;
    while (p + 1 < weights.size() && sum + size(p) < share * all) sum += size(p++);
    const double within = size(p) > 0 ? std::clamp((share * all - sum) / size(p), 0.0, 1.0) : 0;
    const double at = sound.begin_of(static_cast<int64_t>(p)) + within * sound.place_seconds;
    return std::clamp(at, 0.0, sound.seconds);
  };
  return {passed(kTail), passed(1 - kTail), true};
}

std::vector<Strip> strips_of(const TraceSound& sound, double seconds, size_t most) {
  const size_t count = std::clamp<size_t>(static_cast<size_t>(std::ceil(sound.seconds / seconds)), 1, most);
  const double each = sound.seconds / static_cast<double>(count);
  std::vector<Strip> strips;
  for (size_t i = 1; i <= count; ++i) {
    const double begin = strips.empty() ? 0 : strips.back().end, end = each * static_cast<double>(i);
    strips.push_back({begin, i == count ? sound.seconds : quiet_near(sound, end, kNearCut * each)});
  }
  return strips;
}

std::vector<size_t> rows_in(const Heard& heard, const Strip& strip) {
  std::vector<size_t> rows;
  for (size_t r = 0; heard.map && r < heard.rows.size(); ++r) {
    if (share_in(row_of(heard.map->values, r), *heard.sound, strip) >= kMuch) rows.push_back(r);
  }
  return rows;
}

std::vector<Peak> peaks_of(const TraceSound& sound, double least) {
  std::vector<Peak> peaks;
  if (!sound.posteriors.defined()) return peaks;
  const int64_t places = sound.posteriors.dim(0), labels = sound.posteriors.dim(1);
  for (int64_t label = 1; label < labels; ++label) {
    bool inside = false;
    for (int64_t p = 0; p < places; ++p) {
      const auto value = static_cast<double>(sound.posteriors.data()[p * labels + label]);
      if (!(value > least)) {
        inside = false;
        continue;
      }
      if (!inside) peaks.push_back({label, p, p, p, value});
      inside = true;
      Peak& peak = peaks.back();
      peak.last = p;
      if (value > peak.value) peak.value = value, peak.place = p;
    }
  }
  std::ranges::stable_sort(peaks, {}, &Peak::place);
  return peaks;
}

}  // namespace attend::explain
