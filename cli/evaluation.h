// Scores of outputs as JSON: what `attend eval` prints, wherever the outputs come from.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "attend/data/alignment.h"
#include "attend/train/bleu.h"

namespace attend::cli {

/// BLEU, chrF and exact match of outputs against references, line by line. BLEU's options say for all of them whether case
/// matters.
nlohmann::ordered_json scores(std::span<const std::string> outputs, std::span<const std::string> references,
                              const train::BleuOptions& options);

/// AER, precision and recall of word alignments.
nlohmann::ordered_json alignment_scores(std::span<const data::Links> links, std::span<const data::Links> sure,
                                        std::span<const data::Links> possible);

}  // namespace attend::cli
