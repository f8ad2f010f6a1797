// Pronouncing dictionaries as CMUdict has them.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Lines "word PH ON EMES"; "word(2) …" is another pronunciation of "word". An example is a word with all of them: the
/// first that the file has is the target, those that differ from it are `also`. Words come in the order in which they come
/// first, and the file is read as a whole, since a word's pronunciations may lie anywhere in it. Comments are lines that
/// begin with ";;;", and whatever follows a "#" that stands by itself after a phoneme. Refused by line: a word without phonemes.
std::unique_ptr<ExampleReader> pronunciations(LineReader lines);
std::unique_ptr<ExampleReader> open_pronunciations(const std::filesystem::path& path);

}  // namespace attend::data
