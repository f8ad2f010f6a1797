#include "attend/data/sound_windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/sound_features.h"
#include "tests/data/sound_files.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::sound_bytes;

constexpr int kWindowRate = 1000;

/// Noise with silence in the given stretches of seconds.
std::vector<float> noise_with_pauses(double seconds, const std::vector<std::pair<double, double>>& pauses) {
  Random random(1);
  std::vector<float> samples(static_cast<size_t>(seconds * kWindowRate));
  for (float& x : samples) x = 0.25F * static_cast<float>(random.normal());
  for (float& x : samples) x = std::clamp(x, -0.99F, 0.99F);
  for (const auto& [begin, end] : pauses) {
    std::fill(samples.begin() + static_cast<ptrdiff_t>(begin * kWindowRate),
              samples.begin() + static_cast<ptrdiff_t>(end * kWindowRate), 0.0F);
  }
  return samples;
}

std::vector<SoundWindow> windows_of(const std::vector<float>& samples, const SoundWindowOptions& options) {
  const std::string bytes = sound_bytes(SF_FORMAT_WAV | SF_FORMAT_FLOAT, kWindowRate, 1, samples);
  SoundWindows windows(SoundReader(std::as_bytes(std::span(bytes)), "x"), options);
  std::vector<SoundWindow> all;
  for (SoundWindow window; windows.next(window);) all.push_back(window);
  SoundWindow none;
  EXPECT_FALSE(windows.next(none));
  return all;
}

/// Every window has the samples of its place, and begins where the one before ends, but for the overlap.
void expect_cover(const std::vector<SoundWindow>& windows, const std::vector<float>& samples) {
  double last = 0;
  for (const SoundWindow& window : windows) {
    const auto begin = static_cast<size_t>(std::llround(window.begin * kWindowRate));
    ASSERT_EQ(begin + window.sound.samples.size(), static_cast<size_t>(std::llround(window.end * kWindowRate)));
    ASSERT_TRUE(std::equal(window.sound.samples.begin(), window.sound.samples.end(),
                           samples.begin() + static_cast<ptrdiff_t>(begin)));
    EXPECT_NEAR(window.begin, last - window.overlap, 1e-9);
    EXPECT_GT(window.end, last);
    last = window.end;
  }
  EXPECT_NEAR(last, static_cast<double>(samples.size()) / kWindowRate, 1e-9);
}

TEST(SoundWindows, OverlapWhereThereIsNoPause) {
  const std::vector<float> samples = noise_with_pauses(30, {});
  const auto windows = windows_of(samples, {.window = 10, .stride = 8});
  expect_cover(windows, samples);
  ASSERT_EQ(windows.size(), 4u);
  EXPECT_DOUBLE_EQ(windows[1].begin, 8);
  EXPECT_DOUBLE_EQ(windows[1].end, 18);
  EXPECT_DOUBLE_EQ(windows[1].overlap, 2);
  EXPECT_DOUBLE_EQ(windows[3].begin, 24);
  EXPECT_DOUBLE_EQ(windows[3].end, 30);
}

TEST(SoundWindows, AreCutInPauses) {
  const std::vector<float> samples = noise_with_pauses(30, {{8.5, 9}, {20, 21}});
  const auto windows = windows_of(samples, {.window = 10, .stride = 8});
  expect_cover(windows, samples);
  ASSERT_GE(windows.size(), 2u);
  EXPECT_NEAR(windows[0].end, 8.6, 1e-9);
  EXPECT_EQ(windows[1].overlap, 0);
  EXPECT_NEAR(windows[1].end, 18.6, 1e-9) << "its pause came too late";
  EXPECT_NEAR(windows[2].begin, 16.6, 1e-9);
  const auto overlapping = windows_of(samples, {.window = 10, .stride = 8, .quiet = false});
  expect_cover(overlapping, samples);
  EXPECT_DOUBLE_EQ(overlapping[0].end, 10);
}

TEST(SoundWindows, OfAShortSoundAreOne) {
  for (const double seconds : {0.001, 9.999, 10.0}) {
    const std::vector<float> samples = noise_with_pauses(seconds, {});
    const auto windows = windows_of(samples, {.window = 10, .stride = 8});
    ASSERT_EQ(windows.size(), 1u) << seconds;
    expect_cover(windows, samples);
  }
  const std::vector<float> longer = noise_with_pauses(10.001, {});
  const auto two = windows_of(longer, {.window = 10, .stride = 10});
  ASSERT_EQ(two.size(), 2u);
  expect_cover(two, longer);
  const std::vector<float> silence(25 * kWindowRate);
  expect_cover(windows_of(silence, {.window = 10, .stride = 8}), silence);
}

TEST(SoundWindows, HaveTheFramesOfTheWholeSound) {
  // Between hops, frames of a window are those of the whole: nothing of it depends on what was before.
  SoundFeatureOptions options;
  options.rate = kWindowRate, options.normalise = "none", options.mels = 20, options.window = 64, options.hop = 16;
  const SoundFeatures features(options);
  const std::vector<float> samples = noise_with_pauses(20, {});
  const Tensor whole = features({kWindowRate, samples});
  for (const SoundWindow& window : windows_of(samples, {.window = 4.8, .stride = 3.2})) {
    const Tensor part = features(window.sound);
    const auto first = static_cast<int64_t>(std::llround(window.begin * kWindowRate)) / features.hop();
    const Tensor rows = whole.rows(first, first + part.dim(0));
    ASSERT_TRUE(std::equal(part.begin(), part.end(), rows.begin()));
  }
}

TEST(SoundWindows, RefuseAStrideBeyondTheWindow) {
  EXPECT_TRUE(says(message_of([] { check_windows({.window = 5, .stride = 6}); }),
                   "stride: expected at most the window, 5, got 6"));
}

/// A WAV of silence that is made as it is read.
class EndlessWav : public ByteStream {
 public:
  explicit EndlessWav(uint32_t samples) : left_(2 * size_t{samples}) {
    head_ = sound_bytes(SF_FORMAT_WAV | SF_FORMAT_PCM_16, kWindowRate, 1, {});
    const size_t data = head_.find("data");
    for (int i = 0; i < 4; ++i) head_[data + 4 + static_cast<size_t>(i)] = static_cast<char>(left_ >> 8 * i);
    for (int i = 0; i < 4; ++i) head_[4 + static_cast<size_t>(i)] = static_cast<char>((left_ + 36) >> 8 * i);
    head_.resize(data + 8);
  }
  std::span<const char> next(const std::string&) override {
    if (!head_.empty()) return first_ = std::exchange(head_, ""), std::span<const char>(first_);
    const size_t count = std::min(left_, zeros_.size());
    left_ -= count;
    return std::span<const char>(zeros_).first(count);
  }

 private:
  size_t left_;
  std::string head_, first_;
  std::vector<char> zeros_ = std::vector<char>(1 << 16);
};

TEST(SoundWindows, OfTenHoursNeedTheMemoryOfOne) {
  const uint32_t samples = 10 * 3600 * kWindowRate;
  SoundWindows windows(SoundReader(std::make_unique<EndlessWav>(samples), "pipe"), {.window = 30, .stride = 25});
  double end = 0;
  size_t largest = 0, count = 0;
  for (SoundWindow window; windows.next(window); ++count) {
    largest = std::max(largest, window.sound.samples.capacity());
    end = window.end;
  }
  EXPECT_DOUBLE_EQ(end, 36000);
  EXPECT_LE(largest, size_t{2 * 30 * kWindowRate});
  EXPECT_NEAR(static_cast<double>(count), 36000 / 25.1, 2);
}

}  // namespace
}  // namespace attend::data
