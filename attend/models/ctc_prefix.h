// CtcPrefix: a network with blanks as a decoder. CTC also gives a probability to each continuation of a prefix of
// labels, so a search that grows answers label by label can use it, alone or beside a decoder with attention.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend::models {

/// Prefix probabilities of one sequence (Graves 2008, prefix search; Watanabe et al. 2017, label-synchronous):
///   ψ(g)   = probability of all labellings that begin with g,    ψ() = 1
///   p(c|g) = ψ(g·c)/ψ(g),    p(end|g) = p_ctc(g)/ψ(g),    which sum to one over c ≠ blank and the end.
/// So the product of p over a whole labelling with its end is p_ctc of it, that is e^−ctc_loss.
class CtcPrefix {
 public:
  /// One hypothesis g. r[t]: log-probability that the first t frames say exactly g, by its last frame; t = 0 … T.
  struct State {
    std::vector<double> r_nonblank, r_blank;
    int32_t last = -1;      ///< last label of g; −1: g is empty
    double log_prefix = 0;  ///< ln ψ(g)
  };

  /// log_probabilities [T,V], or logits: a softmax is applied to them.
  CtcPrefix(const Tensor& log_probabilities, int32_t blank);

  int64_t labels() const { return labels_; }
  int32_t blank() const { return blank_; }

  /// The empty prefix.
  State begin() const;
  /// ln p(c|g) for every label c [V]; in place of the blank, which is not a label, that of the end. O(T·V).
  std::vector<double> scores(const State& state) const;
  /// g·c. O(T).
  State advance(const State& state, int32_t label) const;

 private:
  double log_p(int64_t t, int32_t label) const { return log_p_[static_cast<size_t>(t * labels_ + label)]; }
  /// Per frame t: ln of the probability that the frames before it say g and that a label starts at t; `again`: the last
  /// label of g repeated, which takes a blank in between.
  std::vector<double> starts(const State& state, bool again) const;

  int64_t frames_, labels_;
  int32_t blank_;
  std::vector<double> log_p_, p_;  // [T,V]
};

}  // namespace attend::models
