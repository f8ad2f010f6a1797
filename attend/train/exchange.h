// How the gradients of several ranks become one step of the weights: each sends its own to whoever keeps the optimiser's state of
// that stretch, who adds them in a fixed tree, takes the step, and gives the new weights to all (the sharding of Rajbhandari et
// al. 2020, "ZeRO", stage 1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/nn/layer.h"
#include "attend/train/company.h"
#include "attend/train/optimiser.h"
#include "attend/train/tree_sum.h"

namespace attend::train {

/// What it costs, of all updates so far.
struct ExchangeCost {
  int64_t updates = 0;
  double bytes = 0;      ///< sent by this rank
  double gradients = 0;  ///< seconds of waiting for the gradients of others, after its own backward pass
  double weights = 0;    ///< seconds in which new weights were given to all
};

/// A sum of gradients: undefined where there is none.
using GradientSum = TreeSum<Tensor>;
void add_gradients(Tensor& left, Tensor&& right);

class GradientExchange {
 public:
  /// `order`: in which gradients are expected to become final. `overlap`: each is sent as soon as it is, rather than all at the end.
  GradientExchange(Company& company, int64_t parts, std::vector<nn::NamedParam> parameters,
                   std::span<const size_t> order, bool overlap);

  /// The stretches of which this rank keeps the optimiser's state.
  std::vector<Piece> mine() const;
  /// Optimiser::Collect: complete on the rank that leads.
  void collect(size_t parameter, Tensor& whole);

  /// An update begins: from here on others may send.
  void begin();
  /// The gradient of a parameter is final, and added up over the parts of this rank.
  void add(size_t parameter, std::span<const GradientSum::Node> nodes);
  /// Lets what is under way go on.
  void poke() { company_.poke(); }
  /// Once all have been added: the gradients of this rank's stretches are those of all parts, and a parameter has one where any
  /// part had. `of_parts` has the same number of values for each part, and gets those of the other ranks. Returns their norm.
  double finish(std::span<double> of_parts);
  /// After the optimiser's step: everybody's weights become the same.
  void share_weights();

  const ExchangeCost& cost() const { return cost_; }

 private:
  struct Bucket {
    int owner = 0;
    std::vector<size_t> pieces;
    size_t size = 0;     // numbers in them
    size_t missing = 0;  // pieces that are not final yet
    std::vector<real> sent;
    std::vector<std::vector<real>> received;  // by rank
    std::vector<Company::Transfer> coming;
    size_t stride() const { return size + pieces.size(); }  // of a node: its numbers, then whether each piece is there
  };
  void make_buckets(std::span<const size_t> order);
  void send(size_t bucket);
  void sum(Bucket& bucket);
  void sum_piece(const Bucket& bucket, size_t place, size_t offset);
  double agree(std::span<double> of_parts);
  double timed_wait(std::span<const Company::Transfer> transfers);
  bool is_mine(const Bucket& bucket) const { return bucket.owner == company_.rank(); }

  Company& company_;
  int64_t parts_;
  std::vector<nn::NamedParam> parameters_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<size_t>> pieces_of_;  // of each parameter
  std::vector<size_t> bucket_of_, offset_of_;   // of each piece
  std::vector<Bucket> buckets_;
  std::vector<std::vector<Share>> nodes_;  // of each rank
  std::vector<double> squares_;            // of each piece that is mine; below 0: no part has it
  std::vector<Company::Transfer> sending_;
  bool overlap_;
  ExchangeCost cost_;
};

}  // namespace attend::train
