#include "attend/data/sound_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "attend/base/options.h"
#include "attend/base/random.h"
#include "attend/data/resample.h"
#include "attend/kernels/parallel.h"
#include "tests/golden/golden.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;

std::vector<float> floats(const Tensor& tensor) { return {tensor.begin(), tensor.end()}; }

Sound noise_sound(size_t count, uint64_t seed = 1) {
  Random random(seed);
  Sound sound{16000, std::vector<float>(count)};
  for (float& x : sound.samples) x = 0.1F * static_cast<float>(random.normal());
  return sound;
}

SoundFeatureOptions plain() {
  SoundFeatureOptions options;
  options.normalise = "none";
  return options;
}

TEST(SoundFeatures, AreThoseOfLibrosaAndTorchaudio) {
  const Golden golden("sound");
  const Sound sound{16000, floats(golden("samples"))};
  SoundFeatureOptions options = plain();
  golden.expect_near(SoundFeatures(options)(sound), "logmel", 1e-4);
  golden.expect_near(SoundFeatures(options)(sound), "torchaudio_logmel", 1e-4);
  options.emphasis = 0.97;
  golden.expect_near(SoundFeatures(options)(sound), "emphasis", 1e-4);
  options.emphasis = 0;
  options.kind = "mfcc";
  golden.expect_near(SoundFeatures(options)(sound), "mfcc", 1e-4);
  golden.expect_near(SoundFeatures(options)(sound), "torchaudio_mfcc", 1e-4);
  options.deltas = 2;
  golden.expect_near(SoundFeatures(options)(sound), "deltas", 1e-4);
  golden.expect_near(SoundFeatures(options)(sound), "torchaudio_deltas", 1e-4);
  options = plain();
  options.mels = 80, options.fft = 1024;
  golden.expect_near(SoundFeatures(options)(sound), "logmel80", 1e-4);
  options.rate = 8000, options.window = 32, options.hop = 8, options.fft = 300, options.mels = 23;
  options.low = 100, options.high = 3800;
  golden.expect_near(SoundFeatures(options)({8000, sound.samples}), "odd", 1e-4);
}

TEST(SoundFeatures, AConvertedSoundIsThatOfLibrosa) {
  const Golden golden("sound");
  const std::vector<float> samples = floats(golden("samples"));
  const auto tensor = [](const Sound& sound) {
    Tensor all(Shape{static_cast<int64_t>(sound.samples.size())});
    std::copy(sound.samples.begin(), sound.samples.end(), all.data());
    return all;
  };
  golden.expect_near(tensor(resampled({8000, {samples.begin(), samples.begin() + 2000}}, 16000)), "twice", 1e-5);
  golden.expect_near(tensor(resampled({44100, samples}, 16000)), "fewer", 1e-5);
}

TEST(SoundFeatures, AStreamGivesTheSameBits) {
  const Sound sound = noise_sound(16000 + 77);
  for (const char* kind : {"logmel", "mfcc"}) {
    for (int64_t deltas = 0; deltas <= 2; ++deltas) {
      for (const double hop : {10.0, 40.0}) {  // the second is longer than a window
        SoundFeatureOptions options = plain();
        options.kind = kind, options.deltas = deltas, options.hop = hop, options.emphasis = 0.97;
        const SoundFeatures features(options);
        const Tensor whole = features(sound);
        for (const size_t piece :
             {size_t{1}, size_t{7}, size_t{160}, size_t{401}, size_t{5000}, sound.samples.size()}) {
          FeatureStream stream(features);
          std::vector<real> heard;
          const auto keep = [&](const Tensor& rows) { heard.insert(heard.end(), rows.begin(), rows.end()); };
          for (size_t at = 0; at < sound.samples.size(); at += piece) {
            keep(stream.add(std::span(sound.samples).subspan(at, std::min(piece, sound.samples.size() - at))));
          }
          keep(stream.finish());
          ASSERT_TRUE(std::equal(heard.begin(), heard.end(), whole.begin(), whole.end()))
              << kind << ", " << deltas << " deltas, hop " << hop << ", pieces of " << piece;
        }
      }
    }
  }
}

