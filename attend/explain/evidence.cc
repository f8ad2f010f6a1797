#include "attend/explain/evidence.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "attend/attention/observe.h"
#include "attend/base/random.h"

namespace attend::explain {
namespace {

constexpr int kShuffles = 5;

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Changes each row of weights of some attentions: change(row of weights, one per key that counts).
class RowChange : public Intervention {
 public:
  using Change = std::function<void(std::span<real> row)>;
  RowChange(std::function<bool(const Observation&, int64_t head)> which, Change change)
      : which_(std::move(which)), change_(std::move(change)) {}

  Tensor changed(const Observation& o) override {
    Tensor weights = o.weights.clone();
    const int64_t heads = weights.dim(1), queries = weights.dim(2), keys = weights.dim(3);
    for (int64_t i = 0; i < weights.dim(0) * heads * queries; ++i) {
      if (!which_(o, i / queries % heads)) continue;
      const size_t row = static_cast<size_t>(i / (heads * queries));
      const size_t count = o.key_lengths.empty() ? static_cast<size_t>(keys) : static_cast<size_t>(o.key_lengths[row]);
      change_(std::span(weights.data() + i * keys, count));
    }
    return weights;
  }

 private:
  std::function<bool(const Observation&, int64_t)> which_;
  Change change_;
};

/// Whether an attention reads the source for an answer.
bool reads_source(Purpose purpose) { return purpose == Purpose::source || purpose == Purpose::pooling; }

double mean_with(
    const Answered& a, RowChange::Change change,
    std::function<bool(const Observation&, int64_t)> which = [](const Observation& o, int64_t) {
      return reads_source(o.purpose);
    }) {
  a.checked();
  RowChange intervention(std::move(which), std::move(change));
  const Intervening intervening(intervention);
  const data::Batch batch{a.sources(), data::Sequences({a.target})};
  std::vector<double> all = a.scored(batch)[0].token_log_probabilities;
  all.resize(static_cast<size_t>(a.steps()));
  return mean(all);
}

void make_equal(std::span<real> row) { std::ranges::fill(row, 1 / static_cast<real>(row.size())); }

double mean_shuffled(const Answered& a) {
  std::vector<double> all;
  for (int i = 0; i < kShuffles; ++i) {
    Random random = Random(static_cast<uint64_t>(i)).named("shuffle");
    all.push_back(mean_with(a, [&random](std::span<real> row) {
      for (size_t k = row.size(); k > 1; --k) std::swap(row[k - 1], row[random.below(k)]);
    }));
  }
  return mean(all);
}

/// The places of the source without those of a word.
std::vector<int32_t> without_word(std::span<const int32_t> word_of, int32_t word) {
  std::vector<int32_t> rest;
  for (size_t s = 0; s < word_of.size(); ++s) {
    if (word_of[s] != word) rest.push_back(static_cast<int32_t>(s));
  }
  return rest;
}

/// The word that a row of the map points to most.
int32_t strongest(const real* row, std::span<const int32_t> word_of, int32_t words) {
  std::vector<real> sums(static_cast<size_t>(words), 0);
  for (size_t s = 0; s < word_of.size(); ++s) {
    if (word_of[s] >= 0) sums[static_cast<size_t>(word_of[s])] += row[s];
  }
  return static_cast<int32_t>(std::ranges::max_element(sums) - sums.begin());
}

void word_lines(const Answered& a, const Tensor& map, std::span<const int32_t> word_of, double before,
                std::vector<TraceEvidence>& lines) {
  const int32_t words = word_of.empty() ? 0 : *std::ranges::max_element(word_of) + 1;
  if (words < 2) return;
  std::vector<std::vector<int32_t>> kept;
  for (int32_t w = 0; w < words; ++w) kept.push_back(without_word(word_of, w));
  const std::vector<std::vector<double>> changed = rescored(a, kept);
  const size_t T = static_cast<size_t>(a.steps());
  std::vector<double> pointed_at, others;
  for (size_t t = 0; t < T; ++t) {
    const int32_t top = strongest(map.data() + t * a.source.size(), word_of, words);
    for (int32_t w = 0; w < words; ++w) {
      (w == top ? pointed_at : others).push_back(changed[static_cast<size_t>(w)][t]);
    }
  }
  lines.push_back({"without the source word that the map points at, for each token its own", before, mean(pointed_at),
                   "the further this falls, the more the answer needed those words"});
  lines.push_back({"without any other source word instead (the mean over all others)", before, mean(others),
                   "if this falls as far, the map points at nothing special"});
}

void head_lines(const Answered& a, double before, std::vector<TraceEvidence>& lines) {
  const bool several = std::ranges::any_of(a.sites, [](const TraceSite& site) { return site.heads > 1; });
  for (const TraceSite& site : a.sites) {
    for (int64_t head = 0; several && head < site.heads; ++head) {
      const double after = mean_with(
          a, [](std::span<real> row) { std::ranges::fill(row, real{0}); },
          [&](const Observation& o, int64_t h) { return o.site == site.site && o.layer == site.layer && h == head; });
      lines.push_back({site.site + " layer " + std::to_string(site.layer) + " head " + std::to_string(head) + " off",
                       before, after, "what this head alone is worth"});
    }
  }
}

}  // namespace

std::vector<TraceEvidence> evidence(const Answered& a, const Tensor& map, std::span<const int32_t> word_of) {
  const double before = mean(a.log_probabilities);
  std::vector<TraceEvidence> lines;
  if (a.may_lose_words()) word_lines(a, map, word_of, before, lines);
  const bool attends = std::ranges::any_of(a.sites, [](const TraceSite& s) { return reads_source(s.purpose); });
  if (attends) {
    lines.push_back({"with equal weights on all source tokens", before, mean_with(a, make_equal),
                     "if this falls little, where it looked did not matter"});
    lines.push_back({"with the weights shuffled among the source tokens", before, mean_shuffled(a),
                     "if this falls little, which words the weights were on did not matter"});
  }
  head_lines(a, before, lines);
  return lines;
}

}  // namespace attend::explain
