#include <cmath>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

constexpr int64_t kAnswers = 3, kSteps = 4, kPlaces = 5, kKnown = 7, kAll = 9;

/// Some words are known, some are not, one stands twice, and places beyond a source say nothing.
Ids copied_words() { return Ids({kAnswers, kPlaces}, {4, 7, 4, 8, 1, 5, 6, 7, -1, -1, 2, -1, -1, -1, -1}); }

/// [N,T]: said only, copied only, either way, neither, ignored.
std::vector<int32_t> copy_targets() { return {4, 7, 3, 8, 5, 7, -1, 0, 2, -1, 6, 1}; }

/// P(word) of answer n at step t, as the formula says it; logits [rows,V], gate [rows], weights [N,T,S].
double mixed(const Arrays& x, int64_t row, int64_t n, int64_t t, int32_t word) {
  double total = 0, copied = 0;
  for (int64_t v = 0; v < kKnown; ++v) total += std::exp(x[0].v[static_cast<size_t>(row * kKnown + v)]);
  const double gate = 1 / (1 + std::exp(-x[1].v[static_cast<size_t>(row)]));
  const Ids words = copied_words();
  for (int64_t s = 0; s < kPlaces; ++s) {
    if (words.values[static_cast<size_t>(n * kPlaces + s)] == word) copied += x[2](n, t, s);
  }
  const double said = word < kKnown ? std::exp(x[0].v[static_cast<size_t>(row * kKnown + word)]) / total : 0;
  return gate * said + (1 - gate) * copied;
}

int64_t row_of(bool by_time, int64_t n, int64_t t) { return by_time ? t * kAnswers + n : n * kSteps + t; }

/// The targets as the rows of the logits are laid out.
Ids laid_out(bool by_time) {
  const std::vector<int32_t> by_answer = copy_targets();
  std::vector<int32_t> all(by_answer.size());
  for (int64_t n = 0; n < kAnswers; ++n) {
    for (int64_t t = 0; t < kSteps; ++t) {
      all[static_cast<size_t>(row_of(by_time, n, t))] = by_answer[static_cast<size_t>(n * kSteps + t)];
    }
  }
  return by_time ? Ids({kSteps, kAnswers}, all) : Ids({kAnswers, kSteps}, all);
}

CopyMixture mixture_of(const Vars& x, bool by_time) {
  return {.logits = x[0], .gate = x[1], .weights = x[2], .words = copied_words(), .by_time = by_time};
}

Arrays copy_reference(const Arrays& x, bool by_time) {
  Array loss((Shape()));
  double sum = 0, counted = 0;
  for (int64_t n = 0; n < kAnswers; ++n) {
    for (int64_t t = 0; t < kSteps; ++t) {
      const int32_t target = copy_targets()[static_cast<size_t>(n * kSteps + t)];
      if (target < 0) continue;
      sum -= std::log(mixed(x, row_of(by_time, n, t), n, t, target));
      ++counted;
    }
  }
  loss.v[0] = sum / counted;
  return {loss};
}

}  // namespace

void add_copy_rows(std::vector<OpRow>& table) {
  for (const bool by_time : {true, false}) {
    const Shape rows = by_time ? Shape{kSteps, kAnswers, kKnown} : Shape{kAnswers, kSteps, kKnown};
    const Shape weights{kAnswers, kSteps, kPlaces};
    table.push_back(
        {std::string("copy_loss") + (by_time ? " by time" : ""),
         {rows, rows.with(2, 1), weights},
         [by_time](const Vars& x) { return Vars{copy_loss(mixture_of(x, by_time), laid_out(by_time))}; },
         [by_time](const Arrays& x) { return copy_reference(x, by_time); },
         {{[rows, weights, by_time] {
             copy_loss(mixture_of({Tensor::zeros(rows), Tensor::zeros({2}), Tensor::zeros(weights)}, by_time),
                       laid_out(by_time));
           },
           "copy_loss: expected a gate for each of 12 rows, got [2]"},
          {[rows, weights, by_time] {
             copy_loss(mixture_of({Tensor::zeros(rows), Tensor::zeros({12}), Tensor::zeros(weights)}, by_time),
                       Ids({2}, {1, 1}));
           },
           "copy_loss: expected 12 targets, got [2]"},
          {[rows, by_time] {
             copy_loss(mixture_of({Tensor::zeros(rows), Tensor::zeros({12}), Tensor::zeros({3, 4, 6})}, by_time),
                       laid_out(by_time));
           },
           "copy_loss: weights [3, 4, 6] want words [3, 6], got [3, 5]"}},
         [](double x) { return std::abs(x) + 0.1; },  // weights are positive
         1e-4});
  }
}

}  // namespace attend::test
