#include "attend/attention/window.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/initial.h"
#include "attend/nn/layers.h"

namespace attend {
namespace {

void require_width(const char* where, const WindowOptions& o, int64_t least) {
  require(o.width >= least, where, ": expected a width of at least ", least, " (window.width), got ", o.width);
}

/// Where the window of query i is over keys [0, length): past the last key it stays there, so that a decoder that
/// writes more words than its source has never runs out of keys.
int64_t centre_of(int64_t i, int64_t length) { return std::min(i, std::max<int64_t>(0, length - 1)); }

/// A mask by places alone: `sees(p, j)` for the centre p of every query and every key j.
template <class Sees>
Tensor mask_by_place(int64_t queries, const KeyRange& keys, const AttentionStep& step, Sees sees) {
  const int64_t B = keys.lengths.empty() ? 1 : keys.batch;
  Tensor mask({B, queries, keys.keys});
  real* out = mask.data();
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = keys.length(b);
    for (int64_t i = step.position; i < step.position + queries; ++i) {
      const int64_t centre = centre_of(i, length);
      for (int64_t j = 0; j < keys.keys; ++j) *out++ = j < length && sees(centre, j) ? real{1} : real{0};
    }
  }
  return mask;
}

class Everything : public Window {
 public:
  Windowed operator()(const Var&, const KeyRange& keys, const AttentionStep&) const override {
    return {padding_mask(keys), {}, {}};
  }
};

/// j ≤ p, and p − j ≤ D where D > 0.
class Causal : public Window {
 public:
  explicit Causal(const WindowOptions& o) : width_(o.width) { require_width("causal", o, 0); }
  Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep& step) const override {
    const auto sees = [&](int64_t p, int64_t j) { return j <= p && (width_ == 0 || p - j <= width_); };
    return {mask_by_place(queries.dim(1), keys, step, sees), {}, {}};
  }

 private:
  int64_t width_;
};

/// |p − j| ≤ D.
class Sliding : public Window {
 public:
  explicit Sliding(const WindowOptions& o) : width_(o.width) { require_width("sliding", o, 0); }
  Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep& step) const override {
    const auto sees = [&](int64_t p, int64_t j) { return std::abs(p - j) <= width_; };
    return {mask_by_place(queries.dim(1), keys, step, sees), {}, {}};
  }

 private:
  int64_t width_;
};

/// j ≠ p: a place does not find itself. One that is alone still does.
class Others : public Window {
 public:
  explicit Others(const WindowOptions&) {}
  Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep& step) const override {
    Tensor mask = mask_by_place(queries.dim(1), keys, step, [](int64_t p, int64_t j) { return j != p; });
    const int64_t each = queries.dim(1) * keys.keys;
    for (int64_t b = 0; b < mask.dim(0); ++b) {
      if (keys.length(b) != 1) continue;
      for (int64_t i = 0; i < queries.dim(1); ++i) mask.data()[b * each + i * keys.keys] = 1;
    }
    return {mask, {}, {}};
  }
};

/// |pₜ − j| ≤ D, the same as sliding, with centres that observers see.
class LocalM : public Window {
 public:
  explicit LocalM(const WindowOptions& o) : width_(o.width) { require_width("local_m", o, 0); }
  Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep& step) const override {
    Tensor centres({keys.batch, queries.dim(1)});
    for (int64_t b = 0; b < keys.batch; ++b) {
      for (int64_t i = 0; i < queries.dim(1); ++i) {
        centres.data()[b * queries.dim(1) + i] = static_cast<real>(centre_of(i + step.position, keys.length(b)));
      }
    }
    const auto sees = [&](int64_t p, int64_t j) { return std::abs(p - j) <= width_; };
    return {mask_by_place(queries.dim(1), keys, step, sees), {}, centres};
  }

 private:
  int64_t width_;
};

/// pₜ = S·σ(vᵀtanh(Wq)); keys within D of it; weights times e^(−(j−pₜ)²/(2σ²)) with σ = D/2, through which the centre
/// learns. As in the paper the product is not normalised again.
class LocalP : public Window {
 public:
  LocalP(const WindowOptions& o, Random& random)
      : width_(o.width), hidden_(o.query, o.query, random, false, Activation::tanh) {
    require_width("local_p", o, 1);
    vector_ = Var::leaf(nn::initial("uniform", {1, o.query}, random));
  }

