// Spectra and bands on every instruction set against plain double loops.
#include "attend/kernels/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

using test::on_every_instruction_set;

std::vector<float> drawn_signals(size_t points) {
  Random random(1, points);
  std::vector<float> signals(points * kSpectrumLanes);
  for (float& x : signals) x = static_cast<float>(random.normal());
  return signals;
}

/// |Σᵢ x[i]·e^(−2πjik/n)|² of signal `lane`.
double power_of(const std::vector<float>& signals, size_t lane, size_t k) {
  const size_t points = signals.size() / kSpectrumLanes;
  std::complex<double> sum = 0;
  for (size_t i = 0; i < points; ++i) {
    const double turn = -2 * std::numbers::pi * static_cast<double>(i * k % points) / static_cast<double>(points);
    sum += static_cast<double>(signals[i * kSpectrumLanes + lane]) * std::polar(1.0, turn);
  }
  return std::norm(sum);
}

TEST(Spectrum, IsThatOfThePlainSum) {
  for (const size_t points : {8, 16, 32, 64, 128, 512, 1024}) {
    const SpectrumPlan plan(points);
    const std::vector<float> signals = drawn_signals(points);
    const size_t bins = points / 2 + 1;
    on_every_instruction_set([&] {
      for (const size_t shift : {0, 1, 3}) {  // misaligned starts
        std::vector<float> given(shift), room(2 * signals.size() + shift), power(bins * kSpectrumLanes + shift, -1);
        given.insert(given.end(), signals.begin(), signals.end());
        power_spectra(plan, given.data() + shift, room.data() + shift, power.data() + shift);
        for (size_t k = 0; k < bins; k += bins / 8 + 1) {
          for (size_t lane = 0; lane < kSpectrumLanes; ++lane) {
            const double wanted = power_of(signals, lane, k), got = power[k * kSpectrumLanes + lane + shift];
            ASSERT_NEAR(got, wanted, 1e-6 * static_cast<double>(points) * 4)
                << points << ", bin " << k << ", signal " << lane;
          }
        }
      }
    });
  }
}

TEST(Spectrum, OfASignalDependsNeitherOnItsPlaceNorOnTheOthers) {
  const size_t points = 128, bins = 65;
  const SpectrumPlan plan(points);
  const std::vector<float> signals = drawn_signals(points);
  const auto power = [&](const std::vector<float>& given) {
    std::vector<float> room(2 * given.size()), out(bins * kSpectrumLanes);
    power_spectra(plan, given.data(), room.data(), out.data());
    return out;
  };
  on_every_instruction_set([&] {
    const std::vector<float> together = power(signals);
    for (size_t lane = 0; lane < kSpectrumLanes; ++lane) {
      for (const size_t place : {size_t{0}, size_t{5}, kSpectrumLanes - 1}) {
        std::vector<float> alone(signals.size());
        for (size_t i = 0; i < points; ++i) alone[i * kSpectrumLanes + place] = signals[i * kSpectrumLanes + lane];
        const std::vector<float> out = power(alone);
        for (size_t k = 0; k < bins; ++k) {
          ASSERT_EQ(out[k * kSpectrumLanes + place], together[k * kSpectrumLanes + lane]) << lane << " at " << place;
        }
      }
    }
  });
}

TEST(Spectrum, IsPossibleForPowersOfTwo) {
  for (const size_t points : {8, 512, 65536}) EXPECT_TRUE(SpectrumPlan::possible(points)) << points;
  for (const size_t points : {0, 1, 2, 4, 12, 400, 513}) EXPECT_FALSE(SpectrumPlan::possible(points)) << points;
}

TEST(Spectrum, BandsAreLogarithmsOfWeightedSums) {
  const std::vector<Band> bands = {{0, 3, 0}, {2, 0, 3}, {4, 1, 3}, {1, 7, 4}};
  const std::vector<float> weights = {0.5F, 1, 0.25F, 2, 1, 2, 3, 4, 3, 2, 1};
  Random random(2);
  std::vector<float> power(9 * kSpectrumLanes);
  for (float& p : power) p = 10 * random.uniform();
  power[0] = 0;
  on_every_instruction_set([&] {
    std::vector<float> logs(bands.size() * kSpectrumLanes);
    log_bands(bands, weights, power.data(), 1e-6F, logs.data());
    for (size_t b = 0; b < bands.size(); ++b) {
      for (size_t lane = 0; lane < kSpectrumLanes; ++lane) {
        double sum = 1e-6;
        for (size_t k = 0; k < bands[b].count; ++k) {
          sum += static_cast<double>(weights[bands[b].first + k]) * power[(bands[b].begin + k) * kSpectrumLanes + lane];
        }
        ASSERT_NEAR(logs[b * kSpectrumLanes + lane], std::log(sum), 2e-6) << "band " << b << ", signal " << lane;
      }
    }
  });
}

}  // namespace
}  // namespace attend::kernels
