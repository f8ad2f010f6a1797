#include "attend/decode/ctc.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/kernels/choose.h"

namespace attend::decode {
namespace {

/// The k largest logits of each frame, and ln Σ eˣ.
struct Frames {
  size_t count, labels, k;
  const real* logits;
  std::vector<double> log_sums;
  std::vector<real> largest;
  std::vector<int32_t> places;

  Frames(const char* where, const Tensor& x, int32_t blank, size_t most) {
    require(x.defined() && x.rank() == 2 && x.dim(1) > 0, where, ": expected logits [T,V] of one sequence, got ",
            x.shape());
    require(blank >= 0 && blank < x.dim(1), where, ": the blank must be in [0, ", x.dim(1), "), got ", blank);
    count = static_cast<size_t>(x.dim(0)), labels = static_cast<size_t>(x.dim(1)), k = std::min(labels, most);
    logits = x.data();
    log_sums.resize(count), largest.resize(count * k), places.resize(count * k);
    kernels::choose({.logits = logits, .rows = count, .n = labels, .k = k}, log_sums.data(), largest.data(),
                    places.data());
    for (size_t t = 0; t < count; ++t) {
      require(std::isfinite(log_sums[t]), where, ": logits must be numbers, got ", logits[t * labels], " … in frame ",
              t);
    }
  }
  double log_probability(size_t t, int32_t label) const {
    return static_cast<double>(logits[t * labels + static_cast<size_t>(label)]) - log_sums[t];
  }
};

/// All prefixes that were ever in the beam, as a tree; 0 is the empty one.
class Prefixes {
 public:
  int32_t label(int32_t prefix) const { return nodes_[static_cast<size_t>(prefix)].label; }
  int32_t longer(int32_t prefix, int32_t label) {
    const uint64_t key = static_cast<uint64_t>(prefix) << 32 | static_cast<uint32_t>(label);
    const auto [at, is_new] = children_.try_emplace(key, static_cast<int32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({prefix, label});
    return at->second;
  }
  std::vector<int32_t> labels(int32_t prefix) const {
    std::vector<int32_t> all;
    for (; prefix > 0; prefix = nodes_[static_cast<size_t>(prefix)].before) all.push_back(label(prefix));
    std::reverse(all.begin(), all.end());
    return all;
  }

 private:
  struct Node {
    int32_t before, label;
  };
  std::vector<Node> nodes_{{-1, -1}};
  std::unordered_map<uint64_t, int32_t> children_;
};

/// A prefix, and the log-probability of its paths so far that end in a blank or in its last label.
struct Growing {
  int32_t prefix;
  double blank = kLogZero, label = kLogZero;
  double all() const { return log_add(blank, label); }
};

/// Sums per prefix, of one frame.
class Sums {
 public:
  Growing& operator[](int32_t prefix) {
    const auto [at, is_new] = places_.try_emplace(prefix, all_.size());
    if (is_new) all_.push_back({prefix});
    return all_[at->second];
  }
  std::vector<Growing>& all() { return all_; }

 private:
  std::unordered_map<int32_t, size_t> places_;
  std::vector<Growing> all_;
};

}  // namespace

std::vector<int32_t> best_path(const Tensor& logits, int32_t blank) {
  const Frames frames("best_path", logits, blank, 1);
  std::vector<int32_t> labels;
  int32_t before = blank;
  for (const int32_t best : frames.places) {
    if (best != blank && best != before) labels.push_back(best);
    before = best;
  }
  return labels;
}

std::vector<Hypothesis> ctc_beam(const Tensor& logits, int32_t blank, int64_t beam, int64_t n_best) {
  require(beam >= 1, "ctc_beam: beam must be at least 1, got ", beam);
  require(n_best >= 1 && n_best <= beam, "ctc_beam: n_best must be in [1, beam ", beam, "], got ", n_best);
  const size_t width = static_cast<size_t>(beam);
  // A prefix's extensions by less likely labels than these rank behind `beam` others: two more, for the blank and for
  // its last label. Only an extension that is already in the beam can profit from a less likely one.
  const Frames frames("ctc_beam", logits, blank, width + 2);
  Prefixes prefixes;
  std::vector<Growing> kept{{0, 0, kLogZero}};
  std::vector<int32_t> labels;
  for (size_t t = 0; t < frames.count; ++t) {
    labels.clear();
    for (size_t k = 0; k < frames.k; ++k) {
      if (frames.places[t * frames.k + k] >= 0) labels.push_back(frames.places[t * frames.k + k]);
    }
    for (const Growing& g : kept) {
      if (g.prefix > 0) labels.push_back(prefixes.label(g.prefix));
    }
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());

    Sums sums;
    for (const Growing& g : kept) {
      const double all = g.all();
      const int32_t last = prefixes.label(g.prefix);
      Growing& same = sums[g.prefix];
      same.blank = log_add(same.blank, all + frames.log_probability(t, blank));
      if (last >= 0) same.label = log_add(same.label, g.label + frames.log_probability(t, last));
      for (const int32_t label : labels) {
        if (label == blank) continue;
        // After its own last label a prefix grows only over a blank.
        const double grown = (label == last ? g.blank : all) + frames.log_probability(t, label);
        if (grown == kLogZero) continue;
        Growing& longer = sums[prefixes.longer(g.prefix, label)];
        longer.label = log_add(longer.label, grown);
      }
    }
    kept = std::move(sums.all());
    const size_t count = std::min(kept.size(), width);
    std::partial_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count), kept.end(),
                      [](const Growing& a, const Growing& b) {
                        const double all_a = a.all(), all_b = b.all();
                        return all_a != all_b ? all_a > all_b : a.prefix < b.prefix;
                      });
    kept.resize(count);
  }
  std::vector<Hypothesis> answers;
  for (size_t i = 0; i < std::min(kept.size(), static_cast<size_t>(n_best)); ++i) {
    if (i > 0 && kept[i].all() == kLogZero) break;  // it cannot happen
    Hypothesis& h = answers.emplace_back();
    h.tokens = prefixes.labels(kept[i].prefix);
    h.score = h.log_probability = kept[i].all();
    h.ended = true;
  }
  return answers;
}

}  // namespace attend::decode
