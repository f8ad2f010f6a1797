// Searches that can only answer with trees.
#pragma once

#include <memory>

#include "attend/data/tokeniser.h"
#include "attend/decode/search.h"

namespace attend::decode {

/// What tokens do in a tree that is written in one line: "(X" opens, ")" closes, anything else is the part of speech of the
/// next word (data/tree.h).
enum class Bracket : uint8_t { none, open, close, word };
using Brackets = std::shared_ptr<const std::vector<Bracket>>;
/// Of every token of a vocabulary.
Brackets brackets_of(const data::Tokeniser& tokens);

/// Only trees over exactly so many words of each sentence.
std::unique_ptr<Constraint> tree_constraint(Brackets brackets, std::vector<int64_t> words);

}  // namespace attend::decode
