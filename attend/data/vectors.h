// Pre-trained word vectors as text files: GloVe's, and word2vec's and fastText's, which begin with a header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "attend/data/lines.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

struct WordVectors {
  Tensor values;  ///< [words, width]; row i is the vector of the i-th requested word, zeros if there is none

  std::vector<bool> found;  ///< by word
  int64_t count = 0;        ///< how many were found
  int64_t lines = 0;        ///< vectors in the file
  int64_t repeated = 0;     ///< further vectors of a word that had one; the first counts

  int64_t width() const { return values.dim(1); }
};

constexpr int64_t kWidestVector = 10000;

/// Reads lines "word 0.1 -2 3e-4 …" and keeps the vectors of `words`, which must be distinct. A first line of two whole
/// numbers is a header, "vectors width", to which the file is held. A word may have blanks within (as some of GloVe's do),
/// but no number after a blank. Refused by line: a line with more or fewer numbers than the first, what is not a finite
/// number, a width of more than kWidestVector; and a file without vectors.
WordVectors read_vectors(LineReader lines, std::span<const std::string> words);
WordVectors read_vectors(const std::filesystem::path& path, std::span<const std::string> words);

}  // namespace attend::data
