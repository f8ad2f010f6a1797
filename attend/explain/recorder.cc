#include "attend/explain/recorder.h"

#include <algorithm>
#include <ranges>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

/// Who asks, and who is asked, when that is over before the search begins.
struct Asked {
  std::string_view queries, keys;
};
Asked asked_by(Purpose purpose) {
  switch (purpose) {
    case Purpose::self: return {"source", "source"};
    case Purpose::question: return {"source", "question"};
    case Purpose::hop: return {"target", "sentences"};
    default: return {"target", "source"};
  }
}

}  // namespace

using decode::Predicted;

/// Counts numbers before they are kept.
void Recorder::keep(size_t numbers) {
  if (options_.numbers > 0 && numbers_ + numbers > options_.numbers) {
    throw TooLarge("attention: at most " + std::to_string(options_.numbers) +
                   " weights may be kept for one answer, it gave more; ask for a shorter text, a narrower beam or a "
                   "smaller max_length");
  }
  numbers_ += numbers;
}

void Recorder::observe(const Observation& o) {
  Kept kept{std::string(o.site),
            o.purpose,
            o.layer,
            o.step,
            o.weights.dim(1),
            o.weights.dim(2),
            o.weights.dim(3),
            {},
            {},
            o.reach,
            o.hard,
            {o.key_lengths.begin(), o.key_lengths.end()}};
  if (options_.weights) kept.weights = o.weights, kept.centres = o.centres;
  if (!o.sentence.empty()) {
    now_.push_back(std::move(kept));
    return;
  }
  // A decoder alone reads its source token by token, which is not attention to a whole source: its answers show it.
  if (o.purpose == Purpose::source || o.purpose == Purpose::past || o.purpose == Purpose::glimpse) return;
  keep(kept.weights.defined() ? kept.weights.size() : 0);
  const auto known = std::ranges::find_if(whole_, [&](const Whole& parts) { return parts.front().same_site(kept); });
  (known != whole_.end() ? *known : whole_.emplace_back()).push_back(std::move(kept));
}

/// What a row of this step saw, copied out of what all rows did.
std::shared_ptr<const Recorder::Seen> Recorder::seen_by(int32_t row) {
  const size_t r = static_cast<size_t>(row);
  if (rows_.size() <= r) rows_.resize(r + 1);
  if (rows_[r]) return rows_[r];
  const auto seen = std::make_shared<Seen>(Seen{{}, 0, numbers_});
  for (const Kept& kept : now_) {
    Glance glance{{}, {}, kept.length(row)};
    if (kept.weights.defined()) {
      const int64_t own = glance.keys, heads = kept.heads;
      keep(static_cast<size_t>(heads * own));
      seen->numbers += static_cast<size_t>(heads * own);
      glance.weights = Tensor({heads, own});
      for (int64_t h = 0; h < heads; ++h) {
        std::copy_n(kept.weights.data() + (row * heads + h) * kept.keys, own, glance.weights.data() + h * own);
      }
      if (kept.centres.defined()) {
        glance.centres = Tensor({heads});
        std::copy_n(kept.centres.data() + row * heads, heads, glance.centres.data());
      }
    }
    seen->glances.push_back(std::move(glance));
  }
  return rows_[r] = seen;
}

Recorder::Node* Recorder::kept_node(int32_t node) {
  return node < 0 ? nullptr : &nodes_[static_cast<size_t>(by_number_.at(static_cast<size_t>(node)))];
}

void Recorder::predicted(const Predicted& prediction) {
  const size_t sentence = static_cast<size_t>(prediction.sentence);
  if (counts_.size() <= sentence) counts_.resize(sentence + 1, 0);
  Node node{prediction, step_, counts_[sentence]++, {}};
  if (prediction.node >= 0) {
    if (!now_.empty()) node.seen = seen_by(prediction.row);
    if (by_number_.size() <= static_cast<size_t>(prediction.node)) {
      by_number_.resize(static_cast<size_t>(prediction.node) + 1, -1);
    }
    by_number_[static_cast<size_t>(prediction.node)] = static_cast<int32_t>(nodes_.size());
    if (Node* before = kept_node(prediction.before)) ++before->children;
    if (prediction.fate == Predicted::Fate::grown) grown_.push_back(prediction.node);
  }
  nodes_.push_back(std::move(node));
}

void Recorder::completed(int32_t node) {
  if (Node* last = kept_node(node)) last->complete = true;
}

/// Releases what a dead-end hypothesis saw, back to where another one continues.
void Recorder::forget(int32_t node) {
  for (Node* at = kept_node(node); at != nullptr && at->children == 0 && !at->complete;) {
    at->seen.reset();
    at = kept_node(at->said.before);
    if (at != nullptr) --at->children;
  }
}

void Recorder::stepped() {
  for (const int32_t node : growing_) forget(node);
  growing_.swap(grown_);
  grown_.clear(), rows_.clear();
  if (step_ == 0) {
    shapes_ = now_;
    for (Kept& kept : shapes_) kept.weights = {};  // centres stay, to tell whether there are any
  }
  now_.clear();
  ++step_;
  if (stepped_) stepped_(*this);
}

