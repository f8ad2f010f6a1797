#include "attend/kernels/isa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "attend/base/error.h"
#include "attend/base/real.h"
#include "attend/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/isa_test.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

int64_t TargetThatRuns() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {
namespace {

HWY_EXPORT(TargetThatRuns);

/// The name of the target that a kernel is dispatched to now.
std::string dispatched() {
  switch (HWY_DYNAMIC_DISPATCH(TargetThatRuns)()) {
    case HWY_SSE4: return "sse4";
    case HWY_AVX2: return "avx2";
    case HWY_AVX3: return "avx512";
    default: return "another";
  }
}

/// True if the library's own affine kernel rounded once (fused multiply-add: AVX2 and better), false if twice (SSE4).
/// (1+ε)² − (1+2ε) = ε², which a rounded product loses.
bool kernel_fuses() {
  const real e = std::ldexp(real{1}, sizeof(real) == 4 ? -12 : -27);
  const real x[1] = {1 + e};
  real y[1] = {};
  affine(x, 1 + e, -(1 + 2 * e), y, 1);
  EXPECT_TRUE(y[0] == 0 || y[0] == e * e) << y[0];
  return y[0] != 0;
}

std::string from_environment() {
  const char* name = std::getenv("ATTEND_ISA");
  return name ? name : "";
}

class Isa : public testing::Test {
 protected:
  ~Isa() override {
    if (from_environment().empty()) unsetenv("ONEDNN_MAX_CPU_ISA");
    cap_instruction_set(from_environment());
  }
};

TEST_F(Isa, EnvironmentCapsEveryKernel) {
  const std::string expected = from_environment().empty() ? instruction_sets().front() : from_environment();
  EXPECT_EQ(kernel_fuses(), expected != "sse4");
  EXPECT_EQ(dispatched(), expected);
  EXPECT_EQ(instruction_set(), expected);
}

TEST_F(Isa, EnvironmentIsPassedOnToOneDnn) {
  if (from_environment() == "sse4") {
    EXPECT_STREQ(std::getenv("ONEDNN_MAX_CPU_ISA"), "SSE41");
  }
  cap_instruction_set("sse4");
  EXPECT_STREQ(std::getenv("ONEDNN_MAX_CPU_ISA"), "SSE41");
}

TEST_F(Isa, TheBestIsFirstAndInUseWithoutACap) {
  cap_instruction_set("");
  EXPECT_EQ(instruction_set(), instruction_sets().front());
  EXPECT_EQ(instruction_sets().back(), "sse4");
}

TEST_F(Isa, ACapMovesEveryKernelAndIsLiftedAgain) {
  for (const std::string& name : instruction_sets()) {
    cap_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
    EXPECT_EQ(dispatched(), name);
    EXPECT_EQ(kernel_fuses(), name != "sse4");
  }
  cap_instruction_set("");
  EXPECT_EQ(dispatched(), instruction_sets().front());
}

TEST_F(Isa, ACapDoesNotShortenTheList) {
  const auto all = instruction_sets();
  cap_instruction_set("sse4");
  EXPECT_EQ(instruction_sets(), all);
}

TEST_F(Isa, AnUnknownNameIsRefusedAndChangesNothing) {
  cap_instruction_set("sse4");
  for (const char* name : {"mmx", "AVX2", "avx3"}) {
    try {
      cap_instruction_set(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("got '" + std::string(name) + "'"), std::string::npos) << message;
      EXPECT_NE(message.find("sse4"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(instruction_set(), "sse4");
}

TEST_F(Isa, TheProcessorHasAName) { EXPECT_NE(processor(), ""); }

}  // namespace
}  // namespace attend::kernels
#endif
