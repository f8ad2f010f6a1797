// The location-aware score on every instruction set, against plain loops in double precision.
#include "attend/kernels/location.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

struct LocationSizes {
  size_t batch, keys, hidden, filters, reach;
};

TEST(Location, EnergiesAndGradientsAreThoseOfLoops) {
  const LocationSizes sizes[] = {
      {1, 1, 1, 1, 0}, {2, 3, 7, 2, 4}, {1, 4, 16, 1, 1}, {3, 9, 17, 10, 2}, {2, 37, 33, 3, 16}};
  for (const LocationSizes& n : sizes) {
    const size_t B = n.batch, Tk = n.keys, H = n.hidden, C = n.filters, taps = 2 * n.reach + 1;
    const std::vector<real> q = normal_numbers(B * H, 1), k = normal_numbers(B * Tk * H, 2), v = normal_numbers(H, 3),
                            a = normal_numbers(B * Tk, 4), f = normal_numbers(C * taps, 5),
                            z = normal_numbers(C * H, 6), de = normal_numbers(B * Tk, 7);
    std::vector<double> e(B * Tk), dq(B * H), dk(B * Tk * H), dv(H), da(B * Tk), df(C * taps), dz(C * H);
    for (size_t b = 0; b < B; ++b) {
      for (size_t j = 0; j < Tk; ++j) {
        const auto each_tap = [&](auto call) {  // (d, place)
          for (size_t d = 0; d < taps; ++d) {
            if (j + d >= n.reach && j + d - n.reach < Tk) call(d, b * Tk + j + d - n.reach);
          }
        };
        std::vector<double> seen(C), dseen(C);
        for (size_t c = 0; c < C; ++c) {
          each_tap([&](size_t d, size_t at) { seen[c] += double{f[c * taps + d]} * double{a[at]}; });
        }
        for (size_t h = 0; h < H; ++h) {
          double x = double{q[b * H + h]} + double{k[(b * Tk + j) * H + h]};
          for (size_t c = 0; c < C; ++c) x += double{z[c * H + h]} * seen[c];
          const double t = std::tanh(x), slope = double{de[b * Tk + j]} * double{v[h]} * (1 - t * t);
          e[b * Tk + j] += double{v[h]} * t;
          dv[h] += double{de[b * Tk + j]} * t;
          dq[b * H + h] += slope;
          dk[(b * Tk + j) * H + h] += slope;
          for (size_t c = 0; c < C; ++c) dz[c * H + h] += slope * seen[c], dseen[c] += slope * double{z[c * H + h]};
        }
        for (size_t c = 0; c < C; ++c) {
          each_tap([&](size_t d, size_t at) {
            df[c * taps + d] += dseen[c] * double{a[at]};
            da[at] += dseen[c] * double{f[c * taps + d]};
          });
        }
      }
    }
    test::on_every_instruction_set([&] {
      const LocationProblem p{B, Tk, H, C, n.reach, q.data(), k.data(), v.data(), a.data(), f.data(), z.data()};
      const auto expect = [&](const char* what, const std::vector<real>& got, const std::vector<double>& wanted,
                              real before) {
        for (size_t i = 0; i < wanted.size(); ++i) {
          const double tolerance = sizeof(real) == 8 ? 1e-9 : 1e-4;
          ASSERT_NEAR(double{got[i]}, double{before} + wanted[i], tolerance * (1 + std::abs(wanted[i])))
              << what << " " << i;
        }
        ASSERT_EQ(got.back(), kGuard) << what;
      };
      // Those that are added to begin at 1, those that are overwritten at a number that would show.
      const auto fresh = [](size_t count, real value) {
        std::vector<real> x(count + 1, value);
        x.back() = kGuard;
        return x;
      };
      std::vector<real> energies = fresh(B * Tk, 9), gq = fresh(B * H, 9), gk = fresh(B * Tk * H, 1), gv = fresh(H, 1),
                        ga = fresh(B * Tk, 9), gf = fresh(C * taps, 1), gz = fresh(C * H, 1);
      location_forward(p, energies.data());
      expect("energy", energies, e, 0);
      location_backward(p, de.data(), {gq.data(), gk.data(), gv.data(), ga.data(), gf.data(), gz.data()});
      expect("dq", gq, dq, 0);
      expect("dk", gk, dk, 1);
      expect("dv", gv, dv, 1);
      expect("dprevious", ga, da, 0);
      expect("df", gf, df, 1);
      expect("dz", gz, dz, 1);
    });
  }
}

}  // namespace
}  // namespace attend::kernels
