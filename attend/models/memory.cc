#include "attend/models/memory.h"

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"
#include "attend/nn/initial.h"

namespace attend::models {
namespace {

/// N(0, 0.1²), as in section 4.2 of the paper.
Var small_leaf(const Shape& shape, Random& random) {
  Tensor values = nn::initial("normal", shape, random);
  const real scale = real(0.1) * std::sqrt(static_cast<real>(shape[1]));
  for (real& x : values.values()) x *= scale;
  return Var::leaf(values);
}

/// A part with at least one word in every row.
const data::Sequences& text_part(const data::Source& source, std::string_view name) {
  const data::Part* part = source.find(name);
  require(part != nullptr,
          "memory: expected a source with the parts \"document\", \"document.sentence\" and \"question\", got none called \"",
          name, "\"");
  for (size_t b = 0; b < part->ids.lengths.size(); ++b) {
    require(part->ids.lengths[b] >= 1, "memory: ", name, " ", b, " is empty; expected at least one word");
  }
  return part->ids;
}

using Sentence = std::vector<int32_t>;
// Words of a sentence that its cell holds, the first: all cells are as wide as the longest, and one endless sentence must not
// make them all so.
constexpr size_t kMostWords = 400;

/// The words of each sentence of document b, in order.
std::vector<Sentence> sentences_of(const data::Sequences& document, const data::Sequences& number, int64_t b) {
  const std::vector<int32_t> words = document.row(b), of = number.row(b);
  require(words.size() == of.size(), "memory: expected the sentence of each of the ", words.size(), " words of document ", b,
          ", got ", of.size());
  std::vector<Sentence> all;
  for (size_t t = 0; t < words.size(); ++t) {
    require(of[t] >= 0 && (t == 0 || of[t] >= of[t - 1]), "memory: expected the sentences of document ", b,
            " in their order, got ", of[t], " at word ", t);
    all.resize(static_cast<size_t>(of[t]) + 1);
    all.back().push_back(words[t]);
  }
  return all;
}

}  // namespace

/// The sentences of B documents.
struct MemoryHops::Cells {
  Ids words;                      // [B,S,J], kPad after a sentence's last word
  Tensor counts;                  // [B,S,J,D] of position encoding; 0 at padding
  Ids ages;                       // [B,S]: 0 for the last sentence
  std::vector<int32_t> lengths;   // how many cells each document has
  std::vector<int32_t> sentences; // how many sentences it has
};

MemoryHops::MemoryHops(const MemoryOptions& o, Random& random) : options_(o) {
  require_one_of("tying", {"adjacent", "layerwise"}, o.tying);
  require_one_of("words", {"position", "bag"}, o.words);
  const int64_t V = require_size("source_vocabulary", o.source_vocabulary), D = require_size("size", o.size);
  const int64_t tables = adjacent() ? require_size("hops", o.hops) + 1 : 2;
  for (int64_t i = 0; i < tables; ++i) {
    words_.push_back(small_leaf({V, D}, random));
    ages_.push_back(small_leaf({require_size("cells", o.cells), D}, random));
  }
  if (o.own_question || !adjacent()) question_ = small_leaf({V, D}, random);
  if (!adjacent()) state_ = small_leaf({D, D}, random);
  for (int64_t hop = 0; hop < o.hops; ++hop) {
    const AttentionSite site{"memory.hop", Purpose::hop, hop};
    AttentionConfig config{.query = D, .key = D, .score = "dot"};
    soft_.emplace_back(config, random, site);
    config.align = "linear";
    linear_.emplace_back(config, random, site);
  }
}

void MemoryHops::params(const nn::VisitParams& visit) {
  for (size_t i = 0; i < words_.size(); ++i) {
    visit("words." + std::to_string(i), words_[i]);
    visit("ages." + std::to_string(i), ages_[i]);
  }
  if (question_.defined()) visit("question", question_);
  if (state_.defined()) visit("state", state_);
}

/// lₖⱼ = (1 − j/J) − (k/D)(1 − 2j/J) for word j of J and number k of D, both from 1 (section 4.1); 1 for a bag of words.
/// words [..,J] of these lengths → [..,J,D].
Tensor MemoryHops::counts_of(const Ids& words, const std::vector<int32_t>& lengths) const {
  const int64_t J = words.shape[words.shape.rank() - 1], D = options_.size;
  Shape shape = words.shape;
  shape.append(D);
  Tensor counts = Tensor::zeros(shape);
  for (size_t s = 0; s < lengths.size(); ++s) {
    for (int32_t j = 0; j < lengths[s]; ++j) {
      real* row = counts.data() + (static_cast<int64_t>(s) * J + j) * D;
      if (options_.words == "bag") {
        std::fill_n(row, D, real{1});
        continue;
      }
      const real at = static_cast<real>(j + 1) / static_cast<real>(lengths[s]);
      for (int64_t k = 0; k < D; ++k) {
        row[k] = (1 - at) - static_cast<real>(k + 1) / static_cast<real>(D) * (1 - 2 * at);
      }
    }
  }
  return counts;
}

/// Σⱼ lⱼ∘E[wⱼ]: words [..,J] → [..,D].
Var MemoryHops::embedded(const Var& table, const Ids& words, const Tensor& counts) const {
  return sum(multiply(embedding(table, words), counts), counts.rank() - 2);
}

/// The latest sentences of each document; in training with empty cells among them (section 4.1, "random noise").
MemoryHops::Cells MemoryHops::remembered(const data::Source& source, Training* training) const {
  const data::Sequences &document = text_part(source, kDocument), &number = text_part(source, kSentence);
  const int64_t B = document.count();
  std::vector<std::vector<Sentence>> all;
  Cells cells;
  size_t most = 1, longest = 1;
  for (int64_t b = 0; b < B; ++b) {
    std::vector<Sentence>& kept = all.emplace_back();
    std::vector<Sentence> sentences = sentences_of(document, number, b);
    cells.sentences.push_back(static_cast<int32_t>(sentences.size()));
    for (Sentence& sentence : sentences) {
      sentence.resize(std::min(sentence.size(), kMostWords));
      if (training && options_.noise > 0 && training->random.uniform53() < options_.noise) kept.emplace_back();
      kept.push_back(std::move(sentence));
    }
    const size_t room = static_cast<size_t>(options_.cells);
    if (kept.size() > room) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(room));
    cells.lengths.push_back(static_cast<int32_t>(kept.size()));
    most = std::max(most, kept.size());
    for (const Sentence& sentence : kept) longest = std::max(longest, sentence.size());
  }
  const int64_t S = static_cast<int64_t>(most), J = static_cast<int64_t>(longest);
  std::vector<int32_t> words(static_cast<size_t>(B * S * J), data::kPad), ages(static_cast<size_t>(B * S), 0),
      lengths(static_cast<size_t>(B * S), 0);
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t i = 0; i < all[b].size(); ++i) {
      const size_t cell = b * most + i;
      std::ranges::copy(all[b][i], words.begin() + static_cast<std::ptrdiff_t>(cell * longest));
      ages[cell] = static_cast<int32_t>(all[b].size() - 1 - i);
      lengths[cell] = static_cast<int32_t>(all[b][i].size());
    }
  }
  cells.words = Ids({B, S, J}, std::move(words));
  cells.counts = counts_of(cells.words, lengths);
  cells.ages = Ids({B, S}, std::move(ages));
  return cells;
}

