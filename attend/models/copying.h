// Copying for decoders: a word is said from the vocabulary or copied from the source, and a gate decides how likely each
// is (See et al. 2017).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/autograd/ops/copy.h"
#include "attend/models/encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

/// What N answers may copy from their sources.
struct CopiedWords {
  Ids ids;            ///< [N,S]: what copying a place says; −1: nothing
  int64_t words = 0;  ///< V, and those beyond it that some source has

  CopiedWords() = default;
  /// Of `encoded`, where answer n reads source source_of[n] (empty: source n), beside a vocabulary of that size.
  CopiedWords(const Encoded& encoded, std::span<const int32_t> source_of, int64_t vocabulary);
  /// Keeps these rows, in that order.
  void take(std::span<const int32_t> rows);
  /// Appends those of others; from now on there are so many places.
  void join(const CopiedWords& other, int64_t places);
};

/// p = σ(w_c·c + w_s·s + w_x·x + b), with the context c that was read, the decoder's state s and the word x before (See et
/// al. 2017, eq. 8).
class CopyGate {
 public:
  /// Widths of c, s and x.
  CopyGate(int64_t context, int64_t state, int64_t word, Random& random);
  /// [..,·] each → [..,1], before σ.
  Var operator()(const Var& context, const Var& state, const Var& word) const;
  void params(const nn::VisitParams& visit);

 private:
  nn::Linear context_, state_, word_;
};

/// ids, with kUnknown for words outside the vocabulary: what a decoder reads of what it has copied.
std::vector<int32_t> as_read(std::span<const int32_t> ids, int64_t vocabulary);

}  // namespace attend::models
