#include "attend/attention/align.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/autograd/ops/broadcast.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {
namespace {

/// The keys that count in each row of `energies`, row by row.
class CountedRows {
 public:
  CountedRows(const Tensor& energies, const Tensor& mask)
      : energies_(energies),
        mask_(mask),
        rows_(energies.shape(), mask.defined() ? mask.shape() : Shape{1}),
        length_(static_cast<size_t>(energies.dim(-1))) {}
  size_t count() const { return energies_.size() / std::max<size_t>(1, length_); }
  size_t length() const { return length_; }
  const real* energies(size_t row) const { return energies_.data() + row * length_; }
  bool counts(size_t row, size_t j) const { return !mask_.defined() || mask_.data()[rows_.offset(row) + j] != 0; }

 private:
  const Tensor &energies_, &mask_;
  BroadcastRows rows_;
  size_t length_;
};

/// The position of the largest energy that counts, the first of equals; -1 if none counts.
Ids argmax_rows(const Tensor& energies, const Tensor& mask) {
  const CountedRows rows(energies, mask);
  std::vector<int32_t> best(rows.count(), -1);
  for (size_t r = 0; r < best.size(); ++r) {
    const real* e = rows.energies(r);
    for (size_t j = 0; j < rows.length(); ++j) {
      if (rows.counts(r, j) && (best[r] < 0 || e[j] > e[best[r]])) best[r] = static_cast<int32_t>(j);
    }
  }
  return Ids(energies.shape().without(energies.rank() - 1), std::move(best));
}

Tensor one_hot(const Ids& choice, int64_t length) {
  Shape shape = choice.shape;
  shape.append(length);
  Tensor weights = Tensor::zeros(shape);
  for (size_t r = 0; r < choice.size(); ++r) {
    if (choice.values[r] >= 0)
      weights.data()[r * static_cast<size_t>(length) + static_cast<size_t>(choice.values[r])] = 1;
  }
  return weights;
}

Tensor argmax_weights(const Tensor& energies, const Tensor& mask) {
  return one_hot(argmax_rows(energies, mask), energies.dim(-1));
}

class Softmax : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    return {softmax(energies, mask), {}, {}};
  }
};

class Sparsemax : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    return {sparsemax(energies, mask), {}, {}};
  }
};

class Unchanged : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    return {mask.defined() ? multiply(energies, mask) : energies, {}, {}};
  }
};

class Sigmoid : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    const Var weights = sigmoid(energies);
    return {mask.defined() ? multiply(weights, mask) : weights, {}, {}};
  }
};

class Argmax : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    require(!recording(energies),
            "argmax: no gradient flows through it, so a network cannot be trained with it; train with \"sample\" "
            "(REINFORCE), \"gumbel\" or \"softmax\" and set align to argmax afterwards");
    return {argmax_weights(energies.value(), mask), {}, {}};
  }
};

/// Draws one key per row from softmax(energies). No gradient flows to the energies through the weights; they learn from
/// ln p of the choice, weighted by a reward (reinforce.h).
class Sample : public Align {
 public:
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep& step) const override {
    if (!step.random) return {argmax_weights(energies.value(), mask), {}, {}};
    const Var log_p = log_softmax(energies, mask);
    const Ids choice = draw(log_p.value(), mask, *step.random);
    Ids chosen = choice;  // a row without keys has log p = 0 everywhere: any position serves
    for (int32_t& c : chosen.values) c = std::max(c, 0);
    return {one_hot(choice, energies.dim(-1)), gather(log_p, chosen), -sum(multiply(exp(log_p), log_p), -1)};
  }

 private:
  static Ids draw(const Tensor& log_p, const Tensor& mask, Random& random) {
    const CountedRows rows(log_p, mask);
    std::vector<int32_t> choice(rows.count(), -1);
    for (size_t r = 0; r < choice.size(); ++r) {
      double left = random.uniform53();
      for (size_t j = 0; j < rows.length(); ++j) {
        if (!rows.counts(r, j)) continue;
        choice[r] = static_cast<int32_t>(j);
        left -= std::exp(static_cast<double>(rows.energies(r)[j]));
        if (left < 0) break;
      }
    }
    return Ids(log_p.shape().without(log_p.rank() - 1), std::move(choice));
  }
};

