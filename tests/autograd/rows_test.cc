// Ops along rows where rows have no element: attention over no keys.
#include <gtest/gtest.h>

#include "attend/autograd/ops.h"

namespace attend {
namespace {

TEST(EmptyRows, AreLeftEmptyByEveryAlignWithAndWithoutMask) {
  const Var x = Tensor::zeros({2, 3, 0});
  for (const Tensor& mask : {Tensor(), Tensor::zeros({2, 1, 0}), Tensor::zeros({2, 3, 0})}) {
    EXPECT_EQ(softmax(x, mask).shape(), x.shape());
    EXPECT_EQ(log_softmax(x, mask).shape(), x.shape());
    EXPECT_EQ(sparsemax(x, mask).shape(), x.shape());
  }
}

}  // namespace
}  // namespace attend
