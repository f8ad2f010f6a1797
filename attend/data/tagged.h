// Sentences with a tag per word: parts of speech, names (BIO), chunks.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Reads either of two layouts, decided by the first line with words in it: *slashed* if it has no tab and every word
/// has a slash with something on both sides, *columns* otherwise.
///
/// columns: a line per word, whose first column is the word and whose last is its tag; columns are separated by tabs,
/// or if there are none by blanks. Blank lines end sentences, as do lines whose first column is -DOCSTART-, which are
/// skipped. A line that begins with "#" before a sentence is a comment, unless it has as many columns as the file's
/// rows and ends in a tag that the file has used before. Rejected, with the line: rows with more or fewer columns than
/// the first, an empty word or tag, white space within either, CoNLL-U (whose words are in its second column).
///
/// slashed: a line per sentence, "word/TAG word/TAG"; the last slash counts, and "\/" is a slash that does not. A line
/// whose first word begins with "#" and has no such slash is a comment. Rejected, with the line: a word without a tag.
///
/// Source and target are the words and the tags, equal in number, each joined by single blanks.
std::unique_ptr<ExampleReader> tagged_sentences(LineReader lines);
/// Trees where the name ends in .trees or .mrg (or either with .gz): their words and parts of speech. Else the above.
std::unique_ptr<ExampleReader> open_tagged(const std::filesystem::path& path);

}  // namespace attend::data
