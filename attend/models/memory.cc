#include "attend/models/memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
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

/// lₖⱼ = 1 + 4(k − (D+1)/2)(j − (J+1)/2)/(D·J) for word j of J and number k of D, both from 1, as in the authors' program
/// (github.com/facebook/MemNN, build_model.m).
real placed_count(int64_t j, int64_t J, int64_t k, int64_t D) {
  const auto middle = [](int64_t all) { return static_cast<real>(all + 1) / 2; };
  return 1 + 4 * (static_cast<real>(k) - middle(D)) / static_cast<real>(D) * (static_cast<real>(j) - middle(J)) /
                 static_cast<real>(J);
}

/// The word of each label, or -1. With none given, no label is a word.
std::vector<int32_t> label_words(const MemoryOptions& o) {
  std::vector<int32_t> words(static_cast<size_t>(require_size("labels", o.labels)), -1);
  if (o.label_words.empty()) return words;
  std::istringstream numbers(o.label_words);
  bool good = true;
  for (size_t i = 0; i < words.size() && good; ++i) {
    char comma = ',';
    good = (i == 0 || numbers.get(comma)) && comma == ',' && numbers >> words[i] && words[i] >= -1 &&
           words[i] < o.source_vocabulary;
  }
  require_option(good && numbers.peek() == std::istringstream::traits_type::eof(), "label_words",
                 "expected the numbers of ", words.size(), " words below ", o.source_vocabulary,
                 " with commas between them, got ", quoted(o.label_words));
  return words;
}

}  // namespace

/// Words with what each counts.
struct MemoryHops::Words {
  Ids ids, places;  // [..,J]; the place is a row of `counts`, -1 after a sentence's last word
  Tensor counts;    // [·,D]
};

/// The sentences of B documents.
struct MemoryHops::Cells {
  Words words;                     // [B,S,J]
  Ids ages, aged;                  // [B,S,1]: 0 for the last sentence; -1 in `aged` for a cell that has no age
  std::vector<int32_t> lengths;    // how many cells each document has
  std::vector<int32_t> seen;       // how many are looked at
  std::vector<int32_t> sentences;  // how many sentences it has
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

/// What the first `most` words of a sentence count, [most,D]: lₖⱼ = (1 − j/J) − (k/D)(1 − 2j/J) for word j of J and number k
/// of D, both from 1 (section 4.1); with `positions` see `placed_count`. 1 for a bag of words.
Tensor MemoryHops::counts_of(int32_t most) const {
  const int64_t D = options_.size;
  Tensor counts = Tensor::full({most, D}, 1);
  if (options_.words == "bag") return counts;
  for (int32_t row = 0; row < most; ++row) {
    const real at = static_cast<real>(row + 1) / static_cast<real>(most);
    for (int64_t k = 1; k <= D; ++k) {
      counts.data()[row * D + k - 1] = options_.positions > 0
                                           ? placed_count(row + 1, options_.positions, k, D)
                                           : (1 - at) - static_cast<real>(k) / static_cast<real>(D) * (1 - 2 * at);
    }
  }
  return counts;
}

/// What an age counts, [1,D]: with `positions` as the last word of a sentence does, which it is in the authors' program; else 1.
Tensor MemoryHops::count_of_age() const {
  const int64_t D = options_.size, J = options_.positions;
  Tensor counts = Tensor::full({1, D}, 1);
  for (int64_t k = 1; J > 0 && options_.words != "bag" && k <= D; ++k) counts.data()[k - 1] = placed_count(J, J, k, D);
  return counts;
}

/// ids [..,J] of sentences of these lengths.
MemoryHops::Words MemoryHops::placed(Ids ids, const std::vector<int32_t>& lengths) const {
  const size_t J = static_cast<size_t>(ids.shape[ids.shape.rank() - 1]);
  const bool by_length = options_.words == "position" && options_.positions == 0;
  std::map<int32_t, int32_t> first;  // row of the first word of sentences of a length
  std::vector<Tensor> counts;
  int32_t rows = 0;
  const auto add = [&](int32_t length) {
    if (!first.emplace(length, rows).second) return;
    counts.push_back(counts_of(length)), rows += length;
  };
  if (!by_length) add(static_cast<int32_t>(J));
  std::vector<int32_t> places(ids.size(), -1);
  for (size_t s = 0; s < lengths.size(); ++s) {
    if (lengths[s] == 0) continue;
    if (by_length) add(lengths[s]);
    const int32_t row = first.at(by_length ? lengths[s] : static_cast<int32_t>(J));
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(s * J);
    std::iota(begin, begin + lengths[s], row);
  }
  Tensor all({rows, options_.size});
  real* to = all.data();
  for (const Tensor& one : counts) to = std::copy(one.begin(), one.end(), to);
  const Shape shape = ids.shape;
  return {std::move(ids), Ids(shape, std::move(places)), std::move(all)};
}

/// Σⱼ lⱼ∘E[wⱼ] → [..,D].
Var MemoryHops::embedded(const Var& table, const Words& words) const {
  return weighted_rows(table, words.ids, words.counts, words.places);
}

/// The latest sentences of each document; in training with empty cells among them (section 4.1, "random noise").
MemoryHops::Cells MemoryHops::remembered(const data::Source& source, Training* training) const {
  const data::Sequences &document = text_part(source, kDocument), &number = text_part(source, kSentence);
  const int64_t B = document.count();
  std::vector<std::vector<Sentence>> all;
  Cells cells;
  const size_t room = static_cast<size_t>(options_.cells);
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
    if (kept.size() > room) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(room));
    cells.lengths.push_back(static_cast<int32_t>(kept.size()));
    most = std::max(most, kept.size());
    for (const Sentence& sentence : kept) longest = std::max(longest, sentence.size());
  }
  if (options_.filled) most = room;
  const int64_t S = static_cast<int64_t>(most), J = static_cast<int64_t>(longest);
  std::vector<int32_t> words(most * longest * all.size(), data::kPad), ages(most * all.size(), 0),
      aged(ages.size(), -1), lengths(ages.size(), 0);
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t i = 0; i < all[b].size(); ++i) {
      const size_t cell = b * most + i;
      std::ranges::copy(all[b][i], words.begin() + static_cast<std::ptrdiff_t>(cell * longest));
      ages[cell] = static_cast<int32_t>(all[b].size() - 1 - i);
      aged[cell] = options_.filled && all[b][i].empty() ? -1 : 0;
      lengths[cell] = static_cast<int32_t>(all[b][i].size());
    }
  }
  cells.words = placed(Ids({B, S, J}, std::move(words)), lengths);
  cells.ages = Ids({B, S, 1}, std::move(ages)), cells.aged = Ids({B, S, 1}, std::move(aged));
  cells.seen = options_.filled ? std::vector<int32_t>(all.size(), static_cast<int32_t>(S)) : cells.lengths;
  return cells;
}