const Recorder::Node& Recorder::node_of(int32_t node) const {
  require(node >= 0 && static_cast<size_t>(node) < by_number_.size() && by_number_[static_cast<size_t>(node)] >= 0,
          "Recorder: expected a prediction that the search made, got ", node);
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
  for (size_t i = 0; i < tree.size(); ++i) {  // still growing when the search had all it needed
    if (tree[i].fate == TraceNode::Fate::grown && !has_children[i]) tree[i].fate = TraceNode::Fate::passed;
  }
  return tree;
}

std::vector<int32_t> Recorder::likeliest(int32_t sentence) const {
  const Node* best = nullptr;
  for (const Node& node : std::views::reverse(nodes_)) {  // which has the last step at its front
    if (best && node.step < best->step) break;
    if (node.said.sentence != sentence || node.said.fate == Predicted::Fate::passed) continue;
    if (!best || node.said.total >= best->said.total) best = &node;
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

TraceSite Recorder::Kept::described(std::string queries_of, std::string keys_of) const {
  return {.site = site,
          .purpose = purpose,
          .layer = layer,
          .heads = heads,
          .queries = std::move(queries_of),
          .keys = std::move(keys_of),
          .hard = hard,
          .weights = {},
          .centres = {},
          .reach = reach};
}

/// What was read before the search began. The places of an encoder query each other, [heads,S,S], or those of a
/// question, [heads,S,Q]; of a pooling or a hop the first prediction queries the source, [heads,steps,S].
TraceSite Recorder::whole(const Whole& parts, int32_t sentence, int64_t source_length, int64_t steps) {
  const Kept &first = parts.front(), &last = parts.back();
  const auto [queries, keys] = asked_by(first.purpose);
  TraceSite site = first.described(std::string(queries), std::string(keys));
  if (!first.weights.defined()) return site;
  // Reported place by place, a source has as many places as words, and each sees only those before it.
  const bool at_once = queries == "target" || keys != "source" || !first.lengths.empty();
  const int64_t places = at_once ? first.length(sentence) : std::min(source_length, last.step + last.queries);
  const int64_t heads = first.heads, rows = queries == "target" ? steps : keys == "source" ? places : source_length;
  site.weights = Tensor::zeros({heads, rows, places});
  if (first.centres.defined()) site.centres = Tensor::zeros({heads, rows});
  for (const Kept& kept : parts) {
    for (int64_t i = 0; i < heads * kept.queries; ++i) {
      const int64_t h = i / kept.queries, q = i % kept.queries, row = kept.step + q;
      if (row >= rows) continue;
      const int64_t from = (sentence * heads + h) * kept.queries + q;
      std::copy_n(kept.weights.data() + from * kept.keys, std::min(places, kept.keys),
                  site.weights.data() + (h * rows + row) * places);
      if (kept.centres.defined()) site.centres.data()[h * rows + row] = kept.centres.data()[from];
    }
  }
  return site;
}

/// One row per prediction of a path, each from the row of the search that led to it.
TraceSite Recorder::stepwise(size_t number, const std::vector<int32_t>& path, int64_t source_length) const {
  const Kept& shape = shapes_[number];
  const auto glance = [&](size_t t) -> const Glance& {
    const Node& node = nodes_[static_cast<size_t>(path[t])];
    require(node.seen && number < node.seen->glances.size(), "Recorder: ", shape.site, " reported nothing at step ", t);
    return node.seen->glances[number];
  };
  const int64_t steps = static_cast<int64_t>(path.size()), heads = shape.heads, first = glance(0).keys;
  const bool past = shape.purpose == Purpose::past;
  // A decoder without a source of its own reads the source as its past.
  TraceSite site = shape.described("target", !past ? "source" : first > 1 ? "source+before" : "before");
  if (!options_.weights) return site;
  site.weights = Tensor::zeros({heads, steps, past ? first - 1 + steps : source_length});
  if (shape.centres.defined()) site.centres = Tensor::zeros({heads, steps});
  for (int64_t t = 0; t < steps; ++t) {
    const Glance& seen = glance(static_cast<size_t>(t));
    const int64_t wide = site.weights.dim(2), count = std::min(seen.keys, wide);
    for (int64_t h = 0; h < heads; ++h) {
      std::copy_n(seen.weights.data() + h * seen.keys, count, site.weights.data() + (h * steps + t) * wide);
      if (seen.centres.defined()) site.centres.data()[h * steps + t] = seen.centres.data()[h];
    }
  }
  return site;
}

std::vector<TraceSite> Recorder::sites(int32_t sentence, int32_t node, int64_t source_length) const {
  std::vector<TraceSite> all;
  const std::vector<int32_t> said = path(node);
  const int64_t steps = static_cast<int64_t>(said.size());
  for (const Whole& parts : whole_) all.push_back(whole(parts, sentence, source_length, steps));
  for (size_t i = 0; steps > 0 && i < shapes_.size(); ++i) all.push_back(stepwise(i, said, source_length));
  std::ranges::stable_sort(all, {}, [](const TraceSite& s) { return std::pair(s.site, s.layer); });
  return all;
}

}  // namespace attend::explain
