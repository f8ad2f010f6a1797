#include "attend/attention/score.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/nn/initial.h"
#include "attend/nn/layers.h"

namespace attend {
namespace {

Var leaf(std::string_view initialiser, const Shape& shape, Random& random) {
  return Var::leaf(nn::initial(initialiser, shape, random));
}

void require_equal_widths(const char* where, const ScoreOptions& o) {
  require(o.query == o.key, where, ": expected query and key of equal width, got ", o.query, " and ", o.key,
          "; project them to one width, or use \"general\", which takes different ones");
}

/// c·qᵀk, with c = 1 or 1/√K.
class Dot : public Score {
 public:
  Dot(const ScoreOptions& o, bool scaled) : scale_(scaled ? 1 / std::sqrt(static_cast<real>(o.key)) : real{1}) {
    require_equal_widths(scaled ? "scaled_dot" : "dot", o);
  }
  Var operator()(const Var& queries, const Var& keys, const AttentionStep&) const override {
    const Var energies = batched_matmul(queries, keys, false, true);
    return scale_ == 1 ? energies : affine(energies, scale_);
  }

 private:
  real scale_;
};

/// qᵀWk: the product Wk is computed once per source.
class General : public Score {
 public:
  General(const ScoreOptions& o, Random& random) : keys_(o.key, o.query, random, false) {}
  Var prepare(const Var& keys) const override { return keys_(keys); }
  Var operator()(const Var& queries, const Var& prepared, const AttentionStep&) const override {
    return batched_matmul(queries, prepared, false, true);
  }
  void params(const nn::VisitParams& visit) override { visit_part(visit, "keys", keys_); }

 private:
  nn::Linear keys_;
};

/// tanh's argument gains w·coverage: the key's side of it, so that the fused score stays one call (See et al. 2017, eq. 11).
Var with_coverage(const Var& prepared, const Var& weight, const AttentionStep& step) {
  if (!weight.defined() || !step.coverage.defined()) return prepared;
  const int64_t B = prepared.dim(0), Tk = prepared.dim(1);
  return add(prepared, multiply(reshape(step.coverage, {B, Tk, 1}), weight));
}

/// vᵀtanh(Wq + Uk + b); the paper has no bias.
class Additive : public Score {
 public:
  Additive(const ScoreOptions& o, Random& random)
      : query_(o.query, width(o), random, false), keys_(o.key, width(o), random, true) {
    vector_ = leaf("uniform", {width(o)}, random);
    if (o.coverage) coverage_ = leaf("uniform", {width(o)}, random);
  }
  Var prepare(const Var& keys) const override { return keys_(keys); }
  Var operator()(const Var& queries, const Var& prepared, const AttentionStep& step) const override {
    return additive_score(query_(queries), with_coverage(prepared, coverage_, step), vector_);
  }
  void params(const nn::VisitParams& visit) override {
    visit_part(visit, "query", query_);
    visit_part(visit, "keys", keys_);
    visit("vector", vector_);
    if (coverage_.defined()) visit("coverage", coverage_);
  }

 protected:
  static int64_t width(const ScoreOptions& o) { return o.hidden > 0 ? o.hidden : o.query; }

  nn::Linear query_, keys_;
  Var vector_, coverage_;
};

/// vᵀtanh(Wq + Uk + Zf + b), fⱼ = (F ∗ α′)ⱼ: each filter of F sees the weights α′ of the step before within ±r of key j. At the
/// first step there are none, and f = 0.
class LocationAware : public Additive {
 public:
  LocationAware(const ScoreOptions& o, Random& random) : Additive(o, random) {
    require(o.filters >= 1 && o.reach >= 0,
            "location_aware: expected at least one filter and a reach of at least 0, got ", o.filters, " and ",
            o.reach);
    filters_ = leaf("glorot", {o.filters, 2 * o.reach + 1}, random);
    location_ = leaf("glorot", {o.filters, width(o)}, random);
  }
  Var operator()(const Var& queries, const Var& prepared, const AttentionStep& step) const override {
    if (!step.previous.defined()) return Additive::operator()(queries, prepared, step);
    return location_score(query_(queries), with_coverage(prepared, coverage_, step), vector_, step.previous, filters_,
                          location_);
  }
  void params(const nn::VisitParams& visit) override {
    Additive::params(visit);
    visit("filters", filters_);
    visit("location", location_);
  }

