#include "attend/models/source_embedding.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/parts.h"
#include "attend/models/rows.h"
#include "attend/nn/recurrent.h"

namespace attend::models {
namespace {

/// r[f] = maxᵢ (W·[cᵢ₋₁; cᵢ; cᵢ₊₁] + b)[f]: what each filter finds anywhere in a word. Beyond its ends kPad is read.
class LetterConvolution : public LetterReader {
 public:
  LetterConvolution(const LetterOptions& o, Random& random)
      : letters_(require_size("letters.vocabulary", o.vocabulary), require_size("letters.size", o.size), random),
        filter_(require_size("letters.width", o.width) * o.size, require_size("letters.filters", o.filters), random),
        width_(o.width),
        filters_(o.filters) {}
  static std::unique_ptr<LetterReader> make(const LetterOptions& options, Random& random) {
    return std::make_unique<LetterConvolution>(options, random);
  }

  Var operator()(const data::Sequences& words) const override {
    const int64_t R = words.count(), L = words.longest();
    const Var seen = letters_(windows(words));  // [R·L,width,size]
    const Var found = filter_(reshape(seen, {R * L, seen.dim(1) * seen.dim(2)}));
    return max(reshape(found, {R, L, filters_}), 1);
  }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "letters", letters_);
    nn::visit_part(visit, "filter", filter_);
  }

 private:
  /// The letters around each letter, [R·L,width], for one product over all windows. Past the end of a word its last window
  /// is repeated, which changes no maximum.
  Ids windows(const data::Sequences& words) const {
    const int64_t R = words.count(), L = words.longest();
    std::vector<int32_t> ids;
    ids.reserve(static_cast<size_t>(R * L * width_));
    for (int64_t r = 0; r < R; ++r) {
      const int64_t length = words.lengths[static_cast<size_t>(r)];
      for (int64_t i = 0; i < L; ++i) {
        const int64_t first = std::min(i, length - 1) - (width_ - 1) / 2;
        for (int64_t at = first; at < first + width_; ++at) {
          ids.push_back(at >= 0 && at < length ? words.ids.values[static_cast<size_t>(r * L + at)] : data::kPad);
        }
      }
    }
    return Ids({R * L, width_}, std::move(ids));
  }

  nn::Embedding letters_;
  nn::Linear filter_;
  int64_t width_, filters_;
};

/// r = [h→ after the last letter; h← after the first].
class LetterStates : public LetterReader {
 public:
  LetterStates(const LetterOptions& o, Random& random)
      : letters_(require_size("letters.vocabulary", o.vocabulary), require_size("letters.size", o.size), random),
        layer_({.cell = Cell::lstm, .input = o.size, .hidden = o.size, .bidirectional = true}, random) {}
  static std::unique_ptr<LetterReader> make(const LetterOptions& options, Random& random) {
    return std::make_unique<LetterStates>(options, random);
  }

  Var operator()(const data::Sequences& words) const override {
    const auto last = layer_(letters_(words.by_time()), words.lengths).last;
    return concat(std::array{last[0].h, last[1].h}, 1);
  }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "letters", letters_);
    nn::visit_part(visit, "layer", layer_);
  }

 private:
  nn::Embedding letters_;
  nn::Recurrent layer_;
};

std::unique_ptr<LetterReader> make_none(const LetterOptions&, Random&) { return nullptr; }

constexpr auto kNoSize = [](const LetterOptions&) { return int64_t{0}; };
constexpr auto kFilters = [](const LetterOptions& o) { return o.filters; };
constexpr auto kBothStates = [](const LetterOptions& o) { return 2 * o.size; };

constexpr LetterRow kReaders[] = {
    {"none", "words alone", "", kNoSize, make_none},
    {"convolution", "maxᵢ (W·[cᵢ₋₁; cᵢ; cᵢ₊₁] + b): what a filter finds anywhere in a word",
     "Santos & Zadrozny 2014; Ma & Hovy 2016", kFilters, LetterConvolution::make},
    {"recurrent", "[h→; h←]: the last states of an lstm that reads the letters both ways", "Lample et al. 2016",
     kBothStates, LetterStates::make},
};

