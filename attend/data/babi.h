// Stories with questions, as in bAbI's files (Weston et al. 2015).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Numbered lines; a number 1 begins a new story. A statement is a sentence; a question is
/// "question<tab>answer<tab>numbers of the lines that support it". A question's document is every statement before it
/// in its story, one a line; `support` counts these, without the questions; an answer of several words
/// ("apple,football") is one target; `group` is the task (task_of_file). `found` is the answer's last occurrence as a
/// word, in the supporting sentences if it stands there. Throws Error with file and line for numbers out of order, a
/// question before any statement, support that is not a statement before the question.
std::unique_ptr<ExampleReader> babi_stories(LineReader lines);

/// Whether a file whose first line is this one is of that kind: "1 ", then a statement.
bool begins_story(std::string_view line);

/// What the name of the file says of the task: "qa1_single-supporting-fact" of qa1_single-supporting-fact_train.txt.gz.
std::string task_of_file(std::string_view name);

}  // namespace attend::data
