// Feeds any bytes to the reader of word vectors; whatever is not an attend::Error or a table of finite numbers is a bug.
#include <cmath>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/vectors.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attend::data;
  static const std::vector<std::string> words = {"the", "of", "a", "1", ". . .", "not there"};
  try {
    const WordVectors vectors = read_vectors(LineReader(std::as_bytes(std::span(data, size)), "fuzz"), words);
    check(vectors.width() >= 1 && vectors.width() <= kWidestVector && vectors.found.size() == words.size());
    check(vectors.values.dim(0) == static_cast<int64_t>(words.size()));
    int64_t found = 0;
    for (const bool one : vectors.found) found += one;
    check(found == vectors.count && found + vectors.repeated <= vectors.lines && vectors.lines > 0);
    for (const attend::real value : vectors.values) check(std::isfinite(value));
  } catch (const attend::Error&) {
  }
  return 0;
}
