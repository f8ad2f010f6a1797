#include "attend/data/resize.h"

#include <gtest/gtest.h>

#include <vector>

#include "attend/base/error.h"

namespace attend::data {
namespace {

using Bytes = std::vector<uint8_t>;

Image grey(int64_t height, int64_t width, Bytes pixels) {
  Image image(height, width, 1);
  image.pixels = std::move(pixels);
  return image;
}

TEST(Resize, TakesTheMeanWhereItShrinks) {
  const Image image = grey(2, 4, {0, 10, 20, 30, 40, 50, 60, 70});
  EXPECT_EQ(resized(image, 1, 2).pixels, (Bytes{25, 45}));
  EXPECT_EQ(resized(image, 1, 1).pixels, (Bytes{35}));
  // Three of two: each covers a pixel and a half.
  EXPECT_EQ(resized(grey(1, 3, {0, 90, 240}), 1, 2).pixels, (Bytes{30, 190}));
}

TEST(Resize, IsLinearWhereItGrows) {
  EXPECT_EQ(resized(grey(1, 2, {0, 100}), 1, 4).pixels, (Bytes{0, 25, 75, 100}));
  EXPECT_EQ(resized(grey(2, 1, {0, 100}), 4, 1).pixels, (Bytes{0, 25, 75, 100}));
  EXPECT_EQ(resized(grey(1, 1, {7}), 3, 2).pixels, Bytes(6, 7));
}

TEST(Resize, KeepsWhatIsOneColourWhateverTheSizes) {
  for (const int64_t from : {1, 2, 3, 7, 31, 100}) {
    const Image image = grey(from, from, Bytes(static_cast<size_t>(from * from), 201));
    for (const int64_t to : {1, 2, 5, 30, 33, 101}) {
      EXPECT_EQ(resized(image, to, to + 1).pixels, Bytes(static_cast<size_t>(to * (to + 1)), 201)) << from << " " << to;
    }
  }
}

TEST(Resize, KeepsChannelsApart) {
  Image image(1, 2, 3);
  image.pixels = {0, 100, 200, 10, 120, 250};
  EXPECT_EQ(resized(image, 1, 1).pixels, (Bytes{5, 110, 225}));
}

TEST(Resize, CropsInTheMiddle) {
  const Image image = grey(3, 5, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
  EXPECT_EQ(cropped(image, 1, 3, 2, 2).pixels, (Bytes{13, 14, 23, 24}));
  EXPECT_EQ(centre_cropped(image, 7, 7).pixels, (Bytes{1, 2, 3, 11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(centre_cropped(image, 10, 50).pixels, (Bytes{10, 11, 12, 13, 14}));
  EXPECT_EQ(centre_cropped(image, 3, 5).pixels, image.pixels);
  EXPECT_EQ(centre_cropped(image, 1, 1000).height, 1);
  EXPECT_THROW(cropped(image, 2, 0, 2, 2), Error);
  EXPECT_THROW(cropped(image, -1, 0, 2, 2), Error);
}

TEST(Resize, TurnsColourIntoGreyAndBack) {
  Image image(1, 2, 3);
  image.pixels = {255, 0, 0, 10, 20, 30};
  EXPECT_EQ(with_channels(image, 1).pixels, (Bytes{76, 18}));
  EXPECT_EQ(with_channels(grey(1, 2, {5, 6}), 3).pixels, (Bytes{5, 5, 5, 6, 6, 6}));
  EXPECT_THROW(with_channels(image, 4), Error);
}

TEST(Resize, FitsAnyImage) {
  const Image fit = fitted(grey(2, 6, {9, 1, 3, 5, 7, 9, 9, 1, 3, 5, 7, 9}), 1, 1, 3);
  EXPECT_EQ(fit.pixels, (Bytes{4, 4, 4}));
  EXPECT_EQ(fitted(Image(1, 1, 1), 28, 30, 1).pixels.size(), 840u);
  EXPECT_THROW(fitted(Image(0, 3, 1), 2, 2, 1), Error);
  EXPECT_THROW(fitted(Image(3, 3, 1), 0, 2, 1), Error);
}

}  // namespace
}  // namespace attend::data
