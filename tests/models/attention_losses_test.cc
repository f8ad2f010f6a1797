// Penalties on attention weigh against the likelihood as in the papers, whatever the lengths in a batch.
#include "attend/models/attention_losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/models/zoo.h"
#include "tests/models/small.h"

namespace attend::models {
namespace {

/// Three answers of 4, 1 and 0 words to sources of 3, 5 and 2 places: T = 5 steps (the end counts) and S = 5 places.
struct KnownWeights {
  static constexpr int64_t kAnswers = 3, kSteps = 5, kPlaces = 5;
  const std::vector<int32_t> target_lengths{4, 1, 0}, source_lengths{3, 5, 2};
  static constexpr double kTokens = 5 + 2 + 1;

  int64_t steps(int64_t n) const { return target_lengths[static_cast<size_t>(n)] + 1; }
  int64_t places(int64_t n) const { return source_lengths[static_cast<size_t>(n)]; }
  /// Rows sum to one within a source; a step past the end has weights as well, which must not count.
  double weight(int64_t n, int64_t t, int64_t i) const {
    if (i >= places(n)) return 0;
    const auto raw = [&](int64_t at) { return 1.0 + static_cast<double>((7 * n + 3 * t + 5 * at) % 4); };
    double sum = 0;
    for (int64_t at = 0; at < places(n); ++at) sum += raw(at);
    return raw(i) / sum;
  }
  Var tensor() const {
    Tensor weights({kAnswers, kSteps, kPlaces});
    real* to = weights.data();
    for (int64_t n = 0; n < kAnswers; ++n) {
      for (int64_t t = 0; t < kSteps; ++t) {
        for (int64_t i = 0; i < kPlaces; ++i) *to++ = static_cast<real>(weight(n, t, i));
      }
    }
    return weights;
  }
  double loss(const AttentionLosses& losses) const {
    return static_cast<double>(losses({.weights = tensor()}, {}, {}, target_lengths, source_lengths).item());
  }
};

// See et al. 2017, eq. 12 and 13: every step pays λ Σᵢ min(aₜᵢ, cₜᵢ) beside its −ln p.
TEST(AttentionLosses, CoverageIsPaidStepByStep) {
  const KnownWeights known;
  double sum = 0;
  for (int64_t n = 0; n < known.kAnswers; ++n) {
    for (int64_t i = 0; i < known.places(n); ++i) {
      double covered = 0;
      for (int64_t t = 0; t < known.steps(n); ++t) {
        sum += std::min(known.weight(n, t, i), covered);
        covered += known.weight(n, t, i);
      }
    }
  }
  EXPECT_NEAR(known.loss({.coverage = 0.7}), 0.7 * sum / known.kTokens, 1e-5);
}

// Xu et al. 2015, eq. 14: every answer pays λ Σᵢ (1 − Σₜ αₜᵢ)² beside −ln p of all its words.
TEST(AttentionLosses, DoublyStochasticIsPaidAnswerByAnswer) {
  const KnownWeights known;
  double sum = 0;
  for (int64_t n = 0; n < known.kAnswers; ++n) {
    for (int64_t i = 0; i < known.places(n); ++i) {
      double read = 0;
      for (int64_t t = 0; t < known.steps(n); ++t) read += known.weight(n, t, i);
      sum += (1 - read) * (1 - read);
    }
  }
  EXPECT_NEAR(known.loss({.doubly_stochastic = 0.3}), 0.3 * sum / known.kTokens, 1e-5);
}

// (tokens · loss) is −ln P + λ·penalty, which is a sum over the answers: the same for a batch as one by one.
TEST(AttentionLosses, ABatchIsTheSumOfItsAnswers) {
  using Rows = std::vector<std::vector<int32_t>>;
  const Rows sources{{4, 5, 6, 7, 8, 9}, {5}, {9, 4, 4}}, targets{{6}, {4, 5, 6, 7, 8}, {7, 7}};
  for (const char* query : {"before", "after"}) {
    for (const char* penalty : {"coverage_penalty", "doubly_stochastic"}) {
      Random random(3);
      const auto model = make_model("recurrent",
                                    {{"source_vocabulary", "11"},
                                     {"target_vocabulary", "11"},
                                     {"embedding", "6"},
                                     {"hidden", "8"},
                                     {"decoder.query", query},
                                     {penalty, "2"}},
                                    random);
      const auto total = [&](const Rows& from, const Rows& to) {
        Training training{Random(1)};
        double tokens = 0;
        for (const auto& one : to) tokens += static_cast<double>(one.size() + 1);
        const data::Batch batch{data::Sequences(from), data::Sequences(to)};
        return tokens * static_cast<double>(model->loss(batch, &training).item());
      };
      double alone = 0;
      for (size_t n = 0; n < sources.size(); ++n) alone += total({sources[n]}, {targets[n]});
      EXPECT_NEAR(total(sources, targets), alone, 1e-4) << query << ", " << penalty;
    }
  }
}

}  // namespace
}  // namespace attend::models