 private:
  Var filters_, location_;
};

/// vᵀtanh(W[q;k]) with one matrix W: its columns for q and for k act separately, so that the keys' part is computed
/// once.
class Concat : public Score {
 public:
  Concat(const ScoreOptions& o, Random& random) : query_(o.query), key_(o.key) {
    const int64_t width = o.hidden > 0 ? o.hidden : o.query;
    weight_ = leaf("glorot", {width, o.query + o.key}, random);
    vector_ = leaf("uniform", {width}, random);
    if (o.coverage) coverage_ = leaf("uniform", {width}, random);
  }
  Var prepare(const Var& keys) const override { return linear(keys, slice(weight_, 1, query_, query_ + key_), {}); }
  Var operator()(const Var& queries, const Var& prepared, const AttentionStep& step) const override {
    return additive_score(linear(queries, slice(weight_, 1, 0, query_), {}), with_coverage(prepared, coverage_, step),
                          vector_);
  }
  void params(const nn::VisitParams& visit) override {
    visit("weight", weight_);
    visit("vector", vector_);
    if (coverage_.defined()) visit("coverage", coverage_);
  }

 private:
  int64_t query_, key_;
  Var weight_, vector_, coverage_;
};

/// w₁ᵀq + w₂ᵀk + w₃ᵀ(q∘k) = w₁ᵀq + (w₃∘q + w₂)ᵀk: one product, without a [B,Tq,Tk,Q] tensor.
class Trilinear : public Score {
 public:
  Trilinear(const ScoreOptions& o, Random& random) {
    require_equal_widths("trilinear", o);
    query_ = leaf("uniform", {1, o.query}, random);
    key_ = leaf("uniform", {o.key}, random);
    both_ = leaf("uniform", {o.key}, random);
  }
  Var operator()(const Var& queries, const Var& keys, const AttentionStep&) const override {
    const Var met = batched_matmul(add(multiply(queries, both_), key_), keys, false, true);
    return add(met, linear(queries, query_, {}));
  }
  void params(const nn::VisitParams& visit) override {
    visit("query", query_);
    visit("key", key_);
    visit("both", both_);
  }

 private:
  Var query_, key_, both_;
};

/// x/‖x‖ over the last axis; ε keeps a zero vector at zero.
Var normalised(const Var& x) {
  const Var squared = affine(sum(multiply(x, x), -1), 1, real(1e-12));
  const Var inverse = exp(affine(log(squared), real(-0.5)));
  Shape shape = x.shape();
  return multiply(x, reshape(inverse, shape.with(-1, 1)));
}

/// β·cos(q,k), β = e^b ≥ 0.
class Cosine : public Score {
 public:
  explicit Cosine(const ScoreOptions& o) : log_sharpness_(Var::leaf(Tensor::full({1}, std::log(real{5})))) {
    require_equal_widths("cosine", o);
  }
  Var prepare(const Var& keys) const override { return normalised(keys); }
  Var operator()(const Var& queries, const Var& prepared, const AttentionStep&) const override {
    return multiply(batched_matmul(normalised(queries), prepared, false, true), exp(log_sharpness_));
  }
  void params(const nn::VisitParams& visit) override { visit("log_sharpness", log_sharpness_); }

 private:
  Var log_sharpness_;
};

/// Wq + b: one energy per position, whatever stands there; the paper has no bias.
class Location : public Score {
 public:
  Location(const ScoreOptions& o, Random& random)
      : longest_(require_longest(o)), energies_(o.query, longest_, random) {}
  Var prepare(const Var& keys) const override {
    require(keys.dim(1) <= longest_, "location: its weights cover ", longest_, " positions, got an input of ",
            keys.dim(1),
            "; raise its longest (score.longest) or use a score that looks at the keys, such as \"additive\"");
    return keys;
  }
  Var operator()(const Var& queries, const Var& keys, const AttentionStep&) const override {
    prepare(keys);  // a cache may have grown since
    const Var all = energies_(queries);
    return keys.dim(1) == longest_ ? all : slice(all, 2, 0, keys.dim(1));
  }
  void params(const nn::VisitParams& visit) override { visit_part(visit, "energies", energies_); }