TEST(SoundFeatures, AStreamDoesNotWaitLongerThanItMust) {
  SoundFeatureOptions options = plain();
  options.deltas = 2;
  const SoundFeatures features(options);
  FeatureStream stream(features);
  const Sound sound = noise_sound(400 + 4 * 160);
  EXPECT_EQ(stream.add(std::span(sound.samples).first(400 + 4 * 160 - 1)).dim(0), 0);
  EXPECT_EQ(stream.add(std::span(sound.samples).last(1)).dim(0), 1);  // frame 0, as frames 0 to 4 are complete
  EXPECT_EQ(stream.finish().dim(0), 4);
}

TEST(SoundFeatures, ShortSilentAndLongSoundsHaveFiniteFeatures) {
  SoundFeatureOptions options;
  options.deltas = 2, options.normalise = "utterance";
  const SoundFeatures features(options);
  for (const size_t count : {1, 2, 399, 400, 401, 559, 560, 1000}) {
    for (const bool silent : {false, true}) {
      Sound sound = noise_sound(count);
      if (silent) std::fill(sound.samples.begin(), sound.samples.end(), 0.0F);
      const Tensor rows = features(sound);
      EXPECT_EQ(rows.shape(), Shape({std::max<int64_t>(1, 1 + (static_cast<int64_t>(count) - 400) / 160), 120}));
      EXPECT_EQ(rows.dim(0), features.frames(static_cast<int64_t>(count)));
      for (const real x : rows) ASSERT_TRUE(std::isfinite(x));
    }
  }
  options.normalise = "none";
  const SoundFeatures as_they_are(options);
  FeatureStream stream(as_they_are);
  const Sound one = noise_sound(1);
  EXPECT_EQ(stream.add(one.samples).dim(0), 0);
  const Tensor row = stream.finish(), whole = as_they_are(one);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), whole.begin(), whole.end()));
}

TEST(SoundFeatures, ThreadsDoNotChangeThem) {
  const Sound sound = noise_sound(160 * 3000);
  const SoundFeatures features(plain());
  const int threads = kernels::threads();
  kernels::set_threads(1);
  const Tensor one = features(sound);
  kernels::set_threads(3);
  const Tensor three = features(sound);
  kernels::set_threads(threads);
  EXPECT_TRUE(std::equal(one.begin(), one.end(), three.begin(), three.end()));
}

TEST(SoundFeatures, OptionsThatDoNotFitTogetherAreRefused) {
  const auto refusal = [](auto&& change) {
    SoundFeatureOptions options = plain();
    change(options);
    return message_of([&] { SoundFeatures features(options); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_TRUE(says(refusal([](auto& o) { o.kind = "mel"; }), "kind: expected"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.high = 9000; }), "high: expected at most half the rate, 8000, got 9000"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.low = 8000; }), "low: expected less"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.fft = 256; }), "fft: expected an even number of at least the 400"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.fft = 401; }), "fft: expected"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.kind = "mfcc", o.coefficients = 41; }), "coefficients: expected at most"));
  const SoundFeatures features(plain());
  EXPECT_TRUE(says(message_of([&] { features({8000, {0.5F}}); }), "expected 16000 samples a second, got 8000"));
  EXPECT_TRUE(says(message_of([&] { features({16000, {}}); }), "expected at least one sample"));
  SoundFeatureOptions by_utterance;
  by_utterance.normalise = "utterance";
  const SoundFeatures normalised(by_utterance);
  EXPECT_TRUE(says(message_of([&] { FeatureStream stream(normalised); }), "normalise: expected none or corpus"));
  FeatureStream stream(features);
  EXPECT_TRUE(says(message_of([&] { stream.finish(); }), "at least one sample"));
}

