// The divergence of rows of logits on every instruction set, against plain double loops.
#include "attend/kernels/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/kernels/rows.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

struct Apart {
  std::vector<double> p, q;
  double there = 0, back = 0;
};

Apart apart_of(const real* a, const real* b, size_t n) {
  Apart x;
  double as = 0, bs = 0;
  for (size_t i = 0; i < n; ++i) as += std::exp(double{a[i]}), bs += std::exp(double{b[i]});
  for (size_t i = 0; i < n; ++i) x.p.push_back(std::exp(double{a[i]}) / as), x.q.push_back(std::exp(double{b[i]}) / bs);
  for (size_t i = 0; i < n; ++i) {
    x.there += x.p[i] * std::log(x.p[i] / x.q[i]);
    x.back += x.q[i] * std::log(x.q[i] / x.p[i]);
  }
  return x;
}

TEST(Divergence, OfRowsAndItsGradient) {
  test::on_every_instruction_set([] {
    for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 1000}) {
      const size_t rows = 3;
      const std::vector<real> a = normal_numbers(rows * n, n), b = normal_numbers(rows * n, n + 1);
      const std::vector<int32_t> targets{0, -1, static_cast<int32_t>(n - 1)};
      std::vector<real> loss(rows), as(rows), bs(rows), there(rows), back(rows);
      cross_entropy({a.data(), targets.data(), rows, n, 0, -1}, loss.data(), as.data());
      cross_entropy({b.data(), targets.data(), rows, n, 0, -1}, loss.data(), bs.data());
      const Divergence problem{a.data(), b.data(), as.data(), bs.data(), targets.data(), rows, n, -1};
      divergence(problem, there.data(), back.data());
      std::vector<real> da(rows * n + 1, kGuard), db = da;  // what is there already is added to
      for (size_t i = 0; i < rows * n; ++i) da[i] = 1, db[i] = 2;
      divergence_backward(problem, there.data(), back.data(), real(0.5), da.data(), db.data());
      for (size_t r = 0; r < rows; ++r) {
        const Apart x = apart_of(a.data() + r * n, b.data() + r * n, n);
        const bool counts = targets[r] != -1;
        ASSERT_NEAR(there[r], counts ? x.there : 0, 1e-5 * (1 + x.there)) << n;
        ASSERT_NEAR(back[r], counts ? x.back : 0, 1e-5 * (1 + x.back)) << n;
        for (size_t i = 0; i < n; ++i) {
          const double p = x.p[i], q = x.q[i], d = std::log(p / q);
          ASSERT_NEAR(da[r * n + i], 1 + (counts ? 0.5 * (p * (d - x.there) + p - q) : 0), 2e-6) << n;
          ASSERT_NEAR(db[r * n + i], 2 + (counts ? 0.5 * (q * (-d - x.back) + q - p) : 0), 2e-6) << n;
        }
      }
      ASSERT_EQ(da.back(), kGuard);
      ASSERT_EQ(db.back(), kGuard);
    }
  });
}

}  // namespace
}  // namespace attend::kernels
