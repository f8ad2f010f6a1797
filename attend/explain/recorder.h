// A recorder: listens to a search and to every attention inside it, and says afterwards what each answer looked at.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attend/attention/observe.h"
#include "attend/decode/search.h"
#include "attend/explain/trace.h"

namespace attend::explain {

/// Of one search over a batch. Weights are kept as they were told, by step; an answer's are put together from the rows that
/// led to each of its predictions, whatever beams they lived in.
class Recorder : public Sink, public decode::SearchWatcher {
 public:
  /// `stepped`: called after each step of the search.
  explicit Recorder(std::function<void(const Recorder&)> stepped = {}) : told_(std::move(stepped)) {}

  void observe(const Observation& observation) override;
  void predicted(const decode::Predicted& prediction) override;
  void stepped() override;

  /// What every attention gave the answer whose last prediction is `node` (Hypothesis::node): [heads,Tq,Tk] of that
  /// sentence, without padding.
  std::vector<TraceSite> sites(int32_t sentence, int32_t node, int64_t source_length) const;
  /// All predictions of one sentence; `nodes` of a hypothesis are places in it by `place_of`. Token texts are left empty.
  std::vector<TraceNode> tree(int32_t sentence) const;
  /// Where a search's node stands in tree().
  int32_t place_of(int32_t node) const;
  /// The ids of the likeliest beginning that is still growing, or of the last one that ended.
  std::vector<int32_t> likeliest(int32_t sentence) const;
  /// The search's numbers of the predictions that led to a node and of itself, first to last.
  std::vector<int32_t> chain(int32_t node) const;
  /// The continuations of `before` in a sentence (−1: of the beginning), likeliest first: ids.
  std::vector<int32_t> continuations(int32_t sentence, int32_t before) const;

 private:
  struct Kept {  // one observation
    std::string site;
    int64_t layer, step;
    Tensor weights, centres;
    int64_t reach;
    bool hard;
    std::vector<int32_t> lengths;
  };
  using Key = std::pair<std::string, int64_t>;
  struct Node {
    decode::Predicted said;
    int64_t step;
    int32_t place;  // in its sentence's tree
  };

  const Node& node_of(int32_t node) const;
  std::vector<int32_t> path(int32_t node) const;
  TraceSite whole(const Kept& kept, int32_t sentence) const;
  TraceSite stepwise(const Key& key, const std::vector<int32_t>& path, int64_t source_length) const;

  std::vector<Kept> begun_;               // what was read before the first step: rows are sentences
  std::vector<std::vector<Kept>> steps_;  // by step: rows are those of the search
  std::vector<Node> nodes_;               // as they were told; passed ones too
  std::vector<int32_t> by_number_;        // the search's number → place in nodes_
  std::vector<int32_t> counts_;           // by sentence: nodes so far
  int64_t step_ = 0;
  std::function<void(const Recorder&)> told_;
};

}  // namespace attend::explain
