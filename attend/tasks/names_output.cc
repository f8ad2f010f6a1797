#include "attend/tasks/names_output.h"

#include <algorithm>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/tasks/words.h"

namespace attend::tasks {
namespace {
constexpr const char* kFile = "labels.txt";
}

void NamesOutput::learn(const Corpus& corpus, const Input&, const Prepared&) {
  names_ = corpus.labels;
  if (names_.empty()) {
    std::set<std::string> found;
    const auto add = [&](const std::vector<std::string>& right) {
      for (const std::string& one : right) {
        for (std::string& name : parts_of(one)) found.insert(std::move(name));
      }
    };
    corpus.each_right(add);
    // What is held out comes from the same files: a label seen once may have ended up there.
    if (options().valid_text.empty()) {
      for (int64_t i = 0; i < corpus.valid.count; ++i) add(corpus.valid.right(i));
    }
    names_.assign(found.begin(), found.end());
  }
  require(names_.size() >= 2, "train: expected at least two different ", kind(), "s, found ",
          names_.empty() ? "none" : "only " + quoted(names_[0]));
}

void NamesOutput::load(const std::filesystem::path& folder, const Input&) { names_ = data::read_lines(folder / kFile); }

void NamesOutput::save(const std::filesystem::path& folder) const {
  std::string lines;
  for (const std::string& name : names_) lines += name + "\n";
  write_file(folder / kFile, lines);
}

Settings NamesOutput::sizes() const { return {{"labels", std::to_string(names_.size())}}; }

std::string NamesOutput::summary() const { return std::to_string(names_.size()) + " " + std::string(kind()) + "s"; }

std::vector<int32_t> NamesOutput::encode(const std::string& right, const Ready&) const {
  std::vector<int32_t> ids;
  for (const std::string& name : parts_of(right)) ids.push_back(id_of(name));
  return ids;
}

std::string NamesOutput::written(std::span<const int32_t> ids, const Ready&) const {
  std::vector<std::string> said;
  for (const int32_t id : ids) said.push_back(piece(id));
  return joined(said);
}

explain::TraceSide NamesOutput::side(std::span<const int32_t> ids, const Ready& input) const {
  explain::TraceSide side;
  side.text = written(ids, input);
  for (const int32_t id : ids) {
    side.word_of.push_back(static_cast<int32_t>(side.words.size()));
    side.tokens.push_back(piece(id)), side.words.push_back(piece(id));
  }
  return side;
}

std::string NamesOutput::piece(int32_t id) const { return names_.at(static_cast<size_t>(id)); }

int32_t NamesOutput::id_of(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) refuse_name(kind(), std::vector<std::string_view>(names_.begin(), names_.end()), name);
  return static_cast<int32_t>(found - names_.begin());
}

}  // namespace attend::tasks
