#include "attend/base/log_add.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

TEST(LogAdd, IsTheLogarithmOfTheSum) {
  EXPECT_NEAR(log_add(std::log(0.25), std::log(0.5)), std::log(0.75), 1e-15);
  EXPECT_NEAR(log_add(std::log(0.5), std::log(0.25)), std::log(0.75), 1e-15);
  EXPECT_NEAR(log_add(-2000, -2000), -2000 + std::log(2.0), 1e-12);
  EXPECT_EQ(log_add(0, -2000), 0);
}

TEST(LogAdd, ZeroAddsNothing) {
  EXPECT_EQ(log_add(kLogZero, -3), -3);
  EXPECT_EQ(log_add(-3, kLogZero), -3);
  EXPECT_EQ(log_add(kLogZero, kLogZero), kLogZero);
}

}  // namespace
}  // namespace attend
