#include "attend/data/symbols.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSymbols = 10'000'000;
constexpr std::string_view kSpace = " ", kShownSpace = "▁";

/// A part of a text and the byte at which it begins.
struct Part {
  std::string_view symbol;
  size_t begin;
};

size_t place_in(std::string_view text, std::string_view part) { return static_cast<size_t>(part.data() - text.data()); }

std::vector<Part> word_parts(std::string_view text) {
  std::vector<Part> parts;
  for (const std::string_view word : split_words(text)) parts.push_back({word, place_in(text, word)});
  return parts;
}

/// The characters, with one space between words, which begins right after the preceding word. A byte that is not UTF-8
/// counts as a character.
std::vector<Part> character_parts(std::string_view text) {
  std::vector<Part> parts;
  for (std::string_view word : split_words(text)) {
    if (!parts.empty()) parts.push_back({kSpace, parts.back().begin + parts.back().symbol.size()});
    while (!word.empty()) {
      const size_t bytes = std::max(character_bytes(word), size_t{1});
      parts.push_back({word.substr(0, bytes), place_in(text, word)});
      word.remove_prefix(bytes);
    }
  }
  return parts;
}

/// Whether a character stands by itself: a punctuation mark or a symbol.
bool is_mark(std::string_view character) {
  if (character_bytes(character) == 0) return false;
  const Category kind = category(code_point(character));
  return kind == Category::kPunctuation || kind == Category::kSymbol;
}

bool is_blank_character(std::string_view character) {
  return character_bytes(character) > 0 && is_blank(code_point(character));
}

/// Words without the marks around and within them, and every mark by itself. White space of any kind separates.
std::vector<Part> punctuated_parts(std::string_view text) {
  std::vector<Part> parts;
  size_t begin = 0;  // of the word that is being read
  const auto end_word = [&](size_t at) {
    if (at > begin) parts.push_back({text.substr(begin, at - begin), begin});
  };
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = std::max(character_bytes(text.substr(at)), size_t{1});
    const std::string_view character = text.substr(at, bytes);
    const bool mark = is_mark(character);
    if (mark || is_blank_character(character)) {
      end_word(at);
      if (mark) parts.push_back({character, at});
      begin = at + bytes;
    }
    at += bytes;
  }
  end_word(text.size());
  return parts;
}

bool is_punctuated(std::string_view symbol) {
  const std::vector<Part> parts = punctuated_parts(symbol);
  return parts.size() == 1 && parts[0].symbol == symbol;
}

/// Whether a space stands between two symbols of a text that is put together again.
bool always(std::string_view, std::string_view) { return true; }
bool never(std::string_view, std::string_view) { return false; }
/// As marks are usually set: "(a, b)", "it's", "1886–1900".
bool unless_marks_join(std::string_view before, std::string_view after) {
  constexpr std::string_view kJoinsBefore[] = {",", ".", ";", ":", "!", "?", ")", "]", "}", "%", "”", "…"};
  constexpr std::string_view kJoinsAfter[] = {"(", "[", "{", "$", "£", "€", "“", "‘", "#"};
  constexpr std::string_view kJoinsBoth[] = {"'", "’", "-", "‐", "–", "—", "/", "@", "_"};
  const auto has = [](const auto& list, std::string_view one) { return std::ranges::find(list, one) != std::end(list); };
  return !has(kJoinsBefore, after) && !has(kJoinsAfter, before) && !has(kJoinsBoth, before) && !has(kJoinsBoth, after);
}

bool is_character(std::string_view symbol) { return character_bytes(symbol) == symbol.size(); }
bool is_word(std::string_view symbol) { return split_words(symbol) == std::vector<std::string_view>{symbol}; }

struct SymbolKind {
  std::string_view name;
  std::vector<Part> (*parts)(std::string_view);
  bool (*is_symbol)(std::string_view);  // of a text that is not empty
  bool (*spaced)(std::string_view before, std::string_view after);
  bool covers;                          // options.coverage applies
};
constexpr SymbolKind kSymbolKinds[] = {
    {"words", word_parts, is_word, always, false},
    {"punctuated", punctuated_parts, is_punctuated, unless_marks_join, false},
    {"characters", character_parts, is_character, never, true},
};

struct Counted {
  std::string symbol;
  int64_t count;
};

class Symbols : public Tokeniser {
 public:
  Symbols(const SymbolKind& kind, bool lowercase, std::vector<Counted> list)
      : kind_(kind), lowercase_(lowercase), list_(std::move(list)) {
    for (size_t i = 0; i < list_.size(); ++i) ids_[list_[i].symbol] = static_cast<int32_t>(i) + kFirstWord;
  }

  int64_t size() const override { return static_cast<int64_t>(list_.size()) + kFirstWord; }
  /// Less than the list's length if a symbol occurs twice.
  size_t different() const { return ids_.size(); }

  void save(const fs::path& folder, std::string_view stem) const override {
    std::string text = "attend " + std::string(kind_.name) + (lowercase_ ? " lowercase" : "") + "\n";
    for (const Counted& entry : list_) text += entry.symbol + "\t" + std::to_string(entry.count) + "\n";
    write_file(folder / (std::string(stem) + "." + std::string(kind_.name)), text);
  }

