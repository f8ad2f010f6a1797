#include "attend/train/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/unicode.h"
#include "attend/train/line_pairs.h"
#include "attend/train/ngrams.h"

namespace attend::train {
namespace {

using data::Category;

std::u32string replace_all(std::u32string text, std::u32string_view from, std::u32string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Of two neighbours that match, one is a mark that gets blanks around it. As s/(first)(second)/…/g: matches do not
/// overlap.
struct PairRule {
  bool (*first)(char32_t);
  bool (*second)(char32_t);
  bool mark_is_first;
};

std::u32string set_apart(std::u32string_view text, const PairRule& rule) {
  std::u32string apart;
  apart.reserve(2 * text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && rule.first(text[i]) && rule.second(text[i + 1])) {
      if (rule.mark_is_first) apart += U' ';
      apart += {text[i], U' ', text[i + 1]};
      if (!rule.mark_is_first) apart += U' ';
      ++i;
    } else {
      apart += text[i];
    }
  }
  return apart;
}

std::u32string set_apart(std::u32string_view text, bool (*mark)(char32_t)) {
  std::u32string apart;
  apart.reserve(2 * text.size());
  for (const char32_t c : text) {
    if (mark(c)) {
      apart += {U' ', c, U' '};
    } else {
      apart += c;
    }
  }
  return apart;
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_no_digit(char32_t c) { return !is_digit(c); }
bool is_point_or_comma(char32_t c) { return c == U'.' || c == U','; }
bool is_dash(char32_t c) { return c == U'-'; }
/// [\{-\~\[-\` -\&\(-\+\:-\@\/]: the marks of ASCII without ' , - and .
bool is_ascii_mark(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

std::u32string tokenise_13a(std::u32string_view line) {
  std::u32string text(line);
  // In this order, and not undone at once: "&amp;lt;" becomes "<".
  constexpr std::pair<std::u32string_view, std::u32string_view> kReplaced[] = {
      {U"<skipped>", U""}, {U"-\n", U""},   {U"\n", U" "},  {U"&quot;", U"\""},
      {U"&amp;", U"&"},    {U"&lt;", U"<"}, {U"&gt;", U">"}};
  for (const auto& [from, to] : kReplaced) text = replace_all(std::move(text), from, to);
  text = set_apart(U" " + text + U" ", is_ascii_mark);
  text = set_apart(text, {is_no_digit, is_point_or_comma, false});
  text = set_apart(text, {is_point_or_comma, is_no_digit, true});
  return set_apart(text, {is_digit, is_dash, false});
}

bool is_punctuation(char32_t c) { return data::category(c) == Category::kPunctuation; }
bool is_symbol(char32_t c) { return data::category(c) == Category::kSymbol; }
bool is_no_number(char32_t c) { return data::category(c) != Category::kNumber; }

std::u32string tokenise_intl(std::u32string_view line) {
  std::u32string text = set_apart(line, {is_no_number, is_punctuation, false});
  text = set_apart(text, {is_punctuation, is_no_number, true});
  return set_apart(text, is_symbol);
}

std::u32string tokenise_char(std::u32string_view line) {
  return set_apart(line, [](char32_t) { return true; });
}

constexpr BleuTokeniserRow kTokenisers[] = {
    {"13a", "marks of ASCII apart, points and commas unless within a number, a dash after a digit", "mteval-v13a, WMT",
     tokenise_13a},
    {"intl", "punctuation apart unless within a number, symbols apart, by Unicode's categories", "mteval-v14",
     tokenise_intl},
    {"char", "every character for itself", "sacreBLEU", tokenise_char},
    {"none", "as they come: words are what blanks divide", "sacreBLEU",
     [](std::u32string_view line) { return std::u32string(line); }},
};

constexpr BleuSmoothingRow kSmoothings[] = {
    {"exp", "cₙ = 0 counts as 2⁻ⁱ, the i-th time", "Chen & Cherry 2014, method 3", "exp", 0, 1, 0.5},
    {"floor", "cₙ = 0 counts as 0.1", "Chen & Cherry 2014, method 1", "floor[0.10]", 0, 0.1, 1},
    {"add-k", "(cₙ + 1)/(tₙ + 1) for n > 1", "Chen & Cherry 2014, method 2", "add-k[1.00]", 1, 0, 1},
    {"none", "cₙ/tₙ", "Papineni et al. 2002", "none", 0, 0, 1},
};

constexpr size_t kOrders = BleuScore::kOrders;

struct BleuCounts {
  std::array<int64_t, kOrders> shared{}, total{};
  int64_t hyp_len = 0, ref_len = 0;
};

/// Of the reference nearest in length; of two, the shorter.
size_t nearest_length(size_t length, std::span<const std::vector<std::u32string_view>> references) {
  const auto distance = [length](size_t other) { return other > length ? other - length : length - other; };
  size_t nearest = references[0].size();
  for (const auto& reference : references) {
    const size_t size = reference.size();
    const bool tie = distance(size) == distance(nearest);
    if (distance(size) < distance(nearest) || (tie && size < nearest)) nearest = size;
  }
  return nearest;
}

void count_line(std::u32string_view output, std::span<const std::u32string> references, BleuCounts& counts) {
  const auto hyp = data::split_at_blanks(output);
  std::vector<std::vector<std::u32string_view>> words;
  std::vector<Ngrams<std::u32string_view>> ngrams;
  words.reserve(references.size());
  for (const std::u32string& reference : references) {
    words.push_back(data::split_at_blanks(reference));
    ngrams.emplace_back(words.back(), kOrders);
  }
  const Ngrams<std::u32string_view> hyp_ngrams(hyp, kOrders);
  for (size_t n = 1; n <= kOrders; ++n) {
    counts.shared[n - 1] += hyp_ngrams.shared(ngrams, n);
    counts.total[n - 1] += hyp_ngrams.count(n);
  }
  counts.hyp_len += static_cast<int64_t>(hyp.size());
  counts.ref_len += static_cast<int64_t>(nearest_length(hyp.size(), words));
}

double brevity_penalty(int64_t hyp_len, int64_t ref_len) {
  if (hyp_len >= ref_len) return 1;
  return hyp_len == 0 ? 0 : std::exp(1 - static_cast<double>(ref_len) / static_cast<double>(hyp_len));
}

/// Orders without any n-grams, and those after them, have precision 0.
std::array<double, kOrders> smoothed_precisions(const BleuCounts& counts, const BleuSmoothingRow& smoothing) {
  std::array<double, kOrders> precisions{};
  double unmatched = smoothing.unmatched;
  for (size_t i = 0; i < kOrders; ++i) {
    const double added = i == 0 ? 0 : smoothing.added;
    const double shared = static_cast<double>(counts.shared[i]) + added;
    const double total = static_cast<double>(counts.total[i]) + added;
    if (total == 0) break;
    if (shared == 0) unmatched *= smoothing.decay;
    precisions[i] = 100 * (shared == 0 ? unmatched : shared) / total;
  }
  return precisions;
}

double geometric_mean(std::span<const double> precisions) {
  double sum = 0;
  for (const double p : precisions) sum += p == 0 ? -9999999999.0 : std::log(p);  // sacreBLEU's ln 0
  return std::exp(sum / static_cast<double>(precisions.size()));
}

BleuScore score_of(const BleuCounts& counts, const BleuSmoothingRow& smoothing) {
  BleuScore result{
      .brevity = brevity_penalty(counts.hyp_len, counts.ref_len), .hyp_len = counts.hyp_len, .ref_len = counts.ref_len};
  if (std::ranges::all_of(counts.shared, [](int64_t shared) { return shared == 0; })) return result;
  result.precisions = smoothed_precisions(counts, smoothing);
  result.score = result.brevity * geometric_mean(result.precisions);
  return result;
}

}  // namespace

std::span<const BleuTokeniserRow> bleu_tokenisers() { return kTokenisers; }
std::span<const BleuSmoothingRow> bleu_smoothings() { return kSmoothings; }

BleuScore bleu(std::span<const std::string> outputs, std::span<const std::string> references,
               const BleuOptions& options) {
  const BleuTokeniserRow& tokeniser = row_named("BLEU's tokeniser", kTokenisers, options.tokenise);
  const BleuSmoothingRow& smoothing = row_named("BLEU's smoothing", kSmoothings, options.smooth);
  BleuCounts counts;
  visit_lines("bleu", outputs, references, options.lowercase, [&](std::u32string_view hyp, std::u32string_view ref) {
    const std::u32string words = tokeniser.tokenise(data::without_trailing_blanks(ref));
    count_line(tokeniser.tokenise(data::without_trailing_blanks(hyp)), std::span(&words, 1), counts);
  });
  return score_of(counts, smoothing);
}

BleuScore bleu(std::span<const std::string> outputs, std::span<const std::vector<std::string>> references,
               const BleuOptions& options) {
  const BleuTokeniserRow& tokeniser = row_named("BLEU's tokeniser", kTokenisers, options.tokenise);
  const BleuSmoothingRow& smoothing = row_named("BLEU's smoothing", kSmoothings, options.smooth);
  require(outputs.size() == references.size(), "bleu: expected as many outputs as lists of references, got ",
          outputs.size(), " outputs and ", references.size(), " lists");
  require(!outputs.empty(), "bleu: expected at least one line, got none");
  BleuCounts counts;
  for (size_t i = 0; i < outputs.size(); ++i) {
    require(!references[i].empty(), "bleu: output ", i + 1, ": expected at least one reference, got none");
    const std::vector<std::string> repeated(references[i].size(), outputs[i]);
    std::vector<std::u32string> words;
    std::u32string said;
    visit_lines("bleu", repeated, references[i], options.lowercase,
                [&](std::u32string_view hyp, std::u32string_view ref) {
                  words.push_back(tokeniser.tokenise(data::without_trailing_blanks(ref)));
                  said = tokeniser.tokenise(data::without_trailing_blanks(hyp));
                });
    count_line(said, words, counts);
  }
  return score_of(counts, smoothing);
}

double BleuScore::up_to(size_t k) const {
  require(k >= 1 && k <= kOrders, "BLEU: expected an order from 1 to 4, got ", k);
  return brevity * geometric_mean(std::span(precisions).first(k));
}

std::string BleuScore::text() const {
  char text[256];
  std::snprintf(text, sizeof(text),
                "BLEU = %.2f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f hyp_len = %lld ref_len = %lld)", score,
                precisions[0], precisions[1], precisions[2], precisions[3], brevity, ratio(),
                static_cast<long long>(hyp_len), static_cast<long long>(ref_len));
  return text;
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  const auto& smoothing = row_named("BLEU's smoothing", kSmoothings, options.smooth);
  return "nrefs:" + (references == 0 ? "var" : std::to_string(references)) +
         "|case:" + (options.lowercase ? "lc" : "mixed") + "|eff:no|tok:" + options.tokenise +
         "|smooth:" + std::string(smoothing.signature) + "|version:" + std::string(kSacreBleuVersion);
}

}  // namespace attend::train
