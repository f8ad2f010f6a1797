// A program that runs a kernel and uses nothing from kernels/isa.h. ATTEND_ISA=sse4 must reach it all the same: it
// succeeds if the kernel rounded twice, as SSE4 does for want of a fused multiply-add (see isa_test.cc).
#include <cmath>
#include <cstdio>

#include "attend/kernels/elementwise.h"

int main() {
  const attend::real e = std::ldexp(attend::real{1}, sizeof(attend::real) == 4 ? -12 : -27);
  const attend::real x[1] = {1 + e};
  attend::real y[1] = {};
  attend::kernels::affine(x, 1 + e, -(1 + 2 * e), y, 1);
  std::puts(y[0] == 0 ? "rounded twice" : "fused");
  return y[0] == 0 ? 0 : 1;
}
