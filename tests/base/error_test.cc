#include "attend/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace attend {
namespace {

/// Counts how often it is written.
struct Written {
  int* times;
};
std::ostream& operator<<(std::ostream& out, const Written& w) {
  ++*w.times;
  return out << "written";
}

TEST(Error, MessageIsThePartsOneAfterTheOther) {
  try {
    fail("matmul: expected ", 3, " columns, got ", 4.5);
    FAIL() << "fail returned";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "matmul: expected 3 columns, got 4.5");
  }
}

TEST(Error, IsAStandardRuntimeError) { EXPECT_THROW(fail("x"), std::runtime_error); }

TEST(Error, RequirePassesOrThrows) {
  EXPECT_NO_THROW(require(true, "never seen"));
  EXPECT_THROW(require(false, "seen"), Error);
}

TEST(Error, RequireWritesItsPartsOnlyWhenItFails) {
  int times = 0;
  require(true, Written{&times});
  EXPECT_EQ(times, 0);
  EXPECT_THROW(require(false, Written{&times}), Error);
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace attend
