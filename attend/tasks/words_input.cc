#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/split_text.h"
#include "attend/data/utf8.h"
#include "attend/tasks/input.h"
#include "attend/tasks/text_corpus.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char *kSourceStem = "source", *kLettersStem = "letters";
constexpr std::string_view kTextFiles[] = {"source", "target", "tsv", "data"};
constexpr std::string_view kTextDerived[] = {"source_vocabulary", "encoder.vocabulary", "encoder.letters.vocabulary",
                                         "letters.vocabulary"};

class WordsInput : public Input {
 public:
  using Input::Input;

  void learn(const Corpus& corpus, TaskConfig&, const Prepared& prepared) override {
    prepared("learning the vocabulary");
    const TokenOptions& how = options().tokeniser;
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
    words_ = data::load_tokeniser(folder, kSourceStem);
    if (model().reads_letters()) letters_ = data::load_tokeniser(folder, kLettersStem);
  }

  void save(const fs::path& folder) const override {
    words_->save(folder, kSourceStem);
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
    for (const data::TextPart& part : data::split_text(*words_, *text, longest)) {
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

  explain::TraceSide side(const Ready& ready) const override {
    return explain::text_side(*words_, ready.tokens, ready.text);
  }

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
    "text", models::Reads::words, "tokens",         "lines of text", true, kTextFiles,
    kTextDerived, make_input<WordsInput>, read_text_corpus, text_test};

int64_t Ready::length() const { return is_text() ? static_cast<int64_t>(tokens.ids.size()) : 1; }

const std::shared_ptr<data::Tokeniser>& Input::tokeniser() const {
  static const std::shared_ptr<data::Tokeniser> kNone;
  return kNone;
}

}  // namespace attend::tasks
