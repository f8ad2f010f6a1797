// Texts with a label: what a classifier learns from.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Lines "label<tab>text". White space within a text becomes single blanks; blank lines are nothing. Refused by line: no
/// tab, an empty label, an empty text; and a file without any.
std::unique_ptr<ExampleReader> labelled_lines(LineReader lines);

/// A folder with a folder per label, in which every .txt or .txt.gz file is one text. Labels and files come in the order of
/// their names. Refused: a folder without folders, a label without texts, an empty text, a file of another kind beside the
/// texts (those whose names begin with a dot aside).
std::unique_ptr<ExampleReader> labelled_folder(const std::filesystem::path& folder);

/// Whichever of the two `path` is.
std::unique_ptr<ExampleReader> open_labelled(const std::filesystem::path& path);

}  // namespace attend::data
