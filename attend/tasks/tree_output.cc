#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/tree.h"
#include "attend/data/utf8.h"
#include "attend/tasks/words.h"
#include "attend/tasks/words_output.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kDerived[] = {"target_vocabulary"};
constexpr int64_t kMostInARow = 8;  // brackets opened without a word between them

enum class Kind : uint8_t { none, open, close, word };

/// Only trees over exactly the words of each sentence: "(X" opens, ")" closes, anything else is the part of speech of the
/// next word (data/tree.h).
class TreeConstraint : public decode::Constraint {
 public:
  TreeConstraint(std::shared_ptr<const std::vector<Kind>> kinds, std::vector<int64_t> words)
      : kinds_(std::move(kinds)), words_(std::move(words)) {}

  void ban(int32_t sentence, std::span<const int32_t> said, int64_t room, std::vector<int32_t>& banned) const override {
    const Allowed allowed = after(words_[static_cast<size_t>(sentence)], said, room);
    for (size_t id = 0; id < kinds_->size(); ++id) {
      const Kind kind = (*kinds_)[id];
      const bool may = kind == Kind::open ? allowed.open : kind == Kind::close ? allowed.close : kind == Kind::word && allowed.word;
      if (id == data::kEnd ? !allowed.end : !may) banned.push_back(static_cast<int32_t>(id));
    }
  }
  /// Room for six brackets a word, far beyond what trees have, so that the limit closes no bracket early.
  int64_t longest(int32_t sentence) const override { return 12 * words_[static_cast<size_t>(sentence)] + 20; }

 private:
  struct Allowed {
    bool open = false, close = false, word = false, end = false;
  };

  Allowed after(int64_t words, std::span<const int32_t> said, int64_t room) const {
    std::vector<bool> filled;  // of each open bracket: whether something is in it
    int64_t used = 0, in_a_row = 0;
    for (const int32_t id : said) {
      const Kind kind = (*kinds_)[static_cast<size_t>(id)];
      if (kind == Kind::close) {
        filled.pop_back();
      } else if (kind == Kind::word) {
        ++used;
      }
      if (!filled.empty()) filled.back() = true;
      if (kind == Kind::open) filled.push_back(false);
      in_a_row = kind == Kind::open ? in_a_row + 1 : 0;
    }
    const int64_t depth = static_cast<int64_t>(filled.size()), left = words - used;
    Allowed allowed;
    if (depth == 0 && !said.empty()) {
      allowed.end = true;
      return allowed;
    }
    // What is opened has to hold a word and to be closed again before the end.
    allowed.open = left > 0 && in_a_row < kMostInARow && room >= left + depth + 3;
    allowed.word = left > 0 && depth > 0;
    allowed.close = depth > 0 && filled.back() && (depth > 1 || left == 0);
    return allowed;
  }

  std::shared_ptr<const std::vector<Kind>> kinds_;
  std::vector<int64_t> words_;
};

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view word : data::split_words(text)) words.emplace_back(word);
  return words;
}

std::string linear(const std::string& tree) { return joined(data::tree_tokens(data::parse_tree("tree", tree))); }

class TreeOutput : public WordsOutput {
 public:
  using WordsOutput::WordsOutput;

  void learn(const Corpus& corpus, const Input&, const Prepared&) override {
    words_ = learned(corpus, linear);
    sort_tokens();
  }
  void load(const std::filesystem::path& folder, const Input& input) override {
    WordsOutput::load(folder, input);
    sort_tokens();
  }
  std::vector<int32_t> encode(const std::string& right, const Ready& input) const override {
    const data::Tree tree = data::parse_tree("tree", right);
    const size_t words = input.tokens.ids.size(), leaves = data::leaves(tree).size();
    require(leaves == words, "tree: expected one leaf for each of ", words, " words, got ", leaves);
    return words_->encode(joined(data::tree_tokens(tree)));
  }
  std::string written(std::span<const int32_t> ids, const Ready& input) const override {
    const std::string tokens = words_->decode(ids);
    try {
      return data::print_tree(data::tree_of(words_in(tokens), words_in(input.text)));
    } catch (const Error&) {  // of a beginning, or where the longest length was reached
      return tokens;
    }
  }
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override {
    explain::TraceSide side = WordsOutput::side(ids, input);
    side.kind = "tree";
    return side;
  }
  std::unique_ptr<decode::Constraint> constraint(std::span<const Ready* const> batch) const override {
    std::vector<int64_t> words;
    for (const Ready* one : batch) words.push_back(static_cast<int64_t>(words_in(one->text).size()));
    return std::make_unique<TreeConstraint>(kinds_, std::move(words));
  }

 private:
  void sort_tokens() {
    std::vector<Kind> kinds(static_cast<size_t>(words_->size()), Kind::none);
    for (size_t id = data::kFirstWord; id < kinds.size(); ++id) {
      const std::string token = words_->piece(static_cast<int32_t>(id));
      kinds[id] = token.starts_with('(') ? Kind::open : token == ")" ? Kind::close : Kind::word;
    }
    kinds_ = std::make_shared<const std::vector<Kind>>(std::move(kinds));
  }

  std::shared_ptr<const std::vector<Kind>> kinds_;
};

}  // namespace

constinit const OutputRow kTreeOutput{
    "tree", [](const TaskConfig& config) -> std::unique_ptr<Output> { return std::make_unique<TreeOutput>(config); },
    kDerived};

}  // namespace attend::tasks
