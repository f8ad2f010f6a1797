// Questions about documents, one on each line.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// A document and a question as people send them, without the answer: "document<tab>question", or
/// {"document": "…", "question": "…"} (with "answer", "name" and "group" where they are known) if the line begins with
/// a brace. Throws Error ("where: …") for anything else.
Example parse_question_line(const std::string& where, std::string_view line);

/// Lines "document<tab>question<tab>answer", with any number of further right answers in further columns; an empty
/// answer stands for "no answer". Or JSON lines {"document": "…", "question": "…", "answer": "…" or ["…", "…"]}: each
/// line may be either. Blank lines are skipped. Where an answer stands in its document, `found` is its first
/// occurrence, as whole words if possible.
std::unique_ptr<ExampleReader> question_lines(LineReader lines);

/// Whether JSON that begins like this is a line of the kind above, and not a whole file of another layout: its first
/// key is one of theirs.
bool begins_question_line(std::string_view front);

}  // namespace attend::data
