// Long texts in parts that a network can take.
#pragma once

#include <string>
#include <vector>

#include "attend/data/tokeniser.h"

namespace attend::data {

/// A part of a text; its first word may continue the last one of the part before.
struct TextPart {
  std::string text;
  bool continues = false;
};

/// Parts of at most `longest` tokens (0: any), cut after clauses where there are some, else between words; a word that is too
/// long in itself, between characters.
std::vector<TextPart> split_text(const Tokeniser& tokeniser, const std::string& text, int64_t longest);

}  // namespace attend::data
