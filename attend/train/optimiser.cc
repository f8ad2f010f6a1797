#include "attend/train/optimiser.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "attend/base/names.h"

namespace attend::train {
namespace {

void require_share(const char* where, const char* what, double value) {
  require(value >= 0 && value < 1, where, ": ", what, " must be at least 0 and below 1, got ", value);
}

class Sgd : public Optimiser {
 public:
  Sgd(const OptimiserOptions& options, std::vector<nn::NamedParam> parameters)
      : Optimiser("sgd", {options.momentum != 0 ? "momentum" : "", ""}, std::move(parameters)),
        rule_{.momentum = options.momentum, .decay = *options.weight_decay, .nesterov = options.nesterov} {
    require(std::isfinite(options.momentum) && options.momentum >= 0,
            "optimiser sgd: the momentum must not be negative, got ", options.momentum);
    require(!options.nesterov || options.momentum > 0,
            "optimiser sgd: Nesterov's update needs a momentum above 0, got ", options.momentum);
  }

 private:
  void update(std::span<const kernels::Update> updates, double rate, double scale) override {
    rule_.rate = rate, rule_.scale = scale;
    kernels::sgd(updates, rule_);
  }
  kernels::SgdRule rule_;
};

template <bool kDecoupled>
class Adam : public Optimiser {
 public:
  Adam(const OptimiserOptions& options, std::vector<nn::NamedParam> parameters)
      : Optimiser(kDecoupled ? "adamw" : "adam", {"m", "v"}, std::move(parameters)),
        rule_{.beta1 = options.beta1,
              .beta2 = options.beta2,
              .epsilon = *options.epsilon,
              .decay = *options.weight_decay,
              .decoupled = kDecoupled} {
    const char* where = kDecoupled ? "optimiser adamw" : "optimiser adam";
    require_share(where, "beta1", options.beta1);
    require_share(where, "beta2", options.beta2);
  }

 private:
  void update(std::span<const kernels::Update> updates, double rate, double scale) override {
    rule_.rate = rate, rule_.scale = scale;
    kernels::adam(updates, rule_);
  }
  kernels::AdamRule rule_;
};

class Adadelta : public Optimiser {
 public:
  Adadelta(const OptimiserOptions& options, std::vector<nn::NamedParam> parameters)
      : Optimiser("adadelta", {"square", "delta"}, std::move(parameters)),
        rule_{.rho = options.rho, .epsilon = *options.epsilon, .decay = *options.weight_decay} {
    require_share("optimiser adadelta", "rho", options.rho);
  }

 private:
  void update(std::span<const kernels::Update> updates, double rate, double scale) override {
    rule_.rate = rate, rule_.scale = scale;
    kernels::adadelta(updates, rule_);
  }
  kernels::AdadeltaRule rule_;
};

template <class Kind>
std::unique_ptr<Optimiser> make(const OptimiserOptions& options, std::vector<nn::NamedParam> parameters) {
  return std::make_unique<Kind>(options, std::move(parameters));
}

// r is the learning rate, λ the weight decay; the numbers are PyTorch's defaults.
constexpr OptimiserRow kOptimisers[] = {
    {"sgd", "b ← μb + g + λp, p ← p − r·b; Nesterov: p ← p − r·(g + λp + μb)",
     "Robbins & Monro 1951; momentum: Polyak 1964; Nesterov's: Sutskever et al. 2013", 1e-3, 0, 0, make<Sgd>},
    {"adam", "g ← g + λp, m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², p ← p − r·m̂/(√v̂ + ε)", "Kingma & Ba 2015, algorithm 1",
     1e-3, 1e-8, 0, make<Adam<false>>},
    {"adamw", "p ← (1 − rλ)p, m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², p ← p − r·m̂/(√v̂ + ε)",
     "Loshchilov & Hutter 2019, algorithm 2", 1e-3, 1e-8, 1e-2, make<Adam<true>>},
    {"adadelta", "g ← g + λp, s ← ρs + (1−ρ)g², Δ = √(d+ε)/√(s+ε)·g, d ← ρd + (1−ρ)Δ², p ← p − r·Δ",
     "Zeiler 2012, algorithm 1", 1, 1e-6, 0, make<Adadelta>},
};

/// The parameters that have a gradient, each once.
std::vector<Var> with_gradient(std::span<const nn::NamedParam> parameters) {
  std::vector<Var> found;
  std::unordered_set<const GradientNode*> seen;
  for (const nn::NamedParam& p : parameters) {
    if (p.var.gradient().defined() && seen.insert(p.var.slot().node()).second) found.push_back(p.var);
  }
  return found;
}

}  // namespace

Optimiser::Optimiser(std::string_view name, std::array<std::string_view, 2> kept,
                     std::vector<nn::NamedParam> parameters)
    : name_(name), kept_(kept) {
  std::unordered_set<const GradientNode*> nodes;
  std::unordered_set<std::string> names;
  for (nn::NamedParam& p : parameters) {
    require(p.var.defined(), "optimiser ", name, ": the parameter \"", p.name, "\" is undefined");
    if (!p.var.tracked() || !nodes.insert(p.var.slot().node()).second) continue;
    require(names.insert(p.name).second, "optimiser ", name, ": two parameters are called \"", p.name, "\"");
    History& history = histories_.emplace_back(Piece{parameters_.size(), 0, p.var.size()});
    steps_.push_back(0);
    for (size_t k = 0; k < kept_.size(); ++k) {
      if (!kept_[k].empty()) history.kept[k] = Tensor::zeros(p.var.shape());
    }
    parameters_.push_back(std::move(p));
  }
}

void Optimiser::step(double learning_rate, double gradient_scale) {
  require(std::isfinite(learning_rate) && learning_rate >= 0, "optimiser ", name_,
          ": the learning rate must not be negative, got ", learning_rate);
  require(std::isfinite(gradient_scale), "optimiser ", name_, ": expected a finite gradient scale, got ",
          gradient_scale);
  for (size_t i = 0; i < parameters_.size(); ++i) steps_[i] += parameters_[i].var.gradient().defined();
  std::vector<kernels::Update> updates;
  updates.reserve(histories_.size());
  for (History& history : histories_) {
    const auto [i, begin, size] = history.piece;
    Var& p = parameters_[i].var;
    if (!p.gradient().defined()) continue;
    updates.push_back({.value = p.value().data() + begin,
                       .gradient = p.gradient().data() + begin,
                       .first = history.kept[0].data(),
                       .second = history.kept[1].data(),
                       .size = size,
                       .step = steps_[i]});
  }
  update(updates, learning_rate, gradient_scale);
}

void Optimiser::clear_gradients() {
  for (nn::NamedParam& p : parameters_) p.var.clear_gradient();
}

void Optimiser::keep(std::span<const Piece> mine, Collect collect) {
  require(!collect_, "optimiser ", name_, ": expected one that keeps everything, got one that keeps pieces");
  std::vector<History> kept;
  for (const Piece& piece : mine) {
    History& history = kept.emplace_back(piece);
    for (size_t k = 0; k < kept_.size(); ++k) {
      const Tensor& whole = histories_.at(piece.parameter).kept[k];
      if (!whole.defined()) continue;
      history.kept[k] = Tensor::of({static_cast<int64_t>(piece.size)}, whole.values().subspan(piece.begin, piece.size));
    }
  }
  histories_ = std::move(kept), collect_ = std::move(collect);
}

Tensor Optimiser::collected(size_t parameter, size_t kept) const {
  Tensor whole = Tensor::zeros(parameters_[parameter].var.shape());
  for (const History& history : histories_) {
    if (history.piece.parameter != parameter) continue;
    std::copy(history.kept[kept].begin(), history.kept[kept].end(), whole.data() + history.piece.begin);
  }
  collect_(parameter, whole);
  return whole;
}

void Optimiser::state(const VisitTensor& tensor, const VisitNumber& number) {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, var] = parameters_[i];
    for (size_t k = 0; k < kept_.size(); ++k) {
      if (kept_[k].empty()) continue;
      const std::string entry = name_ + "." + std::string(kept_[k]) + "." + name;
      Tensor value = collect_ ? collected(i, k) : histories_[i].kept[k];
      tensor(entry, value);
      require(value.defined() && value.shape() == var.shape(), "optimiser: expected ", entry, " of shape ", var.shape(),
              ", got ", value.shape(), value.defined() ? "" : " (undefined)");
      if (collect_) continue;
      Tensor& own = histories_[i].kept[k] = std::move(value);
      if (!own.unique()) own = own.clone();
    }
    double steps = static_cast<double>(steps_[i]);
    const std::string entry = name_ + ".step." + name;
    number(entry, steps);
    require(steps >= 0 && steps == std::floor(steps) && steps < 0x1p53, "optimiser: expected a count of steps in ",
            entry, ", got ", steps);
    steps_[i] = static_cast<int64_t>(steps);
  }
}

