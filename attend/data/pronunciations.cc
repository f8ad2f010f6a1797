#include "attend/data/pronunciations.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

/// "word(2)" without "(2)".
std::string_view without_variant(std::string_view word) {
  const size_t open = word.rfind('(');
  if (open == word.npos || open == 0 || !word.ends_with(')')) return word;
  const std::string_view number = word.substr(open + 1, word.size() - open - 2);
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == number.npos;
  return digits ? word.substr(0, open) : word;
}

class Pronunciations : public ExampleReader {
 public:
  explicit Pronunciations(LineReader lines) : name_(lines.name()) {
    for (std::string line; lines.next(line);) {
      if (!line.starts_with(";;;")) add(lines, line);
    }
  }

  bool next(Example& example) override {
    require(!entries_.empty(), name_, ": expected lines \"word PH ON EMES\", got none");
    if (given_ == entries_.size()) return false;
    example = std::move(entries_[given_++].example);
    return true;
  }
  std::string where() const override {
    return name_ + ":" + std::to_string(given_ == 0 ? 0 : entries_[given_ - 1].line);
  }

 private:
  struct Entry {
    Example example;
    int64_t line;  // of the word's first occurrence
  };

  void add(const LineReader& lines, const std::string& line) {
    std::vector<std::string_view> parts = split_words(line);
    if (parts.empty()) return;
    parts.erase(std::find(parts.begin() + 1, parts.end(), "#"), parts.end());
    if (parts.size() < 2)
      fail(lines.where(), ": expected a word and its phonemes, \"hello HH AH0 L OW1\", got ", quoted(line),
           " without phonemes");
    const std::string word(without_variant(parts[0]));
    std::string phonemes(parts[1]);
    for (size_t i = 2; i < parts.size(); ++i) phonemes.append(" ").append(parts[i]);
    const auto [found, fresh] = places_.try_emplace(word, entries_.size());
    if (fresh) {
      entries_.push_back({{word, std::move(phonemes), {}, {}}, lines.number()});
    } else {
      add_variant(entries_[found->second].example, std::move(phonemes));
    }
  }

  /// A duplicate pronunciation adds nothing.
  static void add_variant(Example& example, std::string phonemes) {
    const auto& also = example.also;
    if (example.target == phonemes || std::find(also.begin(), also.end(), phonemes) != also.end()) return;
    example.also.push_back(std::move(phonemes));
  }

  std::string name_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> places_;
  size_t given_ = 0;
};

}  // namespace

std::unique_ptr<ExampleReader> pronunciations(LineReader lines) {
  return std::make_unique<Pronunciations>(std::move(lines));
}

std::unique_ptr<ExampleReader> open_pronunciations(const std::filesystem::path& path) {
  return pronunciations(LineReader(path));
}

}  // namespace attend::data
