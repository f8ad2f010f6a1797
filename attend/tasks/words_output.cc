#include "attend/tasks/words_output.h"

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/data/tree.h"
#include "attend/data/unicode.h"
#include "attend/data/utf8.h"
#include "attend/decode/tree_constraint.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTargetStem = "target";
constexpr std::string_view kWordsDerived[] = {"target_vocabulary", "labels"}, kTreeDerived[] = {"target_vocabulary"};

}  // namespace

/// Takes the input's vocabulary where it is to be shared; whether it did.
bool WordsOutput::share(const Input& input) {
  shared_ = may_share() && input.tokeniser();
  if (shared_) words_ = input.tokeniser();
  return shared_;
}

void WordsOutput::learn(const Corpus& corpus, const Input& input, const Prepared& prepared) {
  if (share(input)) return;
  if (!input.tokeniser()) prepared("learning the vocabulary");
  data::TokeniserOptions how = options().tokeniser;
  if (!options().tokeniser.target_kind.empty()) how.kind = options().tokeniser.target_kind;
  std::vector<std::string> waiting;
  Example example;
  int64_t at = 0;
  if (corpus.stream) corpus.stream->rewind();
  words_ = data::train_tokeniser(how, [&](std::string& line) {
    while (waiting.empty()) {
      if (corpus.stream ? !corpus.stream->next(example) : at == corpus.train.count) return false;
      waiting = corpus.stream ? std::move(example.right) : corpus.train.right(at++);
    }
    line = tokens_of(waiting.back());
    waiting.pop_back();
    return true;
  });
}

void WordsOutput::load(const fs::path& folder, const Input& input) {
  if (!share(input)) words_ = data::load_tokeniser(folder, kTargetStem);
}

void WordsOutput::save(const fs::path& folder) const {
  if (!shared_) words_->save(folder, kTargetStem);
}

Settings WordsOutput::sizes() const {
  return {{"target_vocabulary", std::to_string(words_->size())}, {"labels", std::to_string(words_->size())}};
}

explain::TraceSide WordsOutput::side(std::span<const int32_t> ids, const Ready& input) const {
  data::TokenisedWords shown = words_->words(ids);
  shown.ids.assign(ids.begin(), ids.end());
  return explain::text_side(*words_, shown, written(ids, input));
}

std::string WordsOutput::spelled(const std::string& right) const {
  return options().tokeniser.lowercase && !options().row->input().streamed ? data::lowercased(right) : right;
}

namespace {

std::vector<std::string> words_in(const std::string& text) {
  const std::vector<std::string_view> words = data::split_words(text);
  return {words.begin(), words.end()};
}

class TreeOutput : public WordsOutput {
 public:
  using WordsOutput::WordsOutput;

  void learn(const Corpus& corpus, const Input& input, const Prepared& prepared) override {
    WordsOutput::learn(corpus, input, prepared);
    brackets_ = decode::brackets_of(*words_);
  }
  void load(const fs::path& folder, const Input& input) override {
    WordsOutput::load(folder, input);
    brackets_ = decode::brackets_of(*words_);
  }
  std::vector<int32_t> encode(const std::string& right, const Ready& input) const override {
    const size_t words = input.tokens.ids.size(), leaves = data::leaves(data::parse_tree("tree", right)).size();
    require(leaves == words, "tree: expected one leaf for each of ", words, " words, got ", leaves);
    return words_->encode(tokens_of(right));
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
    for (const Ready* one : batch) words.push_back(static_cast<int64_t>(data::split_words(one->text).size()));
    return decode::tree_constraint(brackets_, std::move(words));
  }

 private:
  std::string tokens_of(const std::string& right) const override {
    return joined(data::tree_tokens(data::parse_tree("tree", right)), " ");
  }
  bool may_share() const override { return false; }

  decode::Brackets brackets_;
};

}  // namespace

constinit const OutputRow kWordsOutput{"words", make_output<WordsOutput>, kWordsDerived};
constinit const OutputRow kTreeOutput{"tree", make_output<TreeOutput>, kTreeDerived};

}  // namespace attend::tasks
