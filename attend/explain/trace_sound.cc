#include "attend/explain/trace_sound.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>

#include "attend/base/error.h"
#include "attend/data/sound_features.h"
#include "attend/data/sound_file.h"

namespace attend::explain {
namespace {

constexpr double kWindow = 0.025, kHop = 0.01;  // seconds of a frame and between frames, as is usual for speech
constexpr double kLowest = 20, kHighest = 8000;
constexpr double kDecibels = 60;
constexpr double kQuiet = 0.25;          // this share of all numbers is background
constexpr int64_t kFramesAtOnce = 256;   // drawn frames: what is in memory does not depend on how long the sound is
constexpr double kLongestSeconds = 1e6;  // eleven days
constexpr double kPlay = 1;              // seconds by which padding may make places end behind the sound

/// `share` of the numbers are below it. Orders them differently.
real quantile(std::span<real> numbers, double share) {
  const auto at = numbers.begin() + static_cast<ptrdiff_t>(share * static_cast<double>(numbers.size() - 1));
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

/// Numbers between low and high as 0 … 1; all 0 if there is nothing between.
void scale(std::span<real> numbers, real low, real high) {
  for (real& x : numbers) x = high > low ? std::clamp((x - low) / (high - low), real{0}, real{1}) : real{0};
}

/// Means of `merged` rows at a time, the last maybe of fewer.
Tensor merged_rows(const Tensor& rows, int64_t merged) {
  const int64_t count = (rows.dim(0) + merged - 1) / merged, width = rows.dim(1);
  Tensor means = Tensor::zeros({count, width});
  for (int64_t r = 0; r < rows.dim(0); ++r) {
    const int64_t to = r / merged, among = std::min(merged, rows.dim(0) - to * merged);
    for (int64_t c = 0; c < width; ++c) {
      means.data()[to * width + c] += rows.data()[r * width + c] / static_cast<real>(among);
    }
  }
  return means;
}

/// Frames of `merged` hops each, in samples.
struct Framing {
  int64_t hop, merged, frames;

  Framing(const data::Sound& sound, const SoundSize& size) {
    const auto samples = static_cast<int64_t>(sound.samples.size());
    const int64_t usual = std::max<int64_t>(1, std::llround(kHop * static_cast<double>(sound.rate)));
    const int64_t frame = std::max(usual, (samples + size.frames - 1) / size.frames);
    merged = (frame + usual - 1) / usual;
    hop = (frame + merged - 1) / merged;
    frames = std::max<int64_t>(1, (samples + hop * merged - 1) / (hop * merged));
  }
};

data::SoundFeatures drawing_features(int64_t rate, int64_t hop, int64_t bands) {
  data::SoundFeatureOptions options;
  options.rate = rate, options.window = 1000 * kWindow;
  options.hop = 1000 * static_cast<double>(hop) / static_cast<double>(rate);
  options.mels = bands, options.low = kLowest;
  options.high = std::min(kHighest, static_cast<double>(rate) / 2);
  options.normalise = "none";
  // Finer than the lowest bands are wide, so that none of them is empty.
  options.fft = 64;
  while (options.fft * 16 < rate) options.fft *= 2;
  return data::SoundFeatures(options);
}

/// The samples under frames first … first + count − 1, each frame in the middle of its windows; zeros beyond the ends.
data::Sound stretch(const data::Sound& sound, const Framing& framing, int64_t window, int64_t first, int64_t count) {
  const int64_t begin = first * framing.hop * framing.merged - (window - framing.hop) / 2;
  const int64_t size = (count * framing.merged - 1) * framing.hop + window;
  data::Sound part{sound.rate, std::vector<float>(static_cast<size_t>(size))};
  const auto samples = static_cast<int64_t>(sound.samples.size());
  const int64_t from = std::clamp<int64_t>(begin, 0, samples), to = std::clamp<int64_t>(begin + size, 0, samples);
  std::copy(sound.samples.begin() + from, sound.samples.begin() + to, part.samples.begin() + (from - begin));
  return part;
}

Tensor log_mel(const data::Sound& sound, const Framing& framing, int64_t bands) {
  const data::SoundFeatures features = drawing_features(sound.rate, framing.hop, bands);
  Tensor all({framing.frames, bands});
  for (int64_t first = 0; first < framing.frames; first += kFramesAtOnce) {
    const int64_t count = std::min(kFramesAtOnce, framing.frames - first);
    const Tensor part = merged_rows(features(stretch(sound, framing, features.window(), first, count)), framing.merged);
    std::copy_n(part.data(), part.size(), all.data() + first * bands);
  }
  return all;
}

/// From the background, or 60 decibels below the loudest where that is more, to the loudest.
void scale_loudness(Tensor& log_power) {
  std::vector<real> sorted(log_power.values().begin(), log_power.values().end());
  const real quiet = quantile(sorted, kQuiet), loudest = *std::ranges::max_element(sorted);
  scale(log_power.values(), std::max(quiet, loudest - static_cast<real>(kDecibels / 10 * std::log(10))), loudest);
}

}  // namespace

TraceSound trace_sound(const data::Sound& sound, const SoundSize& size) {
  require(sound.rate > 0 && !sound.samples.empty(), "trace_sound: expected a sound with samples, got none");
  require(size.frames > 0 && size.bands > 0, "trace_sound: expected frames and bands, got ", size.frames, " and ",
          size.bands);
  const Framing framing(sound, size);
  TraceSound drawn;
  drawn.seconds = sound.seconds();
  drawn.frame_seconds = static_cast<double>(framing.hop * framing.merged) / static_cast<double>(sound.rate);
  drawn.low = kLowest, drawn.high = std::min(kHighest, static_cast<double>(sound.rate) / 2);
  drawn.spectrogram = log_mel(sound, framing, size.bands);
  scale_loudness(drawn.spectrogram);
  if (drawn.seconds <= size.played) drawn.wav = data::encode_wav(sound);
  return drawn;
}

TraceSound trace_sound(const Tensor& features, double hop, const SoundSize& size) {
  require(features.rank() == 2 && features.dim(0) > 0 && features.dim(1) > 0 && hop > 0,
          "trace_sound: expected features [frames, width], got ", features.shape());
  const int64_t merged = (features.dim(0) + size.frames - 1) / size.frames;
  TraceSound drawn;
  drawn.seconds = hop * static_cast<double>(features.dim(0));
  drawn.frame_seconds = hop * static_cast<double>(merged);
  drawn.spectrogram = merged_rows(features, merged);
  const int64_t frames = drawn.spectrogram.dim(0), width = drawn.spectrogram.dim(1);
  std::vector<real> column(static_cast<size_t>(frames)), sorted;
  for (int64_t c = 0; c < width; ++c) {
    for (int64_t f = 0; f < frames; ++f) column[static_cast<size_t>(f)] = drawn.spectrogram.data()[f * width + c];
    sorted = column;
    const real low = quantile(sorted, 0.01), high = quantile(sorted, 0.99);
    scale(column, low, high);
    for (int64_t f = 0; f < frames; ++f) drawn.spectrogram.data()[f * width + c] = column[static_cast<size_t>(f)];
  }
  return drawn;
}

std::string seconds_name(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", seconds);
  return text;
}

void check_times(const char* name, const std::vector<data::TimedLabel>& times, double seconds) {
  double from = 0;
  for (const data::TimedLabel& time : times) {
    require(time.begin >= from && time.end >= time.begin && time.end <= seconds + kPlay, "trace: ", name,
            ": expected times in order within ", seconds, " seconds, got ", time.begin, " to ", time.end, " for '",
            time.label, "'");
    from = time.begin;
  }
}

void check_sound(const TraceSound& sound, int64_t places) {
  require(sound.seconds >= 0 && sound.seconds <= kLongestSeconds, "trace: sound: expected seconds from 0 to ",
          kLongestSeconds, ", got ", sound.seconds);
  const Tensor& drawn = sound.spectrogram;
  require(drawn.defined() && drawn.rank() == 2 && drawn.dim(0) > 0 && drawn.dim(1) > 0,
          "trace: sound: expected a spectrogram [frames, bands], got ", drawn.defined() ? drawn.shape() : Shape{0, 0});
  const double covered = static_cast<double>(drawn.dim(0)) * sound.frame_seconds;
  require(sound.frame_seconds > 0 &&
              std::abs(covered - sound.seconds) <= 0.05 * sound.seconds + 2 * sound.frame_seconds + 0.1,
          "trace: sound: expected a spectrogram of ", sound.seconds, " seconds, got ", drawn.dim(0), " frames of ",
          sound.frame_seconds);
  require(std::ranges::all_of(drawn.values(), [](real x) { return x >= 0 && x <= 1; }),
          "trace: sound: expected a spectrogram from 0 to 1");
  require(std::isfinite(sound.place_offset) && std::isfinite(sound.place_seconds) &&
              (places == 0 || (sound.place_seconds > 0 && sound.begin_of(0) >= -kPlay &&
                               sound.begin_of(places - 1) <= sound.seconds + kPlay)),
          "trace: sound: expected places within ", sound.seconds, " seconds, got ", places, " of ", sound.place_seconds,
          " from ", sound.place_offset, " on");
  const auto labels = static_cast<int64_t>(sound.labels.size());
  require(!sound.posteriors.defined() ||
              (sound.posteriors.rank() == 2 && sound.posteriors.dim(0) == places && sound.posteriors.dim(1) == labels),
          "trace: sound: expected posteriors [", places, ", ", labels, "], got ",
          sound.posteriors.defined() ? sound.posteriors.shape() : Shape{0, 0});
  require(sound.low >= 0 && (sound.high == 0 || sound.high > sound.low), "trace: sound: expected pitches from ",
          sound.low, " Hz up, got ", sound.high);
  check_times("words of the sound", sound.words, sound.seconds);
  check_times("phonemes of the sound", sound.phonemes, sound.seconds);
}

}  // namespace attend::explain
