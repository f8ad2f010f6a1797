// How tensors are written.
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "attend/tensor/tensor.h"

namespace attend {
namespace {

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

Tensor counting(const Shape& shape) {
  Tensor t(shape);
  for (size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<real>(i);
  return t;
}

TEST(TensorPrint, ShapeAndValuesInAlignedColumns) {
  EXPECT_EQ(printed(Tensor()), "undefined tensor");
  EXPECT_EQ(printed(Tensor::scalar(2.5)), "[] 2.5");
  EXPECT_EQ(printed(Tensor::of({3}, {1, -0.25, 100})), "[3] [    1, -0.25,   100]");
  EXPECT_EQ(printed(Tensor::of({2, 3}, {1, 2, 3, 4, 5, 60})), "[2, 3]\n[[ 1,  2,  3],\n [ 4,  5, 60]]");
  EXPECT_EQ(printed(Tensor::of({2, 1, 2}, {1, 2, 3, 4})), "[2, 1, 2]\n[[[1, 2]],\n [[3, 4]]]");
  EXPECT_EQ(printed(Tensor({0})), "[0] []");
  EXPECT_EQ(printed(Tensor({2, 0})), "[2, 0]\n[[],\n []]");
  const real infinity = std::numeric_limits<real>::infinity();
  EXPECT_EQ(printed(Tensor::of({3}, {infinity, -infinity, 1e-7})), "[3] [  inf,  -inf, 1e-07]");
}

TEST(TensorPrint, OfManyValuesOnlyTheEndsOfEachAxis) {
  EXPECT_EQ(printed(counting({100})).find("…"), std::string::npos);
  EXPECT_EQ(printed(counting({101})), "[101] [  0,   1,   2, …,  98,  99, 100]");
  EXPECT_EQ(printed(counting({2000})), "[2000] [   0,    1,    2, …, 1997, 1998, 1999]");
  const std::string square = printed(counting({100, 100}));
  EXPECT_TRUE(square.starts_with("[100, 100]\n[[   0,    1,    2, …,   97,   98,   99],\n")) << square;
  EXPECT_NE(square.find("],\n …,\n [9700, 9701, 9702, …, "), std::string::npos) << square;
  EXPECT_LT(printed(counting({50, 50, 50})).size(), 3000u);
  EXPECT_LT(printed(counting({9, 9, 9, 9, 9, 9})).size(), 3000u);
  EXPECT_LT(printed(counting({1000, 2})).size(), 200u) << "an axis that is short stays whole";
  EXPECT_LT(printed(counting({0, 1000000})).size(), 30u);
}

TEST(TensorPrint, TheStreamStaysAsItWas) {
  std::ostringstream out;
  out.precision(3);
  out << Tensor::scalar(1) << ' ' << 3.14159;
  EXPECT_EQ(out.str(), "[] 1 3.14");
}

}  // namespace
}  // namespace attend
