// What a network is nearly certain of: its maps are of tiny numbers, and keep their digits. Networks of one linear layer,
// against the same formulas in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "attend/decode/search.h"
#include "attend/explain/methods.h"
#include "attend/models/zoo.h"
#include "attend/nn/layer.h"

namespace attend::explain {
namespace {

constexpr int64_t kWidth = 6, kLabels = 4;
const std::vector<int32_t> kWords{4, 6, 9, 5};

/// A network whose logits for the words x are linear in them: W·x + b of their mean, or of each.
struct LinearNetwork {
  std::unique_ptr<models::Model> model;
  std::vector<double> table, weight, bias;

  /// `model` of the zoo, with a bias of `sure` for label 2.
  LinearNetwork(std::string_view name, Settings settings, double sure) {
    settings["encoder.kind"] = "none", settings["encoder.vocabulary"] = "11";
    settings["encoder.size"] = std::to_string(kWidth), settings["labels"] = std::to_string(kLabels);
    Random random(7);
    model = models::make_model(name, settings, random);
    for (nn::NamedParam& p : nn::parameters(*model)) {
      Tensor& value = p.var.value();
      if (p.name.ends_with("bias")) value.data()[2] = static_cast<real>(sure);
      std::vector<double> numbers(value.begin(), value.end());
      if (value.shape() == Shape{11, kWidth}) table = numbers;
      if (value.shape() == Shape{kLabels, kWidth}) weight = numbers;
      if (p.name.ends_with("bias")) bias = numbers;
    }
    EXPECT_EQ(table.size(), 11u * kWidth);
    EXPECT_EQ(weight.size(), static_cast<size_t>(kLabels * kWidth));
    EXPECT_EQ(bias.size(), static_cast<size_t>(kLabels));
  }

  /// W_j · x of a word.
  double product(int64_t label, int32_t word) const {
    double sum = 0;
    for (int64_t d = 0; d < kWidth; ++d) {
      sum += weight[static_cast<size_t>(label * kWidth + d)] * table[static_cast<size_t>(word * kWidth + d)];
    }
    return sum;
  }

  Answered answered(const std::vector<int32_t>& target) const {
    const auto scored = decode::score(*model, {data::Sequences({kWords}), data::Sequences({target})})[0];
    return {*model, kWords, target, {}, scored.token_log_probabilities};
  }
};

/// Every element of a row is right to a thousandth of the row's largest.
void expect_digits(const Tensor& map, size_t row, const std::vector<double>& expected, double sure) {
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  ASSERT_GT(largest, 0);
  for (size_t s = 0; s < expected.size(); ++s) {
    EXPECT_NEAR(static_cast<double>(map.data()[row * expected.size() + s]) / largest, expected[s] / largest, 1e-3)
        << "step " << row << ", word " << s << ", bias " << sure << ", largest " << largest;
  }
}

class OneLabel : public testing::TestWithParam<double> {
 protected:
  const LinearNetwork network_{"classifier", {{"pooling", "mean"}}, GetParam()};

