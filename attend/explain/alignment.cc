#include "attend/explain/alignment.h"

#include <algorithm>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::explain {
namespace {

/// Adds up the weights of all attentions to the sources of a batch, [T,S] per sentence.
class MemorySink : public Sink {
 public:
  explicit MemorySink(const data::Batch& batch) : seen_(batch.source.lengths().size(), 0) {
    for (size_t b = 0; b < seen_.size(); ++b) {
      sums_.push_back(Tensor::zeros({batch.target.lengths[b], batch.source.lengths()[b]}));
    }
  }

  void observe(const Observation& observation) override {
    if (observation.purpose != Purpose::source) return;
    const Tensor& weights = observation.weights;
    require(weights.rank() == 4 && weights.dim(0) == static_cast<int64_t>(sums_.size()),
            "memory_weights: expected weights [N,heads,Tq,Tk] of ", sums_.size(), " sentences, got ",
            weights.shape());
    for (size_t b = 0; b < sums_.size(); ++b) add(b, observation);
  }

  bool any() const { return !seen_.empty() && seen_[0] > 0; }

  std::vector<Tensor> means() {
    for (size_t b = 0; b < sums_.size(); ++b) {
      require(seen_[b] > 0 || sums_[b].size() == 0,
              "alignment: expected a model that attends to its source; this one reported no such attention");
      // Each row sums to one for each head of each layer, however they were reported, so dividing by the row's sum is
      // the mean. Rows of the window local_p do not: they are scaled so that they do.
      for (int64_t t = 0; t < sums_[b].dim(0); ++t) normalise(sums_[b].data() + t * sums_[b].dim(1), sums_[b].dim(1));
    }
    return std::move(sums_);
  }

 private:
  void add(size_t b, const Observation& observation) {
    const Tensor& weights = observation.weights;
    const int64_t heads = weights.dim(1), queries = weights.dim(2), keys = weights.dim(3);
    const int64_t rows = sums_[b].dim(0), columns = sums_[b].dim(1);
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t q = 0; q < queries && observation.step + q < rows; ++q) {
        const real* from = weights.data() + ((static_cast<int64_t>(b) * heads + h) * queries + q) * keys;
        real* to = sums_[b].data() + (observation.step + q) * columns;
        for (int64_t k = 0; k < std::min(columns, keys); ++k) to[k] += from[k];
      }
    }
    seen_[b] += heads;
  }

  static void normalise(real* row, int64_t size) {
    real sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += row[i];
    for (int64_t i = 0; i < size && sum > 0; ++i) row[i] /= sum;
  }

  std::vector<Tensor> sums_;
  std::vector<int64_t> seen_;
};

void look(const models::Model& model, const data::Batch& batch, MemorySink& sink) {
  const TapePause pause;
  const Observing observing(sink);
  (void)model.loss(batch, nullptr);
}

void require_words(const char* side, std::span<const int32_t> word_of, int64_t words) {
  for (const int32_t word : word_of) {
    require(word < words, "word_weights: expected ", side, " words below ", words, ", got ", word);
  }
}

}  // namespace

bool attends_to_source(const models::Model& model) {
  const std::vector<std::vector<int32_t>> any_word{{data::kUnknown}};
  data::Batch batch{data::Sequences(any_word), data::Sequences(any_word)};
  batch.source.add_letters(data::Sequences(any_word));  // for those that look inside words, …
  batch.source.add_copies(data::Sequences(any_word));   // … those that copy, …
  batch.source.add_given(
      data::Sequences(std::vector<std::vector<int32_t>>{{0, 0}}));  // … and those that are told where to look
  return attends_to_source(model, batch);
}

bool attends_to_source(const models::Model& model, const data::Batch& batch) {
  MemorySink sink(batch);
  look(model, batch, sink);
  return sink.any();
}

std::vector<Tensor> memory_weights(const models::Model& model, const data::Batch& batch) {
  MemorySink sink(batch);
  look(model, batch, sink);
  return sink.means();
}

Tensor word_weights(const Tensor& weights, std::span<const int32_t> source_word_of,
                    std::span<const int32_t> target_word_of, int64_t source_words, int64_t target_words, bool add) {
  require(weights.rank() == 2 && weights.dim(0) == static_cast<int64_t>(target_word_of.size()) &&
              weights.dim(1) == static_cast<int64_t>(source_word_of.size()),
          "word_weights: expected weights [", target_word_of.size(), ",", source_word_of.size(), "], got ",
          weights.shape());
  require_words("source", source_word_of, source_words);
  require_words("target", target_word_of, target_words);
  Tensor words = Tensor::zeros({target_words, source_words});
  std::vector<real> tokens(static_cast<size_t>(target_words), 0);
  for (const int32_t word : target_word_of) {
    if (word >= 0) tokens[static_cast<size_t>(word)] = add ? 1 : tokens[static_cast<size_t>(word)] + 1;
  }
  for (size_t t = 0; t < target_word_of.size(); ++t) {
    const int32_t to = target_word_of[t];
    if (to < 0) continue;
    const real* row = weights.data() + t * source_word_of.size();
    for (size_t s = 0; s < source_word_of.size(); ++s) {
      if (source_word_of[s] < 0) continue;
      words.data()[to * source_words + source_word_of[s]] += row[s] / tokens[static_cast<size_t>(to)];
    }
  }
  return words;
}

data::Links links_of(const Tensor& word_weights, double threshold) {
  require(word_weights.rank() == 2, "links_of: expected weights [target words, source words], got ",
          word_weights.shape());
  data::Links links;
  const int32_t targets = static_cast<int32_t>(word_weights.dim(0)),
                sources = static_cast<int32_t>(word_weights.dim(1));
  for (int32_t t = 0; t < targets && sources > 0; ++t) {
    const real* row = word_weights.data() + static_cast<int64_t>(t) * sources;
    const int32_t best = static_cast<int32_t>(std::max_element(row, row + sources) - row);
    for (int32_t s = 0; s < sources; ++s) {
      const bool linked = threshold > 0 ? static_cast<double>(row[s]) >= threshold : s == best && row[s] > 0;
      if (linked) links.push_back({s, t});
    }
  }
  std::ranges::sort(links);
  return links;
}

}  // namespace attend::explain
