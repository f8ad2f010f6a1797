#include <algorithm>
#include <limits>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

using Targets = std::vector<std::vector<int32_t>>;

/// −ln Σ p(path) over all V^frames paths that collapse to the target, one after the other.
double by_all_paths(const Array& logits, int64_t b, int64_t frames, const std::vector<int32_t>& target, int32_t blank) {
  const int64_t V = logits.dim(2);
  int64_t paths = 1;
  for (int64_t t = 0; t < frames; ++t) paths *= V;
  double total = 0;
  for (int64_t code = 0; code < paths; ++code) {
    std::vector<int32_t> labels;
    double p = 1;
    int32_t before = blank;
    for (int64_t t = 0, c = code; t < frames; ++t, c /= V) {
      const int32_t k = static_cast<int32_t>(c % V);
      double sum = 0;
      for (int64_t v = 0; v < V; ++v) sum += std::exp(logits(t, b, v));
      p *= std::exp(logits(t, b, k)) / sum;
      if (k != blank && k != before) labels.push_back(k);
      before = k;
    }
    if (labels == target) total += p;
  }
  return total > 0 ? -std::log(total) : std::numeric_limits<double>::infinity();
}

OpRow ctc_row(const std::string& name, const std::vector<int32_t>& lengths, const Targets& targets,
              const CtcOptions& options, std::vector<Refusal> refusals = {}) {
  const int64_t B = static_cast<int64_t>(targets.size());
  return {"ctc_loss " + name,
          {{5, B, 4}},
          [=](const Vars& x) { return Vars{ctc_loss(x[0], lengths, targets, options)}; },
          [=](const Arrays& x) {
            Array loss((Shape()));
            double sum = 0, count = 0;
            for (int64_t b = 0; b < B; ++b) {
              const size_t i = static_cast<size_t>(b);
              const double one = by_all_paths(x[0], b, lengths[i], targets[i], options.blank);
              if (std::isfinite(one)) sum += one, ++count;  // what cannot be said is left out
            }
            loss.v[0] = count > 0 ? sum / count : 0;
            return Arrays{loss};
          },
          std::move(refusals)};
}

}  // namespace

void add_ctc_rows(std::vector<OpRow>& table) {
  const auto call = [](const Shape& shape, const std::vector<int32_t>& lengths, const Targets& targets,
                       int32_t blank = 0) {
    return [=] { ctc_loss(Tensor::zeros(shape), lengths, targets, {.blank = blank}); };
  };
  table.push_back(
      ctc_row("plain", {5, 3, 5, 4, 1}, {{1, 2, 3}, {2}, {3, 3}, {}, {1}}, {},
              {{call({5, 2}, {5}, {{1}}), "ctc_loss: expected logits [T,B,V] with B and V above 0, got [5, 2]"},
               {call({5, 1, 4}, {5, 5}, {{1}}), "want 1 lengths and targets, got 2 and 1"},
               {call({5, 1, 4}, {5}, {{1}}, 4), "the blank must be in [0, 4), got 4"},
               {call({5, 2, 4}, {5, 6}, {{1}, {1}}), "lengths must be in [0, 5], got 6 for sequence 1"},
               {call({5, 1, 4}, {5}, {{4}}), "labels must be in [0, 4) and not the blank 0, got 4 in sequence 0"},
               {call({5, 1, 4}, {5}, {{1, 0}}), "not the blank 0, got 0"},
               {call({5, 2, 4}, {5, 3}, {{1}, {1, 2, 2}}),
                "the target of sequence 1 needs 4 frames, one for each of 3 labels and 1 between equal ones, got 3"}}));
  table.push_back(ctc_row("last blank", {5, 5, 4}, {{0, 1, 0}, {2, 2, 0}, {1, 1}}, {.blank = 3}));
  table.push_back(
      ctc_row("skips", {5, 3, 0, 1, 2}, {{1, 2, 3}, {2, 2, 1}, {}, {1, 2}, {1, 2}}, {.skip_impossible = true}));
}

}  // namespace attend::test
