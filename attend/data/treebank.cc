#include "attend/data/treebank.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/tree_text.h"

namespace attend::data {
namespace {

constexpr std::string_view kBetweenTrees = " \t\v\f\r";

class Treebank : public ExampleReader {
 public:
  explicit Treebank(LineReader lines) : lines_(std::move(lines)) {}

  bool next(Example& example) override {
    std::string text;
    if (!next_text(text)) {
      require(any_, lines_.name(), ": expected bracketed trees, got none");
      return false;
    }
    const auto place = [&](size_t at) {
      return at_line(begin_ + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    };
    const std::optional<Tree> tree = normalised(where(), parse_tree(text, place));
    if (!tree) fail(where(), ": expected a tree with words, got traces (-NONE-) alone in ", quoted(text));
    example = {joined(words_of(*tree)), print_tree(*tree), {}, {}};
    return any_ = true;
  }
  std::string where() const override { return at_line(begin_); }

 private:
  std::string at_line(int64_t line) const { return lines_.name() + ":" + std::to_string(line); }

  /// The text of the next tree, up to the bracket that closes its first one. False if nothing follows.
  bool next_text(std::string& text) {
    size_t depth = 0;
    for (;;) {
      if (at_ == line_.size()) {
        at_ = 0;
        if (!lines_.next(line_)) break;
        if (depth > 0) text += '\n';
        continue;
      }
      const char c = line_[at_++];
      if (depth == 0 && kBetweenTrees.find(c) != kBetweenTrees.npos) continue;
      if (depth == 0) begin_tree(c);
      text += c;
      if (text.size() > LineReader::kLongest)
        fail(where(), ": expected a tree of at most ", LineReader::kLongest,
             " bytes, got a longer one; is a bracket not closed?");
      depth += c == '(';
      if (c == ')' && --depth == 0) return true;
    }
    require(depth == 0, where(), ": expected balanced brackets, got ", depth,
            " still open at the end of the file in the tree that begins here");
    return false;
  }

  void begin_tree(char c) {
    begin_ = lines_.number();
    if (c == '(') return;
    fail(where(), ": expected a tree, which begins with a bracket, got ", quoted(line_.substr(at_ - 1)),
         c == ')' ? "; there is a closing bracket too many before it" : "");
  }

  static std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
    return text;
  }

  LineReader lines_;
  std::string line_;
  size_t at_ = 0;      // within line_: what is not yet read
  int64_t begin_ = 0;  // the line on which the tree begins
  bool any_ = false;
};

}  // namespace

std::unique_ptr<ExampleReader> treebank(LineReader lines) { return std::make_unique<Treebank>(std::move(lines)); }

std::unique_ptr<ExampleReader> open_treebank(const std::filesystem::path& path) { return treebank(LineReader(path)); }

}  // namespace attend::data
