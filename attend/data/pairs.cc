#include "attend/data/pairs.h"

#include <utility>

#include "attend/base/error.h"
#include "attend/data/spool.h"

namespace attend::data {
namespace {

/// How many lines a partly read file has.
int64_t count_all(LineReader& reader) {
  for (std::string line; reader.next(line);) {
  }
  return reader.number();
}

/// The part before the next tab, or all of it; `rest` is advanced past it.
std::string_view take_column(std::string_view& rest) {
  const size_t tab = rest.find('\t');
  const std::string_view column = rest.substr(0, tab);
  rest = tab == rest.npos ? std::string_view() : rest.substr(tab + 1);
  return column;
}

}  // namespace

PairReader::PairReader(PairFiles files) : files_(std::move(files)) {
  require(files_.source.size() == files_.target.size(), "pairs: expected a target file for each source file, got ",
          files_.source.size(), " of sources and ", files_.target.size(), " of targets");
  require(!files_.source.empty() || !files_.tsv.empty(), "pairs: expected files, got none");
  open_next();
}

bool PairReader::open_next() {
  const size_t twos = files_.source.size();
  if (opened_ == twos + files_.tsv.size()) return false;
  target_.reset();
  if (opened_ < twos) {
    source_.emplace(files_.source[opened_]);
    target_.emplace(files_.target[opened_]);
  } else {
    source_.emplace(files_.tsv[opened_ - twos]);
  }
  ++opened_;
  return true;
}

bool PairReader::next(Pair& pair) {
  for (;;) {
    if (target_ ? next_of_two(pair) : next_of_tsv(pair)) {
      ++count_;
      return true;
    }
    if (!open_next()) break;
  }
  require(count_ > 0, names(), ": expected pairs, got none");
  return false;
}

bool PairReader::next_of_two(Pair& pair) {
  pair.links.clear();
  const bool source = source_->next(pair.source), target = target_->next(pair.target);
  if (source == target) return source;
  const int64_t sources = count_all(*source_), targets = count_all(*target_);
  fail(source_->name(), " and ", target_->name(), ": expected as many lines in both, got ", sources, " and ",
       targets);
}

bool PairReader::next_of_tsv(Pair& pair) {
  std::string line;
  if (!source_->next(line)) return false;
  require(line.find('\t') != line.npos, where(), ": expected source<tab>target, got a line without a tab");
  std::string_view rest = line;
  pair.source = take_column(rest);
  pair.target = take_column(rest);
  pair.links = take_column(rest);
  return true;
}

std::string PairReader::where() const { return source_->where(); }

std::string PairReader::names() const {
  std::string text;
  for (const auto* paths : {&files_.source, &files_.target, &files_.tsv}) {
    for (const std::filesystem::path& path : *paths) text += (text.empty() ? "" : ", ") + shown_name(path);
  }
  return text;
}

}  // namespace attend::data
