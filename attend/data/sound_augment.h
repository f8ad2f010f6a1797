// Augmentation of sounds in training: what changes a sound without changing what is said. All of it is a pure function of the
// sound, the options and the random stream that is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/random.h"
#include "attend/data/sound.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

/// Of samples. Everything is off by default.
struct SoundAugmentOptions {
  std::string speeds = "";
  double noisy = 0;
  std::string noise = "white";
  double least_snr = 10, most_snr = 30;
  double gain = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("speeds", speeds,
          "one of these is drawn for each sound, which is played that many times as fast: 0.9,1,1.1; \"\": none");
    visit("noisy", noisy, "share of the sounds to which noise is added", bounds::within(0, 1));
    visit("noise", noise, "its kind: white, pink (1/f, as of rooms), or either",
          bounds::one_of({"white", "pink", "either"}));
    visit("least_snr", least_snr, "how far the noise is below the sound, in dB: at least …", bounds::within(-20, 100));
    visit("most_snr", most_snr, "… and at most", bounds::within(-20, 100));
    visit("gain", gain, "louder or softer by up to so many dB", bounds::within(0, 60));
  }
};

/// SpecAugment (Park et al. 2019): bands of time and of pitch are masked. Off where the number of masks is 0.
struct SpecAugmentOptions {
  int64_t pitch_masks = 0, pitch_width = 8;
  int64_t time_masks = 0, time_width = 40;
  double time_share = 0.2, time_ratio = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("pitch_masks", pitch_masks, "SpecAugment: how many bands of the numbers of a frame are masked",
          bounds::within(0, 1000));
    visit("pitch_width", pitch_width, "at most so many numbers each (F)", bounds::within(0, 1 << 16));
    visit("time_masks", time_masks, "how many stretches of frames are masked", bounds::within(0, 1000));
    visit("time_width", time_width, "at most so many frames each (T)", bounds::within(0, 1 << 20));
    visit("time_share", time_share, "and at most this share of the sound each (p)", bounds::within(0, 1));
    visit("time_ratio", time_ratio,
          "above 0: as many stretches as this times the frames, but at most time_masks (Park et al. 2020, adaptive)",
          bounds::within(0, 1));
  }
};

/// The stream for sound `index` in epoch `epoch`; what is drawn from it depends on nothing else.
Random augment_random(uint64_t seed, int64_t epoch, int64_t index);

/// Throws OptionError where options do not fit together, or `speeds` are not numbers from 0.5 to 2.
void check_augment(const SoundAugmentOptions& options);
/// The first thing that augmented() draws of the same stream: 1 where there are no speeds.
double drawn_speed(const SoundAugmentOptions& options, const Random& random);
/// Features [frames,width] of the same sound played so many times as fast, but not higher: frames between two are between them.
Tensor stretched(const Tensor& features, double speed);

/// Speed, then noise, then gain. The sound keeps its rate; with another speed it has another length.
Sound augmented(Sound sound, const SoundAugmentOptions& options, Random random);

/// Masks features [frames, width] in place: a masked number becomes the mean of its column over the sound, which is 0 where
/// features are normalised. Of features with `deltas`, the band of each delta is masked with that of the frame's own numbers:
/// `repeats` = 1 + deltas.
void mask_features(Tensor& features, const SpecAugmentOptions& options, Random random, int64_t repeats = 1);

}  // namespace attend::data