TEST(SoundFeatures, ThatAreGivenGetDeltasAndAreNormalised) {
  SoundFeatureOptions options = plain();
  options.kind = "mfcc", options.deltas = 2;
  const Sound sound = noise_sound(16000);
  const Tensor wanted = SoundFeatures(options)(sound);
  options.deltas = 0;
  const Tensor cepstra = SoundFeatures(options)(sound);
  options.kind = "given", options.deltas = 2;
  SoundFeatures given(options);
  EXPECT_EQ(given.width(), 0);
  const Tensor rows = given(cepstra);
  ASSERT_EQ(rows.shape(), wanted.shape());
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), wanted.begin()));
  FeatureStatistics statistics;
  statistics.add(rows);
  options.normalise = "corpus";
  SoundFeatures normalised(options);
  normalised.set_corpus(statistics);
  EXPECT_EQ(normalised.width(), 39);
  FeatureStatistics after;
  after.add(normalised(cepstra));
  for (size_t i = 0; i < 39; ++i) EXPECT_NEAR(after.deviation()[i], 1, 1e-4);
  EXPECT_TRUE(says(message_of([&] {
                     normalised(Tensor::zeros({4, 12}));
                   }),
                   "expected frames of 13 numbers, as in the corpus"));
  EXPECT_TRUE(says(message_of([&] { given(sound); }), "expected features that are given, got a sound"));
  EXPECT_TRUE(says(message_of([&] { given(Tensor::zeros({0, 13})); }), "expected [frames,width]"));
  EXPECT_TRUE(says(message_of([&] { SoundFeatures{plain()}(cepstra); }), "expected a sound, got features"));
  EXPECT_TRUE(says(message_of([&] { FeatureStream stream(given); }), "kind: expected logmel or mfcc"));
}

TEST(SoundFeatures, StatisticsAreThoseOfAllFramesHoweverTheyWereAdded) {
  const SoundFeatures features(plain());
  const Tensor a = features(noise_sound(16000, 1)), b = features(noise_sound(9000, 2));
  FeatureStatistics together, apart, other;
  together.add(a), together.add(b);
  apart.add(a), other.add(b), apart.add(other);
  const double frames = static_cast<double>(a.dim(0) + b.dim(0));
  EXPECT_EQ(together.frames(), frames);
  for (size_t i = 0; i < 40; ++i) {
    double sum = 0, squares = 0;
    for (const Tensor& rows : {a, b}) {
      for (int64_t t = 0; t < rows.dim(0); ++t) sum += rows.data()[static_cast<size_t>(t) * 40 + i];
    }
    for (const Tensor& rows : {a, b}) {
      for (int64_t t = 0; t < rows.dim(0); ++t) {
        squares += std::pow(rows.data()[static_cast<size_t>(t) * 40 + i] - sum / frames, 2);
      }
    }
    EXPECT_NEAR(together.mean()[i], sum / frames, 1e-9);
    EXPECT_NEAR(together.deviation()[i], std::sqrt(squares / frames), 1e-9);
    EXPECT_NEAR(apart.deviation()[i], together.deviation()[i], 1e-9);
  }
}

TEST(SoundFeatures, OfACorpusAreNormalisedAlsoAfterItsStatisticsWereSaved) {
  const test::TestFolder folder;
  SoundFeatures features{SoundFeatureOptions{}};
  const Sound sound = noise_sound(16000);
  const Tensor raw = features(sound);
  FeatureStatistics statistics;
  statistics.add(raw);
  statistics.save(folder.path() / "s.json");
  const FeatureStatistics loaded = FeatureStatistics::load(folder.path() / "s.json");
  EXPECT_TRUE(std::ranges::equal(loaded.mean(), statistics.mean()));
  EXPECT_EQ(loaded.deviation(), statistics.deviation());
  features.set_corpus(loaded);
  const Tensor normalised = features(sound);
  FeatureStatistics after;
  after.add(normalised);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(after.mean()[i], 0, 1e-5);
    EXPECT_NEAR(after.deviation()[i], 1, 1e-4);
  }
  FeatureStream stream(features);
  const Tensor first = stream.add(sound.samples);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), normalised.begin()));
  EXPECT_TRUE(
      says(message_of([&] { features.set_corpus(FeatureStatistics(3)); }), "frames of 40 numbers, got 0 frames of 3"));
  for (const char* text :
       {"", "[]", "{}", R"({"frames": 1, "mean": [1], "squares": []})",
        R"({"frames": 1, "mean": ["a"], "squares": [1]})", R"({"frames": -1, "mean": [], "squares": []})",
        R"({"frames": 1, "mean": [1], "squares": [-1]})"}) {
    const auto file = folder.file("bad.json", text);
    EXPECT_TRUE(says(message_of([&] { FeatureStatistics::load(file); }), "bad.json: expected")) << text;
  }
}

}  // namespace
}  // namespace attend::data