  Windowed operator()(const Var& queries, const KeyRange& keys, const AttentionStep&) const override {
    const int64_t B = queries.dim(0), Tq = queries.dim(1), Tk = keys.keys;
    Tensor lengths({B, 1, 1}), places({1, 1, Tk});
    for (int64_t b = 0; b < B; ++b) lengths.data()[b] = static_cast<real>(keys.length(b));
    for (int64_t j = 0; j < Tk; ++j) places.data()[j] = static_cast<real>(j);
    const Var centre = multiply(sigmoid(linear(hidden_(queries), vector_, {})), lengths);  // [B,Tq,1]
    const Var distance = subtract(places, centre);                                         // [B,Tq,Tk]
    const real sigma = static_cast<real>(width_) / 2;
    const Var factor = exp(affine(multiply(distance, distance), -1 / (2 * sigma * sigma)));
    Tensor mask({B, Tq, Tk});
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t i = 0; i < Tq; ++i) {
        for (int64_t j = 0; j < Tk; ++j) {
          const int64_t at = (b * Tq + i) * Tk + j;
          const bool near = std::abs(distance.value().data()[at]) <= static_cast<real>(width_);
          mask.data()[at] = near && j < keys.length(b) ? real{1} : real{0};
        }
      }
    }
    return {mask, factor, centre.value().reshape({B, Tq})};
  }
  void params(const nn::VisitParams& visit) override {
    visit_part(visit, "hidden", hidden_);
    visit("vector", vector_);
  }

 private:
  int64_t width_;
  nn::Linear hidden_;
  Var vector_;
};

/// |m − j| ≤ D with m the median of the weights of the step before, the first key by which half of them is reached. Before the
/// first step nothing has been read: m = 0.
class Median : public Window {
 public:
  explicit Median(const WindowOptions& o) : width_(o.width) { require_width("median", o, 0); }
  Windowed operator()(const Var&, const KeyRange& keys, const AttentionStep& step) const override {
    const int64_t B = keys.batch, Tk = keys.keys;
    Tensor mask = Tensor::zeros({B, 1, Tk}), centres = Tensor::zeros({B, 1});
    for (int64_t b = 0; b < B; ++b) {
      const int64_t length = keys.length(b);
      const int64_t centre = step.previous.defined() ? median(step.previous.value().data() + b * Tk, length) : 0;
      const int64_t first = std::max<int64_t>(0, centre - width_), end = std::min(length, centre + width_ + 1);
      if (first < end) std::fill(mask.data() + b * Tk + first, mask.data() + b * Tk + end, real{1});
      centres.data()[b] = static_cast<real>(centre);
    }
    return {mask, {}, centres};
  }

 private:
  static int64_t median(const real* weights, int64_t length) {
    double half = 0, sum = 0;
    for (int64_t j = 0; j < length; ++j) half += static_cast<double>(weights[j]) / 2;
    for (int64_t j = 0; j < length; ++j) {
      sum += static_cast<double>(weights[j]);
      if (sum >= half) return j;
    }
    return std::max<int64_t>(0, length - 1);
  }
  int64_t width_;
};

template <class Kind>
std::unique_ptr<Window> new_window(const WindowOptions& options, Random&) {
  return std::make_unique<Kind>(options);
}

constexpr WindowRow kWindows[] = {
    {"none", "all keys of the sequence", "",
     [](const WindowOptions&, Random&) -> std::unique_ptr<Window> { return std::make_unique<Everything>(); }, false,
     true, true},
    {"causal", "j ≤ p, and p − j ≤ D if D > 0; p = min(i, S − 1)", "Vaswani et al. 2017, section 3.2.3",
     new_window<Causal>, false, true, true, false, true},
    {"sliding", "|p − j| ≤ D, p = min(i, S − 1)", "Beltagy et al. 2020, section 3.1", new_window<Sliding>, false, true,
     true, false, true},
    {"others", "j ≠ p, p = min(i, S − 1), unless S = 1", "Clark & Gardner 2018, section 2.1", new_window<Others>, false,
     true, false, false, true},
    {"local_m", "|pₜ − j| ≤ D, pₜ = min(t, S − 1)", "Luong et al. 2015, section 3.2", new_window<LocalM>, false, true,
     false, false, true},
    {"local_p", "|pₜ − j| ≤ D, pₜ = S·σ(vᵀtanh(Wq)), times e^(−(j−pₜ)²/2(D/2)²)", "Luong et al. 2015, eq. 9–10",
     [](const WindowOptions& o, Random& random) -> std::unique_ptr<Window> {
       return std::make_unique<LocalP>(o, random);
     },
     true, false},
    {"median", "|m − j| ≤ D, m the median of the weights of the step before, at first 0",
     "Chorowski et al. 2015, section 2.3", new_window<Median>, false, true, false, true},
};

}  // namespace

std::span<const WindowRow> windows() { return kWindows; }

const WindowRow& window_named(std::string_view name) { return row_named("window", kWindows, name); }

Tensor padding_mask(const KeyRange& keys) {
  const auto whole = [&](int32_t length) { return length >= keys.keys; };
  if (std::all_of(keys.lengths.begin(), keys.lengths.end(), whole)) return {};
  Tensor mask = Tensor::zeros({keys.batch, 1, keys.keys});
  for (int64_t b = 0; b < keys.batch; ++b) std::fill_n(mask.data() + b * keys.keys, keys.length(b), real{1});
  return mask;
}

}  // namespace attend
