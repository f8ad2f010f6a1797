#include "attend/data/sound_augment.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/options.h"
#include "attend/data/formant_voice.h"
#include "attend/data/resample.h"

namespace attend::data {
namespace {

std::vector<double> speeds_of(const SoundAugmentOptions& options) {
  constexpr double kSlowest = 0.5, kFastest = 2;
  std::vector<double> speeds;
  if (options.speeds.empty()) return speeds;
  for (size_t at = 0; at <= options.speeds.size();) {
    const size_t end = std::min(options.speeds.find(',', at), options.speeds.size());
    double speed = 0;
    const auto [last, problem] = std::from_chars(options.speeds.data() + at, options.speeds.data() + end, speed);
    const bool fine =
        problem == std::errc() && last == options.speeds.data() + end && speed >= kSlowest && speed <= kFastest;
    require_option(fine, "speeds", "expected numbers from ", kSlowest, " to ", kFastest,
                   " with commas between them, got ", quoted(options.speeds));
    speeds.push_back(speed);
    at = end + 1;
  }
  return speeds;
}

double drawn_within(double low, double high, Random& random) { return low + (high - low) * random.uniform53(); }

/// 0 … most, each alike.
int64_t drawn_width(int64_t most, Random& random) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(std::max<int64_t>(most, 0)) + 1));
}

std::vector<real> column_means(const Tensor& features) {
  const int64_t frames = features.dim(0), width = features.dim(1);
  std::vector<double> sums(static_cast<size_t>(width), 0);
  for (size_t i = 0; i < features.size(); ++i) sums[i % sums.size()] += features.data()[i];
  std::vector<real> means;
  for (const double sum : sums)
    means.push_back(static_cast<real>(sum / static_cast<double>(std::max<int64_t>(frames, 1))));
  return means;
}

/// A stretch of at most `most` of `count` places, [begin, end).
std::pair<int64_t, int64_t> drawn_stretch(int64_t count, int64_t most, Random& random) {
  const int64_t width = drawn_width(std::min(most, count), random), begin = drawn_width(count - width, random);
  return {begin, begin + width};
}

}  // namespace

Random augment_random(uint64_t seed, int64_t epoch, int64_t index) {
  // Two numbers become one by a stream for each epoch, in which the sounds have keys of their own.
  Random epochs = Random(seed, static_cast<uint64_t>(epoch)).named("sound augmentation");
  return Random(epochs.next_key(), static_cast<uint64_t>(index));
}

void check_augment(const SoundAugmentOptions& options) {
  check_bounds(options);
  speeds_of(options);
  require_option(options.least_snr <= options.most_snr, "most_snr", "expected at least least_snr, ", options.least_snr,
                 ", got ", options.most_snr);
}

double drawn_speed(const SoundAugmentOptions& options, const Random& random) {
  const std::vector<double> speeds = speeds_of(options);
  return speeds.empty() ? 1 : speeds[Random(random.named("speed")).below(speeds.size())];
}

Tensor stretched(const Tensor& features, double speed) {
  require(features.defined() && features.rank() == 2 && features.dim(0) > 0 && speed > 0,
          "stretched: expected [frames,width] and a speed above 0, got ", features.shape(), " and ", speed);
  const int64_t frames = features.dim(0), width = features.dim(1);
  const int64_t count = std::max<int64_t>(1, std::llround(static_cast<double>(frames) / speed));
  Tensor other({count, width});
  for (int64_t t = 0; t < count; ++t) {
    const double at = std::min(static_cast<double>(t) * speed, static_cast<double>(frames - 1));
    const auto before = static_cast<int64_t>(at), after = std::min(before + 1, frames - 1);
    const auto share = static_cast<real>(at - static_cast<double>(before));
    const real *a = features.data() + before * width, *b = features.data() + after * width;
    for (int64_t i = 0; i < width; ++i) other.data()[t * width + i] = (1 - share) * a[i] + share * b[i];
  }
  return other;
}

Sound augmented(Sound sound, const SoundAugmentOptions& options, Random random) {
  // Each has its own stream: what one draws does not depend on whether another is on.
  Random noise = random.named("noise"), gain = random.named("gain");
  if (const double speed = drawn_speed(options, random); speed != 1) {
    Sound other = faster(sound, speed);
    if (!other.samples.empty()) sound = std::move(other);
  }
  if (noise.uniform53() < options.noisy) {
    const bool pink = options.noise == "pink" || (options.noise == "either" && noise.below(2) == 1);
    const double snr = drawn_within(options.least_snr, options.most_snr, noise);
    add_noise(sound, pink ? NoiseColour::kPink : NoiseColour::kWhite, snr, noise.named("samples"));
  }
  if (options.gain > 0) {
    const auto factor = static_cast<float>(std::pow(10, drawn_within(-options.gain, options.gain, gain) / 20));
    for (float& x : sound.samples) x *= factor;
  }
  return sound;
}

void mask_features(Tensor& features, const SpecAugmentOptions& options, Random random, int64_t repeats) {
  require(features.defined() && features.rank() == 2 && repeats >= 1 && features.dim(1) % repeats == 0,
          "mask_features: expected [frames,width], with a width that ", repeats, " divides, got ", features.shape());
  if (options.pitch_masks == 0 && options.time_masks == 0) return;
  require(features.unique(), "mask_features: expected features that nothing else shares");
  const int64_t frames = features.dim(0), width = features.dim(1), base = width / repeats;
  const std::vector<real> means = column_means(features);
  const auto mask = [&](int64_t t, int64_t from, int64_t to) {
    std::copy(means.begin() + from, means.begin() + to, features.data() + t * width + from);
  };
  Random pitch = random.named("pitch masks"), time = random.named("time masks");
  for (int64_t k = 0; k < options.pitch_masks; ++k) {
    const auto [from, to] = drawn_stretch(base, options.pitch_width, pitch);
    for (int64_t t = 0; t < frames; ++t) {
      for (int64_t r = 0; r < repeats; ++r) mask(t, r * base + from, r * base + to);
    }
  }
  const auto share_of = [&](double share) { return static_cast<int64_t>(share * static_cast<double>(frames)); };
  const int64_t masks =
      options.time_ratio > 0 ? std::min(options.time_masks, share_of(options.time_ratio)) : options.time_masks;
  for (int64_t k = 0; k < masks; ++k) {
    const auto [from, to] = drawn_stretch(frames, std::min(options.time_width, share_of(options.time_share)), time);
    for (int64_t t = from; t < to; ++t) mask(t, 0, width);
  }
}

}  // namespace attend::data
