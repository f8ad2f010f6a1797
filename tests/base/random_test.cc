#include "attend/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

namespace attend {
namespace {

// Known answers of Random123's distribution (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, ~uint64_t{0}), (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, uint64_t{0x299f31d0} << 32 | 0xa4093822),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WorksAtCompileTime) { static_assert(philox({0, 0, 0, 0}, 0)[0] == 0x6627e8d5); }

std::vector<uint32_t> take(Random random, int count) {
  std::vector<uint32_t> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(random.bits());
  return drawn;
}

TEST(Random, BitsAreThePhiloxWordsOfSeedStreamAndPosition) {
  const PhiloxWords first = philox({0, 0, 7, 0}, 42), second = philox({1, 0, 7, 0}, 42);
  const std::vector<uint32_t> drawn = take(Random(42, 7), 8);
  EXPECT_EQ(std::vector<uint32_t>(drawn.begin(), drawn.begin() + 4), std::vector<uint32_t>(first.begin(), first.end()));
  EXPECT_EQ(std::vector<uint32_t>(drawn.begin() + 4, drawn.end()), std::vector<uint32_t>(second.begin(), second.end()));
}

TEST(Random, SameSeedSameNumbersOnAnyThread) {
  std::vector<uint32_t> other;
  std::thread([&] { other = take(Random(1), 100); }).join();
  EXPECT_EQ(take(Random(1), 100), other);
}

TEST(Random, SeedsStreamsAndNamesDiffer) {
  const Random base(1);
  const std::set<std::vector<uint32_t>> all{take(base, 4),
                                            take(Random(2), 4),
                                            take(Random(1, 1), 4),
                                            take(base.named("dropout"), 4),
                                            take(base.named("x"), 4),
                                            take(base.named("x").named("dropout"), 4)};
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(take(base.named("x"), 4), take(Random(1).named("x"), 4));
}

TEST(Random, SeekGoesToAnyPosition) {
  const std::vector<uint32_t> drawn = take(Random(3, 9), 20);
  for (const uint64_t position : {19, 0, 7, 8, 4}) {
    Random random(3, 9);
    random.bits();
    random.seek(position);
    EXPECT_EQ(random.position(), position);
    EXPECT_EQ(random.bits(), drawn[position]);
  }
}

TEST(Random, ACopyGoesOnFromTheSamePosition) {
  Random random(5);
  random.bits();
  Random copy = random;
  EXPECT_EQ(take(random, 9), take(copy, 9));
}

TEST(Random, UniformStaysInRangeWithTheRightMean) {
  Random random(11);
  double sum = 0, sum53 = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const float u = random.uniform();
    const double v = random.uniform53();
    ASSERT_TRUE(u >= 0 && u < 1 && v >= 0 && v < 1);
    sum += u;
    sum53 += v;
  }
  // Five standard deviations of the mean: 5/√(12·100,000).
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0046);
  EXPECT_NEAR(sum53 / kDraws, 0.5, 0.0046);
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  Random random(12);
  constexpr int kDraws = 100'000;
  std::array<double, 5> moments{};
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(x, power) / kDraws;
  }
  // Five standard deviations: Var(xᵏ) = 1, 2, 15, 96 for k = 1 … 4.
  EXPECT_NEAR(moments[1], 0, 0.016);
  EXPECT_NEAR(moments[2], 1, 0.023);
  EXPECT_NEAR(moments[3], 0, 0.062);
  EXPECT_NEAR(moments[4], 3, 0.16);
}

TEST(Random, BelowIsUniformAndReachesEveryNumber) {
  Random random(13);
  constexpr int kDraws = 60'000;
  std::array<int, 6> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(6));
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 457);  // 5·√(60,000·5/36)
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0u);
  for (int i = 0; i < 100; ++i) EXPECT_LT(random.below((uint64_t{1} << 63) + 1), (uint64_t{1} << 63) + 1);
}

TEST(Random, EachKeyIsNew) {
  Random random(14);
  std::set<uint64_t> keys;
  for (int i = 0; i < 1000; ++i) keys.insert(random.next_key());
  EXPECT_EQ(keys.size(), 1000u);
  EXPECT_EQ(random.position(), 2000u);
}

}  // namespace
}  // namespace attend
