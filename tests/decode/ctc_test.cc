#include "attend/decode/ctc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "attend/base/error.h"
#include "tests/support/labellings.h"

namespace attend::decode {
namespace {

using test::Array;
using Labels = std::vector<int32_t>;

Array logits_of(const std::vector<std::vector<double>>& probabilities) {
  Array x({static_cast<int64_t>(probabilities.size()), static_cast<int64_t>(probabilities[0].size())});
  for (size_t t = 0; t < probabilities.size(); ++t) {
    for (size_t v = 0; v < probabilities[t].size(); ++v) {
      x.v[t * probabilities[t].size() + v] = std::log(probabilities[t][v]);
    }
  }
  return x;
}

// Graves's example: blanks are the likeliest in both frames (0.36), but 1 has three paths (0.64).
TEST(Ctc, TheBeamFindsWhatBestPathMisses) {
  const Tensor x = test::to_tensor(logits_of({{0.6, 0.4}, {0.6, 0.4}}));
  EXPECT_EQ(best_path(x, 0), Labels{});
  const auto found = ctc_beam(x, 0, 4, 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].tokens, Labels{1});
  EXPECT_NEAR(found[0].log_probability, std::log(0.64), 1e-6);
  EXPECT_EQ(found[1].tokens, Labels{});
  EXPECT_NEAR(found[1].score, std::log(0.36), 1e-6);
  EXPECT_TRUE(found[0].ended);
}

TEST(Ctc, BestPathCollapses) {
  const double a = 0.9, b = 0.05;
  const Tensor x = test::to_tensor(
      logits_of({{b, a, b}, {b, a, b}, {a, b, b}, {b, a, b}, {b, b, a}, {b, b, a}, {b, a, b}, {a, b, b}}));
  EXPECT_EQ(best_path(x, 0), (Labels{1, 1, 2, 1}));
  EXPECT_EQ(best_path(x, 2), (Labels{1, 0, 1, 1, 0}));
}

TEST(Ctc, AWideBeamFindsAllLabellings) {
  int better = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (const int32_t blank : {0, 3}) {
      Random random(seed);
      const Array x = test::random_array({5, 4}, random);
      const auto all = test::all_labellings(x, blank);
      const Tensor logits = test::to_tensor(x);
      const int64_t count = static_cast<int64_t>(all.size());
      const auto found = ctc_beam(logits, blank, 1000, count);
      ASSERT_EQ(found.size(), all.size());
      for (size_t i = 0; i < found.size(); ++i) {
        const auto expected = all.find(found[i].tokens);
        ASSERT_NE(expected, all.end());
        EXPECT_NEAR(found[i].log_probability, std::log(expected->second), 1e-5);
        if (i > 0) {
          EXPECT_GE(found[i - 1].score, found[i].score);
        }
      }
      // So the first is the likeliest; best path is never better, and sometimes worse.
      const double greedy = all.at(best_path(logits, blank)), best = std::exp(found[0].score);
      EXPECT_GE(best, greedy * (1 - 1e-5));
      better += best > greedy * (1 + 1e-4);
      // A narrow beam gives no more than there is.
      const auto narrow = ctc_beam(logits, blank, 2)[0];
      EXPECT_LE(std::exp(narrow.score), all.at(narrow.tokens) * (1 + 1e-5));
    }
  }
  EXPECT_GT(better, 5);
}

// With many labels only the likeliest of a frame are tried; that must not change what the beam would keep.
TEST(Ctc, UnlikelyLabelsAreNotNeeded) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Array x = test::random_array({6, 30}, random);
    const int64_t beam = 3;
    // The same search with plain maps and all labels.
    std::map<Labels, std::pair<double, double>> kept{{{}, {1, 0}}};
    for (int64_t t = 0; t < 6; ++t) {
      double sum = 0;
      for (int64_t v = 0; v < 30; ++v) sum += std::exp(x(t, v));
      std::map<Labels, std::pair<double, double>> next;
      for (const auto& [labels, p] : kept) {
        for (int32_t v = 0; v < 30; ++v) {
          const double q = std::exp(x(t, v)) / sum;
          const bool last = !labels.empty() && labels.back() == v;
          if (v == 0) {
            next[labels].first += (p.first + p.second) * q;
            continue;
          }
          if (last) next[labels].second += p.second * q;
          Labels longer = labels;
          longer.push_back(v);
          next[longer].second += (last ? p.first : p.first + p.second) * q;
        }
      }
      std::vector<std::pair<double, Labels>> order;
      for (const auto& [labels, p] : next) order.push_back({-p.first - p.second, labels});
      std::sort(order.begin(), order.end());
      kept.clear();
      for (int64_t i = 0; i < beam; ++i)
        kept[order[static_cast<size_t>(i)].second] = next[order[static_cast<size_t>(i)].second];
    }
    for (const Hypothesis& h : ctc_beam(test::to_tensor(x), 0, beam, beam)) {
      ASSERT_TRUE(kept.contains(h.tokens)) << seed;
      EXPECT_NEAR(h.score, std::log(kept[h.tokens].first + kept[h.tokens].second), 1e-5);
    }
  }
}

TEST(Ctc, NoFramesSayNothing) {
  const Tensor none({0, 3});
  EXPECT_EQ(best_path(none), Labels{});
  const auto found = ctc_beam(none);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tokens, Labels{});
  EXPECT_EQ(found[0].score, 0);
}

TEST(Ctc, Refusals) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(best_path(Tensor::zeros({3})), Error);
  EXPECT_THROW(best_path(x, 3), Error);
  EXPECT_THROW(best_path(x, -1), Error);
  EXPECT_THROW(ctc_beam(x, 0, 0), Error);
  EXPECT_THROW(ctc_beam(x, 0, 2, 3), Error);
  EXPECT_THROW(ctc_beam(Tensor::full({2, 3}, std::numeric_limits<real>::quiet_NaN())), Error);
}

}  // namespace
}  // namespace attend::decode