  /// Logits of the mean of these words.
  std::vector<double> logits(const std::vector<int32_t>& words) const {
    std::vector<double> z = network_.bias;
    for (int64_t j = 0; j < kLabels; ++j) {
      for (const int32_t word : words) {
        z[static_cast<size_t>(j)] += network_.product(j, word) / static_cast<double>(words.size());
      }
    }
    return z;
  }
  static double log_probability(const std::vector<double>& z) {
    double others = 0;
    for (size_t j = 0; j < z.size(); ++j) others += j == 2 ? 0 : std::exp(z[j] - z[2]);
    return -std::log1p(others);
  }
};

TEST_P(OneLabel, SaliencyKeepsItsDigits) {
  const std::vector<double> z = logits(kWords);
  std::vector<double> expected;
  for (const int32_t word : kWords) {
    double sum = 0;  // Σ over the others of p_j·(W_k − W_j)·x / S
    for (int64_t j = 0; j < kLabels; ++j) {
      const double p = std::exp(z[static_cast<size_t>(j)] - z[2] + log_probability(z));
      sum += p * (network_.product(2, word) - network_.product(j, word)) / static_cast<double>(kWords.size());
    }
    expected.push_back(sum);
  }
  expect_digits(method_named("saliency").map(network_.answered({2}), {}), 0, expected, GetParam());
}

TEST_P(OneLabel, OcclusionKeepsItsDigits) {
  std::vector<double> expected;
  for (size_t s = 0; s < kWords.size(); ++s) {
    std::vector<int32_t> rest = kWords;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(s));
    expected.push_back(log_probability(logits(kWords)) - log_probability(logits(rest)));
  }
  expect_digits(method_named("occlusion").map(network_.answered({2}), {}), 0, expected, GetParam());
}

INSTANTIATE_TEST_SUITE_P(NearlyCertain, OneLabel, testing::Values(0.0, 8.0, 12.0, 16.0));

/// Tags that depend on each other, by a sum over all labellings.
TEST(PrecisionOfTags, SaliencyOfAFieldKeepsItsDigits) {
  for (const double sure : {0.0, 8.0, 16.0}) {
    const LinearNetwork network("tagger", {{"output", "crf"}}, sure);
    const std::vector<int32_t> target(kWords.size(), 2);
    const Tensor map = method_named("saliency").map(network.answered(target), {});
    const size_t S = kWords.size();
    // Transitions are 0, so that the places do not depend on each other: only word t matters to tag t.
    for (size_t t = 0; t < S; ++t) {
      std::vector<double> z = network.bias, expected(S, 0);
      for (int64_t j = 0; j < kLabels; ++j) z[static_cast<size_t>(j)] += network.product(j, kWords[t]);
      double others = 0;
      for (size_t j = 0; j < z.size(); ++j) others += j == 2 ? 0 : std::exp(z[j] - z[2]);
      for (int64_t j = 0; j < kLabels; ++j) {
        const double p = std::exp(z[static_cast<size_t>(j)] - z[2]) / (1 + others);
        expected[t] += p * (network.product(2, kWords[t]) - network.product(j, kWords[t]));
      }
      expect_digits(map, t, expected, sure);
    }
  }
}

/// The first tag is given against all odds, and makes the second nearly certain: p(y₂ | y₁) is a ratio of tiny numbers.
TEST(PrecisionOfTags, SaliencyAfterAnUnlikelyTagKeepsItsDigits) {
  constexpr int64_t kTag = 1;
  const LinearNetwork network("tagger", {{"output", "crf"}}, 8);
  const double stay = 24;
  for (nn::NamedParam& p : nn::parameters(*network.model)) {
    if (p.name != "crf.transitions") continue;
    p.var.value().data()[2 * kLabels + 2] = 40;
    p.var.value().data()[kTag * kLabels + kTag] = static_cast<real>(stay);
  }
  const std::vector<int32_t> words{4, 6}, target{kTag, kTag};
  const auto scored = decode::score(*network.model, {data::Sequences({words}), data::Sequences({target})})[0];
  EXPECT_LT(scored.token_log_probabilities[0], -20);
  const Answered answered{*network.model, words, target, {}, scored.token_log_probabilities};
  const Tensor map = method_named("saliency").map(answered, {});
  std::vector<double> z = network.bias;
  for (int64_t j = 0; j < kLabels; ++j) z[static_cast<size_t>(j)] += network.product(j, words[1]);
  z[kTag] += stay;
  double others = 0, expected = 0;
  for (size_t j = 0; j < z.size(); ++j) others += j == kTag ? 0 : std::exp(z[j] - z[kTag]);
  for (int64_t j = 0; j < kLabels; ++j) {
    const double p = std::exp(z[static_cast<size_t>(j)] - z[kTag]) / (1 + others);
    expected += p * (network.product(kTag, words[1]) - network.product(j, words[1]));
  }
  expect_digits(map, 1, {0, expected}, 8);
}

}  // namespace
}  // namespace attend::explain