/// Every word at its place, with a share of them unknown.
Ids with_unknown(const data::Sequences& words, double share, Random& random) {
  Ids ids = words.ids;
  const size_t T = static_cast<size_t>(words.longest());
  for (size_t b = 0; b < words.lengths.size(); ++b) {
    for (size_t t = 0; t < static_cast<size_t>(words.lengths[b]); ++t) {
      if (random.uniform53() < share) ids.values[b * T + t] = data::kUnknown;
    }
  }
  return ids;
}

}  // namespace

std::span<const LetterRow> letter_readers() { return kReaders; }
const LetterRow& letter_reader(std::string_view kind) { return row_named("letters.kind", kReaders, kind); }

SourceEmbedding::SourceEmbedding(const SourceEmbeddingOptions& o, Random& random)
    : words_(require_size("vocabulary", o.vocabulary), require_size("size", o.size), random),
      word_dropout_(o.word_dropout),
      letters_size_(letter_reader(o.letters.kind).size(o.letters)),
      letters_(letter_reader(o.letters.kind).make(o.letters, random)) {
  if (o.marks > 0) marks_.emplace(o.marks, size(), random);
  require(word_dropout_ >= 0 && word_dropout_ < 1, "word_dropout: expected a share in [0, 1), got ", word_dropout_);
}

SourceEmbedding::SourceEmbedding(nn::Embedding words) : words_(std::move(words)) {}

Var SourceEmbedding::operator()(const Ids& ids) const {
  require(!letters_, "SourceEmbedding: expected words with their letters, as letters.kind says, got words alone");
  return words_(ids);
}

Var SourceEmbedding::operator()(const data::Source& source, Training* training, bool by_time) const {
  const data::Sequences& text = source.text();
  const Ids ids = training && word_dropout_ > 0 ? with_unknown(text, word_dropout_, training->random) : text.ids;
  Var read = words_(by_time ? data::transposed(ids) : ids);
  if (letters_) {
    const Var letters = read_letters(source, by_time);  // which may throw: g++ 12 would end a half-made array twice
    read = concat(std::array{read, letters}, 2);
  }
  return marks_ ? marked(read, source, by_time) : read;
}

Var SourceEmbedding::marked(const Var& words, const data::Source& source, bool by_time) const {
  const data::Part* marks = source.find(source.parts().front().name + std::string(data::kMarks));
  require(marks != nullptr, "SourceEmbedding: expected the words of \"", source.parts().front().name,
          "\" to be marked, got no part for that");
  return add(words, (*marks_)(by_time ? data::transposed(marks->ids.ids) : marks->ids.ids));
}

/// Each word is read once, however often it occurs.
Var SourceEmbedding::read_letters(const data::Source& source, bool by_time) const {
  const data::Sequences* letters = source.letters();
  require(letters != nullptr, "SourceEmbedding: expected the letters of each word, as letters.kind says, got none (",
          "Source::add_letters)");
  const int64_t B = source.count(), T = source.text().longest();
  std::map<std::vector<int32_t>, int32_t> known;
  std::vector<std::vector<int32_t>> words;
  std::vector<int32_t> word_at;  // by place; −1: no letters
  for (int64_t i = 0; i < B * T; ++i) {
    const int64_t place = by_time ? i % B * T + i / B : i;
    const std::vector<int32_t> word = letters->row(place);
    const auto found = known.try_emplace(word, static_cast<int32_t>(words.size()));
    if (!word.empty() && found.second) words.push_back(word);
    word_at.push_back(word.empty() ? -1 : found.first->second);
  }
  const Shape shape = by_time ? Shape{T, B, letters_size_} : Shape{B, T, letters_size_};
  if (words.empty()) return Tensor::zeros(shape);
  // A row of zeros after those of the words, for places without letters.
  const Var read = (*letters_)(data::Sequences(words));
  std::ranges::replace(word_at, -1, static_cast<int32_t>(words.size()));
  const Var all = concat(std::array{read, Var(Tensor::zeros({1, letters_size_}))}, 0);
  return reshape(take_rows(all, word_at), shape);
}

void SourceEmbedding::params(const nn::VisitParams& visit) {
  words_.params(visit);
  if (letters_) nn::visit_part(visit, "letters", *letters_);
  if (marks_) nn::visit_part(visit, "marks", *marks_);
}

}  // namespace attend::models
