// Features of sounds: what a network hears. A row of numbers for each frame, 100 of them a second.
//
// Exactly: frame t is the samples x[t·hop], …, x[t·hop + window − 1], so n samples have 1 + ⌊(n − window)/hop⌋ frames (one,
// padded with zeros, if they are fewer than a window has). With N = fft, K = mels, C = coefficients:
//
//   emphasised   x'[i] = x[i] − emphasis·x[i−1], x'[0] = x[0]
//   windowed     y[i] = x'[t·hop + i]·(½ − ½·cos(2πi/window))                  Hann, periodic; zeros up to N
//   power        p[k] = |Σᵢ y[i]·e^(−2πjik/N)|², k = 0 … N/2
//   mel          m[b] = Σₖ max(0, min((f[k] − c[b−1])/(c[b] − c[b−1]), (c[b+1] − f[k])/(c[b+1] − c[b])))·p[k]
//                with f[k] = k·rate/N, and c[−1] … c[K] equally spaced from low to high on mel(f) = 2595·log₁₀(1 + f/700)
//   logmel       l[b] = ln(m[b] + 1e-6)
//   mfcc         s[q] = Σ_b l[b]·√(2/K)·cos(πq(b + ½)/K), q = 0 … C − 1; s[0] divided by √2
//   delta        d[t] = (c[t+1] − c[t−1] + 2·(c[t+2] − c[t−2]))/10, the first and last frame repeated beyond the ends; deltas
//                of deltas from those in the same way. They follow the frame's own numbers: [c, d] or [c, d, dd]
//
// This is torchaudio's MelSpectrogram(n_fft=N, win_length=window, hop_length=hop, center=False, power=2, norm=None,
// mel_scale="htk") of a sound with (N − window)/2 zeros on either side, which torchaudio wants as it puts the window into
// the middle of N samples; its MFCC(log_mels=True, norm="ortho") and its compute_deltas. No frame depends on where the sound
// ends (but for deltas: on the two or four frames behind it), so that a sound can be heard while it is spoken.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "attend/base/bounds.h"
#include "attend/data/feature_statistics.h"
#include "attend/data/sound.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

struct SoundFeatureOptions {
  std::string kind = "logmel";
  int64_t rate = 16000;
  double window = 25, hop = 10;
  int64_t fft = 0;
  int64_t mels = 40, coefficients = 13;
  double low = 20, high = 0;
  double emphasis = 0;
  int64_t deltas = 0;
  std::string normalise = "corpus";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind,
          "what a frame of sound becomes: logmel (loudness by pitch) or mfcc (their cosine transform); given: features "
          "are "
          "read as they are, not made of sounds",
          bounds::one_of({"logmel", "mfcc", "given"}));
    visit("rate", rate, "samples a second; sounds at another rate are converted", bounds::within(1000, 768'000));
    visit("window", window, "milliseconds of a frame", bounds::within(1, 1000));
    visit("hop", hop, "milliseconds from one frame to the next", bounds::within(1, 1000));
    visit("fft", fft, "points of the Fourier transform; 0: the least power of 2 that holds a window",
          bounds::within(0, 1 << 20));
    visit("mels", mels, "bands of pitch", bounds::within(1, 1024));
    visit("coefficients", coefficients, "mfcc: how many are kept, at most as many as there are bands",
          bounds::within(1, 1024));
    visit("low", low, "lowest frequency, in Hz", bounds::within(0, 384'000));
    visit("high", high, "highest; 0: half the rate", bounds::within(0, 384'000));
    visit("emphasis", emphasis, "this share of the sample before is subtracted from each; 0: none", bounds::share());
    visit("deltas", deltas, "0: the frame alone; 1: also how it changes; 2: also how that changes",
          bounds::within(0, 2));
    visit("normalise", normalise,
          "each number to mean 0 and deviation 1: none, over the utterance, or as in the corpus that was trained on",
          bounds::one_of({"none", "utterance", "corpus"}));
  }
};

/// Makes features by the definition above. Its tables are made once, and copies share them; it may be used from several threads.
class SoundFeatures {
 public:
  /// Throws OptionError where options do not fit together.
  explicit SoundFeatures(const SoundFeatureOptions& options);

  const SoundFeatureOptions& options() const;
  /// Numbers of a frame: (mels or coefficients)·(1 + deltas). Of given features, as many as the corpus has; 0 before it is set.
  int64_t width() const;
  /// Of a window, and from one to the next: in samples.
  int64_t window() const;
  int64_t hop() const;
  /// How many frames so many samples have.
  int64_t frames(int64_t samples) const;
  /// What `normalise: corpus` normalises with. Until it is set, features are given as they are, so that they can be counted.
  void set_corpus(FeatureStatistics statistics);

  /// [frames, width] of a sound at the rate of the options, which has at least one sample.
  Tensor operator()(const Sound& sound) const;
  /// Of given features [frames, width/(1 + deltas)]: with deltas, normalised.
  Tensor operator()(const Tensor& given) const;

 private:
  friend class FeatureStream;
  class Tables;
  class FrameMaker;
  std::shared_ptr<Tables> tables_;
};

/// The same features, bit for bit, of a sound that arrives piece by piece. Of two deltas, the last four frames wait for
/// those behind them. Refuses `normalise: utterance`, which depends on the end.
class FeatureStream {
 public:
  explicit FeatureStream(const SoundFeatures& features);
  FeatureStream(FeatureStream&&) noexcept;
  FeatureStream& operator=(FeatureStream&&) noexcept;
  ~FeatureStream();

  /// The frames that these samples complete: [frames, width], maybe none.
  Tensor add(std::span<const float> samples);
  /// The last frames; nothing may be added behind them.
  Tensor finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace attend::data
