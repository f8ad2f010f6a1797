// Vocabularies that are lists: whole words, words and marks, or single characters.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/tokeniser.h"

namespace attend::data {

/// options.kind is "words", "punctuated" or "characters". In order of falling frequency, ties in byte order.
std::unique_ptr<Tokeniser> train_symbols(const TokeniserOptions& options, const NextLine& next);
std::unique_ptr<Tokeniser> load_symbols(const std::filesystem::path& path);

}  // namespace attend::data
