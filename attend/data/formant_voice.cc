#include "attend/data/formant_voice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/formant_tracks.h"

namespace attend::data {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;
/// Amplitude of noise at the glottis, so that HH is some 15 dB below a vowel.
constexpr float kAspiration = 0.1F;

/// y = a·x + b·y₋₁ + c·y₋₂ with a peak at `hertz` and gain 1 at 0 Hz (Klatt 1980, equations 1 and 2).
class Resonator {
 public:
  void tune(float hertz, float width, float rate) {
    const float r = std::exp(-kPi * width / rate);
    c_ = -r * r, b_ = 2 * r * std::cos(2 * kPi * hertz / rate), a_ = 1 - b_ - c_;
  }
  float operator()(float x) {
    const float y = a_ * x + b_ * y1_ + c_ * y2_;
    y2_ = y1_, y1_ = y;
    return y;
  }

 private:
  float a_ = 1, b_ = 0, c_ = 0, y1_ = 0, y2_ = 0;
};

/// The inverse of a Resonator: a dip (Klatt 1980, equation 4).
class Antiresonator {
 public:
  void tune(float hertz, float width, float rate) {
    const float r = std::exp(-kPi * width / rate), c = -r * r, b = 2 * r * std::cos(2 * kPi * hertz / rate);
    a_ = 1 / (1 - b - c), b_ = -b * a_, c_ = -c * a_;
  }
  float operator()(float x) {
    const float y = a_ * x + b_ * x1_ + c_ * x2_;
    x2_ = x1_, x1_ = x;
    return y;
  }

 private:
  float a_ = 1, b_ = 0, c_ = 0, x1_ = 0, x2_ = 0;
};

/// A band of noise: zeros at 0 Hz and half the rate, and a gain that keeps the power of white noise,
/// √((1 − r²) / 2).
class BandFilter {
 public:
  void tune(float hertz, float width, float rate) {
    const float r = std::exp(-kPi * std::min(width, 0.3F * rate) / rate);
    c_ = -r * r, b_ = 2 * r * std::cos(2 * kPi * std::min(hertz, 0.45F * rate) / rate);
    a_ = std::sqrt((1 - r * r) / 2);
  }
  float operator()(float x) {
    const float y = a_ * (x - x2_) + b_ * y1_ + c_ * y2_;
    x2_ = x1_, x1_ = x, y2_ = y1_, y1_ = y;
    return y;
  }

 private:
  float a_ = 0, b_ = 0, c_ = 0, x1_ = 0, x2_ = 0, y1_ = 0, y2_ = 0;
};

/// Uniform noise of variance 1.
float white_noise(Random& random) { return (random.uniform() - 0.5F) * 3.4641016F; }

/// Pulses of the glottis and its noise.
class Glottis {
 public:
  Glottis(const FormantVoice& voice, float rate)
      : rate_(rate),
        breath_(static_cast<float>(voice.breath)),
        tilt_(0.1F + 0.5F * breath_),
        open_(0.5F + 0.25F * breath_) {}

  /// The derivative of the flow t² − t³ over the open part of a period (KLGLOTT88, Klatt and Klatt 1990), with breath
  /// while it is open, low-passed for a duller voice.
  float operator()(float hertz, float noise, Random& random) {
    const float step = hertz * jitter_ / rate_;
    phase_ += step;
    if (phase_ >= 1) start_period(random);
    const float t = phase_ / open_;
    float pulse = t < 1 ? t * (2 - 3 * t) : 0;
    pulse += closing_step(step);
    const float breath = breath_ * (t < 1 ? 0.22F : 0.08F) * noise;
    return last_ = (1 - tilt_) * (loud_ * pulse + breath) + tilt_ * last_;
  }

 private:
  /// Periods differ by about 1 % in length and 4 % in strength.
  void start_period(Random& random) {
    phase_ -= 1;
    jitter_ = 1 + 0.01F * white_noise(random), loud_ = 1 + 0.04F * white_noise(random);
  }
  /// The jump from −1 to 0 at closure rounded over two samples, without which it would alias (PolyBLEP, Välimäki and
  /// Huovilainen 2007).
  float closing_step(float step) const {
    const float d = (phase_ - open_) / step;  // samples since the jump
    if (d >= 0 && d < 1) return -0.5F * (1 - d) * (1 - d);
    if (d < 0 && d > -1) return 0.5F * (1 + d) * (1 + d);
    return 0;
  }

  float rate_, breath_, tilt_, open_;
  float phase_ = 0, jitter_ = 1, loud_ = 1, last_ = 0;
};

/// The cascade: formants up to half the rate, and the pole and zero of the nose, which cancel unless it is open.
class Tract {
 public:
  Tract(float scale, float rate) : scale_(scale), rate_(rate) {
    for (size_t k = 3; k < formants_.size(); ++k) {  // 1000 Hz apart, those of a tube of 17.5 cm
      const float hertz = scale * (static_cast<float>(k) + 0.4F) * 1000;
      if (hertz > 0.47F * rate) break;
      formants_[k].tune(hertz, scale * (100 + 50 * static_cast<float>(k)), rate);
      count_ = k + 1;
    }
    nose_.tune(scale * kNosePole, 100, rate);
  }

  void tune(const Formants& hertz, float nasal, float open) {
    const Formants widths = {60 + 200 * open, 90 + 110 * nasal + 40 * open, 150 + 100 * nasal + 50 * open};
    for (size_t k = 0; k < 3; ++k) {
      formants_[k].tune(std::min(scale_ * hertz[k], 0.47F * rate_), scale_ * widths[k], rate_);
    }
    // Klatt 1980, table II: 450 Hz in a nasal.
    nose_zero_.tune(scale_ * (kNosePole + 180 * nasal), 100, rate_);
  }

