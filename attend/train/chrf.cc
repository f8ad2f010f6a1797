#include "attend/train/chrf.h"

#include <string_view>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/unicode.h"
#include "attend/train/bleu.h"
#include "attend/train/line_pairs.h"
#include "attend/train/ngrams.h"

namespace attend::train {
namespace {

/// n-grams of one order: in the outputs, in the references, in both.
struct ChrfCounts {
  int64_t hyp = 0, ref = 0, shared = 0;
};

template <class Item>
void count_orders(std::span<const Item> output, std::span<const Item> reference, std::span<ChrfCounts> orders) {
  const Ngrams<Item> hyp(output, orders.size()), ref(reference, orders.size());
  for (size_t n = 1; n <= orders.size(); ++n) {
    ChrfCounts& counts = orders[n - 1];
    // A reference too short for the order says nothing about the output's n-grams.
    if (ref.count(n) > 0) counts.hyp += hyp.count(n);
    counts.ref += ref.count(n);
    counts.shared += hyp.shared(ref, n);
  }
}

std::u32string without_blanks(std::u32string_view line) {
  std::u32string text(line);
  std::erase_if(text, data::is_blank);
  return text;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

/// Words with one mark set apart: the last, or else the first (Popović's chrF++.py).
std::vector<std::u32string_view> words_and_marks(std::u32string_view line) {
  std::vector<std::u32string_view> parts;
  for (const std::u32string_view word : data::split_at_blanks(line)) {
    const size_t cut = word.size() == 1                     ? 0
                       : is_ascii_punctuation(word.back())  ? word.size() - 1
                       : is_ascii_punctuation(word.front()) ? 1
                                                            : 0;
    if (cut > 0) parts.push_back(word.substr(0, cut));
    parts.push_back(word.substr(cut));
  }
  return parts;
}

double f_score(std::span<const ChrfCounts> orders, double beta) {
  double precision = 0, recall = 0, seen = 0;
  for (const ChrfCounts& counts : orders) {
    if (counts.hyp == 0 || counts.ref == 0) continue;
    precision += static_cast<double>(counts.shared) / static_cast<double>(counts.hyp);
    recall += static_cast<double>(counts.shared) / static_cast<double>(counts.ref);
    seen += 1;
  }
  if (precision + recall == 0) return 0;
  precision /= seen;
  recall /= seen;
  const double factor = beta * beta;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

}  // namespace

double chrf(std::span<const std::string> outputs, std::span<const std::string> references, const ChrfOptions& options) {
  require(options.char_order >= 1 && options.word_order >= 0 && options.beta >= 1,
          "chrf: expected char_order and beta of at least 1 and a word_order of at least 0, got ", options.char_order,
          ", ", options.beta, " and ", options.word_order);
  std::vector<ChrfCounts> chars(static_cast<size_t>(options.char_order)),
      words(static_cast<size_t>(options.word_order));
  visit_lines("chrf", outputs, references, options.lowercase, [&](std::u32string_view hyp, std::u32string_view ref) {
    count_orders<char32_t>(without_blanks(hyp), without_blanks(ref), chars);
    if (!words.empty()) count_orders<std::u32string_view>(words_and_marks(hyp), words_and_marks(ref), words);
  });
  chars.insert(chars.end(), words.begin(), words.end());
  return f_score(chars, static_cast<double>(options.beta));
}

std::string chrf_name(const ChrfOptions& options) {
  return "chrF" + std::to_string(options.beta) + std::string(static_cast<size_t>(options.word_order), '+');
}

std::string chrf_signature(const ChrfOptions& options) {
  return std::string("nrefs:1|case:") + (options.lowercase ? "lc" : "mixed") +
         "|eff:yes|nc:" + std::to_string(options.char_order) + "|nw:" + std::to_string(options.word_order) +
         "|space:no|version:" + std::string(kSacreBleuVersion);
}

}  // namespace attend::train
