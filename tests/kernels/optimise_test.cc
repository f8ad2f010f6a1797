// Optimiser kernels on every instruction set against plain double loops: all sizes around a vector, misaligned starts,
// several chunks, and the same bits for one thread and two.
#include "attend/kernels/optimise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "attend/kernels/parallel.h"
#include "tests/kernels/numbers.h"
#include "tests/support/targets.h"

namespace attend::kernels {
namespace {

using test::on_every_instruction_set;

constexpr double kRounding = std::numeric_limits<real>::epsilon();

/// One parameter with gradient and history, each starting `offset` elements into its memory, followed by a guard.
struct Part {
  size_t size, offset;
  int64_t step;
  std::vector<real> value, gradient, first, second;

  Part(size_t size, size_t offset, int64_t step, Random& random) : size(size), offset(offset), step(step) {
    const auto fill = [&](std::vector<real>& memory, bool positive) {
      memory.assign(offset + size + 1, kGuard);
      for (size_t i = 0; i < size; ++i) {
        const real x = 4 * random.uniform() - 2;
        memory[offset + i] = positive ? x * x : x;
      }
    };
    fill(value, false), fill(gradient, false), fill(first, true), fill(second, true);
  }
  Update update() {
    return {.value = value.data() + offset,
            .gradient = gradient.data() + offset,
            .first = first.data() + offset,
            .second = second.data() + offset,
            .size = size,
            .step = step};
  }
};

/// Sizes around 4, 8 and 16 lanes at three offsets, and two parts that span several chunks, all in one list.
std::vector<Part> some_parts() {
  Random random(7);
  std::vector<Part> parts;
  for (const size_t size : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000}) {
    for (const size_t offset : {0, 1, 3}) parts.emplace_back(size, offset, 1 + static_cast<int64_t>(size), random);
  }
  parts.emplace_back(200003, 0, 5, random);
  parts.emplace_back(100003, 1, 2, random);
  return parts;
}

std::vector<Update> updates_of(std::vector<Part>& parts) {
  std::vector<Update> updates;
  for (Part& part : parts) updates.push_back(part.update());
  return updates;
}

struct Numbers {
  double p, g, first, second, t;
};

/// Runs `kernel` on every instruction set and compares with `rule`, which makes one step of one number in double precision.
/// All numbers are of the order of one, and so is what may be lost where they cancel.
void check_rule(const std::function<void(std::span<const Update>)>& kernel, const std::function<void(Numbers&)>& rule) {
  on_every_instruction_set([&] {
    const std::vector<Part> before = some_parts();
    std::vector<Part> after = before;
    kernel(updates_of(after));
    for (size_t k = 0; k < before.size(); ++k) {
      SCOPED_TRACE("size " + std::to_string(before[k].size) + ", offset " + std::to_string(before[k].offset));
      for (size_t i = before[k].offset; i < before[k].offset + before[k].size; ++i) {
        Numbers n{before[k].value[i], before[k].gradient[i], before[k].first[i], before[k].second[i],
                  static_cast<double>(before[k].step)};
        rule(n);
        ASSERT_NEAR(after[k].first[i], n.first, 4 * kRounding * (1 + std::abs(n.first))) << "element " << i;
        ASSERT_NEAR(after[k].second[i], n.second, 4 * kRounding * (1 + std::abs(n.second))) << "element " << i;
        const double change = std::abs(n.p - before[k].value[i]);
        ASSERT_NEAR(after[k].value[i], n.p, 8 * kRounding * (1 + std::abs(n.p) + change)) << "element " << i;
      }
      ASSERT_EQ(after[k].gradient, before[k].gradient);
      for (const auto* memory : {&after[k].value, &after[k].first, &after[k].second}) {
        ASSERT_EQ(memory->back(), kGuard);
        for (size_t i = 0; i < before[k].offset; ++i) ASSERT_EQ((*memory)[i], kGuard);
      }
    }
  });
}

TEST(Optimise, SgdWithoutMomentumTouchesNoHistory) {
  const SgdRule rule{.rate = 0.1, .decay = 0.02, .scale = 0.5};
  check_rule([&](auto updates) { sgd(updates, rule); }, [](Numbers& n) { n.p -= 0.1 * (0.5 * n.g + 0.02 * n.p); });
}

TEST(Optimise, SgdWithMomentum) {
  for (const bool nesterov : {false, true}) {
    const SgdRule rule{.rate = 0.1, .momentum = 0.9, .decay = 0.02, .nesterov = nesterov, .scale = 0.5};
    check_rule([&](auto updates) { sgd(updates, rule); },
               [&](Numbers& n) {
                 const double g = 0.5 * n.g + 0.02 * n.p;
                 n.first = 0.9 * n.first + g;
                 n.p -= 0.1 * (nesterov ? g + 0.9 * n.first : n.first);
               });
  }
}

TEST(Optimise, Adam) {
  for (const bool decoupled : {false, true}) {
    const AdamRule rule{
        .rate = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .decay = 0.02, .decoupled = decoupled, .scale = 0.5};
    check_rule([&](auto updates) { adam(updates, rule); },
               [&](Numbers& n) {
                 const double g = 0.5 * n.g + (decoupled ? 0 : 0.02 * n.p);
                 n.first = 0.8 * n.first + 0.2 * g;
                 n.second = 0.95 * n.second + 0.05 * g * g;
                 const double m = n.first / (1 - std::pow(0.8, n.t)), v = n.second / (1 - std::pow(0.95, n.t));
                 n.p = (decoupled ? 1 - 0.1 * 0.02 : 1) * n.p - 0.1 * m / (std::sqrt(v) + 1e-3);
               });
  }
}

TEST(Optimise, Adadelta) {
  const AdadeltaRule rule{.rate = 0.7, .rho = 0.8, .epsilon = 1e-3, .decay = 0.02, .scale = 0.5};
  check_rule([&](auto updates) { adadelta(updates, rule); },
             [](Numbers& n) {
               const double g = 0.5 * n.g + 0.02 * n.p;
               n.first = 0.8 * n.first + 0.2 * g * g;
               const double change = std::sqrt(n.second + 1e-3) / std::sqrt(n.first + 1e-3) * g;
               n.second = 0.8 * n.second + 0.2 * change * change;
               n.p -= 0.7 * change;
             });
}

TEST(Optimise, NothingToDoIsFine) {
  on_every_instruction_set([] {
    sgd({}, {});
    adam({}, {});
    adadelta({}, {});
    scale({}, 2);
    EXPECT_EQ(sum_of_squares({}), 0);
  });
}

TEST(Optimise, ScaleMultipliesExactly) {
  on_every_instruction_set([] {
    const std::vector<Part> before = some_parts();
    std::vector<Part> after = before;
    std::vector<std::span<real>> parts;
    for (Part& part : after) parts.emplace_back(part.value.data() + part.offset, part.size);
    scale(parts, real(0.3));
    for (size_t k = 0; k < before.size(); ++k) {
      std::vector<real> expected = before[k].value;
      for (size_t i = 0; i < before[k].size; ++i) expected[before[k].offset + i] *= real(0.3);
      ASSERT_EQ(after[k].value, expected);
    }
  });
}

std::vector<std::span<const real>> gradients_of(const std::vector<Part>& parts) {
  std::vector<std::span<const real>> gradients;
  for (const Part& part : parts) gradients.emplace_back(part.gradient.data() + part.offset, part.size);
  return gradients;
}

TEST(Optimise, SumOfSquaresOnEveryInstructionSet) {
  const std::vector<Part> parts = some_parts();
  const auto gradients = gradients_of(parts);
  long double expected = 0;
  for (const auto& part : gradients) {
    for (const real x : part) expected += static_cast<long double>(x) * x;
  }
  std::vector<double> sums;
  on_every_instruction_set([&] {
    sums.push_back(sum_of_squares(gradients));
    EXPECT_NEAR(sums.back(), static_cast<double>(expected), 1e-12 * static_cast<double>(expected));
  });
  if (sizeof(real) == sizeof(float)) {
    for (const double sum : sums) EXPECT_EQ(sum, sums.front());
  }
}

TEST(Optimise, SumOfSquaresHasRoomAndPassesOnWhatIsNotFinite) {
  const real large = std::numeric_limits<float>::max(), inf = std::numeric_limits<real>::infinity();
  on_every_instruction_set([&] {
    for (const size_t at : {0, 17, 20}) {  // in a whole vector and in the rest
      std::vector<real> x(21, 0);
      const std::vector<std::span<const real>> parts{x};
      x[at] = large;
      EXPECT_DOUBLE_EQ(sum_of_squares(parts), static_cast<double>(large) * static_cast<double>(large));
      x[at] = -inf;
      EXPECT_EQ(sum_of_squares(parts), inf);
      x[at] = std::numeric_limits<real>::quiet_NaN();
      EXPECT_TRUE(std::isnan(sum_of_squares(parts)));
    }
  });
}

TEST(Optimise, OneThreadAndTwoGiveTheSameBits) {
  const int threads_before = threads();
  on_every_instruction_set([&] {
    const std::function<void(std::span<const Update>)> kernels[] = {
        [](auto updates) { sgd(updates, {.rate = 0.1, .momentum = 0.9, .decay = 0.02}); },
        [](auto updates) { adam(updates, {.rate = 0.1, .decay = 0.02}); },
        [](auto updates) { adadelta(updates, {.decay = 0.02}); },
    };
    for (const auto& kernel : kernels) {
      std::vector<Part> one = some_parts(), two = one;
      set_threads(1);
      kernel(updates_of(one));
      const double sum_of_one = sum_of_squares(gradients_of(one));
      set_threads(2);
      kernel(updates_of(two));
      EXPECT_EQ(sum_of_squares(gradients_of(two)), sum_of_one);
      for (size_t k = 0; k < one.size(); ++k) {
        ASSERT_EQ(one[k].value, two[k].value);
        ASSERT_EQ(one[k].first, two[k].first);
        ASSERT_EQ(one[k].second, two[k].second);
      }
    }
  });
  set_threads(threads_before);
}

TEST(Optimise, WhereAParameterLiesInTheListDoesNotMatter) {
  Random random(3);
  Part alone(1000, 0, 4, random), other(70000, 0, 1, random);
  Part last = alone;
  const AdamRule rule{.rate = 0.1};
  adam(std::vector{alone.update()}, rule);
  adam(std::vector{other.update(), last.update()}, rule);
  EXPECT_EQ(alone.value, last.value);
}

}  // namespace
}  // namespace attend::kernels