  float operator()(float x) {
    x = nose_zero_(nose_(x));
    for (size_t k = count_; k-- > 0;) x = formants_[k](x);
    return x;
  }

 private:
  static constexpr float kNosePole = 270;
  float scale_, rate_;
  std::array<Resonator, 11> formants_;
  size_t count_ = 3;
  Resonator nose_;
  Antiresonator nose_zero_;
};

/// What changes from sample to sample within a frame.
struct Levels {
  float voicing = 0, aspiration = 0, noise = 0;
};

Levels operator+(Levels a, Levels b) {
  return {a.voicing + b.voicing, a.aspiration + b.aspiration, a.noise + b.noise};
}
Levels operator*(float s, Levels a) { return {s * a.voicing, s * a.aspiration, s * a.noise}; }

Levels levels_at(const FormantTracks& tracks, size_t frame) {
  frame = std::min(frame, tracks.size() - 1);
  return {tracks.voicing[frame], tracks.aspiration[frame], tracks.noise[frame].level};
}

std::vector<float> synthesise(const FormantTracks& tracks, const FormantVoice& voice, float rate, Random& random) {
  const auto scale = static_cast<float>(voice.tract), pitch = static_cast<float>(voice.pitch);
  const auto each = static_cast<size_t>(std::lround(rate * kFormantFrame));
  Glottis glottis(voice, rate);
  Tract tract(scale, rate);
  BandFilter band;
  std::vector<float> samples;
  samples.reserve(tracks.size() * each);
  for (size_t i = 0; i < tracks.size(); ++i) {
    const Levels now = levels_at(tracks, i), change = levels_at(tracks, i + 1) + -1.0F * now;
    const NoiseBand& noise = tracks.noise[i];
    tract.tune({tracks.formants[0][i], tracks.formants[1][i], tracks.formants[2][i]}, tracks.nasal[i], now.aspiration);
    band.tune(scale * noise.centre, scale * noise.width, rate);
    const float hertz = pitch * std::exp2(tracks.pitch[i] / 12);
    for (size_t k = 0; k < each; ++k) {
      const Levels level = now + static_cast<float>(k) / static_cast<float>(each) * change;
      const float hiss = white_noise(random);
      const float source = level.voicing * glottis(hertz, hiss, random) + kAspiration * level.aspiration * hiss;
      samples.push_back(tract(source) + level.noise * band(hiss));
    }
  }
  return samples;
}

void check_voice(const FormantVoice& voice) {
  const auto check = [](std::string_view what, double value, double low, double high) {
    require(value >= low && value <= high, "speak: expected a ", what, " of ", low, " to ", high, ", got ", value);
  };
  check("pitch", voice.pitch, 50, 400);
  check("range", voice.range, 0, 12);
  check("tract", voice.tract, 0.7, 1.4);
  check("rate", voice.rate, 0.4, 2.5);
  check("breath", voice.breath, 0, 1);
}

/// White noise whose power falls with frequency by 3 dB per octave (three one-pole filters, Kellet 1999).
class PinkFilter {
 public:
  float operator()(float x) {
    a_ = 0.99765F * a_ + 0.0990460F * x, b_ = 0.96300F * b_ + 0.2965164F * x, c_ = 0.57000F * c_ + 1.0526913F * x;
    return a_ + b_ + c_ + 0.1848F * x;
  }

 private:
  float a_ = 0, b_ = 0, c_ = 0;
};

double mean_power(std::span<const float> samples) {
  double sum = 0;
  for (const float x : samples) sum += static_cast<double>(x) * x;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace

FormantSpeech speak(std::span<const FormantWord> words, const FormantVoice& voice, double tail, int64_t rate,
                    Random random) {
  require(!words.empty(), "speak: expected words, got none");
  require(rate >= 8000 && rate <= 48000 && rate % 500 == 0,
          "speak: expected a multiple of 500 from 8000 to 48000 samples a second, got ", rate);
  require(tail >= 0 && tail <= 10, "speak: expected 0 to 10 seconds after the last word, got ", tail);
  check_voice(voice);
  FormantTracks tracks = formant_tracks(words, voice, tail, random);
  FormantSpeech speech;
  speech.sound = {rate, synthesise(tracks, voice, static_cast<float>(rate), random)};
  scale_to_peak(speech.sound, 1);
  speech.phonemes = std::move(tracks.phonemes), speech.words = std::move(tracks.words);
  return speech;
}

void add_noise(Sound& sound, NoiseColour colour, double snr, Random random) {
  require(snr >= -60 && snr <= 120, "add_noise: expected -60 to 120 dB, got ", snr);
  std::vector<float> noise(sound.samples.size());
  PinkFilter pink;
  for (float& x : noise) x = colour == NoiseColour::kPink ? pink(white_noise(random)) : white_noise(random);
  const double loud = mean_power(noise);
  if (loud == 0) return;
  const auto factor = static_cast<float>(std::sqrt(mean_power(sound.samples) / loud * std::pow(10, -snr / 10)));
  for (size_t i = 0; i < noise.size(); ++i) sound.samples[i] += factor * noise[i];
}

void scale_to_peak(Sound& sound, double peak) {
  require(peak >= 0 && peak <= 1, "scale_to_peak: expected a peak of 0 to 1, got ", peak);
  float most = 0;
  for (const float x : sound.samples) most = std::max(most, std::abs(x));
  if (most == 0) return;
  const float factor = static_cast<float>(peak) / most;
  // x · (peak / most) may be one rounding above the peak.
  for (float& x : sound.samples) x = std::clamp(factor * x, -static_cast<float>(peak), static_cast<float>(peak));
}

}  // namespace attend::data
