// Files of bracketed trees.
#pragma once

#include <filesystem>
#include <memory>

#include "attend/data/examples.h"
#include "attend/data/lines.h"

namespace attend::data {

/// Trees one after another, each on one line or several (the .mrg files of the Penn Treebank): balanced brackets
/// decide. Source: the words, joined by single blanks; target: the tree, normalised (tree.h), on one line. Rejected,
/// with the line: whatever parse_tree rejects, and a tree of nothing but traces.
std::unique_ptr<ExampleReader> treebank(LineReader lines);
std::unique_ptr<ExampleReader> open_treebank(const std::filesystem::path& path);

}  // namespace attend::data
