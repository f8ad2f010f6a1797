#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/utf8.h"
#include "attend/tasks/input.h"
#include "attend/tasks/text_corpus.h"
#include "attend/tasks/words.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char *kStem = "source", *kLettersStem = "letters";
constexpr std::string_view kFiles[] = {"source", "target", "tsv", "data"};
constexpr std::string_view kDerived[] = {"source_vocabulary", "encoder.vocabulary", "encoder.letters.vocabulary",
                                         "letters.vocabulary"};

bool ends_clause(const std::string& word) {
  return !word.empty() && std::string_view(".,;:!?").find(word.back()) != std::string_view::npos;
}

/// After how many of these words to cut so that the part before has at most `longest` tokens: after the last word that ends
/// a clause if that is not in the first half, else after the last word that fits; after one in any case.
size_t cut_after(std::span<const std::string> words, std::span<const int64_t> tokens, int64_t longest) {
  size_t fits = 0, clause = 0;
  for (int64_t sum = 0; fits < words.size() && (sum += tokens[fits]) <= longest; ++fits) {
    if (ends_clause(words[fits]) && sum > longest / 2) clause = fits + 1;
  }
  return std::max<size_t>(1, clause > 0 ? clause : fits);
}

/// A part of a line; its first word may continue the last one of the part before.
struct Cut {
  std::string text;
  bool continues = false;
};

/// A word that is too long in itself (a text without spaces), by halves between characters.
void split_word(const data::Tokeniser& tokeniser, std::string_view word, int64_t longest, bool continues,
                std::vector<Cut>& parts) {
  size_t middle = word.size() / 2;
  while (middle > 0 && (static_cast<unsigned char>(word[middle]) & 0xC0) == 0x80) --middle;  // not within a character
  if (middle == 0 || static_cast<int64_t>(tokeniser.encode(word).size()) <= longest) {
    parts.push_back({std::string(word), continues});
    return;
  }
  split_word(tokeniser, word.substr(0, middle), longest, continues, parts);
  split_word(tokeniser, word.substr(middle), longest, true, parts);
}

/// A line in parts that the model can take.
std::vector<Cut> split_line(const data::Tokeniser& tokeniser, const std::string& line, int64_t longest) {
  const data::TokenisedWords whole = tokeniser.tokenise(line);
  if (longest <= 0 || static_cast<int64_t>(whole.ids.size()) <= longest) return {{line}};
  std::vector<int64_t> tokens(whole.words.size(), 0);
  for (const int32_t word : whole.word_of) {
    if (word >= 0) ++tokens[static_cast<size_t>(word)];
  }
  std::vector<Cut> parts;
  for (size_t at = 0; at < whole.words.size();) {
    const std::span words = std::span(whole.words).subspan(at);
    const size_t count = cut_after(words, std::span(tokens).subspan(at), longest);
    if (count == 1) {
      split_word(tokeniser, words[0], longest, false, parts);
    } else {
      parts.push_back({joined(words.first(count))});
    }
    at += count;
  }
  return parts;
}

class WordsInput : public Input {
 public:
  using Input::Input;

  void learn(const Corpus& corpus, TaskConfig&, const Prepared& prepared) override {
    prepared("learning the vocabulary");
    const TokenOptions& how = options().tokeniser;
    require(!model().reads_letters() || how.kind == "words",
            "tokeniser.kind: a network that looks inside words (letters.kind) needs words, got ", how.kind);
    Example example;
    size_t answer = 0;  // those of the last example that are still to be given
    corpus.stream->rewind();
    words_ = data::train_tokeniser(how, [&](std::string& line) {
      if (how.joint && answer < example.right.size()) {
        line = example.right[answer++];
        return true;
      }
      answer = 0;
      if (!corpus.stream->next(example)) return false;
      line = example.text();
      return true;
    });
    if (model().reads_letters()) learn_letters(corpus);
  }

  void load(const fs::path& folder) override {
    words_ = data::load_tokeniser(folder, kStem);
    if (model().reads_letters()) letters_ = data::load_tokeniser(folder, kLettersStem);
  }