 protected:
  Placed place(std::string_view given) const override {
    const std::string small = lowercase_ ? lowercased(given) : "";
    Placed placed;
    for (const Part& part : kind_.parts(lowercase_ ? small : given)) {
      const auto found = ids_.find(part.symbol);
      placed.ids.push_back(found != ids_.end() ? found->second : kUnknown);
      const bool space = part.symbol == kSpace;  // between words: there may be more of it, or another kind
      placed.begin.push_back(part.begin);
      placed.end.push_back(part.begin + (space ? 0 : part.symbol.size()));
    }
    return placed;
  }

  Spelt spell(const std::vector<int32_t>& ids) const override {
    Spelt spelt;
    std::string_view before;
    for (const int32_t id : ids) {
      const std::string_view shown = id == kUnknown ? kUnknownText : symbol(id);
      if (!spelt.begin.empty() && kind_.spaced(before, shown)) spelt.text += kSpace;
      spelt.begin.push_back(spelt.text.size());
      spelt.text += shown;
      before = shown;
    }
    return spelt;
  }

  std::string show(int32_t id) const override { return std::string(symbol(id) == kSpace ? kShownSpace : symbol(id)); }

 private:
  std::string_view symbol(int32_t id) const { return list_[static_cast<size_t>(id - kFirstWord)].symbol; }

  const SymbolKind& kind_;
  bool lowercase_;
  std::vector<Counted> list_;
  std::unordered_map<std::string_view, int32_t> ids_;
};

using Counts = std::unordered_map<std::string, int64_t>;

Counts count_symbols(const SymbolKind& kind, bool lowercase, const NextLine& next) {
  Counts counts;
  for (std::string line; next(line);) {
    if (lowercase) line = lowercased(line);
    for (const Part& part : kind.parts(line)) ++counts[std::string(part.symbol)];
  }
  return counts;
}

/// The most frequent ones that the options allow.
std::vector<Counted> chosen(const TokeniserOptions& options, const SymbolKind& kind, const Counts& counts) {
  std::vector<Counted> list;
  int64_t all = 0, covered = 0;
  for (const auto& [symbol, count] : counts) {
    all += count;
    if (count >= options.min_count) list.push_back({symbol, count});
  }
  std::sort(list.begin(), list.end(), [](const Counted& a, const Counted& b) {
    return a.count != b.count ? a.count > b.count : a.symbol < b.symbol;
  });
  size_t kept = 0;
  const size_t most = std::min(list.size(), static_cast<size_t>(options.vocabulary - kFirstWord));
  const double enough = kind.covers ? options.coverage * static_cast<double>(all) : static_cast<double>(all);
  while (kept < most && static_cast<double>(covered) < enough) covered += list[kept++].count;
  list.resize(kept);
  return list;
}

/// "symbol" or "symbol<tab>count".
Counted parse_entry(const SymbolKind& kind, const std::string& where, std::string_view line) {
  const size_t tab = std::min(line.find('\t'), line.size());
  Counted entry{std::string(line.substr(0, tab)), 0};
  require(!entry.symbol.empty() && kind.is_symbol(entry.symbol), where, ": expected one of the ", kind.name,
          ", got \"", line.substr(0, 40), "\"");
  if (tab == line.size()) return entry;
  const char *begin = line.data() + tab + 1, *end = line.data() + line.size();
  const auto [stop, problem] = std::from_chars(begin, end, entry.count);
  require(problem == std::errc() && stop == end && entry.count >= 0, where, ": expected a count, got \"",
          line.substr(tab + 1, 40), "\"");
  return entry;
}

}  // namespace

std::unique_ptr<Tokeniser> train_symbols(const TokeniserOptions& options, const NextLine& next) {
  const SymbolKind& kind = row_named("kind", kSymbolKinds, options.kind);
  require(options.normalise == "none", "normalise: expected none for ", kind.name, ", got \"", options.normalise,
          "\"");
  const Counts counts = count_symbols(kind, options.lowercase, next);
  require(!counts.empty(), "train_tokeniser: expected text, got none");
  return std::make_unique<Symbols>(kind, options.lowercase, chosen(options, kind, counts));
}

std::unique_ptr<Tokeniser> load_symbols(const fs::path& path) {
  LineReader reader(path);
  std::string line;
  reader.next(line);
  const std::vector<std::string_view> header = split_words(line);
  const bool lowercase = header.size() == 3 && header[2] == "lowercase";
  require((header.size() == 2 || lowercase) && header[0] == "attend", path.native(),
          ": expected \"attend words\", \"attend punctuated\" or \"attend characters\" in the first line, got \"",
          line.substr(0, 40), "\"");
  const SymbolKind& kind = row_named(path.native(), kSymbolKinds, header[1]);
  std::vector<Counted> list;
  while (reader.next(line)) {
    list.push_back(parse_entry(kind, reader.where(), line));
    require(list.size() <= kMostSymbols, path.native(), ": expected at most ", kMostSymbols, " ", kind.name,
            ", got more");
  }
  auto symbols = std::make_unique<Symbols>(kind, lowercase, std::move(list));
  require(symbols->size() == static_cast<int64_t>(symbols->different()) + kFirstWord, path.native(),
          ": expected each of the ", kind.name, " once, got one again");
  return symbols;
}

}  // namespace attend::data
