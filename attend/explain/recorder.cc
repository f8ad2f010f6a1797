#include "attend/explain/recorder.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::explain {

using decode::Predicted;

void Recorder::observe(const Observation& o) {
  Kept kept{std::string(o.site), o.layer, o.step, o.weights,
            o.centres,           o.reach, o.hard, {o.key_lengths.begin(), o.key_lengths.end()}};
  if (o.sentence.empty()) {
    begun_.push_back(std::move(kept));
    return;
  }
  if (static_cast<int64_t>(steps_.size()) <= step_) steps_.resize(static_cast<size_t>(step_) + 1);
  steps_.back().push_back(std::move(kept));
}

void Recorder::predicted(const Predicted& prediction) {
  const size_t sentence = static_cast<size_t>(prediction.sentence);
  if (counts_.size() <= sentence) counts_.resize(sentence + 1, 0);
  if (prediction.node >= 0) {
    if (by_number_.size() <= static_cast<size_t>(prediction.node)) {
      by_number_.resize(static_cast<size_t>(prediction.node) + 1, -1);
    }
    by_number_[static_cast<size_t>(prediction.node)] = static_cast<int32_t>(nodes_.size());
  }
  nodes_.push_back({prediction, step_, counts_[sentence]++});
}

void Recorder::stepped() {
  ++step_;
  if (told_) told_(*this);
}

const Recorder::Node& Recorder::node_of(int32_t node) const {
  require(node >= 0 && static_cast<size_t>(node) < by_number_.size() && by_number_[static_cast<size_t>(node)] >= 0,
          "Recorder: a prediction that the search made is wanted, got ", node);
  return nodes_[static_cast<size_t>(by_number_[static_cast<size_t>(node)])];
}

int32_t Recorder::place_of(int32_t node) const { return node < 0 ? -1 : node_of(node).place; }

std::vector<int32_t> Recorder::chain(int32_t node) const {
  std::vector<int32_t> all;
  for (; node >= 0; node = node_of(node).said.before) all.push_back(node);
  std::reverse(all.begin(), all.end());
  return all;
}

/// The same as places in nodes_.
std::vector<int32_t> Recorder::path(int32_t node) const {
  std::vector<int32_t> all = chain(node);
  for (int32_t& one : all) one = by_number_[static_cast<size_t>(one)];
  return all;
}

std::vector<TraceNode> Recorder::tree(int32_t sentence) const {
  std::vector<TraceNode> tree;
  std::vector<bool> has_children;
  for (const Node& node : nodes_) {
    if (node.said.sentence != sentence) continue;
    const int32_t parent = place_of(node.said.before);
    if (parent >= 0) has_children[static_cast<size_t>(parent)] = true;
    tree.push_back({.parent = parent,
                    .id = node.said.token,
                    .token = {},
                    .log_probability = node.said.log_probability,
                    .total = node.said.total,
                    .fate = static_cast<TraceNode::Fate>(node.said.fate)});
    has_children.push_back(false);
  }
  for (size_t i = 0; i < tree.size(); ++i) {  // it lived when the search had all that it wanted
    if (tree[i].fate == TraceNode::Fate::grown && !has_children[i]) tree[i].fate = TraceNode::Fate::passed;
  }
  return tree;
}

std::vector<int32_t> Recorder::likeliest(int32_t sentence) const {
  const Node* best = nullptr;
  for (const Node& node : nodes_) {
    if (node.said.sentence != sentence || node.said.fate == Predicted::Fate::passed) continue;
    const bool later = !best || node.step > best->step;
    if (later || (node.step == best->step && node.said.total > best->said.total)) best = &node;
  }
  std::vector<int32_t> tokens;
  if (!best) return tokens;
  for (const int32_t place : path(best->said.node)) tokens.push_back(nodes_[static_cast<size_t>(place)].said.token);
  if (best->said.fate == Predicted::Fate::ended) tokens.pop_back();
  return tokens;
}

