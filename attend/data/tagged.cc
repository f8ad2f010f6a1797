#include "attend/data/tagged.h"

#include <algorithm>
#include <set>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/tree.h"
#include "attend/data/treebank.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr std::string_view kDocumentStart = "-DOCSTART-";

bool is_blank_line(std::string_view line) { return split_words(line).empty(); }

/// Split at tabs if there are any, otherwise at blanks.
std::vector<std::string_view> columns_of(std::string_view line) {
  return line.find('\t') == line.npos ? split_words(line) : split_columns(line);
}

/// Position of the slash between word and tag: the last one not preceded by a backslash; npos if there is none.
size_t parting_slash(std::string_view text) {
  for (size_t at = text.rfind('/'); at != text.npos; at = at == 0 ? text.npos : text.rfind('/', at - 1)) {
    if (at == 0 || text[at - 1] != '\\') return at;
  }
  return text.npos;
}

bool has_tag(std::string_view text) {
  const size_t at = parting_slash(text);
  return at != text.npos && at > 0 && at + 1 < text.size();
}

/// "\/" becomes "/".
std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '/') ++i;
    plain += text[i];
  }
  return plain;
}

bool is_slashed(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  return line.find('\t') == line.npos && std::all_of(words.begin(), words.end(), has_tag);
}

/// For a slashed line, or one whose layout is not known yet.
bool is_comment(std::string_view line) {
  const std::string_view first = split_words(line).front();
  return first.starts_with('#') && parting_slash(first) == first.npos;
}

void append(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

class TaggedSentences : public ExampleReader {
 public:
  explicit TaggedSentences(LineReader lines) : lines_(std::move(lines)) {}

  bool next(Example& example) override {
    example = {};
    const bool found = slashed() ? next_line(example) : next_rows(example);
    require(found || any_, lines_.name(), ": expected sentences with tags, got none");
    any_ = any_ || found;
    return found;
  }
  std::string where() const override { return lines_.name() + ":" + std::to_string(begin_); }

 private:
  /// Decides the layout by the first line that has words; that line is then read next.
  bool slashed() {
    while (layout_ == Layout::kUnknown) {
      if (!lines_.next(line_)) {
        layout_ = Layout::kColumns;
      } else if (!is_blank_line(line_) && !is_comment(line_) && columns_of(line_).front() != kDocumentStart) {
        layout_ = is_slashed(line_) ? Layout::kSlashed : Layout::kColumns;
        again_ = true;
      }
    }
    return layout_ == Layout::kSlashed;
  }

  bool read() { return std::exchange(again_, false) || lines_.next(line_); }

  bool next_line(Example& example) {
    do {
      if (!read()) return false;
    } while (is_blank_line(line_) || is_comment(line_));
    begin_ = lines_.number();
    for (const std::string_view pair : split_words(line_)) {
      if (!has_tag(pair)) refuse("word/TAG, got ", quoted(pair), "; a slash within a word or a tag is written \\/");
      const size_t slash = parting_slash(pair);
      append(example.source, unescaped(pair.substr(0, slash)));
      append(example.target, unescaped(pair.substr(slash + 1)));
    }
    return true;
  }

  bool next_rows(Example& example) {
    while (read()) {
      const std::vector<std::string_view> columns = columns_of(line_);
      const bool within = !example.source.empty();
      const bool ends = is_blank_line(line_) || columns.front() == kDocumentStart;
      if (ends && within) return true;
      if (ends || (!within && is_comment_row(columns))) continue;
      if (!within) begin_ = lines_.number();
      check_row(columns);
      tags_.emplace(columns.back());
      append(example.source, columns.front());
      append(example.target, columns.back());
      if (example.source.size() > LineReader::kLongest)
        refuse("a sentence of at most ", LineReader::kLongest,
               " bytes, got a longer one; blank lines part sentences");
    }
    return !example.source.empty();
  }

  bool is_comment_row(const std::vector<std::string_view>& columns) const {
    const bool fits = columns.size() == count_ && tags_.contains(columns.back());
    return line_.starts_with('#') && !fits;
  }

  void check_row(const std::vector<std::string_view>& columns) {
    if (count_ == 0) check_first_row(columns);
    if (columns.size() != count_)
      refuse(count_, " columns as in line ", first_, ", got ", columns.size(), " in ", quoted(line_));
    for (const std::string_view column : {columns.front(), columns.back()}) {
      if (column.empty())
        refuse("a word in the first column and its tag in the last, got ", quoted(line_), " with an empty one");
      if (split_words(column).size() != 1)
        refuse("a word or a tag without white space, got ", quoted(column),
               "; split it into a line per word, or join it with \"_\"");
    }
  }

  void check_first_row(const std::vector<std::string_view>& columns) {
    if (columns.size() < 2)
      refuse("a word and its tag as the first and last column, or word/TAG word/TAG, got ", quoted(line_));
    if (columns.size() == 10 && columns.front() == "1" && line_.find('\t') != line_.npos)
      refuse(
          "the word in the first column and its tag in the last, got CoNLL-U; take its columns of words and tags: "
          "grep -v '^#' FILE | cut -f 2,4");
    count_ = columns.size();
    first_ = lines_.number();
  }

  /// Of the current line.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(lines_.where(), ": expected ", parts...);
  }

  enum class Layout { kUnknown, kColumns, kSlashed };

  LineReader lines_;
  std::string line_;
  Layout layout_ = Layout::kUnknown;
  bool again_ = false, any_ = false;  // line_ is to be read again; there was a sentence
  int64_t begin_ = 0;                 // the line on which the sentence begins
  size_t count_ = 0;                  // columns, and
  int64_t first_ = 0;                 // the line that said how many
  std::set<std::string, std::less<>> tags_;
};

/// The parts of speech at the leaves of trees.
class TagsOfTrees : public ExampleReader {
 public:
  explicit TagsOfTrees(const std::filesystem::path& path) : trees_(open_treebank(path)) {}

  bool next(Example& example) override {
    if (!trees_->next(example)) return false;
    const Tree tree = parse_tree(trees_->where(), example.target);
    example.target.clear();
    for (const Tree* leaf : leaves(tree)) append(example.target, leaf->label);
    return true;
  }
  std::string where() const override { return trees_->where(); }

 private:
  std::unique_ptr<ExampleReader> trees_;
};

bool holds_trees(std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.extension() == ".trees" || path.extension() == ".mrg";
}

}  // namespace

std::unique_ptr<ExampleReader> tagged_sentences(LineReader lines) {
  return std::make_unique<TaggedSentences>(std::move(lines));
}

std::unique_ptr<ExampleReader> open_tagged(const std::filesystem::path& path) {
  if (holds_trees(path)) return std::make_unique<TagsOfTrees>(path);
  return tagged_sentences(LineReader(path));
}

}  // namespace attend::data
