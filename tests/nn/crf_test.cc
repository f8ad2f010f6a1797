// Conditional random fields against all of their labellings: the best one, each label given those before it, and scores so
// far apart that products of exponentials have nothing left.
#include "attend/nn/crf.h"

#include <gtest/gtest.h>

#include <limits>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/kernels/crf.h"
#include "tests/support/fields.h"
#include "tests/support/message.h"
#include "tests/support/targets.h"

namespace attend::nn {
namespace {

using test::Array, test::FieldScores, test::on_every_instruction_set, test::random_array, test::to_array,
    test::to_tensor;

constexpr double kTolerance = sizeof(real) == 8 ? 1e-10 : 1e-4;

/// A field with random scores, times `scale`.
struct Drawn {
  Drawn(int64_t labels, double scale, uint64_t seed) : crf(labels) {
    Random random(seed);
    for (NamedParam& p : parameters(crf)) {
      for (real& x : p.var.value().values()) x = static_cast<real>(scale * random.normal());
    }
  }
  FieldScores scores(const Array& emissions, int64_t b) {
    const auto all = parameters(crf);
    return {test::sequence_of(emissions, b), to_array(all[0].var.value()), to_array(all[1].var.value()),
            to_array(all[2].var.value())};
  }
  Crf crf;
};

TEST(Crf, TheBestLabellingIsTheBestOfAll) {
  on_every_instruction_set([] {
    for (const auto& [L, T] : {std::pair{1, 3}, {2, 5}, {4, 4}, {9, 3}, {17, 2}}) {
      Random random(static_cast<uint64_t>(L));
      Drawn field(L, 1, static_cast<uint64_t>(T));
      const Array emissions = random_array({3, T, L}, random);
      const std::vector<int32_t> lengths{T, 1, T - 1};
      const auto best = field.crf.best(to_tensor(emissions), lengths);
      for (int64_t b = 0; b < 3; ++b) {
        const FieldScores scores = field.scores(emissions, b);
        std::vector<int32_t> expected;
        double top = -1e300;
        scores.for_each(lengths[static_cast<size_t>(b)], [&](const auto& labels, double s) {
          if (s > top) top = s, expected = labels;
        });
        EXPECT_EQ(best[static_cast<size_t>(b)], expected) << L << " labels, sequence " << b;
      }
    }
  });
}

TEST(Crf, TheScoreOfTheBestIsItsOwn) {
  Random random(4);
  const Array e = random_array({1, 4, 5}, random);
  Drawn field(5, 1, 6);
  const auto all = parameters(field.crf);
  const kernels::CrfTable table(5, all[0].var.value().data(), all[1].var.value().data(), all[2].var.value().data());
  std::vector<int32_t> labels(4);
  const double score = kernels::crf_best(table, e.v.data(), 4, labels.data());
  EXPECT_NEAR(score, field.scores(e, 0).score(labels), 1e-9);
}

TEST(Crf, EachLabelGivenThoseBeforeItMakesTheWhole) {
  Random random(1);
  const int64_t L = 4, T = 4;
  Drawn field(L, 1, 2);
  const Array emissions = random_array({2, T, L}, random);
  const std::vector<int32_t> lengths{4, 3}, labels{2, 0, 3, 3};
  const Tensor outlook = field.crf.outlook(to_tensor(emissions), lengths);
  for (int64_t b = 0; b < 2; ++b) {
    const FieldScores scores = field.scores(emissions, b);
    const size_t length = static_cast<size_t>(lengths[static_cast<size_t>(b)]);
    for (size_t t = 0; t < length; ++t) {
      std::vector<double> logits;
      double sum = 0;
      const real* onward = field.crf.onward(t == 0 ? -1 : labels[t - 1]);
      for (int64_t j = 0; j < L; ++j) {
        logits.push_back(double{onward[j]} + double{outlook.data()[(b * T + static_cast<int64_t>(t)) * L + j]});
        sum += std::exp(logits.back());
      }
      std::vector<int32_t> before(length, -1), with(length, -1);
      for (size_t i = 0; i < t; ++i) before[i] = with[i] = labels[i];
      with[t] = labels[t];
      EXPECT_NEAR(logits[static_cast<size_t>(labels[t])] - std::log(sum), scores.log_sum(with) - scores.log_sum(before),
                  kTolerance);
    }
  }
}

TEST(Crf, BeginsAsASoftmaxOfEachPlace) {
  Random random(3);
  Crf crf(5);
  const Tensor emissions = to_tensor(random_array({2, 3, 5}, random));
  const Ids tags({2, 3}, {4, 0, 1, 2, 2, 3});
  const Tensor loss = crf.loss(emissions, tags, {3, 3}).value();
  EXPECT_NEAR((loss.data()[0] + loss.data()[1]) / 6, cross_entropy(emissions, tags).item(), 1e-6);
}

// A label that may hardly follow, and emissions that insist on it: the exponentials underflow, the logarithms do not.
TEST(Crf, ScoresThatAreFarApartLoseNothing) {
  on_every_instruction_set([] {
    for (const double far : {800.0, 1e4}) {
      SCOPED_TRACE(far);
      const int64_t L = 3, T = 4;
      Random random(9);
      Array a = random_array({L, L}, random), e = random_array({1, T, L}, random);
      const Array start = random_array({L}, random), end = random_array({L}, random);
      a(0, 1) = -far, a(2, 1) = -2 * far;  // only from 1 …
      e(0, 0, 1) = -far, e(0, 1, 1) = 3 * far;  // … which can hardly be first, and must be second
      const FieldScores scores{test::sequence_of(e, 0), a, start, end};
      const Ids tags({1, T}, {0, 1, 1, 2});
      Var emissions = Var::leaf(to_tensor(e));
      CrfWeights w{Var::leaf(to_tensor(a)), Var::leaf(to_tensor(start)), Var::leaf(to_tensor(end))};
      Tape tape;
      const Var loss = crf_loss(emissions, w, tags, {4});
      const double expected = -scores.log_probability(tags.values);
      EXPECT_NEAR(loss.value().data()[0], expected, 1e-5 * (1 + std::abs(expected)));
      tape.backward(sum(loss));
      // Gradients are differences of counts: of all labellings by their probability, and of the tags.
      Array counts({L, L});
      scores.for_each(T, [&](const auto& labels, double) {
        const double p = std::exp(scores.log_probability(labels));
        for (size_t t = 1; t < labels.size(); ++t) counts(labels[t - 1], labels[t]) += p;
      });
      for (size_t t = 1; t < 4; ++t) counts(tags.values[t - 1], tags.values[t]) -= 1;
      for (size_t i = 0; i < counts.size(); ++i) {
        EXPECT_NEAR(w.transitions.gradient().data()[i], counts.v[i], 1e-5) << i;
      }
    }
  });
}

TEST(Crf, RefusesWhatDoesNotFit) {
  const Crf crf(3);
  const auto says = [](auto&& call, const char* part) {
    EXPECT_NE(test::message_of(call).find(part), std::string::npos) << test::message_of(call);
  };
  says([] { Crf none(0); }, "at least one label, got 0");
  says([&] { (void)crf.best(Tensor::zeros({1, 2, 4}), {2}); }, "expected emissions [1,T,3], got [1, 2, 4]");
  says([&] { (void)crf.outlook(Tensor::zeros({1, 2, 3}), {3}); }, "lengths in [0, 2], got 3");
  says([&] { (void)crf.onward(3); }, "a label below 3, or -1");
}

}  // namespace
}  // namespace attend::nn
