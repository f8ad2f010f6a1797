// Answers by name: one label for a whole input, or one tag for each of its words.
#include <algorithm>
#include <cmath>
#include <set>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/data/utf8.h"
#include "attend/tasks/output.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNamesDerived[] = {"labels", "label_words"};
constexpr const char* kFile = "labels.txt";
constexpr size_t kMostLabelBytes = size_t{1} << 26;

/// Names that stand for ids 0, 1, …
class NamesOutput : public Output {
 public:
  using Output::Output;

  void learn(const Corpus& corpus, const Input& input, const Prepared&) override {
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
    words_ = words_of(input);
  }
  void load(const fs::path& folder, const Input& input) override {
    names_ = data::read_lines(file_within(folder, kFile), data::ByteOrderMark::dropped, kMostLabelBytes);
    words_ = words_of(input);
  }
  void save(const fs::path& folder) const override { write_file(folder / kFile, joined(names_, "\n") + "\n"); }
  Settings sizes() const override { return {{"labels", std::to_string(names_.size())}, {"label_words", words_}}; }
  std::string summary() const override { return std::to_string(names_.size()) + " " + std::string(kind()) + "s"; }

  std::vector<int32_t> encode(const Right& right, const Ready&) const override {
    std::vector<int32_t> ids;
    for (const std::string& name : parts_of(right.text)) ids.push_back(id_of(name));
    return ids;
  }
  std::string written(std::span<const int32_t> ids, const Ready&) const override {
    return joined(ids, " ", [this](int32_t id) { return piece(id); });
  }
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override {
    explain::TraceSide side;
    side.text = written(ids, input);
    for (const int32_t id : ids) {
      side.word_of.push_back(static_cast<int32_t>(side.words.size()));
      side.tokens.push_back(piece(id)), side.words.push_back(piece(id));
    }
    return side;
  }
  std::string piece(int32_t id) const override { return names_.at(static_cast<size_t>(id)); }
  const std::vector<std::string>& labels() const override { return names_; }

 protected:
  virtual std::string_view kind() const = 0;
  /// The names that a right answer consists of.
  virtual std::vector<std::string> parts_of(const std::string& right) const = 0;

 private:
  int32_t id_of(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) refuse_name(kind(), std::vector<std::string_view>(names_.begin(), names_.end()), name);
    return static_cast<int32_t>(found - names_.begin());
  }

  /// Which word of the input each name is, -1 for none, with commas between them; "" for an input without words.
  std::string words_of(const Input& input) const {
    if (!input.tokeniser()) return {};
    return joined(names_, ",", [&](const std::string& name) {
      const std::vector<int32_t> ids = input.tokeniser()->encode(name);
      return std::to_string(ids.size() == 1 && ids[0] >= data::kFirstWord ? ids[0] : -1);
    });
  }

  std::vector<std::string> names_;
  std::string words_;
};

class LabelOutput : public NamesOutput {
 public:
  using NamesOutput::NamesOutput;
  bool searches() const override { return false; }
  decode::SearchOptions search(const decode::SearchOptions& asked) const override {
    decode::SearchOptions ranked = asked;
    ranked.n_best = std::clamp<int64_t>(asked.n_best, 1, static_cast<int64_t>(labels().size()));
    ranked.beam = ranked.n_best, ranked.length_penalty = 0, ranked.coverage_penalty = 0, ranked.no_repeat_ngram = 0;
    return ranked;
  }
  /// A label that nothing was learned about cannot be given.
  bool has(const Right& right, const Ready&) const override {
    return std::ranges::find(labels(), right.text) != labels().end();
  }
  /// The probability of the label.
  double score(const decode::Hypothesis& found) const override { return std::exp(found.log_probability); }

 protected:
  std::string_view kind() const override { return "label"; }
  std::vector<std::string> parts_of(const std::string& right) const override { return {right}; }
};

class TagsOutput : public NamesOutput {
 public:
  using NamesOutput::NamesOutput;
  std::vector<int32_t> encode(const Right& right, const Ready& input) const override {
    std::vector<int32_t> ids = NamesOutput::encode(right, input);
    const auto places = static_cast<size_t>(input.length());
    require(ids.size() == places, "tags: expected one for each of ", places, input.is_sound() ? " frames of " : " words of ",
            quoted(input.text), ", got ", ids.size());
    return ids;
  }
  decode::SearchOptions search(const decode::SearchOptions& asked) const override {
    decode::SearchOptions all = asked;
    all.length_penalty = 0, all.no_repeat_ngram = 0;
    return all;
  }

 protected:
  std::string_view kind() const override { return "tag"; }
  std::vector<std::string> parts_of(const std::string& right) const override {
    const std::vector<std::string_view> tags = data::split_words(right);
    return {tags.begin(), tags.end()};
  }
};

}  // namespace

constinit const OutputRow kLabelOutput{"label", make_output<LabelOutput>, kNamesDerived};
constinit const OutputRow kTagsOutput{"tags", make_output<TagsOutput>, kNamesDerived};

}  // namespace attend::tasks