/// weights [B,1,1,S] of cells as those of all sentences: 0 for those that are not remembered.
void MemoryHops::tell(const Cells& cells, const Tensor& weights, int64_t hop) {
  const int64_t B = weights.dim(0), S = weights.dim(3);
  const int64_t all = std::max(*std::ranges::max_element(cells.sentences), *std::ranges::max_element(cells.lengths));
  Tensor by_sentence = Tensor::zeros({B, 1, 1, all});
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
  const Tensor age = count_of_age();
  std::vector<Var> said;  // by table: what each cell says
  for (size_t i = 0; i < words_.size(); ++i) {
    said.push_back(add(embedded(words_[i], cells.words), weighted_rows(ages_[i], cells.ages, age, cells.aged)));
  }
  const Words asked = placed(question.ids, question.lengths);
  Var u = reshape(embedded(question_.defined() ? question_ : words_[0], asked), {B, 1, D});
  const bool linear = training && training->update < options_.linear_start;
  for (int64_t hop = 0; hop < hops; ++hop) {
    const size_t k = static_cast<size_t>(hop), key = adjacent() ? k : 0;
    const Attention& attention = linear ? linear_[k] : soft_[k];
    const AttentionMemory memory = attention.prepare(said[key], said[key + 1], cells.seen);
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
    : Labeller("memory", std::make_unique<MemoryHops>(o, random), o.labels, o.dropout),
      dropout_(static_cast<real>(o.dropout)) {
  if (!o.tied_output) {
    make_output(o.size, random);
    return;
  }
  std::vector<int32_t> rows = label_words(o);
  int64_t own = 0;
  for (int32_t& row : rows) {
    if (row < 0) row = static_cast<int32_t>(o.source_vocabulary + own++);
  }
  if (own > 0) own_ = small_leaf({own, o.size}, random);
  const auto count = static_cast<int64_t>(rows.size());
  rows_ = Ids({count}, std::move(rows));
}

void Memory::params(const nn::VisitParams& visit) {
  if (output_) return Labeller::params(visit);
  nn::visit_part(visit, "encoder", *encoder_);
  if (own_.defined()) visit("answers", own_);
}

Var Memory::logits(const data::Source& source, Training* training) const {
  if (output_) return Labeller::logits(source, training);
  const Var& words = dynamic_cast<const MemoryHops&>(*encoder_).read_words();
  const Var table = embedding(own_.defined() ? concat(std::vector{words, own_}, 0) : words, rows_);
  return matmul(dropout_(features(source, training), random_of(training)), table, false, true);
}

Var Memory::features(const data::Source& source, Training* training) const {
  return (*encoder_)(source, training).summary;
}

}  // namespace attend::models
