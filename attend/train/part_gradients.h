// The gradients of an update, part by part. An update reads `parts` × `accumulate` batches. Each part has random numbers of its own
// and adds up the gradients of its batches; the parts are then added in a fixed tree. So it does not matter which rank computes
// which part, or whether one does so for all of them, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/data/batch.h"
#include "attend/models/model.h"
#include "attend/train/exchange.h"

namespace attend::train {

/// How an update is cut, and who computes it.
struct Division {
  int64_t parts = 1, accumulate = 1;
  bool overlap = true;  ///< gradients are sent while the backward pass still runs

  int64_t batches() const { return parts * accumulate; }
};

/// What an update has learned, before its step is taken: everybody's.
struct Learned {
  double tokens = 0, loss = 0, norm = 0;
};

class PartGradients {
 public:
  using Counted = std::function<int64_t(const data::Batch& batch)>;

  PartGradients(Company& company, const Division& division, models::Model& model, Optimiser& optimiser,
                Counted counted);

  /// The parts of an update that this rank computes.
  Share share() const { return share_of(company_.rank(), company_.size(), division_.parts); }
  /// Leaves the gradient of the whole update in the parameters (of what this rank takes the step of, if there are several), scaled
  /// to the mean over all that is counted. `batches`: those of its parts, one after the other. A single part draws from `training`.
  Learned learn(std::span<const data::Batch> batches, models::Training& training);
  /// Before the first update.
  void set_overlap(bool overlap) { division_.overlap = overlap; }
  /// To be called after the optimiser's step.
  void share_weights();
  const ExchangeCost& cost() const;

 private:
  std::vector<double> counts(std::span<const data::Batch> batches) const;
  void begin_exchange(const data::Batch& batch, const models::Training& training);
  std::vector<size_t> order_of_finals(const data::Batch& batch, models::Training training);
  double learn_part(int64_t part, std::span<const data::Batch> batches, std::span<const double> shares,
                    models::Training& training, bool last);
  void take_gradient(int64_t part, size_t parameter);
  double total_norm();
  std::vector<double> running() const;
  void set_running(std::span<const double> values);

  Company& company_;
  Division division_;
  models::Model& model_;
  Optimiser& optimiser_;
  Counted counted_;
  std::vector<Var> leaves_;
  std::vector<Var> running_;  // constants that a network changes itself: the running averages of its rewards
  std::vector<GradientSum> sums_;
  std::unique_ptr<GradientExchange> exchange_;  // of several ranks
};

}  // namespace attend::train
