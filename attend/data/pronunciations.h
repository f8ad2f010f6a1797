// Pronouncing dictionaries in CMUdict's format.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Lines "word PH ON EMES"; "word(2) …" is another pronunciation of "word". An example is a word with all of them: the
/// first in the file is the target, those that differ from it are `also`. Words come in the order of their first
/// occurrence, and the whole file is read, since a word's pronunciations may be anywhere in it. Comments are lines that
/// begin with ";;;", and anything after a "#" that stands alone after a phoneme. Rejected, with the line: a word
/// without phonemes.
std::unique_ptr<ExampleReader> pronunciations(LineReader lines);
std::unique_ptr<ExampleReader> open_pronunciations(const std::filesystem::path& path);

}  // namespace attend::data