std::span<const OptimiserRow> optimisers() { return kOptimisers; }

std::unique_ptr<Optimiser> make_optimiser(std::string_view name, const OptimiserOptions& options,
                                          std::vector<nn::NamedParam> parameters) {
  const OptimiserRow& row = row_named("optimiser", optimisers(), name);
  OptimiserOptions complete = options;
  complete.epsilon = options.epsilon.value_or(row.epsilon);
  complete.weight_decay = options.weight_decay.value_or(row.weight_decay);
  require(std::isfinite(*complete.epsilon) && *complete.epsilon >= 0, "optimiser ", name,
          ": epsilon must not be negative, got ", *complete.epsilon);
  require(std::isfinite(*complete.weight_decay) && *complete.weight_decay >= 0, "optimiser ", name,
          ": the weight decay must not be negative, got ", *complete.weight_decay);
  return row.make(complete, std::move(parameters));
}

double gradient_norm(std::span<const nn::NamedParam> parameters) {
  std::vector<std::span<const real>> parts;
  for (const Var& p : with_gradient(parameters)) parts.push_back(p.gradient().values());
  return std::sqrt(kernels::sum_of_squares(parts));
}

std::vector<Piece> pieces_of(std::span<const nn::NamedParam> parameters) {
  constexpr size_t kMost = size_t{64} << 10;
  std::vector<Piece> pieces;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const size_t size = parameters[i].var.size();
    for (size_t begin = 0; begin < size; begin += kMost) pieces.push_back({i, begin, std::min(kMost, size - begin)});
  }
  return pieces;
}

double squares_of(std::span<const nn::NamedParam> parameters, const Piece& piece) {
  const std::span<const real> part =
      parameters[piece.parameter].var.gradient().values().subspan(piece.begin, piece.size);
  return kernels::sum_of_squares(std::span(&part, 1));
}

double clip_scale(double norm, double most) {
  require(most > 0, "clip_scale: the largest norm must be positive, got ", most);
  return std::isfinite(norm) ? std::min(1.0, most / (norm + 1e-6)) : 1.0;
}

double clip_norm(std::span<const nn::NamedParam> parameters, double most) {
  const double norm = gradient_norm(parameters), scale = clip_scale(norm, most);
  if (scale == 1) return norm;
  std::vector<std::span<real>> parts;
  // A shared gradient is copied first, and only the copy is scaled.
  for (const Var& p : with_gradient(parameters)) parts.push_back(p.slot().buffer().values());
  kernels::scale(parts, static_cast<real>(scale));
  return norm;
}

}  // namespace attend::train
