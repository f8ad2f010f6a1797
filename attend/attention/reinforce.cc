#include "attend/attention/reinforce.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/initial.h"

namespace attend {
namespace {

constexpr BaselineRow kBaselines[] = {
    {"none", "0"},
    {"moving_average", "running mean of the return"},
    {"learned", "w·features + b, by least squares"},
};

}  // namespace

std::span<const BaselineRow> baselines() { return kBaselines; }

Var reinforce_loss(const Var& log_probability, const Tensor& advantage, const Tensor& counts) {
  require(log_probability.defined() && advantage.shape() == log_probability.shape() &&
              (!counts.defined() || counts.shape() == advantage.shape()),
          "reinforce_loss: expected ln p, advantage and counts of one shape, got ", log_probability.shape(), ", ",
          advantage.shape(), " and ", counts.shape());
  Tensor weight = advantage.clone();
  double total = static_cast<double>(advantage.size());
  if (counts.defined()) {
    total = 0;
    for (size_t i = 0; i < weight.size(); ++i) {
      weight.data()[i] *= counts.data()[i];
      total += static_cast<double>(counts.data()[i]);
    }
  }
  return affine(sum(multiply(log_probability, weight)), static_cast<real>(-1 / std::max(1.0, total)));
}

Reinforce::Reinforce(const ReinforceOptions& options, int64_t features, Random& random) : options_(options) {
  row_named("baseline", kBaselines, options.baseline);
  require(options.decay >= 0 && options.decay < 1, "Reinforce: decay must be in [0, 1), got ", options.decay);
  require(options.discount >= 0 && options.discount <= 1, "Reinforce: discount must be in [0, 1], got ",
          options.discount);
  averages_ = Var(Tensor::zeros({3}));
  if (options.baseline == "learned") {
    require(features >= 1, "Reinforce: a learned baseline needs features, got width ", features);
    weight_ = Var::leaf(nn::initial("zeros", {1, features}, random));
    bias_ = Var::leaf(Tensor::zeros({1}));
  }
}

/// R[t] = r[t] + γ·R[t+1], over the steps that count.
Tensor Reinforce::returns(const Tensor& rewards, const Tensor& counts) const {
  Tensor all = rewards.clone();
  for (size_t i = 0; i < all.size(); ++i) all.data()[i] *= counts.data()[i];
  const int64_t T = rewards.dim(1);
  for (int64_t b = 0; b < rewards.dim(0); ++b) {
    real* row = all.data() + b * T;
    for (int64_t t = T - 1; t-- > 0;) row[t] += static_cast<real>(options_.discount) * row[t + 1];
  }
  return all;
}

void Reinforce::update_averages(const Tensor& returns, const Tensor& counts) const {
  double sum = 0, squares = 0, total = 0;
  for (size_t i = 0; i < returns.size(); ++i) {
    const double c = counts.data()[i], r = returns.data()[i];
    sum += c * r, squares += c * r * r, total += c;
  }
  if (total == 0) return;
  real* a = averages_.value().data();
  const double keep = a[2] == 0 ? 0 : options_.decay;
  a[0] = static_cast<real>(keep * a[0] + (1 - keep) * sum / total);
  a[1] = static_cast<real>(keep * a[1] + (1 - keep) * squares / total);
  a[2] += 1;
}

Var Reinforce::operator()(const Tensor& rewards, const Var& log_probability, const Var& entropy, const Tensor& counts,
                          const Var& features) const {
  require(rewards.rank() == 2 && counts.shape() == rewards.shape() && log_probability.shape() == rewards.shape(),
          "Reinforce: expected rewards, ln p and counts [B,T], got ", rewards.shape(), ", ", log_probability.shape(),
          " and ", counts.shape());
  const Tensor total = returns(rewards, counts);
  const real* averages = averages_.value().data();
  Tensor advantage = total.clone();
  Var loss;
  if (options_.baseline == "moving_average") {
    // Only what was learned from earlier batches: this one's mean would depend on its own choices. (For the very first
    // batch there is nothing yet.)
    for (real& x : advantage.values()) x -= averages[0];
  } else if (options_.baseline == "learned") {
    require(features.defined() && features.rank() == 3, "Reinforce: expected features [B,T,F], got ",
            features.shape());
    const Var guess = reshape(linear(features.detach(), weight_, bias_), total.shape());
    for (size_t i = 0; i < advantage.size(); ++i) advantage.data()[i] -= guess.value().data()[i];
    const Var error = subtract(guess, total);
    // −(−Σ counts∘error²/Σ counts): the mean over the same steps as the policy's.
    loss = reinforce_loss(multiply(error, error), Tensor::full(counts.shape(), -1), counts);
  }
  if (options_.normalise && averages[2] > 0) {
    const double mean = averages[0], variance = averages[1] - mean * mean;
    const real scale = static_cast<real>(1 / std::sqrt(std::max(variance, 1e-8)));
    for (real& x : advantage.values()) x *= scale;
  }
  update_averages(total, counts);
  const Var policy = reinforce_loss(log_probability, advantage, counts);
  loss = loss.defined() ? add(loss, policy) : policy;
  if (options_.entropy != 0 && entropy.defined()) {
    const Tensor bonus = Tensor::full(counts.shape(), static_cast<real>(options_.entropy));
    loss = add(loss, reinforce_loss(entropy, bonus, counts));
  }
  return loss;
}

void Reinforce::params(const nn::VisitParams& visit) {
  visit("averages", averages_);
  if (weight_.defined()) {
    visit("baseline_weight", weight_);
    visit("baseline_bias", bias_);
  }
}

}  // namespace attend
