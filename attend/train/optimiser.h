// Optimisers: gradients → steps of the parameters, by PyTorch's conventions (torch.optim), in one fused pass.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/kernels/optimise.h"
#include "attend/nn/layer.h"
#include "attend/train/schedule.h"

namespace attend::train {

/// Each method reads only what its formula names.
struct OptimiserOptions {
  double momentum = 0;  // μ
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double rho = 0.9;
  std::optional<double> epsilon = {};  // ε and λ; if not given, the method's own from the table
  std::optional<double> weight_decay = {};
};

/// Visits a tensor that must survive a restart.
using VisitTensor = std::function<void(const std::string& name, Tensor& value)>;

/// A stretch of a parameter, by its place among the optimiser's.
struct Piece {
  size_t parameter = 0, begin = 0, size = 0;
};
/// All of them cut into pieces of at most 64 Ki numbers, however many ranks share them out.
std::vector<Piece> pieces_of(std::span<const nn::NamedParam> parameters);

class Optimiser {
 public:
  virtual ~Optimiser() = default;

  /// One step of every parameter that has a gradient; the others, and their step counts, stay as they are.
  /// The gradients are multiplied by `gradient_scale`: clip_scale(gradient_norm(…), most) clips without rewriting them.
  void step(double learning_rate, double gradient_scale = 1);
  void clear_gradients();

  /// Completes `whole`, into which this rank has put its own pieces of what is kept of a parameter. All ranks call it together.
  using Collect = std::function<void(size_t parameter, Tensor& whole)>;
  /// From here on only these pieces are updated, and remembered; the others belong to other ranks. A state can be read no more,
  /// and is whole only where `collect` makes it so.
  void keep(std::span<const Piece> mine, Collect collect);

  /// Visits what a checkpoint must keep: "adam.m.<parameter>" (a tensor), "adam.step.<parameter>" (a count). If a
  /// visitor writes back what it saw earlier, the next steps are the same bit for bit; if it keeps a tensor, that is a
  /// copy.
  void state(const VisitTensor& tensor, const VisitNumber& number);

  /// What is trained: constants are left out, and a parameter that two layers share appears once, under its first name.
  const std::vector<nn::NamedParam>& parameters() const { return parameters_; }

 protected:
  /// `kept` names what the method remembers of each parameter, "" if it needs less.
  Optimiser(std::string_view name, std::array<std::string_view, 2> kept, std::vector<nn::NamedParam> parameters);

 private:
  virtual void update(std::span<const kernels::Update> updates, double rate, double scale) = 0;

  /// What is remembered of a piece, of a whole parameter in its shape.
  struct History {
    Piece piece;
    std::array<Tensor, 2> kept;
  };
  Tensor collected(size_t parameter, size_t kept) const;
  std::string name_;
  std::array<std::string_view, 2> kept_;
  std::vector<nn::NamedParam> parameters_;
  std::vector<History> histories_;  // of each parameter, until keep()
  std::vector<int64_t> steps_;      // of each parameter
  Collect collect_;
};

struct OptimiserRow {
  std::string_view name, formula, paper;
  double learning_rate;          // the usual one to start with
  double epsilon, weight_decay;  // used if the options do not set them
  std::unique_ptr<Optimiser> (*make)(const OptimiserOptions& options, std::vector<nn::NamedParam> parameters);
};
/// The menu: help, option checks and tests iterate over it.
std::span<const OptimiserRow> optimisers();
/// The optimiser of that name; throws Error for an unknown one or for options that it cannot use.
std::unique_ptr<Optimiser> make_optimiser(std::string_view name, const OptimiserOptions& options,
                                          std::vector<nn::NamedParam> parameters);

/// √(Σ g²) over all gradients, summed in double precision in a fixed order.
double gradient_norm(std::span<const nn::NamedParam> parameters);
/// Σ g² over a piece.
double squares_of(std::span<const nn::NamedParam> parameters, const Piece& piece);
/// min(1, most/(norm + 1e-6)), as in PyTorch; 1 for a norm that is not finite, which the caller must deal with.
double clip_scale(double norm, double most);
/// Scales the gradients so that their norm is at most `most` (Pascanu et al. 2013, algorithm 1). Returns the norm
/// before scaling; if it is not finite, nothing is scaled.
double clip_norm(std::span<const nn::NamedParam> parameters, double most);

}  // namespace attend::train
