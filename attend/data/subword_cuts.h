// Other cuts of a text into subwords than the usual one, drawn at random: what a network learns from them holds for words
// that it has hardly seen.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/random.h"

namespace attend::data {

struct SubwordCutOptions {
  double dropout = 0, alpha = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit(
        "dropout", dropout,
        "bpe: share of the merges that are left out, drawn anew for each sentence of each epoch (BPE-dropout); 0: none",
        bounds::share());
    visit("alpha", alpha,
          "unigram: each sentence of each epoch is cut anew, likely cuts preferred by their probability to this power "
          "(subword regularisation); 0: the likeliest cut, always",
          bounds::within(0, 1e3));
  }
  bool any() const { return dropout > 0 || alpha > 0; }
};

struct SubwordPiece {
  std::string text;
  float score = 0;      // bpe: the order of merges, highest first; unigram: ln p
  bool is_text = true;  // false: kPad, kUnknown, … : never part of a word
};

/// Cuts words anew. A word begins at a piece with "▁"; it stays the same text.
class SubwordCuts {
 public:
  /// Piece i has id i.
  SubwordCuts(std::span<const SubwordPiece> pieces, const SubwordCutOptions& options);

  /// The text of `ids` in other pieces: a function of the ids and of the random numbers.
  std::vector<int32_t> operator()(std::span<const int32_t> ids, Random& random) const;

 private:
  void add_merges(std::span<const SubwordPiece> pieces);
  void add_paths();
  void cut(std::vector<int32_t>& word, Random& random, std::vector<int32_t>& into) const;
  void merged(std::vector<int32_t>& word, Random& random) const;
  std::vector<int32_t> drawn(std::span<const int32_t> word, Random& random) const;
  int32_t merge_of(int32_t left, int32_t right) const;

  SubwordCutOptions options_;
  std::vector<float> scores_;
  std::vector<uint8_t> is_text_, begins_word_;
  std::vector<std::vector<int32_t>> letters_;  // of each piece: the ids of its characters, or its own if one has none
  std::unordered_map<uint64_t, int32_t> merges_;  // bpe: two pieces → the one that both together are
  std::unordered_map<uint64_t, int32_t> paths_;   // unigram: a trie; node and letter → node
  std::vector<int32_t> piece_at_;                 // of each node; −1: none ends there
};

}  // namespace attend::data
