// Maps over images: where they are largest, how they are smoothed, and what lies under the veil.
#include "attend/explain/raster.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "attend/base/base64.h"
#include "attend/data/image_file.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

TEST(Raster, EvenWeightsAreAllTheLargest) {
  for (const real share : smooth_shares(Tensor::full({5, 3}, 0.2), 40, 24)) EXPECT_NEAR(share, 1, 1e-5);
  for (const real share : cell_shares(Tensor::full({5, 3}, 0.2), 40, 24)) EXPECT_EQ(share, 1);
  for (const real share : smooth_shares(Tensor::zeros({5, 3}), 40, 24)) EXPECT_EQ(share, 0);
}

TEST(Raster, ABellAroundTheCellThatHasAll) {
  Tensor cells = Tensor::zeros({4, 6});
  cells.data()[1 * 6 + 4] = 0.7;
  const Tensor shares = smooth_shares(cells, 40, 60);
  const auto at = [&](int64_t y, int64_t x) { return static_cast<double>(shares.data()[y * 60 + x]); };
  EXPECT_NEAR(at(15, 45), 1, 0.02) << "the centre of its cell";
  EXPECT_NEAR(at(14, 44), at(15, 45), 1e-5) << "the four pixels around it";
  EXPECT_GT(at(15, 38), at(15, 33));
  EXPECT_GT(at(15, 33), 0) << "reaches into the neighbour";
  EXPECT_EQ(at(15, 20), 0) << "and no further than two cells";
  // The uniform cubic B-spline is 2/3 at its centre and 1/6 a cell away.
  EXPECT_NEAR((at(15, 34) + at(15, 35)) / 2 / at(15, 45), 1.0 / 4, 0.005);
  for (const real share : shares) EXPECT_TRUE(share >= 0 && share <= 1);
}

TEST(Raster, CellsAsTheyAre) {
  const Tensor shares = cell_shares(Tensor::of({2, 2}, {1, 2, 4, 0}), 4, 6);
  EXPECT_EQ(std::vector<real>(shares.begin(), shares.end()),
            (std::vector<real>{0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5,  //
                               1,    1,    1,    0,   0,   0,   1,    1,    1,    0,   0,   0}));
}

TEST(Raster, OneBrightPixelOfManyLeavesTheOthersVisible) {
  Tensor map = Tensor::full({60, 60}, 1);
  map.data()[1800] = 1000;
  const Tensor shares = cell_shares(map, 60, 60);
  EXPECT_EQ(shares.data()[0], 1);
  EXPECT_EQ(shares.data()[1800], 1);
  Tensor few = Tensor::full({6, 6}, 1);
  few.data()[18] = 1000;
  EXPECT_NEAR(cell_shares(few, 60, 60).data()[0], 1e-3, 1e-6) << "of few cells each counts";
  Tensor one = Tensor::zeros({60, 60});
  one.data()[0] = 5;
  EXPECT_EQ(cell_shares(one, 60, 60).data()[0], 1) << "one that is alone is the largest";
}

TEST(Raster, AFinerMapBecomesMeans) {
  Tensor map({4, 4});
  for (size_t i = 0; i < 16; ++i) map.data()[i] = static_cast<real>(i);
  const Tensor shares = cell_shares(map, 2, 2);  // means 2.5, 4.5, 10.5, 12.5
  EXPECT_NEAR(shares.data()[0], 2.5 / 12.5, 1e-6);
  EXPECT_NEAR(shares.data()[1], 4.5 / 12.5, 1e-6);
  EXPECT_EQ(shares.data()[3], 1);
  EXPECT_NE(test::message_of([] { smooth_shares({}, 2, 2); }), "");
}

TEST(Raster, WhatWasLookedAtIsClear) {
  data::Image image(1, 3, 1);
  image.pixels = {255, 0, 255};
  const data::Image veil = veil_of(Tensor::of({1, 3}, {1, 0, 0}));
  EXPECT_EQ(veil.pixels[0], 0);
  EXPECT_EQ(veil.pixels[1], 204);  // 0.8 of 255
  const data::Image under = veiled(image, veil);
  EXPECT_EQ(under.channels, 3);
  EXPECT_EQ(under.at(0, 0, 2), 255) << "clear";
  EXPECT_EQ(under.at(0, 1, 0), 56) << "black becomes lighter: 70 · 0.8";
  EXPECT_EQ(under.at(0, 2, 0), 107) << "white darker, and the two can still be told apart";
  EXPECT_EQ(heat_of(Tensor::of({1, 1}, {1})).pixels, (std::vector<uint8_t>{24, 35, 107}));
  EXPECT_NE(test::message_of([&] { veiled(image, data::Image(1, 2, 1)); }), "");
}

TEST(Raster, SizesOfImages) {
  data::Image image(2, 4, 1);
  image.pixels = {0, 2, 100, 100, 4, 6, 100, 200};
  EXPECT_EQ(reduced(image, 2).pixels, (std::vector<uint8_t>{3, 125}));
  EXPECT_EQ(reduced(image, 4).pixels, image.pixels);
  EXPECT_EQ(reduced(image, 4000).pixels, image.pixels);
  EXPECT_EQ(resampled(image, 2, 8).pixels,
            (std::vector<uint8_t>{0, 0, 2, 2, 100, 100, 100, 100, 4, 4, 6, 6, 100, 100, 200, 200}));
  EXPECT_EQ(reduced(data::Image(1, 500, 3), 10).height, 1);
}

TEST(Raster, NamesOfPlaces) {
  EXPECT_EQ(place_name(0.1, 0.1), "upper left");
  EXPECT_EQ(place_name(0.5, 0.5), "centre");
  EXPECT_EQ(place_name(0.9, 0.5), "right");
  EXPECT_EQ(place_name(0.4, 0.99), "bottom");
  EXPECT_EQ(place_name(-3, 7), "lower left") << "outside counts as the edge";
}

TEST(Raster, AnImageInItsAddress) {
  data::Image image(2, 3, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(13 * i);
  const std::string uri = data_uri(image), kind = "data:image/png;base64,";
  ASSERT_TRUE(uri.starts_with(kind));
  const std::string png = from_base64(uri.substr(kind.size()), "");
  EXPECT_EQ(data::decode_image({reinterpret_cast<const uint8_t*>(png.data()), png.size()}, "").pixels, image.pixels);
}

}  // namespace
}  // namespace attend::explain
