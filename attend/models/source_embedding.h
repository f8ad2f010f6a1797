// What an encoder sees of each word of its source: a vector from a table, if it is set to look inside words one made from the
// word's letters, and where words are marked (which text a word is from, whether another text has it) a vector of that mark.
// Letters help with words that training never saw, by their endings, capitals and digits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/bounds.h"
#include "attend/models/model.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct LetterOptions;
class LetterReader;

struct LetterRow {
  std::string_view name, formula, paper;
  int64_t (*size)(const LetterOptions& options);  ///< width of what it makes of a word
  std::unique_ptr<LetterReader> (*make)(const LetterOptions& options, Random& random);
};
/// The menu of letters.kind; "none" makes nothing.
std::span<const LetterRow> letter_readers();
const LetterRow& letter_reader(std::string_view kind);

struct LetterOptions {
  std::string kind = "none";
  int64_t vocabulary = 0;
  int64_t size = 30;
  int64_t filters = 30, width = 3;  // convolution

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "a look inside words: none, convolution (over their letters) or recurrent (bidirectional)",
          bounds::one_of(letter_readers()));
    visit("vocabulary", vocabulary, "number of letters", bounds::count_or_none());
    visit("size", size, "width of a letter; recurrent: and of a state", bounds::width());
    visit("filters", filters, "convolution: width of a word's vector", bounds::width());
    visit("width", width, "convolution: number of letters seen at once", bounds::width());
  }
};

struct SourceEmbeddingOptions {
  int64_t vocabulary = 0, size = 0;  // words, and the width of each
  double word_dropout = 0;           // share of the words that training replaces with kUnknown
  LetterOptions letters;
  int64_t marks = 0;                 // kinds of marks (data/parts.h); 0: words are not marked
};

/// Turns the letters of a word into a vector.
class LetterReader {
 public:
  virtual ~LetterReader() = default;
  /// The letters of R words, at least one each → [R,size].
  virtual Var operator()(const data::Sequences& words) const = 0;
  virtual void params(const nn::VisitParams& visit) = 0;
};

/// xₜ = [E[wₜ]; r(letters of wₜ)] + M[mark of wₜ]: word ids and their letters → [B,T,size()]. For a word without letters, such
/// as padding, r is zero.
class SourceEmbedding {
 public:
  SourceEmbedding(const SourceEmbeddingOptions& options, Random& random);
  /// The table alone.
  SourceEmbedding(nn::Embedding words);  // NOLINT(google-explicit-constructor): many encoders have only this

  /// [B,T,size()], or by time [T,B,size()]. In training, words may be hidden; their letters never are.
  Var operator()(const data::Source& source, Training* training, bool by_time) const;
  /// Words alone, without looking inside them, unmarked: ids [..] → [..,size()].
  Var operator()(const Ids& ids) const;

  int64_t size() const { return words_.table().dim(1) + letters_size_; }
  const Var& table() const { return words_.table(); }
  void params(const nn::VisitParams& visit);

 private:
  Var read_letters(const data::Source& source, bool by_time) const;
  Var marked(const Var& words, const data::Source& source, bool by_time) const;

  nn::Embedding words_;
  double word_dropout_ = 0;
  int64_t letters_size_ = 0;
  std::unique_ptr<LetterReader> letters_;  // none: words alone
  std::optional<nn::Embedding> marks_;
};

}  // namespace attend::models
