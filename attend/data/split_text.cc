#include "attend/data/split_text.h"

#include <algorithm>
#include <span>

#include "attend/base/joined.h"

namespace attend::data {
namespace {

bool ends_clause(const std::string& word) {
  return !word.empty() && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos;
}

/// After how many of these words to cut so that the part before has at most `longest` tokens: after the last word that ends
/// a clause if that is not in the first half, else after the last word that fits; after one in any case.
size_t cut_after(std::span<const std::string> words, std::span<const int64_t> tokens, int64_t longest) {
  size_t fits = 0, clause = 0;
  for (int64_t sum = 0; fits < words.size() && (sum += tokens[fits]) <= longest; ++fits) {
    if (ends_clause(words[fits]) && sum > longest / 2) clause = fits + 1;
  }
  return std::max<size_t>(1, clause > 0 ? clause : fits);
}

/// A word that is too long in itself (a text without spaces), by halves between characters.
void split_word(const Tokeniser& tokeniser, std::string_view word, int64_t longest, bool continues,
                std::vector<TextPart>& parts) {
  size_t middle = word.size() / 2;
  while (middle > 0 && (static_cast<unsigned char>(word[middle]) & 0xC0) == 0x80) --middle;  // not within a character
  if (middle == 0 || static_cast<int64_t>(tokeniser.encode(word).size()) <= longest) {
    parts.push_back({std::string(word), continues});
    return;
  }
  split_word(tokeniser, word.substr(0, middle), longest, continues, parts);
  split_word(tokeniser, word.substr(middle), longest, true, parts);
}

}  // namespace

std::vector<TextPart> split_text(const Tokeniser& tokeniser, const std::string& text, int64_t longest) {
  const TokenisedWords whole = tokeniser.tokenise(text);
  if (longest <= 0 || static_cast<int64_t>(whole.ids.size()) <= longest) return {{text}};
  std::vector<int64_t> tokens(whole.words.size(), 0);
  for (const int32_t word : whole.word_of) {
    if (word >= 0) ++tokens[static_cast<size_t>(word)];
  }
  std::vector<TextPart> parts;
  for (size_t at = 0; at < whole.words.size();) {
    const std::span words = std::span(whole.words).subspan(at);
    const size_t count = cut_after(words, std::span(tokens).subspan(at), longest);
    if (count == 1) {
      split_word(tokeniser, words[0], longest, false, parts);
    } else {
      parts.push_back({joined(words.first(count), " ")});
    }
    at += count;
  }
  return parts;
}

}  // namespace attend::data