  void save(const fs::path& folder) const override {
    words_->save(folder, kStem);
    if (letters_) letters_->save(folder, kLettersStem);
  }

  Settings sizes() const override {
    const std::string words = std::to_string(words_->size()), letters = std::to_string(letters_ ? letters_->size() : 0);
    return {{"source_vocabulary", words},
            {"encoder.vocabulary", words},
            {"letters.vocabulary", letters},
            {"encoder.letters.vocabulary", letters}};
  }

  Ready ready(const Value& value) const override {
    const auto* text = std::get_if<std::string>(&value);
    require(text != nullptr, name(), ": expected a text, got an image");
    Ready ready{.text = *text, .tokens = words_->tokenise(*text)};
    for (size_t t = 0; letters_ && t < ready.tokens.ids.size(); ++t) {
      const int32_t word = ready.tokens.word_of[t];
      ready.letters.push_back(word < 0 ? std::vector<int32_t>()
                                       : letters_->encode(ready.tokens.words[static_cast<size_t>(word)]));
    }
    return ready;
  }

  std::vector<Ready> parts(const Value& value, int64_t longest) const override {
    const auto* text = std::get_if<std::string>(&value);
    require(text != nullptr, name(), ": expected a text, got an image");
    std::vector<Ready> all;
    for (const Cut& part : split_line(*words_, *text, longest)) {
      all.push_back(ready(part.text));
      all.back().continues = part.continues;
    }
    return all;
  }

  void add_to(data::Source& source, std::span<const Ready* const> batch) const override {
    std::vector<std::vector<int32_t>> ids;
    std::vector<std::vector<std::vector<int32_t>>> letters;
    for (const Ready* one : batch) ids.push_back(one->tokens.ids), letters.push_back(one->letters);
    source.add(name(), data::Sequences(ids));
    if (letters_) source.add_letters(data::letter_rows(letters, source.text().longest()));
  }

  Value typed(const std::string& given) const override { return given; }

  Value trial() const override {
    std::string word = words_->decode(std::vector<int32_t>{data::kFirstWord});
    return data::split_words(word).empty() ? "a" : word;
  }

  explain::TraceSide side(const Ready& ready) const override { return side_of(*words_, ready.tokens, ready.text); }

  const std::shared_ptr<data::Tokeniser>& tokeniser() const override { return words_; }

 private:
  /// What letters there are, from every word as it is written.
  void learn_letters(const Corpus& corpus) {
    Example example;
    corpus.stream->rewind();
    letters_ = data::train_tokeniser({.kind = "characters"}, [&](std::string& line) {
      if (!corpus.stream->next(example)) return false;
      line = example.text();
      return true;
    });
  }

  std::shared_ptr<data::Tokeniser> words_, letters_;
};

Examples text_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>&) {
  return read_text_test(config, files.text, files.gold);
}

}  // namespace

constinit const InputRow kTextInput{
    "text",
    models::Reads::words,
    "tokens",
    "lines of text",
    true,
    kFiles,
    kDerived,
    [](const TaskConfig& config, std::string_view name) -> std::unique_ptr<Input> {
      return std::make_unique<WordsInput>(config, name);
    },
    read_text_corpus,
    text_test};

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

explain::TraceSide side_of(const data::Tokeniser& tokeniser, const data::TokenisedWords& words, std::string text) {
  explain::TraceSide side{std::move(text), {}, words.words, words.word_of, {}};
  for (size_t i = 0; i < words.ids.size(); ++i) {
    side.tokens.push_back(tokeniser.piece(words.ids[i]));
    if (words.ids[i] == data::kUnknown) side.unknown.push_back(static_cast<int32_t>(i));
  }
  return side;
}

int64_t Ready::length() const { return is_text() ? static_cast<int64_t>(tokens.ids.size()) : 1; }

const std::shared_ptr<data::Tokeniser>& Input::tokeniser() const {
  static const std::shared_ptr<data::Tokeniser> kNone;
  return kNone;
}

}  // namespace attend::tasks
