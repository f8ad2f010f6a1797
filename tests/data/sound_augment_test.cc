#include "attend/data/sound_augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "attend/base/random.h"
#include "tests/data/sound_files.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::tone;

double mean_power(const std::vector<float>& samples) {
  double sum = 0;
  for (const float x : samples) sum += static_cast<double>(x) * x;
  return sum / static_cast<double>(samples.size());
}

/// Frames that are all different, and in no column 0.
Tensor counted_frames(int64_t frames, int64_t width) {
  Tensor features(Shape{frames, width});
  for (size_t i = 0; i < features.size(); ++i) features.data()[i] = static_cast<real>(i + 1);
  return features;
}

/// Which numbers of `after` are those of counted_frames().
std::vector<std::vector<bool>> kept(const Tensor& after) {
  std::vector<std::vector<bool>> same(static_cast<size_t>(after.dim(0)));
  for (size_t i = 0; i < after.size(); ++i) {
    same[i / static_cast<size_t>(after.dim(1))].push_back(after.data()[i] == static_cast<real>(i + 1));
  }
  return same;
}

TEST(SoundAugment, DoesNothingUnlessAsked) {
  const Sound sound{16000, tone(1000, 440, 16000)};
  EXPECT_EQ(augmented(sound, {}, Random(1)).samples, sound.samples);
  Tensor features = counted_frames(20, 8);
  mask_features(features, {}, Random(1));
  for (const auto& row : kept(features)) EXPECT_EQ(std::ranges::count(row, true), 8);
}

TEST(SoundAugment, IsAFunctionOfSeedEpochAndIndex) {
  const Sound sound{16000, tone(4000, 440, 16000)};
  const SoundAugmentOptions options{.speeds = "0.9,1,1.1", .noisy = 0.5, .noise = "either", .gain = 6};
  const auto made = [&](uint64_t seed, int64_t epoch, int64_t index) {
    return augmented(sound, options, augment_random(seed, epoch, index)).samples;
  };
  EXPECT_EQ(made(1, 2, 3), made(1, 2, 3));
  std::set<std::vector<float>> different;
  for (uint64_t seed = 1; seed < 3; ++seed) {
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      for (int64_t index = 0; index < 4; ++index) different.insert(made(seed, epoch, index));
    }
  }
  EXPECT_EQ(different.size(), 32u);
}

TEST(SoundAugment, PlaysSoundsFasterAndHigher) {
  const Sound sound{16000, tone(16000, 500, 16000)};
  std::set<size_t> lengths;
  for (int64_t i = 0; i < 30; ++i) {
    const Sound other = augmented(sound, {.speeds = "0.8,1.25"}, augment_random(1, 0, i));
    EXPECT_EQ(other.rate, 16000);
    lengths.insert(other.samples.size());
    const bool fast = other.samples.size() < 16000;
    const std::vector<float> wanted = tone(other.samples.size(), fast ? 625 : 400, 16000);
    for (size_t k = 500; k + 500 < wanted.size(); ++k) ASSERT_NEAR(other.samples[k], wanted[k], 2e-3) << k;
  }
  EXPECT_EQ(lengths, (std::set<size_t>{12800, 20000}));
}

TEST(SoundAugment, AddsNoiseAtTheDrawnDistance) {
  const Sound sound{16000, tone(32000, 440, 16000)};
  for (const char* kind : {"white", "pink", "either"}) {
    const SoundAugmentOptions options{.noisy = 1, .noise = kind, .least_snr = 10, .most_snr = 10};
    Sound noisy = augmented(sound, options, augment_random(1, 0, 0));
    for (size_t i = 0; i < noisy.samples.size(); ++i) noisy.samples[i] -= sound.samples[i];
    EXPECT_NEAR(10 * std::log10(mean_power(sound.samples) / mean_power(noisy.samples)), 10, 0.1) << kind;
  }
  int noisy = 0;
  for (int64_t i = 0; i < 200; ++i) {
    noisy += augmented({16000, {0.5F, -0.5F}}, {.noisy = 0.3}, augment_random(1, 0, i)).samples[0] != 0.5F;
  }
  EXPECT_NEAR(noisy, 60, 25);
  for (const float x : augmented({16000, std::vector<float>(100)}, {.noisy = 1}, Random(1)).samples) EXPECT_EQ(x, 0);
}

TEST(SoundAugment, MakesSoundsLouderOrSofter) {
  double least = 1e9, most = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const double factor = augmented({16000, {0.5F}}, {.gain = 6}, augment_random(1, 0, i)).samples[0] / 0.5;
    least = std::min(least, factor), most = std::max(most, factor);
  }
  EXPECT_NEAR(20 * std::log10(most), 6, 0.5);
  EXPECT_NEAR(20 * std::log10(least), -6, 0.5);
}

