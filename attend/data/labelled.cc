#include "attend/data/labelled.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

/// Appends the words of a line, each after one blank.
void append_words(std::string& text, std::string_view line) {
  for (const std::string_view word : split_words(line)) {
    if (!text.empty()) text += ' ';
    text += word;
  }
}

std::string one_spaced(std::string_view line) {
  std::string text;
  append_words(text, line);
  return text;
}

class LabelledLines : public ExampleReader {
 public:
  explicit LabelledLines(LineReader lines) : lines_(std::move(lines)) {}

  bool next(Example& example) override {
    std::string line;
    do {
      if (!lines_.next(line)) {
        require(any_, lines_.name(), ": expected lines \"label<tab>text\", got none");
        return false;
      }
    } while (line.find_first_not_of(' ') == line.npos);
    const size_t tab = line.find('\t');
    if (tab == line.npos)
      fail(where(), ": expected \"label<tab>text\", got no tab in ", quoted(line),
           "; put one between the label and the text");
    example = {one_spaced(line.substr(tab + 1)), one_spaced(line.substr(0, tab)), {}, {}};
    if (example.target.empty()) fail(where(), ": expected \"label<tab>text\", got no label before the tab");
    if (example.source.empty())
      fail(where(), ": expected \"label<tab>text\", got no text after the label ", quoted(example.target));
    return any_ = true;
  }
  std::string where() const override { return lines_.where(); }

 private:
  LineReader lines_;
  bool any_ = false;
};

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

bool is_text_name(const fs::path& path) {
  const std::string name = path.filename().native();
  return name.ends_with(".txt") || name.ends_with(".txt.gz");
}

/// What a folder contains, except hidden files, sorted by name.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
    if (!is_hidden(entry->path())) entries.push_back(entry->path());
  }
  require(!problem, folder.native(), ": could not list the folder: ", problem.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

class LabelledFolder : public ExampleReader {
 public:
  explicit LabelledFolder(const fs::path& folder) {
    for (const fs::path& label : entries_of(folder)) {
      if (fs::is_directory(label)) add_label(label);
    }
    require(!files_.empty(), folder.native(),
            ": expected a folder per label with .txt or .txt.gz files in it, got no folder");
  }

  bool next(Example& example) override {
    if (opened_ == files_.size()) return false;
    const fs::path& file = files_[opened_++];
    example = {text_of(file), file.parent_path().filename().native(), {}, {}};
    require(!example.source.empty(), file.native(),
            ": expected a text, got nothing but white space; remove the file");
    return true;
  }
  std::string where() const override { return files_[opened_ == 0 ? 0 : opened_ - 1].native(); }

 private:
  void add_label(const fs::path& label) {
    check_utf8(label.native(), label.filename().native());
    const std::vector<fs::path> texts = entries_of(label);
    for (const fs::path& file : texts) {
      require(is_text_name(file) && fs::is_regular_file(file), file.native(), ": expected .txt or .txt.gz files in ",
              label.native(), ", got something else; move it elsewhere, or rename it");
    }
    require(!texts.empty(), label.native(), ": expected .txt or .txt.gz files, got none; remove the empty folder");
    files_.insert(files_.end(), texts.begin(), texts.end());
  }

  static std::string text_of(const fs::path& file) {
    LineReader lines(file);
    std::string text;
    for (std::string line; lines.next(line);) {
      append_words(text, line);
      require(text.size() <= LineReader::kLongest, file.native(), ": expected a text of at most ", LineReader::kLongest,
              " bytes, got a longer one");
    }
    return text;
  }

  std::vector<fs::path> files_;
  size_t opened_ = 0;
};

}  // namespace

std::unique_ptr<ExampleReader> labelled_lines(LineReader lines) {
  return std::make_unique<LabelledLines>(std::move(lines));
}

std::unique_ptr<ExampleReader> labelled_folder(const fs::path& folder) {
  return std::make_unique<LabelledFolder>(folder);
}

std::unique_ptr<ExampleReader> open_labelled(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) ? labelled_folder(path) : labelled_lines(LineReader(path));
}

}  // namespace attend::data
