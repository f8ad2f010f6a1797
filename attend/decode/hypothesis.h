// Hypotheses: what a search hands out, and how it remembers the ones that it is still growing.
#pragma once

#include <cstdint>
#include <vector>

namespace attend::decode {

/// One answer to one source.
struct Hypothesis {
  std::vector<int32_t> tokens;                  ///< without kBegin and kEnd
  double score = 0;                             ///< what the list is sorted by: log_probability after penalties
  double log_probability = 0;                   ///< ln p(tokens | source), with the kEnd where it was said
  std::vector<double> token_log_probabilities;  ///< one per prediction, so one more than tokens where kEnd was said
  bool ended = false;                           ///< kEnd was said, or the fixed length reached
  int32_t node = -1;                            ///< its last prediction, as a SearchWatcher was told of it
};

/// One prediction of a search, as it is made.
struct Predicted {
  enum class Fate { grown, ended, cut, passed };  ///< goes on; says the end; reached the longest; is not kept
  int32_t sentence;
  int32_t row;           ///< of the batch of this step: what that row looked at led to it
  int32_t node, before;  ///< this prediction and the one before it; −1: not kept, the beginning
  int32_t token;
  double log_probability, total;  ///< of the token; of all that was said
  Fate fate;
};

/// Told what a search does. What it throws ends the search.
class SearchWatcher {
 public:
  virtual ~SearchWatcher() = default;
  virtual void predicted(const Predicted& prediction) = 0;
  /// The hypothesis that ends with this prediction (−1: that says nothing) is complete, and may become an answer.
  virtual void completed(int32_t /*node*/) {}
  /// All sentences have taken one more step.
  virtual void stepped() {}
};

/// All that was ever said in a search, as a tree: hypotheses share what they have in common, and to split one costs
/// nothing. A hypothesis is the place of its last prediction; −1 has said nothing yet.
class History {
 public:
  int32_t say(int32_t before, int32_t token, double log_probability) {
    said_.push_back({before, token, log_probability});
    return static_cast<int32_t>(said_.size()) - 1;
  }
  /// What a hypothesis said, first to last, into vectors that are overwritten.
  void read(int32_t last, std::vector<int32_t>& tokens, std::vector<double>* log_probabilities = nullptr) const;

 private:
  struct Said {
    int32_t before, token;
    double log_probability;
  };
  std::vector<Said> said_;
};

}  // namespace attend::decode