TEST(SoundAugment, RefusesOptionsThatDoNotFitTogether) {
  const auto refusal = [](const SoundAugmentOptions& options) { return message_of([&] { check_augment(options); }); };
  EXPECT_EQ(refusal({.speeds = "0.9,1,1.1"}), "");
  for (const char* speeds : {"fast", "0.9,", "0.9,,1", "0.4", "2.1", "1 2", "nan"}) {
    EXPECT_TRUE(says(refusal({.speeds = speeds}), "speeds: expected numbers from 0.5 to 2")) << speeds;
  }
  EXPECT_TRUE(says(refusal({.least_snr = 20, .most_snr = 10}), "most_snr: expected at least least_snr, 20, got 10"));
  EXPECT_TRUE(says(refusal({.noise = "brown"}), "noise: expected one of white, pink, either"));
}

TEST(SpecAugment, MasksBandsOfPitchAndStretchesOfTime) {
  const SpecAugmentOptions options{
      .pitch_masks = 1, .pitch_width = 3, .time_masks = 1, .time_width = 5, .time_share = 0.2};
  std::set<int64_t> pitches, times;
  for (int64_t i = 0; i < 300; ++i) {
    Tensor features = counted_frames(40, 12);
    mask_features(features, options, augment_random(1, 0, i));
    const auto same = kept(features);
    // A column whose mean happens to be a number of it may seem to be kept: none here, as 40 frames have no middle one.
    int64_t masked_rows = 0;
    const std::vector<bool>* some = nullptr;
    for (const auto& row : same) {
      const bool masked = std::ranges::count(row, true) == 0;
      masked_rows += masked;
      if (!masked) some = &row;
    }
    ASSERT_NE(some, nullptr);
    pitches.insert(std::ranges::count(*some, false));
    times.insert(masked_rows);
    const auto first = std::ranges::find(*some, false);
    EXPECT_TRUE(std::all_of(first, first + std::ranges::count(*some, false), [](bool one) { return !one; }))
        << "one band";
  }
  EXPECT_EQ(pitches, (std::set<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(times, (std::set<int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(SpecAugment, PutsTheMeanOfTheColumnInTheirPlace) {
  Tensor features = counted_frames(40, 2);
  mask_features(features, {.time_masks = 1, .time_width = 40, .time_share = 1}, augment_random(1, 0, 5));
  const auto same = kept(features);
  int masked = 0;
  for (size_t t = 0; t < same.size(); ++t) {
    if (same[t][0]) continue;
    ++masked;
    EXPECT_EQ(features.data()[2 * t], 40);      // the mean of 1, 3, …, 79
    EXPECT_EQ(features.data()[2 * t + 1], 41);  // of 2, 4, …, 80
  }
  EXPECT_GT(masked, 0);
}

TEST(SpecAugment, MasksDeltasWithTheNumbersThatTheyAreOf) {
  for (int64_t i = 0; i < 50; ++i) {
    Tensor features = counted_frames(10, 12);
    mask_features(features, {.pitch_masks = 2, .pitch_width = 2}, augment_random(1, 0, i), 3);
    const auto row = kept(features)[0];
    for (size_t k = 0; k < 4; ++k) EXPECT_TRUE(row[k] == row[4 + k] && row[k] == row[8 + k]);
  }
}

TEST(SpecAugment, IsBoundedByTheLengthOfTheSound) {
  for (const int64_t frames : {1, 2, 9}) {
    for (int64_t i = 0; i < 20; ++i) {
      Tensor features = counted_frames(frames, 4);
      mask_features(features,
                    {.pitch_masks = 3, .pitch_width = 100, .time_masks = 3, .time_width = 100, .time_share = 1},
                    augment_random(1, 0, i));
      for (const real x : features) EXPECT_TRUE(std::isfinite(x));
    }
  }
  // 5 stretches for 100 frames by the ratio, of at most 2 frames each by the share.
  int64_t most = 0;
  for (int64_t i = 0; i < 100; ++i) {
    Tensor features = counted_frames(100, 2);
    mask_features(features, {.time_masks = 20, .time_width = 50, .time_share = 0.02, .time_ratio = 0.05},
                  augment_random(1, 0, i));
    int64_t masked = 0;
    for (const auto& row : kept(features)) masked += !row[0];
    most = std::max(most, masked);
  }
  EXPECT_LE(most, 10);
  EXPECT_GE(most, 6);
  Tensor shared = counted_frames(4, 4);
  const Tensor other = shared;
  EXPECT_TRUE(says(message_of([&] { mask_features(shared, {.time_masks = 1}, Random(1)); }), "nothing else shares"));
  Tensor odd = counted_frames(4, 4);
  EXPECT_TRUE(says(message_of([&] { mask_features(odd, {.time_masks = 1}, Random(1), 3); }), "a width that 3 divides"));
}

}  // namespace
}  // namespace attend::data
