#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/sentences.h"
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
                                             "letters.vocabulary", "texts"};

/// All texts of a corpus, one after another: the inputs of each example and, where they are wanted, its right answers.
data::NextLine texts_of(const Corpus& corpus, bool answers) {
  corpus.stream->rewind();
  return [&corpus, answers, example = Example(), input = size_t{0}, answer = size_t{0}](std::string& line) mutable {
    if (input == example.inputs.size() && (!answers || answer == example.right.size())) {
      if (!corpus.stream->next(example)) return false;
      input = answer = 0;
    }
    line = input < example.inputs.size() ? std::get<std::string>(example.inputs[input++]) : example.right[answer++];
    return true;
  };
}

/// Tokens [begin, end) of a text as a text of their own.
Ready window_of(const Ready& whole, size_t begin, size_t end) {
  const data::TokenisedWords& all = whole.tokens;
  const int64_t from = begin == 0 ? 0 : all.ranges[begin].begin;
  const int64_t to = end == all.ids.size() ? static_cast<int64_t>(whole.text.size()) : all.ranges[end - 1].end;
  Ready window{.text = whole.text.substr(static_cast<size_t>(from), static_cast<size_t>(to - from)), .offset = from};
  const auto cut = [&](const auto& list, auto& into) {
    if (list.empty()) return;
    into.assign(list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  cut(all.ids, window.tokens.ids), cut(all.word_of, window.tokens.word_of), cut(all.ranges, window.tokens.ranges);
  cut(whole.letters, window.letters), cut(whole.sentence_of, window.sentence_of);
  for (data::TextRange& range : window.tokens.ranges) range.begin -= from, range.end -= from;
  for (const std::string_view word : data::split_words(window.text)) window.tokens.words.emplace_back(word);
  const auto from_zero = [](std::vector<int32_t>& numbers) {
    const int32_t first = numbers.empty() ? 0 : numbers.front();
    for (int32_t& number : numbers) number -= first;
  };
  from_zero(window.tokens.word_of), from_zero(window.sentence_of);
  return window;
}

class WordsInput : public Input {
 public:
  using Input::Input;

  void learn(const Corpus& corpus, TaskConfig&, const Prepared& prepared) override {
    prepared("learning the vocabulary");
    words_ = data::train_tokeniser(options().tokeniser, texts_of(corpus, options().tokeniser.joint));
    if (model().reads_letters()) letters_ = data::train_tokeniser({.kind = "characters"}, texts_of(corpus, false));
  }

  /// One vocabulary for all texts of a task.
  void share(const Input& other) override {
    const auto& texts = dynamic_cast<const WordsInput&>(other);
    words_ = texts.words_, letters_ = texts.letters_, shared_ = true;
  }

  void load(const fs::path& folder) override {
    words_ = data::load_tokeniser(folder, kSourceStem);
    if (model().reads_letters()) letters_ = data::load_tokeniser(folder, kLettersStem);
  }

  void save(const fs::path& folder) const override {
    if (shared_) return;
    words_->save(folder, kSourceStem);
    if (letters_) letters_->save(folder, kLettersStem);
  }

  Settings sizes() const override {
    const std::string words = std::to_string(words_->size()), letters = std::to_string(letters_ ? letters_->size() : 0);
    return {{"source_vocabulary", words},
            {"encoder.vocabulary", words},
            {"letters.vocabulary", letters},
            {"encoder.letters.vocabulary", letters},
            {"texts", std::to_string(options().row->inputs.size())}};
  }

  int64_t longest() const override { return options().filter.longest; }

  Ready ready(const Value& value) const override {
    const auto* text = std::get_if<std::string>(&value);
    require(text != nullptr, name(), ": expected a text, got ", std::holds_alternative<data::Sound>(value) ? "a sound" : "an image");
    Ready ready{.text = *text, .tokens = words_->tokenise(*text)};
    for (const data::TextRange& range : ready.tokens.ranges) {
      if (letters_) ready.letters.push_back(letters_->encode(data::text_in(*text, range)));
    }
    if (model().reads_sentences() && name() == options().row->inputs[0].name) {
      ready.sentence_of = sentences_of(*text, ready.tokens.ranges);
    }
    return ready;
  }

  std::vector<Ready> parts(const Value& value, int64_t longest) const override {
    const auto* text = std::get_if<std::string>(&value);
    require(text != nullptr, name(), ": expected a text, got ", std::holds_alternative<data::Sound>(value) ? "a sound" : "an image");
    std::vector<Ready> all;
    for (const data::TextPart& part : data::split_text(*words_, *text, longest)) {
      all.push_back(ready(part.text));
      all.back().continues = part.continues;
    }
    return all;
  }

  std::vector<Ready> windows(const Value& value, int64_t window, int64_t stride) const override {
    Ready whole = ready(value);
    const size_t count = whole.tokens.ids.size(), most = static_cast<size_t>(window);
    if (window <= 0 || count <= most) return {std::move(whole)};
    std::vector<Ready> all;
    for (size_t begin = 0;; begin += static_cast<size_t>(stride)) {
      all.push_back(window_of(whole, begin, std::min(count, begin + most)));
      if (begin + most >= count) return all;
    }
  }

  void add_to(data::Source& source, std::span<const Ready* const> batch) const override {
    std::vector<std::vector<int32_t>> ids;
    std::vector<std::vector<std::vector<int32_t>>> letters;
    for (const Ready* one : batch) ids.push_back(one->tokens.ids), letters.push_back(one->letters);
    const data::Sequences words(ids);
    source.add(name(), words);
    if (!batch[0]->sentence_of.empty()) {
      std::vector<std::vector<int32_t>> sentences;
      for (const Ready* one : batch) sentences.push_back(one->sentence_of);
      source.add(name() + std::string(data::Source::kSentences), data::Sequences(sentences));
    }
    if (letters_) source.add_letters(data::letter_rows(letters, words.longest()), name());
  }

  Value typed(const std::string& given) const override { return given; }

  Value trial() const override {
    std::string word = words_->decode(std::vector<int32_t>{data::kFirstWord});
    return data::split_words(word).empty() ? "a" : word;
  }

  explain::TraceSide side(const Ready& ready, int64_t) const override {
    explain::TraceSide side = explain::text_side(*words_, ready.tokens, ready.text);
    explain::locate(side);
    return side;
  }

  const std::shared_ptr<data::Tokeniser>& tokeniser() const override { return words_; }

 private:
  /// The sentence of each token; one that lies between two belongs to the one before.
  static std::vector<int32_t> sentences_of(const std::string& text, std::span<const data::TextRange> tokens) {
    const std::vector<data::TextRange> sentences = data::split_sentences(text);
    std::vector<int32_t> all;
    int32_t at = 0;
    for (const data::TextRange& token : tokens) {
      while (static_cast<size_t>(at) + 1 < sentences.size() &&
             sentences[static_cast<size_t>(at) + 1].begin < token.end) {
        ++at;
      }
      all.push_back(at);
    }
    return all;
  }

  std::shared_ptr<data::Tokeniser> words_, letters_;
  bool shared_ = false;
};

Examples text_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>&) {
  return read_text_test(config, files.text, files.gold);
}

}  // namespace

constinit const InputRow kTextInput{
    "text", models::Reads::words, "tokens", "examples", "lines of text", true, 256, kTextFiles,
    kTextDerived, make_input<WordsInput>, read_text_corpus, text_test};

int64_t Ready::longest() const {
  int64_t longest = length();
  for (const Ready& one : further) longest = std::max(longest, one.length());
  return longest;
}

bool Ready::is_empty() const {
  return length() == 0 || std::ranges::any_of(further, [](const Ready& one) { return one.length() == 0; });
}

int64_t Ready::length() const {
  if (is_sound()) return frames.dim(0);
  return is_text() ? static_cast<int64_t>(tokens.ids.size()) : 1;
}

bool Ready::joins(const Ready& other) const {
  return image.height == other.image.height && image.width == other.image.width;
}

const std::shared_ptr<data::Tokeniser>& Input::tokeniser() const {
  static const std::shared_ptr<data::Tokeniser> kNone;
  return kNone;
}

}  // namespace attend::tasks
