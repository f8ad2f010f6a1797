// Hypotheses: what a search returns, and how it remembers the ones that it is still growing.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace attend::decode {

/// One answer to one source.
struct Hypothesis {
  std::vector<int32_t> tokens;                  ///< without kBegin and kEnd
  double score = 0;                             ///< what the list is sorted by: log_probability after penalties
  double log_probability = 0;                   ///< ln p(tokens | source), including kEnd if it was predicted
  std::vector<double> token_log_probabilities;  ///< one per prediction, so one more than tokens if kEnd was predicted
  double raw = 0;                               ///< the model's own score of it, not normalised (Model::best); 0: it gave none
  bool ended = false;                           ///< kEnd was predicted, or the fixed length reached
  int32_t node = -1;                            ///< its last prediction, as reported to a SearchWatcher
};

/// One prediction of a search, as it is made.
struct Predicted {
  enum class Fate { grown, ended, cut, passed };  ///< continues; predicts the end; reached the longest; is not kept
  int32_t sentence;
  int32_t row;           ///< in the batch of this step: what that row looked at led to it
  int32_t node, before;  ///< this prediction and the one before it; −1: not kept, the beginning
  int32_t token;
  double log_probability, total;  ///< of the token; of everything so far
  Fate fate;
};

/// Is notified of what a search does. If it throws, the search ends.
class SearchWatcher {
 public:
  virtual ~SearchWatcher() = default;
  virtual void predicted(const Predicted& prediction) = 0;
  /// The hypothesis that ends with this prediction (−1: the empty one) is complete, and may become an answer.
  virtual void completed(int32_t /*node*/) {}
  /// All sentences have taken one more step.
  virtual void stepped() {}
};

/// Calls a function after each step, and keeps nothing.
class StepWatcher : public SearchWatcher {
 public:
  explicit StepWatcher(std::function<void()> stepped) : stepped_(std::move(stepped)) {}
  void predicted(const Predicted&) override {}
  void stepped() override { stepped_(); }

 private:
  std::function<void()> stepped_;
};

/// All predictions of a search, as a tree: hypotheses share what they have in common, and splitting one costs nothing.
/// A hypothesis is the index of its last prediction; −1 is the empty one.
class History {
 public:
  int32_t say(int32_t before, int32_t token, double log_probability) {
    said_.push_back({before, token, log_probability});
    return static_cast<int32_t>(said_.size()) - 1;
  }
  /// The tokens of a hypothesis, first to last, into vectors that are overwritten.
  void read(int32_t last, std::vector<int32_t>& tokens, std::vector<double>* log_probabilities = nullptr) const;

 private:
  struct Said {
    int32_t before, token;
    double log_probability;
  };
  std::vector<Said> said_;
};

}  // namespace attend::decode
