#include "attend/train/part_gradients.h"

#include <cmath>
#include <utility>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::train {
namespace {

/// A part's own random numbers: a function of the update and the part, never of who computes it.
models::Training training_of(const models::Training& training, int64_t part) {
  constexpr int64_t kMostParts = 1 << 20;
  models::Training own = training;
  own.random =
      Random(training.random.seed(), static_cast<uint64_t>(training.update * kMostParts + part)).named("training part");
  return own;
}

}  // namespace

PartGradients::PartGradients(Company& company, const Division& division, models::Model& model, Optimiser& optimiser,
                             Counted counted)
    : company_(company), division_(division), model_(model), optimiser_(optimiser), counted_(std::move(counted)) {
  constexpr size_t kFew = 16;  // running averages are single numbers; frozen weights are more
  require_option(division_.parts >= company_.size(), "parts", "expected at least one for each of the ", company_.size(),
                 " ranks, got ", division_.parts);
  for (const nn::NamedParam& p : optimiser_.parameters()) leaves_.push_back(p.var);
  for (const nn::NamedParam& p : nn::parameters(model_)) {
    if (!p.var.tracked() && p.var.size() <= kFew) running_.push_back(p.var);
  }
  sums_.assign(leaves_.size(), GradientSum(division_.parts));
}

std::vector<double> PartGradients::counts(std::span<const data::Batch> batches) const {
  std::vector<double> mine;
  for (const data::Batch& batch : batches) mine.push_back(static_cast<double>(counted_(batch)));
  std::vector<int> of_ranks;
  for (int r = 0; r < company_.size(); ++r) {
    const Share share = share_of(r, company_.size(), division_.parts);
    of_ranks.push_back(static_cast<int>(share.size() * division_.accumulate));
  }
  return company_.gathered(mine, of_ranks);
}

/// The order in which gradients become final, from a pass that leaves no trace: later ones are sent in it.
std::vector<size_t> PartGradients::order_of_finals(const data::Batch& batch, models::Training training) {
  const std::vector<double> before = running();
  std::vector<size_t> order;
  FinalGradients finals(leaves_, [&](size_t leaf) { order.push_back(leaf); });
  Tape tape;
  tape.backward(model_.loss(batch, &training), {}, &finals);
  optimiser_.clear_gradients();
  set_running(before);
  return order;
}

void PartGradients::begin_exchange(const data::Batch& batch, const models::Training& training) {
  std::vector<size_t> order = order_of_finals(batch, training);
  company_.wait(company_.broadcast(std::as_writable_bytes(std::span(order)), 0));
  exchange_ =
      std::make_unique<GradientExchange>(company_, division_.parts, optimiser_.parameters(), order, division_.overlap);
  optimiser_.keep(exchange_->mine(), [this](size_t parameter, Tensor& whole) { exchange_->collect(parameter, whole); });
}

std::vector<double> PartGradients::running() const {
  std::vector<double> values;
  for (const Var& one : running_) values.insert(values.end(), one.value().begin(), one.value().end());
  return values;
}

void PartGradients::set_running(std::span<const double> values) {
  size_t at = 0;
  for (Var& one : running_) {
    for (real& x : one.value().values()) x = static_cast<real>(values[at++]);
  }
}

/// A part's gradient joins the sum of those before it.
void PartGradients::take_gradient(int64_t part, size_t parameter) {
  sums_[parameter].push({part, part + 1}, leaves_[parameter].gradient(), add_gradients);
}

/// The loss of a part, as its share of the whole. With the last one of a rank, sums are sent as soon as they are complete.
double PartGradients::learn_part(int64_t part, std::span<const data::Batch> batches, std::span<const double> shares,
                                 models::Training& training, bool last) {
  double loss = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    std::optional<FinalGradients> finals;
    if (exchange_ && last && i + 1 == batches.size()) {
      finals.emplace(
          leaves_,
          [&](size_t leaf) {
            take_gradient(part, leaf);
            exchange_->add(leaf, sums_[leaf].nodes());
            sums_[leaf].nodes().clear();
          },
          [&] { exchange_->poke(); });
    }
    Tape tape;
    const Var objective = model_.loss(batches[i], &training);
    tape.backward(objective, Tensor::full({}, static_cast<real>(shares[i])), finals ? &*finals : nullptr);
    loss += shares[i] * static_cast<double>(objective.item());
  }
  if (division_.parts == 1 || (exchange_ && last)) return loss;
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) take_gradient(part, leaf);
  optimiser_.clear_gradients();
  return loss;
}

/// Of one rank alone: the sums become the gradients; their norm is summed as several ranks do.
double PartGradients::total_norm() {
  if (division_.parts == 1) return gradient_norm(optimiser_.parameters());
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    Tensor total = std::move(sums_[leaf].nodes().at(0).value);
    sums_[leaf].nodes().clear();
    if (total.defined()) leaves_[leaf].slot().add(std::move(total));
  }
  double squares = 0;
  for (const Piece& piece : pieces_of(optimiser_.parameters())) {
    if (leaves_[piece.parameter].gradient().defined()) squares += squares_of(optimiser_.parameters(), piece);
  }
  return std::sqrt(squares);
}

Learned PartGradients::learn(std::span<const data::Batch> batches, models::Training& training) {
  if (!exchange_ && !company_.alone()) begin_exchange(batches.front(), training_of(training, share().begin));
  Learned learned;
  std::vector<double> shares = counts(batches);
  for (const double count : shares) learned.tokens += count;
  for (double& share : shares) share /= learned.tokens;
  const auto accumulate = static_cast<size_t>(division_.accumulate);
  const std::vector<double> before = running();
  const size_t each = 1 + before.size();  // of a part: its loss, and what it made of the running averages
  std::vector<double> of_parts(static_cast<size_t>(division_.parts) * each);
  if (exchange_) exchange_->begin();
  for (int64_t part = share().begin; part < share().end; ++part) {
    const auto own = static_cast<size_t>(part - share().begin);
    models::Training drawn = training_of(training, part);
    if (division_.parts > 1) set_running(before);
    double* values = of_parts.data() + static_cast<size_t>(part) * each;
    values[0] = learn_part(part, batches.subspan(own * accumulate, accumulate),
                           std::span(shares).subspan(static_cast<size_t>(part) * accumulate, accumulate),
                           division_.parts > 1 ? drawn : training, part + 1 == share().end);
    const std::vector<double> after = running();
    std::copy(after.begin(), after.end(), values + 1);
  }
  learned.norm = exchange_ ? exchange_->finish(of_parts) : total_norm();
  std::vector<double> means(each, 0.0);
  for (size_t i = 0; i < of_parts.size(); ++i) means[i % each] += of_parts[i];
  learned.loss = means[0];
  if (division_.parts == 1) return learned;
  for (double& mean : means) mean /= static_cast<double>(division_.parts);
  set_running(std::span(means).subspan(1));
  return learned;
}

void PartGradients::share_weights() {
  if (exchange_) exchange_->share_weights();
}

const ExchangeCost& PartGradients::cost() const {
  static const ExchangeCost none;
  return exchange_ ? exchange_->cost() : none;
}

}  // namespace attend::train
