// Text ↔ ids: subwords (SentencePiece), words, words and marks, or characters. The ids of batch.h (kPad, kUnknown, kBegin, kEnd) are the same
// in all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/data/batch.h"
#include "attend/data/example.h"
#include "attend/data/subword_cuts.h"

namespace attend::data {

struct TokeniserOptions;
class Tokeniser;

/// Produces one line after another; false at the end.
using NextLine = std::function<bool(std::string& line)>;

/// A kind of tokeniser: what tokeniser.kind names.
struct TokeniserRow {
  std::string_view name, summary, paper;
  std::unique_ptr<Tokeniser> (*train)(const TokeniserOptions& options, const NextLine& next);
};
/// The menu: help, option checks and tests iterate over it.
std::span<const TokeniserRow> tokenisers();

struct TokeniserOptions {
  std::string kind = "unigram";
  int64_t vocabulary = 8000;
  bool lowercase = false;
  /// By default a text is kept exactly as written, so that scores apply to what its author wrote. NFKC turns "…" into
  /// three dots and wide letters into narrow ones, in the output too.
  std::string normalise = "none";
  /// 1 keeps every letter of a small corpus. In large ones with many characters (Chinese, or noise) 0.9995 saves room.
  double coverage = 1;
  int64_t min_count = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "what a token is: unigram, bpe, words, punctuated (words and marks), characters", bounds::one_of(tokenisers()));
    visit("vocabulary", vocabulary, "maximum number of tokens, including the 4 reserved ones; fewer if there are no more",
          bounds::within(kFirstWord + 1, 10'000'000));
    visit("lowercase", lowercase, "capitals become lower case");
    visit("normalise", normalise, "none: the text is kept; nfkc: variants of a character become one (unigram, bpe)",
          bounds::one_of({"none", "nfkc"}));
    visit("coverage", coverage, "share of the text whose characters are known (unigram, bpe, characters)",
          bounds::above_up_to(0, 1));
    visit("min_count", min_count, "rarer words or characters are unknown (words, punctuated, characters)",
          bounds::within(1, 1 << 28));
  }
};

/// A text as tokens and as words (split_words), and which belongs to which.
struct TokenisedWords {
  std::vector<int32_t> ids;
  std::vector<std::string> words;
  /// For each token its word, in order; −1 for a token without text (kPad, kBegin, kEnd) and if there is no word. A
  /// space, alone or as the "▁" of a subword, belongs to the word after it. A word may have no token (a character that
  /// NFKC drops).
  std::vector<int32_t> word_of;
  /// For each token the bytes of the text that it stands for, without white space; only of Tokeniser::tokenise.
  std::vector<TextRange> ranges = {};
};

class Tokeniser {
 public:
  Tokeniser() = default;
  Tokeniser(const Tokeniser&) = delete;
  Tokeniser& operator=(const Tokeniser&) = delete;
  virtual ~Tokeniser() = default;

  /// Without kBegin and kEnd. White space of any kind and length counts as one space, none at the ends.
  std::vector<int32_t> encode(std::string_view text) const;
  /// kPad, kBegin and kEnd are left out, kUnknown is kUnknownText. Throws Error for an id outside the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;
  /// The words are those of `text` as it is.
  TokenisedWords tokenise(std::string_view text) const;
  /// The words are those of decode(ids).
  TokenisedWords words(std::span<const int32_t> ids) const;
  /// One token for display: "▁the", "<pad>".
  std::string piece(int32_t id) const;

  /// Draws other cuts of a text than encode() gives; null where a token cannot be cut.
  virtual std::unique_ptr<const SubwordCuts> cuts(const SubwordCutOptions& /*options*/) const { return nullptr; }

  /// Ids are 0..size()−1.
  virtual int64_t size() const = 0;
  /// Writes folder/stem.spm (a SentencePiece model), .words, .punctuated or .characters (UTF-8: a line of settings, then
  /// token<tab>count by falling count).
  virtual void save(const std::filesystem::path& folder, std::string_view stem) const = 0;

  static constexpr std::string_view kUnknownText = "⁇";

 protected:
  /// Tokens and the bytes of the text at which each begins and ends; no ends: each reaches to the next.
  struct Placed {
    std::vector<int32_t> ids;
    std::vector<size_t> begin, end = {};
  };
  /// A text and the byte at which each of its tokens begins.
  struct Spelt {
    std::string text;
    std::vector<size_t> begin;
  };
  virtual Placed place(std::string_view text) const = 0;
  /// `ids` are within the vocabulary, without kPad, kBegin and kEnd.
  virtual Spelt spell(const std::vector<int32_t>& ids) const = 0;
  /// `id` is within the vocabulary, from kFirstWord on.
  virtual std::string show(int32_t id) const = 0;

 private:
  std::vector<int32_t> shown(std::span<const int32_t> ids) const;
};

/// The vocabulary of a text, deterministically. size() may be less than options.vocabulary. Subwords are learned from a
/// random sample of lines if there are more than 64 MiB of text.
std::unique_ptr<Tokeniser> train_tokeniser(const TokeniserOptions& options, const NextLine& next);

/// Loads what save() wrote; the file's extension gives the kind.
std::unique_ptr<Tokeniser> load_tokeniser(const std::filesystem::path& folder, std::string_view stem);

/// What save() wrote, whatever its kind: two kinds with the same stem would be rejected.
std::vector<std::filesystem::path> tokeniser_files(const std::filesystem::path& folder, std::string_view stem);

}  // namespace attend::data
