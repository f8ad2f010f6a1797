#include "attend/data/babi.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/answers.h"
#include "attend/data/sentences.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 1) return {};
  return number;
}

/// A line after its number.
struct Numbered {
  int64_t number;
  std::string_view text;
};

std::optional<Numbered> numbered_line(std::string_view line) {
  line = trimmed(line);
  const size_t blank = line.find(' ');
  const std::optional<int64_t> number = whole_number(line.substr(0, blank));
  if (!number || blank == line.npos) return {};
  return Numbered{*number, line.substr(line.find_first_not_of(' ', blank))};  // not the tab of an empty question
}

class BabiStories : public ExampleReader {
 public:
  explicit BabiStories(LineReader lines) : lines_(std::move(lines)), task_(task_of_file(lines_.name())) {}

  bool next(Example& example) override {
    for (std::string line; lines_.next(line);) {
      if (split_words(line).empty()) continue;
      const std::optional<Numbered> read = numbered_line(line);
      if (!read) refuse("a line number and a sentence, \"1 Mary went home.\", got ", quoted(line));
      count(read->number);
      if (read->text.find('\t') == read->text.npos) {
        add_statement(read->text);
      } else {
        example = question(read->text);
        return any_ = true;
      }
    }
    require(any_, lines_.name(), ": expected stories with questions, got no question");
    return false;
  }
  std::string where() const override { return lines_.where(); }

 private:
  /// Of the current line.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(where(), ": expected ", parts...);
  }

  void count(int64_t number) {
    if (number == 1) {
      document_.clear(), sentences_of_.clear();
      sentences_ = 0;
    } else if (number != last_ + 1) {
      refuse("the number ", last_ + 1, ", or 1 for a new story, got ", number);
    }
    last_ = number;
  }

  void add_statement(std::string_view text) {
    if (!document_.empty()) document_ += '\n';
    const size_t begin = document_.size();
    document_ += text;
    if (document_.size() > LineReader::kLongest)
      refuse("a story of at most ", LineReader::kLongest, " bytes, got a longer one; a number 1 begins a new story");
    Statement& added = sentences_of_[last_];
    for (const TextRange& one : split_sentences(text)) {
      const auto shift = static_cast<int64_t>(begin);
      added.sentences.push_back({one.begin + shift, one.end + shift});
    }
    added.first = sentences_;
    sentences_ += static_cast<int32_t>(added.sentences.size());
  }

  Example question(std::string_view text) const {
    const std::vector<std::string_view> columns = split_columns(text);
    if (columns.size() > 3)
      refuse("\"question<tab>answer<tab>numbers of supporting lines\", got ", columns.size(), " columns in ",
             quoted(text), "; give one question a line");
    if (document_.empty()) refuse("a statement before the first question of a story, got ", quoted(text));
    check_question(where(), columns[0]);
    if (columns[1].empty()) refuse("\"question<tab>answer\", got no answer after ", quoted(columns[0]));
    Example example{.source = document_, .target = {}, .further = {std::string(columns[0])}, .group = task_};
    std::optional<TextRange> place;
    if (columns.size() == 3) place = add_support(columns[2], columns[1], example.support);
    if (!place) place = last_word_place(document_, columns[1], {0, static_cast<int64_t>(document_.size())});
    set_answers(example, {{std::string(columns[1]), place}});
    return example;
  }

  /// Where the answer stands in the last of the supporting sentences that it stands in.
  std::optional<TextRange> add_support(std::string_view numbers, std::string_view answer,
                                       std::vector<int32_t>& support) const {
    std::optional<TextRange> place;
    for (const std::string_view word : split_words(numbers)) {
      const std::optional<int64_t> number = whole_number(word);
      const auto found = number ? sentences_of_.find(*number) : sentences_of_.end();
      if (found == sentences_of_.end())
        refuse("the numbers of statements before the question in its story, got ", quoted(word), " in ",
               quoted(numbers));
      for (size_t i = 0; i < found->second.sentences.size(); ++i) {
        support.push_back(found->second.first + static_cast<int32_t>(i));
        const std::optional<TextRange> here = last_word_place(document_, answer, found->second.sentences[i]);
        if (here && (!place || here->begin > place->begin)) place = here;
      }
    }
    return place;
  }

  struct Statement {
    int32_t first = 0;                 // number of its first sentence
    std::vector<TextRange> sentences;  // of the document; more than one if marks within it end some
  };

  LineReader lines_;
  std::string task_, document_;
  std::map<int64_t, Statement> sentences_of_;  // by line number within the story
  int32_t sentences_ = 0;
  int64_t last_ = 0;  // number of the line before
  bool any_ = false;
};

}  // namespace

std::unique_ptr<ExampleReader> babi_stories(LineReader lines) {
  return std::make_unique<BabiStories>(std::move(lines));
}

bool begins_story(std::string_view line) {
  const std::optional<Numbered> read = numbered_line(line);
  return read && read->number == 1 && line.find('\t') == line.npos;
}

std::string task_of_file(std::string_view name) {
  std::string task = std::filesystem::path(name).filename().native();
  for (const std::string_view ending : {".gz", ".txt", "_train", "_valid", "_test"}) {
    if (task.size() > ending.size() && task.ends_with(ending)) task.resize(task.size() - ending.size());
  }
  return task;
}

}  // namespace attend::data
