#include "cli/evaluation.h"

#include <cstdio>

#include "attend/train/agreement.h"
#include "attend/train/chrf.h"

namespace attend::cli {
namespace {

using nlohmann::ordered_json;

ordered_json bleu_scores(std::span<const std::string> outputs, std::span<const std::string> references,
                         const train::BleuOptions& options) {
  const train::BleuScore bleu = train::bleu(outputs, references, options);
  return {{"score", bleu.score},           {"text", bleu.text()},    {"signature", bleu_signature(options)},
          {"precisions", bleu.precisions}, {"bp", bleu.brevity},     {"ratio", bleu.ratio()},
          {"hyp_len", bleu.hyp_len},       {"ref_len", bleu.ref_len}};
}

ordered_json chrf_scores(std::span<const std::string> outputs, std::span<const std::string> references,
                         const train::ChrfOptions& options) {
  const double score = train::chrf(outputs, references, options);
  char text[64];
  std::snprintf(text, sizeof(text), "%s = %.2f", chrf_name(options).c_str(), score);
  return {{"score", score}, {"text", text}, {"signature", chrf_signature(options)}};
}

}  // namespace

ordered_json scores(std::span<const std::string> outputs, std::span<const std::string> references,
                    const train::BleuOptions& options) {
  return {{"bleu", bleu_scores(outputs, references, options)},
          {"chrf", chrf_scores(outputs, references, {.lowercase = options.lowercase})},
          {"exact_match", train::exact_match(outputs, references, options.lowercase)},
          {"lines", outputs.size()}};
}

ordered_json alignment_scores(std::span<const data::Links> links, std::span<const data::Links> sure,
                              std::span<const data::Links> possible) {
  const train::AlignmentScore score = train::alignment_score(links, sure, possible);
  return {{"aer", score.error_rate}, {"precision", score.precision}, {"recall", score.recall}, {"lines", links.size()}};
}

}  // namespace attend::cli
