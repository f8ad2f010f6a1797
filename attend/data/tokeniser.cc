#include "attend/data/tokeniser.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/names.h"
#include "attend/base/options.h"
#include "attend/data/subwords.h"
#include "attend/data/symbols.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

constexpr TokeniserRow kTokenisers[] = {
    {"unigram", "subwords; the likeliest cut of a text into pieces of a vocabulary that was pruned to size",
     "Kudo 2018, section 3.2", train_subwords},
    {"bpe", "subwords; letters, the most frequent neighbours of which were merged again and again",
     "Sennrich et al. 2016, section 3.2", train_subwords},
    {"words", "what lies between white space; the rarest are unknown", "", train_symbols},
    {"punctuated", "words, and every punctuation mark and symbol by itself; the rarest are unknown", "", train_symbols},
    {"characters", "every letter, with one space between words", "", train_symbols},
};

struct Format {
  std::string_view ending;
  std::unique_ptr<Tokeniser> (*load)(const fs::path&);
};
constexpr Format kTokeniserFormats[] = {
    {".spm", load_subwords},
    {".words", load_symbols},
    {".punctuated", load_symbols},
    {".characters", load_symbols},
};

constexpr uintmax_t kLargestVocabulary = uintmax_t{1} << 29;  // bytes

constexpr std::string_view kReserved[kFirstWord] = {"<pad>", "<unk>", "<s>", "</s>"};

fs::path vocabulary_file(const fs::path& folder, std::string_view stem, const Format& format) {
  return folder / (std::string(stem) + std::string(format.ending));
}

bool is_shown(int32_t id) { return id == kUnknown || id >= kFirstWord; }

/// Words of `text`, and for each offset the word there or after it; the last one if none follows.
class WordMap {
 public:
  explicit WordMap(std::string_view text) {
    for (const std::string_view word : split_words(text)) {
      words_.emplace_back(word);
      ends_.push_back(static_cast<size_t>(word.data() + word.size() - text.data()));
    }
  }

  std::vector<std::string> words() const { return words_; }
  int32_t at(size_t place) const {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
    return static_cast<int32_t>(std::min(found, static_cast<ptrdiff_t>(ends_.size()) - 1));
  }

 private:
  std::vector<std::string> words_;
  std::vector<size_t> ends_;
};

/// The stretch without the white space at its ends, of any kind that Unicode has.
TextRange without_blanks(std::string_view text, size_t begin, size_t end) {
  TextRange range{static_cast<int64_t>(begin), static_cast<int64_t>(begin)};
  bool found = false;
  for (size_t at = begin; at < end;) {
    const size_t bytes = character_bytes(text.substr(at));
    const bool blank = bytes > 0 && is_blank(code_point(text.substr(at, bytes)));
    const size_t next = at + std::max(bytes, size_t{1});
    if (!blank && !std::exchange(found, true)) range.begin = static_cast<int64_t>(at);
    if (!blank) range.end = static_cast<int64_t>(next);
    at = next;
  }
  if (!found) range.begin = range.end = static_cast<int64_t>(end);
  return range;
}

}  // namespace

std::vector<int32_t> Tokeniser::encode(std::string_view text) const { return place(text).ids; }

std::string Tokeniser::decode(std::span<const int32_t> ids) const { return spell(shown(ids)).text; }

TokenisedWords Tokeniser::tokenise(std::string_view text) const {
  const WordMap map(text);
  Placed placed = place(text);
  TokenisedWords result{std::move(placed.ids), map.words(), {}};
  for (size_t t = 0; t < placed.begin.size(); ++t) {
    result.word_of.push_back(map.at(placed.begin[t]));
    const size_t next = t + 1 < placed.begin.size() ? placed.begin[t + 1] : text.size();
    result.ranges.push_back(placed.end.empty()
                                ? without_blanks(text, std::min(placed.begin[t], next), next)
                                : TextRange{static_cast<int64_t>(placed.begin[t]), static_cast<int64_t>(placed.end[t])});
  }
  return result;
}

TokenisedWords Tokeniser::words(std::span<const int32_t> ids) const {
  const Spelt spelt = spell(shown(ids));
  const WordMap map(spelt.text);
  TokenisedWords result{{ids.begin(), ids.end()}, map.words(), {}};
  auto begin = spelt.begin.begin();
  for (const int32_t id : ids) result.word_of.push_back(is_shown(id) ? map.at(*begin++) : -1);
  return result;
}

std::string Tokeniser::piece(int32_t id) const {
  require(id >= 0 && id < size(), "piece: expected an id from 0 to ", size() - 1, ", got ", id);
  return id < kFirstWord ? std::string(kReserved[id]) : show(id);
}

std::vector<int32_t> Tokeniser::shown(std::span<const int32_t> ids) const {
  std::vector<int32_t> kept;
  for (const int32_t id : ids) {
    require(id >= 0 && id < size(), "decode: expected ids from 0 to ", size() - 1, ", got ", id);
    if (is_shown(id)) kept.push_back(id);
  }
  return kept;
}

std::unique_ptr<Tokeniser> train_tokeniser(const TokeniserOptions& options, const NextLine& next) {
  check_bounds(options);
  const TokeniserRow& kind = row_named("kind", kTokenisers, options.kind);
  int64_t number = 0;
  return kind.train(options, [&](std::string& line) {
    if (!next(line)) return false;
    check_utf8("train_tokeniser: line " + std::to_string(++number), line);
    return true;
  });
}

std::unique_ptr<Tokeniser> load_tokeniser(const fs::path& folder, std::string_view stem) {
  const Format* found = nullptr;
  std::string endings;
  for (const Format& format : kTokeniserFormats) {
    endings += (endings.empty() ? "" : ", ") + std::string(stem) + std::string(format.ending);
    if (!fs::exists(vocabulary_file(folder, stem, format))) continue;
    require(found == nullptr, folder.native(), ": expected one vocabulary, got ", stem, found ? found->ending : "",
            " and ", stem, format.ending);
    found = &format;
  }
  require(found != nullptr, folder.native(), ": expected a vocabulary (", endings, "), got none of them");
  return found->load(file_within(folder, vocabulary_file("", stem, *found), kLargestVocabulary));
}

std::vector<fs::path> tokeniser_files(const fs::path& folder, std::string_view stem) {
  std::vector<fs::path> files;
  for (const Format& format : kTokeniserFormats) {
    const fs::path file = vocabulary_file(folder, stem, format);
    if (fs::is_regular_file(file)) files.push_back(file);
  }
  return files;
}

std::span<const TokeniserRow> tokenisers() { return kTokenisers; }

}  // namespace attend::data
