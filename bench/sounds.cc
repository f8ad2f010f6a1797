// Sounds: the features of a minute of speech-like noise, whole.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "attend/base/error.h"
#include "attend/base/random.h"
#include "attend/data/sound_features.h"
#include "bench/row.h"

namespace attend::bench {
namespace {

constexpr int64_t kSoundRate = 16000, kSoundSeconds = 60;

data::Sound minute() {
  Random random(1);
  data::Sound sound{kSoundRate, std::vector<float>(kSoundRate * kSoundSeconds)};
  for (float& x : sound.samples) x = 0.1F * static_cast<float>(random.normal());
  return sound;
}

double mel_of_hertz(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

/// Band b of frame t by the definition in sound_features.h, in double precision and without a fast transform.
double plain_log_mel(const data::Sound& sound, int64_t t, int64_t b, int64_t mels) {
  const double low = mel_of_hertz(20), step = (mel_of_hertz(8000) - low) / static_cast<double>(mels + 1);
  const auto corner = [&](int64_t i) { return 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1); };
  double sum = 0;
  for (int64_t k = 0; k <= 256; ++k) {
    const double f = static_cast<double>(k) * kSoundRate / 512;
    const double weight =
        std::min((f - corner(b)) / (corner(b + 1) - corner(b)), (corner(b + 2) - f) / (corner(b + 2) - corner(b + 1)));
    if (weight <= 0) continue;
    double re = 0, im = 0;
    for (int64_t i = 0; i < 400; ++i) {
      const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / 400);
      const double turn = 2 * std::numbers::pi * static_cast<double>(i * k % 512) / 512;
      const double x = hann * sound.samples[static_cast<size_t>(t * 160 + i)];
      re += x * std::cos(turn), im -= x * std::sin(turn);
    }
    sum += weight * (re * re + im * im);
  }
  return std::log(sum + 1e-6);
}

void check_log_mel(const data::Sound& sound, int64_t mels) {
  data::SoundFeatureOptions options;
  options.mels = mels, options.normalise = "none";
  const Tensor features = data::SoundFeatures(options)(sound);
  for (const int64_t t : {int64_t{0}, int64_t{3333}, features.dim(0) - 1}) {
    for (const int64_t b : {int64_t{0}, mels / 2, mels - 1}) {
      const double wanted = plain_log_mel(sound, t, b, mels), got = static_cast<double>(features.data()[t * mels + b]);
      require(std::abs(got - wanted) <= 1e-4, "bench: expected band ", b, " of frame ", t, " to be ", wanted, ", got ",
              got);
    }
  }
}

Row feature_row(const char* kind, int64_t mels) {
  Row row{.name = std::string("features/") + kind + " " + std::to_string(mels) + " of 60 s",
          .unit = Unit::milliseconds,
          .peer = 2.0,
          .others = {{kLibrosa, 2.0}}};
  row.prepare = [=] {
    auto sound = std::make_shared<const data::Sound>(minute());
    check_log_mel(*sound, mels);
    data::SoundFeatureOptions options;
    options.kind = kind, options.mels = mels, options.normalise = "none";
    return [sound, features = data::SoundFeatures(options)] { features(*sound); };
  };
  return row;
}

}  // namespace

std::vector<Row> sound_rows() {
  return {feature_row("logmel", 40), feature_row("logmel", 80), feature_row("mfcc", 40), feature_row("mfcc", 80)};
}

}  // namespace attend::bench