std::vector<int32_t> Recorder::continuations(int32_t sentence, int32_t before) const {
  std::vector<std::pair<double, int32_t>> found;
  for (const Node& node : nodes_) {
    if (node.said.sentence == sentence && node.said.before == before) {
      found.emplace_back(-node.said.log_probability, node.said.token);
    }
  }
  std::ranges::sort(found);
  std::vector<int32_t> ids;
  for (const auto& one : found) ids.push_back(one.second);
  return ids;
}

/// What was read of whole sources before the search began: self-attention of an encoder.
TraceSite Recorder::whole(const Kept& kept, int32_t sentence) const {
  const int64_t heads = kept.weights.dim(1), queries = kept.weights.dim(2), keys = kept.weights.dim(3);
  const int64_t length = kept.lengths.empty() ? keys : kept.lengths[static_cast<size_t>(sentence)];
  const int64_t rows = std::min(queries, length);
  TraceSite site{.site = kept.site,
                 .layer = kept.layer,
                 .heads = heads,
                 .queries = "source",
                 .keys = "source",
                 .hard = kept.hard,
                 .weights = Tensor({heads, rows, length}),
                 .centres = {},
                 .reach = kept.reach};
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t q = 0; q < rows; ++q) {
      const real* from = kept.weights.data() + ((sentence * heads + h) * queries + q) * keys;
      std::copy_n(from, length, site.weights.data() + (h * rows + q) * length);
    }
  }
  if (kept.centres.defined()) {
    site.centres = Tensor({heads, rows});
    for (int64_t h = 0; h < heads; ++h) {
      std::copy_n(kept.centres.data() + (sentence * heads + h) * queries, rows, site.centres.data() + h * rows);
    }
  }
  return site;
}

/// One row per prediction of a path, each from the row of the search that led to it.
TraceSite Recorder::stepwise(const Key& key, const std::vector<int32_t>& path, int64_t source_length) const {
  TraceSite site{.site = key.first, .layer = key.second, .queries = "target"};
  const bool memory = key.first.ends_with(".memory");
  site.keys = memory ? "source" : "before";
  const int64_t steps = static_cast<int64_t>(path.size());
  for (int64_t t = 0; t < steps; ++t) {
    const Node& node = nodes_[static_cast<size_t>(path[static_cast<size_t>(t)])];
    const auto& told = steps_[static_cast<size_t>(node.step)];
    const auto found =
        std::ranges::find_if(told, [&](const Kept& k) { return k.site == key.first && k.layer == key.second; });
    require(found != told.end(), "Recorder: ", key.first, " told nothing at step ", t);
    const int64_t heads = found->weights.dim(1), keys = found->weights.dim(3), row = node.said.row;
    const int64_t own = found->lengths.empty() ? keys : found->lengths[static_cast<size_t>(row)];
    if (t == 0) {
      // A decoder without a source of its own reads the source as its past.
      if (!memory && own > 1) site.keys = "source+before";
      site.heads = heads, site.hard = found->hard, site.reach = found->reach;
      site.weights = Tensor::zeros({heads, steps, memory ? source_length : own - 1 + steps});
      if (found->centres.defined()) site.centres = Tensor::zeros({heads, steps});
    }
    const int64_t wide = site.weights.dim(2), count = std::min(own, wide);
    for (int64_t h = 0; h < heads; ++h) {
      std::copy_n(found->weights.data() + (row * heads + h) * keys, count,
                  site.weights.data() + (h * steps + t) * wide);
      if (found->centres.defined()) site.centres.data()[h * steps + t] = found->centres.data()[row * heads + h];
    }
  }
  return site;
}

std::vector<TraceSite> Recorder::sites(int32_t sentence, int32_t node, int64_t source_length) const {
  std::vector<TraceSite> all;
  // What a decoder alone reads of its source, token by token, is no attention of a whole source: its answers show it.
  for (const Kept& kept : begun_) {
    if (kept.site.starts_with("encoder") || kept.site == "pooling") all.push_back(whole(kept, sentence));
  }
  const std::vector<int32_t> said = path(node);
  if (said.empty() || steps_.empty()) return all;
  for (const Kept& first : steps_[0]) all.push_back(stepwise({first.site, first.layer}, said, source_length));
  std::ranges::stable_sort(all, {}, [](const TraceSite& s) { return std::pair(s.site, s.layer); });
  return all;
}

}  // namespace attend::explain