/// weights [B,1,1,S] of cells as those of all sentences: 0 for those that are not remembered.
void MemoryHops::tell(const Cells& cells, const Tensor& weights, int64_t hop) {
  const int64_t B = weights.dim(0), S = weights.dim(3), all = *std::ranges::max_element(cells.sentences);
  Tensor by_sentence = Tensor::zeros({B, 1, 1, std::max(all, S)});
  for (int64_t b = 0; b < B; ++b) {
    const size_t i = static_cast<size_t>(b);
    const int64_t forgotten = std::max(0, cells.sentences[i] - cells.lengths[i]);
    std::copy_n(weights.data() + b * S, cells.lengths[i], by_sentence.data() + b * by_sentence.dim(3) + forgotten);
  }
  Observing::tell({.site = "memory.hop",
                   .purpose = Purpose::hop,
                   .layer = hop,
                   .weights = by_sentence,
                   .key_lengths = cells.sentences});
}

Encoded MemoryHops::operator()(const data::Source& source, Training* training) const {
  const Cells cells = remembered(source, training);
  const data::Sequences& question = text_part(source, kQuestion);
  const int64_t B = question.count(), D = options_.size, hops = static_cast<int64_t>(soft_.size());
  std::vector<Var> said;  // by table: what each cell says
  for (size_t i = 0; i < words_.size(); ++i) {
    said.push_back(add(embedded(words_[i], cells.words, cells.counts), embedding(ages_[i], cells.ages)));
  }
  Var u = reshape(embedded(question_.defined() ? question_ : words_[0], question.ids, counts_of(question.ids, question.lengths)),
                  {B, 1, D});
  const bool linear = training && training->update < options_.linear_start;
  for (int64_t hop = 0; hop < hops; ++hop) {
    const size_t k = static_cast<size_t>(hop), key = adjacent() ? k : 0;
    const Attention& attention = linear ? linear_[k] : soft_[k];
    const AttentionMemory memory = attention.prepare(said[key], said[key + 1], cells.lengths);
    const AttentionRead read = [&] {
      const bool observed = Observing::active();
      const Unobserved unobserved;  // observers see sentences, not cells
      return attention(u, memory, {.weights = observed});
    }();
    if (Observing::active()) tell(cells, read.weights.value(), hop);
    u = add(adjacent() ? u : attend::linear(u, state_, {}), read.context);
  }
  return {.states = said.back(), .lengths = cells.lengths, .summary = reshape(u, {B, D})};
}

Memory::Memory(const MemoryOptions& o, Random& random)
    : Labeller("memory", std::make_unique<MemoryHops>(o, random), o.labels, o.dropout) {
  make_output(o.size, random);
}

Var Memory::features(const data::Source& source, Training* training) const {
  return (*encoder_)(source, training).summary;
}

}  // namespace attend::models
