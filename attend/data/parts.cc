#include "attend/data/parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/error.h"

namespace attend::data {
namespace {

constexpr std::string_view kLettersOf = ".letters";

std::string with(std::string_view name, std::string_view ending) { return std::string(name) + std::string(ending); }

/// Words, not what belongs to the words of another part.
bool is_text(const Part& part) { return !part.values.defined() && part.name.find('.') == std::string::npos; }

/// The letters of each word of a text; empty if it has none.
std::vector<std::vector<int32_t>> letters_of(const Source& source, const Part& text, int64_t b) {
  const Part* letters = source.find(with(text.name, kLettersOf));
  std::vector<std::vector<int32_t>> words;
  for (int64_t t = 0; letters && t < text.ids.lengths[static_cast<size_t>(b)]; ++t) {
    words.push_back(letters->ids.row(b * text.ids.longest() + t));
  }
  return words;
}

}  // namespace

Source only(const Source& source, std::string_view name) {
  const Part* part = source.find(name);
  require(part != nullptr, "Source: expected a part \"", name, "\", got none of that name");
  Source alone;
  if (part->values.defined()) {
    alone.add(part->name, part->values);
  } else {
    alone.add(part->name, part->ids);
  }
  for (const Part& one : source.parts()) {
    if (!one.name.starts_with(with(name, "."))) continue;
    if (one.name == with(name, kLettersOf)) {
      alone.add_letters(one.ids);
    } else if (one.values.defined()) {
      alone.add(one.name, one.values);
    } else {
      alone.add(one.name, one.ids);
    }
  }
  return alone;
}

Source joined_texts(const Source& source) {
  std::vector<const Part*> texts;
  bool letters = true;
  for (const Part& part : source.parts()) {
    if (!is_text(part)) continue;
    texts.push_back(&part);
    letters = letters && source.find(with(part.name, kLettersOf));
  }
  require(!texts.empty(), "Source: expected text, got none");
  const size_t B = static_cast<size_t>(source.count());
  std::vector<std::vector<int32_t>> words(B), marks(B);
  std::vector<std::vector<std::vector<int32_t>>> spelled(B);
  for (size_t b = 0; b < B; ++b) {
    for (size_t k = 0; k < texts.size(); ++k) {
      const std::vector<int32_t> row = texts[k]->ids.row(static_cast<int64_t>(b));
      words[b].insert(words[b].end(), row.begin(), row.end());
      marks[b].resize(words[b].size(), static_cast<int32_t>(k));
      const auto more = letters_of(source, *texts[k], static_cast<int64_t>(b));
      spelled[b].insert(spelled[b].end(), more.begin(), more.end());
    }
  }
  Source all{Sequences(words)};
  if (letters) all.add_letters(letter_rows(spelled, all.text().longest()));
  all.add(with(Source::kText, kMarks), Sequences(marks));
  return all;
}

}  // namespace attend::data
