#include "attend/tasks/words_output.h"

#include <algorithm>
#include <array>
#include <utility>

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

/// What copying an input says.
struct WordsOutput::Copies {
  std::vector<int32_t> ids;          // of each of its tokens
  std::vector<std::string> unknown;  // words that are not in the vocabulary, each once

  /// Where a word is among the unknown ones; their number if it is not.
  size_t place(const std::string& word) const {
    return static_cast<size_t>(std::ranges::find(unknown, word) - unknown.begin());
  }
};

namespace {

/// What a token of a text stands for, in the spelling of the vocabulary.
std::string token_text(const std::string& text, const data::TextRange& range, bool lowercase) {
  const std::string token = text.substr(static_cast<size_t>(range.begin), static_cast<size_t>(range.end - range.begin));
  return lowercase ? data::lowercased(token) : token;
}

}  // namespace

/// A token that is not known as such (a word) is copied as it is written; subwords and characters, which have no meaning of
/// their own, as the token that they are.
WordsOutput::Copies WordsOutput::copies_of(const Ready& input) const {
  Copies copies;
  const data::TokenisedWords& tokens = input.tokens;
  for (size_t t = 0; t < tokens.ids.size(); ++t) {
    if (shared_ && tokens.ids[t] != data::kUnknown) {
      copies.ids.push_back(tokens.ids[t]);
      continue;
    }
    const std::string word = token_text(input.text, tokens.ranges[t], options().tokeniser.lowercase);
    const std::vector<int32_t> known = words_->encode(word);
    if (known.size() == 1 && known[0] != data::kUnknown) {
      copies.ids.push_back(known[0]);
      continue;
    }
    const size_t place = copies.place(word);
    if (place == copies.unknown.size()) copies.unknown.push_back(word);
    copies.ids.push_back(static_cast<int32_t>(words_->size() + static_cast<int64_t>(place)));
  }
  return copies;
}

void WordsOutput::add_to(data::Source& source, std::span<const Ready* const> batch) const {
  std::vector<std::vector<int32_t>> ids;
  if (model().is_told()) {
    for (const Ready* one : batch) ids.push_back(one->given);
    source.add_given(data::Sequences(std::exchange(ids, {})));
  }
  if (!model().copies()) return;
  for (const Ready* one : batch) ids.push_back(copies_of(*one).ids);
  source.add_copies(data::Sequences(ids));
}

std::vector<int32_t> WordsOutput::encode(const Right& right, const Ready& input) const {
  if (!model().copies()) return words_->encode(right.text);
  const Copies copies = copies_of(input);
  data::TokenisedWords tokens = words_->tokenise(right.text);
  for (size_t t = 0; t < tokens.ids.size(); ++t) {
    if (tokens.ids[t] != data::kUnknown) continue;
    const size_t place = copies.place(token_text(right.text, tokens.ranges[t], options().tokeniser.lowercase));
    if (place < copies.unknown.size()) tokens.ids[t] = static_cast<int32_t>(words_->size() + static_cast<int64_t>(place));
  }
  return tokens.ids;
}

/// What the ids say, with copied words in place; its ids are those of the vocabulary.
data::TokenisedWords WordsOutput::said(std::span<const int32_t> ids, const Ready& input) const {
  const auto size = static_cast<int32_t>(words_->size());
  std::vector<int32_t> known(ids.begin(), ids.end());
  for (int32_t& id : known) id = id < size ? id : data::kUnknown;
  data::TokenisedWords said = words_->words(known);
  said.ids = std::move(known);
  if (std::ranges::equal(ids, said.ids)) return said;
  const std::vector<std::string> unknown = copies_of(input).unknown;
  std::vector<size_t> read(said.words.size(), 0);  // how far each word has been looked through
  for (size_t t = 0; t < ids.size(); ++t) {
    if (said.ids[t] != data::kUnknown || said.word_of[t] < 0) continue;
    const auto w = static_cast<size_t>(said.word_of[t]);
    const size_t at = said.words[w].find(data::Tokeniser::kUnknownText, read[w]);
    if (at == std::string::npos) continue;
    const bool copied = ids[t] >= size && static_cast<size_t>(ids[t] - size) < unknown.size();
    const std::string text = copied ? unknown[static_cast<size_t>(ids[t] - size)] : std::string(data::Tokeniser::kUnknownText);
    said.words[w].replace(at, data::Tokeniser::kUnknownText.size(), text);
    read[w] = at + text.size();
  }
  return said;
}

std::string WordsOutput::written(std::span<const int32_t> ids, const Ready& input) const {
  const auto copied = [&](int32_t id) { return id >= words_->size(); };
  return model().copies() && std::ranges::any_of(ids, copied) ? joined(said(ids, input).words, " ") : words_->decode(ids);
}

std::string WordsOutput::piece_of(int32_t id, const Ready& input) const {
  return id < words_->size() ? piece(id) : joined(said(std::array{id}, input).words, " ");
}

explain::TraceSide WordsOutput::side(std::span<const int32_t> ids, const Ready& input) const {
  explain::TraceSide side = explain::text_side(*words_, said(ids, input), written(ids, input));
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < words_->size()) continue;
    side.tokens[t] = piece_of(ids[t], input);
    std::erase(side.unknown, static_cast<int32_t>(t));
  }
  return side;
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
  std::vector<int32_t> encode(const Right& right, const Ready& input) const override {
    const size_t words = input.tokens.ids.size(), leaves = data::leaves(data::parse_tree("tree", right.text)).size();
    require(leaves == words, "tree: expected one leaf for each of ", words, " words, got ", leaves);
    return words_->encode(tokens_of(right.text));
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
