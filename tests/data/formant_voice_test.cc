#include "attend/data/formant_voice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "attend/base/error.h"
#include "attend/data/formant_phonemes.h"

namespace attend::data {
namespace {

FormantSpeech spoken_word(const std::string& phonemes, const FormantVoice& voice = {}, int64_t rate = 16000) {
  const FormantWord word{"word", phonemes, 0.1};
  return speak({&word, 1}, voice, 0.1, rate, Random(1));
}

std::span<const float> stretch_of(const Sound& sound, double begin, double end) {
  const auto at = [&](double seconds) { return static_cast<size_t>(seconds * static_cast<double>(sound.rate)); };
  return std::span(sound.samples).subspan(at(begin), at(end) - at(begin));
}
std::span<const float> middle_of(const FormantSpeech& speech, size_t phoneme) {
  const TimedLabel& time = speech.phonemes[phoneme];
  const double quarter = (time.end - time.begin) / 4;
  return stretch_of(speech.sound, time.begin + quarter, time.end - quarter);
}

double loudness(std::span<const float> samples) {
  double sum = 0;
  for (const float x : samples) sum += static_cast<double>(x) * x;
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

/// The power of a windowed stretch at a frequency.
double power_at(std::span<const float> samples, double hertz, double rate) {
  std::complex<double> sum = 0;
  const auto size = static_cast<double>(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto t = static_cast<double>(i);
    const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (t + 0.5) / size);
    sum += window * samples[i] * std::polar(1.0, 2 * std::numbers::pi * hertz / rate * t);
  }
  return std::norm(sum);
}

/// The coefficients of the best linear prediction from the last `order` samples (Levinson and Durbin).
std::vector<double> linear_prediction(std::span<const float> samples, size_t order) {
  std::vector<double> x(samples.size()), r(order + 1), a(order + 1);
  for (size_t i = 1; i < x.size(); ++i) {
    const double at = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(x.size());
    x[i] = (0.54 - 0.46 * std::cos(at)) * (samples[i] - 0.95 * samples[i - 1]);
  }
  for (size_t k = 0; k <= order; ++k) {
    for (size_t i = k; i < x.size(); ++i) r[k] += x[i] * x[i - k];
  }
  double error = r[0];
  a[0] = 1;
  for (size_t i = 1; i <= order; ++i) {
    double sum = r[i];
    for (size_t k = 1; k < i; ++k) sum += a[k] * r[i - k];
    const double reflection = -sum / error;
    std::vector<double> next = a;
    for (size_t k = 1; k < i; ++k) next[k] = a[k] + reflection * a[i - k];
    next[i] = reflection, a = next, error *= 1 - reflection * reflection;
  }
  return a;
}

/// The lowest peaks of 1 / |A(f)| above 150 Hz.
std::vector<double> measured_formants(std::span<const float> samples, double rate) {
  const std::vector<double> a = linear_prediction(samples, 18);
  const auto gain = [&](double hertz) {
    std::complex<double> sum = 0;
    for (size_t k = 0; k < a.size(); ++k) {
      sum += a[k] * std::polar(1.0, -2 * std::numbers::pi * hertz / rate * static_cast<double>(k));
    }
    return 1 / std::norm(sum);
  };
  std::vector<double> peaks;
  for (double hertz = 150; hertz < 4500; hertz += 10) {
    if (gain(hertz) > gain(hertz - 10) && gain(hertz) > gain(hertz + 10)) peaks.push_back(hertz);
  }
  return peaks;
}

TEST(FormantVoice, PutsTheFormantsOfVowelsWhereTheTableSays) {
  for (const std::string name : {"IY", "EH", "AE", "AA"}) {
    for (const double tract : {0.9, 1.0, 1.15}) {
      const FormantVoice voice{.pitch = 90, .range = 0, .tract = tract, .rate = 0.5, .breath = 0.1};
      const FormantSpeech speech = spoken_word(name, voice);
      const std::vector<double> peaks = measured_formants(middle_of(speech, 0), 16000);
      ASSERT_GE(peaks.size(), 3u) << name;
      for (size_t k = 0; k < 2; ++k) {
        const double expected = tract * formant_phoneme(name).from[k];
        EXPECT_NEAR(peaks[k], expected, 0.08 * expected + 45) << name << " F" << k + 1 << ", tract " << tract;
      }
    }
  }
}

TEST(FormantVoice, HissesHighInSAndLowerInSH) {
  const FormantSpeech speech = spoken_word("AA1 S AA SH AA");
  const auto band = [&](size_t phoneme, double low, double high) {
    double sum = 0;
    for (double hertz = low; hertz < high; hertz += 50) sum += power_at(middle_of(speech, phoneme), hertz, 16000);
    return sum;
  };
  EXPECT_GT(band(1, 4500, 6500), 5 * band(1, 2000, 4000));
  EXPECT_GT(band(3, 2000, 4000), 5 * band(3, 4500, 6500));
}

TEST(FormantVoice, IsSilentInPausesAndClosuresAndThenBursts) {
  const FormantSpeech speech = spoken_word("AA1 T AA");
  const TimedLabel stop = speech.phonemes[1];
  const double loud = loudness(middle_of(speech, 0)), length = stop.end - stop.begin;
  const double closed = loudness(stretch_of(speech.sound, stop.begin + 0.3 * length, stop.begin + 0.45 * length));
  const double released = loudness(stretch_of(speech.sound, stop.begin + 0.5 * length, stop.end - 0.01));
  EXPECT_LT(closed, 0.01 * loud);
  EXPECT_GT(released, 0.03 * loud);
  EXPECT_LT(loudness(stretch_of(speech.sound, 0, 0.08)), 0.001 * loud);
}

TEST(FormantVoice, SpeaksEveryPhonemeAtEveryRateWithoutOverflow) {
  for (const int64_t rate : {8000, 16000, 48000}) {
    for (const FormantPhoneme& phoneme : formant_phonemes()) {
      const FormantVoice voice{.pitch = 300, .range = 12, .tract = 1.4, .rate = 2, .breath = 1, .accent = 3};
      const FormantSpeech speech = spoken_word("AX " + std::string(phoneme.name), voice, rate);
      for (const float x : speech.sound.samples) ASSERT_TRUE(std::abs(x) <= 1) << phoneme.name << ", " << rate;
      EXPECT_GT(loudness(middle_of(speech, 1)), 1e-4) << phoneme.name;
    }
  }
}

TEST(FormantVoice, HasThePitchThatItIsGiven) {
  for (const double pitch : {100.0, 200.0}) {
    const FormantSpeech speech = spoken_word("AA1", {.pitch = pitch, .range = 0, .rate = 0.5});
    const std::span<const float> samples = middle_of(speech, 0);
    double best = 0, lag_of_best = 0;
    for (size_t lag = 40; lag < 260; ++lag) {
      double sum = 0;
      for (size_t i = lag; i < samples.size(); ++i) sum += static_cast<double>(samples[i]) * samples[i - lag];
      if (sum > best) best = sum, lag_of_best = static_cast<double>(lag);
    }
    EXPECT_NEAR(16000 / lag_of_best, pitch, 0.05 * pitch);
  }
}

TEST(FormantVoice, AddsNoiseOfTheStatedPower) {
  for (const NoiseColour colour : {NoiseColour::kWhite, NoiseColour::kPink}) {
    FormantSpeech speech = spoken_word("AA1 S AA");
    const std::vector<float> clean = speech.sound.samples;
    add_noise(speech.sound, colour, 20, Random(2));
    std::vector<float> noise(clean.size());
    for (size_t i = 0; i < clean.size(); ++i) noise[i] = speech.sound.samples[i] - clean[i];
    EXPECT_NEAR(20 * std::log10(loudness(clean) / loudness(noise)), 20, 0.1);
  }
}

TEST(FormantVoice, RejectsWhatItCannotSay) {
  EXPECT_THROW(spoken_word("AA QQ"), Error);
  EXPECT_THROW(spoken_word(""), Error);
  EXPECT_THROW(speak({}, {}, 0, 16000, Random(1)), Error);
  EXPECT_THROW(spoken_word("AA", {.pitch = 10}), Error);
  EXPECT_THROW(spoken_word("AA", {.tract = 3}), Error);
  EXPECT_THROW(spoken_word("AA", {}, 4000), Error);
  EXPECT_THROW(spoken_word("AA", {}, 16001), Error);
}

}  // namespace
}  // namespace attend::data
