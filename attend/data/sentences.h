// Sentences of a document: the cells of a memory, and what an answer follows from.
#pragma once

#include <string_view>
#include <vector>

#include "attend/data/example.h"

namespace attend::data {

/// The sentences of a text, in order, without the white space around them. A sentence ends at a line break, and within a
/// line after . ! or ? (several of them, with quotes and brackets that close behind them) followed by white space. The
/// text need not be UTF-8; empty: no sentences.
std::vector<TextRange> split_sentences(std::string_view text);

}  // namespace attend::data