/// softmax((e + g)/τ), g = −ln(−ln u): a relaxed draw from softmax(e). Outside training: without noise, at the
/// temperature that training reached, and one-hot if straight-through.
class Gumbel : public Align {
 public:
  explicit Gumbel(const AlignOptions& options) : options_(options) {
    require(options.temperature > 0 && options.coldest > 0 && options.cooling >= 0,
            "gumbel: expected temperatures above 0 and cooling of at least 0, got ", options.temperature, ", ",
            options.coldest, " and ", options.cooling);
  }
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep& step) const override {
    if (!step.random && options_.straight_through) return {argmax_weights(energies.value(), mask), {}, {}};
    const double temperature = step.random ? cooled(step.update) : reached();
    const real inverse = static_cast<real>(1 / temperature);
    const Var noisy = step.random ? add(energies, noise(energies.shape(), *step.random)) : energies;
    const Var soft = softmax(affine(noisy, inverse), mask);
    if (!options_.straight_through) return {soft, {}, {}};
    return {hard(soft, argmax_weights(noisy.value(), mask)), {}, {}};
  }

 private:
  /// The temperature of a step of training, which is kept.
  double cooled(int64_t update) const {
    const double temperature = temperature_at(options_, update);
    if (Tensor kept = options_.reached.value(); kept.defined()) kept.fill(static_cast<real>(temperature));
    return temperature;
  }
  double reached() const {
    const real kept = options_.reached.defined() ? options_.reached.value().data()[0] : real{0};
    return kept > 0 ? static_cast<double>(kept) : temperature_at(options_, std::numeric_limits<int64_t>::max());
  }
  static Tensor noise(const Shape& shape, Random& random) {
    Tensor g(shape);
    for (real& x : g.values()) x = static_cast<real>(-std::log(-std::log(random.uniform53() + 1e-300) + 1e-300));
    return g;
  }
  /// `value`, with the gradient of `soft`: exactly one-hot, which soft + (one_hot − soft) would only be up to rounding.
  static Var hard(const Var& soft, Tensor value) {
    if (!recording(soft)) return value;
    return record(std::move(value), [soft = soft.slot()](Tensor dy) { soft.add(std::move(dy)); });
  }
  AlignOptions options_;
};

std::vector<AlignRow>& align_table() {
  static std::vector<AlignRow> rows = with_room<AlignRow>({
      {"softmax", "eᵉ/Σeᵉ", "Bahdanau et al. 2015, eq. 6", "exact",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Softmax>(); }, true, false, true},
      {"argmax", "one-hot at the largest", "", "none: rejected in training",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Argmax>(); }, false, true},
      {"sample", "one-hot, drawn from softmax(e)", "Xu et al. 2015, section 4.1; Williams 1992",
       "none through the weights; REINFORCE through ln p of the choice (unbiased)",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Sample>(); }, true, true},
      {"gumbel", "softmax((e + g)/τ), g = −ln(−ln u)", "Jang et al. 2017; Maddison et al. 2017",
       "exact for the relaxed draw; straight-through (biased) when hard",
       [](const AlignOptions& o) -> std::unique_ptr<Align> { return std::make_unique<Gumbel>(o); }},
      {"sparsemax", "argmin ‖p − e‖² over the simplex", "Martins & Astudillo 2016, eq. 2",
       "exact: 0 outside the support",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Sparsemax>(); }},
      {"linear", "e: the energies themselves", "Sukhbaatar et al. 2015, section 4.2", "exact",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Unchanged>(); }, true, false, false,
       false},
      {"sigmoid", "σ(e): each key by itself", "Ramapuram et al. 2025", "exact",
       [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Sigmoid>(); }, true, false, false,
       false},
  });
  return rows;
}

}  // namespace

std::span<const AlignRow> aligns() { return align_table(); }

void add_align(const AlignRow& row) {
  for (const AlignRow& known : align_table()) {
    require(known.name != row.name, "add_align: expected a new name, got \"", row.name, "\", which is taken");
  }
  require(row.make != nullptr, "add_align: \"", row.name, "\" needs a function that makes it, got none");
  require(align_table().size() < align_table().capacity(), "add_align: there is room for ", align_table().capacity(),
          " aligns");
  align_table().push_back(row);
}

const AlignRow& align_named(std::string_view name) { return row_named("align", align_table(), name); }

double temperature_at(const AlignOptions& options, int64_t update) {
  const double fallen = options.temperature * std::exp(-options.cooling * static_cast<double>(update));
  return std::max(std::min(options.coldest, options.temperature), fallen);
}

}  // namespace attend
