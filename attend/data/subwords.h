// Subwords by SentencePiece (Kudo & Richardson 2018): unigram (Kudo 2018) and byte-pair encoding (Sennrich et al. 2016).
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/tokeniser.h"

namespace attend::data {

/// options.kind is "unigram" or "bpe".
std::unique_ptr<Tokeniser> train_subwords(const TokeniserOptions& options, const NextLine& next);
std::unique_ptr<Tokeniser> load_subwords(const std::filesystem::path& path);

}  // namespace attend::data
