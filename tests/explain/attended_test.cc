#include "attend/explain/attended.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

TEST(Attended, AnEvenLookAtAWordIsThatWordFromEndToEnd) {
  std::vector<real> weights(50);
  for (size_t p = 10; p < 40; ++p) weights[p] = real(0.25);
  const PlaceRange seen = attended(weights);
  EXPECT_NEAR(seen.begin, 10, 0.02) << "a place has a width of its own, which its middle does not see";
  EXPECT_NEAR(seen.end, 40, 0.02);
}

TEST(Attended, OnePlaceIsOnePlaceLong) {
  const PlaceRange seen = attended(std::array<real, 4>{0, 0, 1, 0});
  EXPECT_DOUBLE_EQ(seen.begin, 2);
  EXPECT_DOUBLE_EQ(seen.end, 3);
}

TEST(Attended, ALetterThatLookedElsewhereCountsAsOne) {
  std::vector<PlaceRange> letters(9, PlaceRange{10, 16});
  letters.push_back({100, 106});
  EXPECT_NEAR(attended_together(letters).middle(), 22, 1e-9) << "the hull of all would have its middle at 58";
}

TEST(Attended, TogetherTwoHalvesAreTheWhole) {
  const PlaceRange whole = attended_together(std::array{PlaceRange{4, 8}, PlaceRange{8, 12}});
  EXPECT_DOUBLE_EQ(whole.begin, 4);
  EXPECT_DOUBLE_EQ(whole.end, 12);
}

TEST(Attended, NeedsSomethingThatWasLookedAt) {
  EXPECT_THROW(attended(std::array<real, 2>{0, 0}), Error);
  EXPECT_THROW(attended_together({}), Error);
}

}  // namespace
}  // namespace attend::explain
