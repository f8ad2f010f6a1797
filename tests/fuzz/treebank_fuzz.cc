// Feeds any bytes to the reader of trees, and as tokens to the maker of trees; whatever is not an attend::Error or trees that
// survive being written and read is a bug.
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/tree.h"
#include "attend/data/treebank.h"
#include "attend/data/utf8.h"

namespace {

using namespace attend::data;

void check(bool held) {
  if (!held) std::terminate();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

void read(std::span<const std::byte> bytes) {
  const auto reader = treebank(LineReader(bytes, "fuzz"));
  size_t count = 0;
  for (Example example; reader->next(example); ++count) {
    const Tree tree = parse_tree("printed", example.target);
    check(print_tree(tree) == example.target && joined(words_of(tree)) == example.source && !example.source.empty());
    check(normalised("again", tree).has_value());
    check(tree_of(tree_tokens(tree), words_of(tree)) == tree);
  }
  check(count > 0);
}

/// The words of a text as tokens over the words that it would take.
void assemble(std::string_view text) {
  const auto parts = split_words(text);
  const std::vector<std::string> tokens(parts.begin(), parts.end());
  std::vector<std::string> words;
  for (const std::string& token : tokens) {
    if (token[0] != '(' && token != ")") words.push_back("w" + std::to_string(words.size()));
  }
  const Tree tree = tree_of(tokens, words);
  check(tree_tokens(tree) == tokens && words_of(tree) == words);
  check(parse_tree("printed", print_tree(tree)) == tree);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    read(std::as_bytes(std::span(data, size)));
  } catch (const attend::Error&) {
  }
  try {
    assemble({reinterpret_cast<const char*>(data), size});
  } catch (const attend::Error&) {
  }
  return 0;
}
