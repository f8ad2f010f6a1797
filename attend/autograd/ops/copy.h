// Copying: a word is said from the vocabulary, or by pointing at a place of the source where it stands.
#pragma once

#include "attend/autograd/var.h"

namespace attend {

/// What follows at T steps of N answers (See et al. 2017, eq. 9):
///   P(w) = p·softmax(logits)[w] + (1 − p)·Σ aₛ over the places s that say w, p = σ(gate).
/// Words from V on are outside the vocabulary: they can only be copied.
struct CopyMixture {
  Var logits;            ///< [T,N,V] if `by_time`, otherwise [N,T,V]
  Var gate;              ///< one number for each row of the logits
  Var weights;           ///< [N,T,S], a ≥ 0
  Ids words;             ///< [N,S]: what copying a place says; −1: nothing
  bool by_time = false;
};

/// Mean of −ln P(target) over the targets, laid out like the rows of the logits, that are not `ignored` → scalar (0 if
/// none counts). The sum is taken of logarithms; of the mixture nothing but P(target) is computed. A word that is neither
/// known nor copied has the probability 1e-30·(1 − p).
Var copy_loss(const CopyMixture& mixture, const Ids& targets, int32_t ignored = -1);

/// ln P of `words` words: [..,words], laid out like the logits; −∞ for those that can be neither said nor copied. Not
/// recorded.
Tensor copy_log_probabilities(const CopyMixture& mixture, int64_t words);

/// The share of P(target) that copying gives it, (1 − p)·Σ aₛ / P(target), laid out like the targets; 0 where a target is
/// ignored. Not recorded.
Tensor copied_shares(const CopyMixture& mixture, const Ids& targets, int32_t ignored = -1);

}  // namespace attend
