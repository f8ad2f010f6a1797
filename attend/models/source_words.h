// Gives access to the source words, to see what a loss depends on, word by word.
#pragma once

#include "attend/autograd/var.h"

namespace attend::models {

/// While it lives, the networks of this thread read their embedded source words through a probe whose gradient shows
/// what their loss depended on. Every network passes its words through `seen`, so this works with all of them.
class SourceWords {
 public:
  SourceWords();
  ~SourceWords();
  SourceWords(const SourceWords&) = delete;
  SourceWords& operator=(const SourceWords&) = delete;

  /// Words [B,S,D], or by time [S,B,D]; the same values, and the very same Var if there is no observer.
  static Var seen(Var words, bool by_time);

  /// From the last forward pass: words and, after a backward pass, their gradient, [B,S,D]. A network that reads source
  /// and target as one sequence has both in S. Throws Error if no network has shown its words.
  Tensor words() const;
  Tensor gradient() const;

 private:
  Tensor by_sentence(const Tensor& t) const;

  Var probe_;
  bool by_time_ = false;
  SourceWords* outer_;
};

}  // namespace attend::models