 private:
  static int64_t require_longest(const ScoreOptions& o) {
    require(o.longest >= 1, "location: expected the most positions that an input may have (score.longest), got ",
            o.longest);
    return o.longest;
  }
  int64_t longest_;
  nn::Linear energies_;
};

/// w[j − i], the same for every input: what attention is compared with. Beyond ±radius the weight at the edge.
class Convolution : public Score {
 public:
  Convolution(const ScoreOptions& o, Random& random) : radius_(o.radius) {
    require(o.radius >= 0, "convolution: expected a radius of at least 0, got ", o.radius);
    weights_ = leaf("uniform", {2 * radius_ + 1, 1}, random);
  }
  Var operator()(const Var& queries, const Var& keys, const AttentionStep& step) const override {
    const int64_t B = queries.dim(0), Tq = queries.dim(1), Tk = keys.dim(1);
    std::vector<int32_t> offsets;
    for (int64_t i = 0; i < Tq; ++i) {
      for (int64_t j = 0; j < Tk; ++j) {
        offsets.push_back(static_cast<int32_t>(std::clamp(j - i - step.position, -radius_, radius_) + radius_));
      }
    }
    const Var one = reshape(embedding(weights_, Ids({Tq, Tk}, std::move(offsets))), {1, Tq, Tk});
    return add(one, Tensor::zeros({B, 1, 1}));
  }
  void params(const nn::VisitParams& visit) override { visit("weights", weights_); }

 private:
  int64_t radius_;
  Var weights_;
};

template <class Kind>
std::unique_ptr<Score> make(const ScoreOptions& options, Random& random) {
  return std::make_unique<Kind>(options, random);
}

std::vector<ScoreRow>& score_table() {
  static std::vector<ScoreRow> rows = with_room<ScoreRow>({
      {"dot", "qᵀk", "Luong et al. 2015, section 3.1",
       [](const ScoreOptions& o, Random&) -> std::unique_ptr<Score> { return std::make_unique<Dot>(o, false); }, false,
       true, true},
      {"scaled_dot", "qᵀk/√d", "Vaswani et al. 2017, eq. 1",
       [](const ScoreOptions& o, Random&) -> std::unique_ptr<Score> { return std::make_unique<Dot>(o, true); }, false,
       true, true},
      {"general", "qᵀWk", "Luong et al. 2015, section 3.1", make<General>},
      {"additive", "vᵀtanh(Wq + Uk + b)", "Bahdanau et al. 2015, A.1.2", make<Additive>, true},
      {"concat", "vᵀtanh(W[q;k])", "Luong et al. 2015, section 3.1", make<Concat>, true},
      {"cosine", "β·cos(q,k)", "Graves et al. 2014, eq. 5",
       [](const ScoreOptions& o, Random&) -> std::unique_ptr<Score> { return std::make_unique<Cosine>(o); }, false,
       false, true},
      {"trilinear", "wᵀ[q; k; q∘k]", "Seo et al. 2017, section 2", make<Trilinear>, false, false, true},
      {"location", "(Wq + b)ⱼ", "Luong et al. 2015, eq. 8", make<Location>},
      {"convolution", "w[j − i]", "", make<Convolution>, false, false, false, true},
      {"location_aware", "vᵀtanh(Wq + Uk + Z(F ∗ α′) + b), α′ the weights of the step before",
       "Chorowski et al. 2015, eq. 8–9", make<LocationAware>, true, false, false, false, true},
  });
  return rows;
}

}  // namespace

std::span<const ScoreRow> scores() { return score_table(); }

void add_score(const ScoreRow& row) {
  for (const ScoreRow& known : score_table()) {
    require(known.name != row.name, "add_score: expected a new name, got \"", row.name, "\", which is taken");
  }
  require(row.make != nullptr, "add_score: \"", row.name, "\" needs a function that makes it, got none");
  require(score_table().size() < score_table().capacity(), "add_score: there is room for ", score_table().capacity(),
          " scores");
  score_table().push_back(row);
}

const ScoreRow& score_named(std::string_view name) { return row_named("score", score_table(), name); }

}  // namespace attend
