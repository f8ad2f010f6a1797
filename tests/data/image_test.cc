#include "attend/data/image.h"

#include <gtest/gtest.h>

#include "attend/base/error.h"
#include "attend/data/batch.h"

namespace attend::data {
namespace {

TEST(Image, TensorHasOnePlanePerChannel) {
  Image image(2, 3, 3);
  image.at(1, 2, 0) = 255, image.at(0, 1, 2) = 51;
  const Tensor tensor = to_tensor(std::vector{image, Image(2, 3, 3)});
  ASSERT_EQ(tensor.shape(), Shape({2, 3, 2, 3}));
  for (int64_t i = 0; i < 36; ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(tensor.data()[i]), i == 5 ? 1.0F : i == 13 ? 0.2F : 0.0F) << i;
  }
}

TEST(Image, ComesBackFromATensor) {
  Image image(2, 2, 3);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(20 * i + 1);
  Tensor tensor = to_tensor(std::vector{Image(2, 2, 3), image});
  EXPECT_EQ(to_images(tensor).at(1).pixels, image.pixels);
  tensor.data()[0] = real(-0.5), tensor.data()[1] = real(1.5);
  EXPECT_EQ(to_images(tensor).at(0).at(0, 0, 0), 0);
  EXPECT_EQ(to_images(tensor).at(0).at(0, 1, 0), 255);
}

TEST(Image, TensorRefusesSizesThatDiffer) {
  EXPECT_THROW(to_tensor(std::vector{Image(2, 3, 1), Image(3, 2, 1)}), Error);
  EXPECT_THROW(to_tensor(std::vector<Image>{}), Error);
}

}  // namespace
}  // namespace attend::data
