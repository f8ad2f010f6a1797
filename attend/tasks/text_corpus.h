// Texts and their answers: pairs of lines, labelled lines, columns, trees, dictionaries, or a built-in corpus.
#pragma once

#include "attend/tasks/corpus.h"

namespace attend::tasks {

Corpus read_text_corpus(const TaskConfig& config);
/// Of these files or, where none are named, of the built-in corpus.
Examples read_text_test(const TaskConfig& config, const TextFiles& files, const std::string& gold = "");

}  // namespace attend::tasks
