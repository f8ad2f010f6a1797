// The right answers of a question, and where in its document they stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/example.h"

namespace attend::data {

struct Answer {
  std::string text;
  std::optional<TextRange> place;  ///< in the document; none: it does not stand there
};

/// The first becomes the target, the others `also`, each once; `found` says where they stand.
void set_answers(Example& example, std::vector<Answer> answers);

/// The occurrence of `answer` that begins nearest to the byte `near`, the earlier one of two.
std::optional<TextRange> nearest_place(std::string_view document, std::string_view answer, size_t near);

/// The first occurrence that is not part of a longer word; if there is none, the first of any kind.
std::optional<TextRange> first_place(std::string_view document, std::string_view answer);
/// The last occurrence within [begin, end) that is not part of a longer word.
std::optional<TextRange> last_word_place(std::string_view document, std::string_view answer, TextRange within);

/// What a document and a question must be, or Error: text other than white space, without zero bytes, not too long.
void check_document(const std::string& where, std::string_view document);
void check_question(const std::string& where, std::string_view question);

}  // namespace attend::data
