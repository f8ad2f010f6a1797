// Texts as words, for inputs and outputs alike.
#pragma once

#include <span>
#include <string>

#include "attend/data/tokeniser.h"
#include "attend/explain/trace.h"

namespace attend::tasks {

/// Words with one space between them.
std::string joined(std::span<const std::string> words);

/// A text as a side of a trace: its tokens, its words, and what is unknown among them.
explain::TraceSide side_of(const data::Tokeniser& tokeniser, const data::TokenisedWords& words, std::string text);

}  // namespace attend::tasks
