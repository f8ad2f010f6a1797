// Labelled texts, for training a classifier.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Lines "label<tab>text". White space within a text becomes single blanks; blank lines are skipped. Rejected, with the
/// line: no tab, an empty label, an empty text. A file without any example is rejected too.
std::unique_ptr<ExampleReader> labelled_lines(LineReader lines);

/// A folder with a sub-folder per label, in which every .txt or .txt.gz file is one text. Labels and files come in the
/// order of their names. Rejected: a folder without sub-folders, a label without texts, an empty text, any other kind
/// of file among the texts (except those whose names begin with a dot).
std::unique_ptr<ExampleReader> labelled_folder(const std::filesystem::path& folder);

/// Whichever of the two `path` is.
std::unique_ptr<ExampleReader> open_labelled(const std::filesystem::path& path);

}  // namespace attend::data
