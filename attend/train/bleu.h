// BLEU of a corpus with one or several references per line (Papineni et al. 2002), as sacreBLEU computes it (Post 2018): the same
// tokenisers, smoothing, text and signature.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"

namespace attend::train {

/// The release of sacreBLEU that the scores were checked against; the last part of a signature.
inline constexpr std::string_view kSacreBleuVersion = "2.6.0";

struct BleuTokeniserRow {
  std::string_view name, summary, source;
  /// A line → its words, with blanks between them.
  std::u32string (*tokenise)(std::u32string_view line);
};
std::span<const BleuTokeniserRow> bleu_tokenisers();

/// cₙ of the tₙ n-grams of the outputs are in their references.
struct BleuSmoothingRow {
  std::string_view name, formula, paper, signature;
  double added;      // to cₙ and tₙ of n > 1
  double unmatched;  // stands for cₙ = 0,
  double decay;      // times this to the power of how many orders up to n have none
};
std::span<const BleuSmoothingRow> bleu_smoothings();

struct BleuOptions {
  std::string tokenise = "13a";
  std::string smooth = "exp";
  bool lowercase = false;

  void fields(auto&& visit) {
    visit("tokenise", tokenise, "how lines become words: 13a, intl, char, none", bounds::one_of(bleu_tokenisers()));
    visit("smooth", smooth, "what an order without a match counts: exp, floor, add-k, none",
          bounds::one_of(bleu_smoothings()));
    visit("lowercase", lowercase, "ignore case");
  }
};

struct BleuScore {
  static constexpr size_t kOrders = 4;

  double score = 0;                          ///< 0 … 100: brevity·(Π pₙ)^¼
  std::array<double, kOrders> precisions{};  ///< pₙ, smoothed, 0 … 100
  double brevity = 1;                        ///< min(1, e^(1 − ref_len/hyp_len))
  int64_t hyp_len = 0, ref_len = 0;          ///< words

  /// brevity·(Π pₙ)^(1/k) of the orders up to k ≤ 4: "BLEU-k" of captions.
  double up_to(size_t k) const;
  double ratio() const { return ref_len == 0 ? 0 : static_cast<double>(hyp_len) / static_cast<double>(ref_len); }
  /// "BLEU = 37.21 68.1/43.0/… (BP = 1.000 ratio = 1.003 hyp_len = … ref_len = …)"
  std::string text() const;
};

/// Throws Error unless there are as many outputs as references, and at least one.
BleuScore bleu(std::span<const std::string> outputs, std::span<const std::string> references,
               const BleuOptions& options = {});
/// With at least one reference per output: an n-gram counts as often as in the reference where it is most frequent; the
/// length is that of the reference closest in length, the shorter of two.
BleuScore bleu(std::span<const std::string> outputs, std::span<const std::vector<std::string>> references,
               const BleuOptions& options = {});
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:…"; references 0: their number differs ("nrefs:var").
std::string bleu_signature(const BleuOptions& options = {}, size_t references = 1);

}  // namespace attend::train
