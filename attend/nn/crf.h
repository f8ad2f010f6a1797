// A conditional random field over the labels of a sequence, on top of any network that scores each place.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/ops/crf.h"
#include "attend/nn/layer.h"

namespace attend::nn {

/// p(y) ∝ e^(start[y₀] + Σₜ eₜ[yₜ] + Σₜ A[yₜ,yₜ₊₁] + end[y_T₋₁]) over emissions [B,T,L] (Lafferty et al. 2001; on a network,
/// Collobert et al. 2011). Its scores start at 0, which makes it a separate softmax at each place.
class Crf {
 public:
  explicit Crf(int64_t labels);

  /// −ln p(tags | given) of each sequence, [B]; see crf_loss.
  Var loss(const Var& emissions, const Ids& tags, const std::vector<int32_t>& lengths, const Ids& given = {}) const;
  /// The likeliest labels of each sequence as a whole.
  std::vector<std::vector<int32_t>> best(const Tensor& emissions, const std::vector<int32_t>& lengths) const;
  /// [B,T,L]: the score of label j at place t together with everything that may follow it, so that
  /// p(yₜ = j | y₀ … yₜ₋₁) = softmaxⱼ(A[yₜ₋₁,j] + outlook[t,j]), and start[j] in place of A at t = 0. 0 past the end.
  Tensor outlook(const Tensor& emissions, const std::vector<int32_t>& lengths) const;
  /// [L]: what label `before` adds to the score of each next label; −1 stands for the start of the sequence.
  const real* onward(int32_t before) const;

  void params(const VisitParams& visit);

 private:
  CrfWeights weights_;
};

}  // namespace attend::nn
