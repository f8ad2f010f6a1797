// The demo's network: an LSTM encoder–decoder with dot-product attention that spells words backwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/nn/layers.h"
#include "attend/nn/recurrent.h"

namespace attend::cli {

class Reverser {
 public:
  static constexpr int64_t kLetters = 26, kBegin = 26, kWords = 27, kSize = 96;
  static constexpr size_t kLongest = 12;

  explicit Reverser(Random& random);
  void params(const nn::VisitParams& visit);

  /// Mean cross-entropy of the reversed words under teacher forcing; all words of one length.
  Var loss(const std::vector<std::string>& words) const;

  struct Result {
    std::string text;
    std::vector<std::vector<real>> weights;  // output letter × input letter
  };
  /// Letter by letter, the likeliest each time. The word must be a–z, at most kLongest letters.
  Result operator()(const std::string& word) const;

  void save(const std::filesystem::path& path);
  void load(const std::filesystem::path& path);

 private:
  struct Attended {
    Var logits, weights;
  };
  /// states [B,T,H] over memory [B,S,2H]: weights = softmax(states·keysᵀ), logits from [state; context].
  Attended attend(const Var& states, const Var& memory) const;

  nn::Embedding letters_;
  nn::Recurrent encoder_, decoder_;
  nn::Linear bridge_, keys_, output_;
};

}  // namespace attend::cli
