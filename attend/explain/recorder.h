// A recorder: observes a search and every attention inside it, and reports afterwards what each answer looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/observe.h"
#include "attend/base/error.h"
#include "attend/decode/search.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// More weights than the limit allows.
class TooLarge : public Error {
 public:
  using Error::Error;
};

struct RecorderOptions {
  bool weights = true;  ///< false: only which attentions there are, not what they did
  size_t numbers = 0;   ///< most weights kept at any time; beyond that TooLarge is thrown; 0: any
};

/// Records one search over a batch. Weights are kept with the prediction that they led to, for as long as it may be
/// part of an answer; those of an answer are assembled from its predictions, whatever beams they were in.
class Recorder : public Sink, public decode::SearchWatcher {
 public:
  /// `stepped`: called after each step of the search.
  explicit Recorder(std::function<void(const Recorder&)> stepped = {}, const RecorderOptions& options = {})
      : options_(options), stepped_(std::move(stepped)) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void observe(const Observation& observation) override;
  void predicted(const decode::Predicted& prediction) override;
  void completed(int32_t node) override;
  void stepped() override;
  /// Number of weights kept now.
  size_t numbers() const { return numbers_; }

  /// What every attention did for the answer whose last prediction is `node` (Hypothesis::node): [heads,Tq,Tk] of that
  /// sentence, without padding.
  std::vector<TraceSite> sites(int32_t sentence, int32_t node, int64_t source_length) const;
  /// All predictions of one sentence; `place_of` gives the index of a hypothesis' node. Token texts are left empty.
  std::vector<TraceNode> tree(int32_t sentence) const;
  /// Index of a search's node in tree().
  int32_t place_of(int32_t node) const;
  /// The ids of the likeliest hypothesis that is still growing, or of the last one that ended.
  std::vector<int32_t> likeliest(int32_t sentence) const;
  /// The search's numbers of the predictions up to and including a node, first to last.
  std::vector<int32_t> chain(int32_t node) const;
  /// The continuations of `before` in a sentence (−1: of the beginning), likeliest first: ids.
  std::vector<int32_t> continuations(int32_t sentence, int32_t before) const;

 private:
  struct Kept {  // one observation
    std::string site;
    Purpose purpose;
    int64_t layer, step, heads, queries, keys;
    Tensor weights, centres;  // undefined if not recorded
    int64_t reach;
    bool hard;
    std::vector<int32_t> lengths;

    int64_t length(int32_t row) const { return lengths.empty() ? keys : lengths[static_cast<size_t>(row)]; }
    bool same_site(const Kept& other) const { return site == other.site && layer == other.layer; }
    /// A description without weights, which are filled in later.
    TraceSite described(std::string queries, std::string keys) const;
  };
  using Whole = std::vector<Kept>;  // one attention, as it was reported: at once, or place by place
  struct Glance {             // what one row of the search saw of one attention
    Tensor weights, centres;  // [heads,keys], [heads]
    int64_t keys;
  };
  struct Seen {                   // everything that one row saw
    std::vector<Glance> glances;  // in the order of `shapes_`
    size_t numbers = 0;
    size_t& kept;
    ~Seen() { kept -= numbers; }
  };
  struct Node {
    decode::Predicted said;
    int64_t step;
    int32_t place;                     // in its sentence's tree
    std::shared_ptr<const Seen> seen;  // by the row that led to it; shared with its siblings
    int32_t children = 0;              // that may be part of an answer
    bool complete = false;
  };

  const Node& node_of(int32_t node) const;
  Node* kept_node(int32_t node);
  std::vector<int32_t> path(int32_t node) const;
  void keep(size_t numbers);
  std::shared_ptr<const Seen> seen_by(int32_t row);
  void forget(int32_t node);
  static TraceSite whole(const Whole& parts, int32_t sentence, int64_t source_length, int64_t steps);
  TraceSite stepwise(size_t number, const std::vector<int32_t>& path, int64_t source_length) const;

  const RecorderOptions options_;
  size_t numbers_ = 0;
  std::vector<Whole> whole_;  // what was read before the first step: rows are sentences
  std::vector<Kept> now_;     // of this step: rows are those of the search
  std::vector<Kept> shapes_;  // of the first step, without weights: every step reports the same attentions
  std::vector<std::shared_ptr<const Seen>> rows_;  // of this step
  std::vector<int32_t> growing_, grown_;  // the search's numbers of those that grew in the last step, in this one
  std::vector<Node> nodes_;               // as reported; passed ones too
  std::vector<int32_t> by_number_;        // the search's number → place in nodes_
  std::vector<int32_t> counts_;           // by sentence: nodes so far
  int64_t step_ = 0;
  std::function<void(const Recorder&)> stepped_;
};

}  // namespace attend::explain
