#include "attend/data/question_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/answers.h"
#include "attend/data/shallow_json.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

using nlohmann::json;

constexpr const char* kDocumentKey = "document";
constexpr const char* kQuestionKey = "question";
constexpr const char* kAnswerKey = "answer";
constexpr const char* kNameKey = "name";
constexpr const char* kGroupKey = "group";
constexpr std::string_view kQuestionKeys[] = {kDocumentKey, kQuestionKey, kAnswerKey, kNameKey, kGroupKey};

/// A line's example, and its answers if it has any.
struct QuestionLine {
  Example example;
  std::optional<std::vector<std::string>> answers;
};

const std::string& question_text(const std::string& where, const char* key, const json& value) {
  require(value.is_string(), where, ": expected text in \"", key, "\", got ", value.type_name());
  const std::string& text = value.get_ref<const std::string&>();
  require(text.find('\0') == text.npos, where, ": expected \"", key, "\" without zero bytes, got one with some");
  return text;
}

std::string question_field(const std::string& where, const json& object, const char* key, bool needed) {
  const auto found = object.find(key);
  require(!needed || found != object.end(), where, ": expected {\"document\": …, \"question\": …}, got no \"", key,
          "\"");
  return found == object.end() ? "" : question_text(where, key, *found);
}

std::vector<std::string> json_answers(const std::string& where, const json& value) {
  if (!value.is_array()) return {question_text(where, kAnswerKey, value)};
  std::vector<std::string> answers;
  for (const json& one : value) answers.push_back(question_text(where, kAnswerKey, one));
  if (answers.empty()) answers.emplace_back();
  return answers;
}

QuestionLine parse_question_json(const std::string& where, std::string_view line) {
  const json object = shallow_json(line, 2);
  require(object.is_object(), where, ": expected a JSON object {\"document\": …, \"question\": …}, got ", quoted(line));
  for (const auto& [key, value] : object.items()) {
    const bool known = std::ranges::find(kQuestionKeys, key) != std::end(kQuestionKeys);
    require(known, where, ": ", known ? "" : not_among(kQuestionKeys, key));
  }
  QuestionLine read;
  read.example.source = question_field(where, object, kDocumentKey, true);
  read.example.further = {question_field(where, object, kQuestionKey, true)};
  read.example.name = question_field(where, object, kNameKey, false);
  read.example.group = question_field(where, object, kGroupKey, false);
  if (const auto answer = object.find(kAnswerKey); answer != object.end()) read.answers = json_answers(where, *answer);
  return read;
}

QuestionLine parse_question_columns(const std::string& where, std::string_view line) {
  const std::vector<std::string_view> columns = split_columns(line);
  if (columns.size() < 2)
    fail(where, ": expected \"document<tab>question\", got no tab in ", quoted(line),
         "; put one between the document and the question");
  QuestionLine read;
  read.example.source = columns[0];
  read.example.further = {std::string(columns[1])};
  if (columns.size() == 2) return read;
  read.answers.emplace();
  for (size_t i = 2; i < columns.size(); ++i) {
    if (i == 2 || !columns[i].empty()) read.answers->emplace_back(columns[i]);
  }
  return read;
}

bool is_json_line(std::string_view line) { return trimmed(line).starts_with('{'); }

QuestionLine parse_any_line(const std::string& where, std::string_view line) {
  QuestionLine read = is_json_line(line) ? parse_question_json(where, line) : parse_question_columns(where, line);
  check_document(where, read.example.source);
  check_question(where, read.example.further[0]);
  if (!read.answers) return read;
  require(!read.answers->front().empty() || read.answers->size() == 1, where,
          ": expected right answers, or an empty one alone for \"no answer\", got an empty one before others");
  std::vector<Answer> answers;
  for (std::string& text : *read.answers) {
    const std::optional<TextRange> place = first_place(read.example.source, text);
    answers.push_back({std::move(text), place});
  }
  set_answers(read.example, std::move(answers));
  return read;
}

class QuestionLines : public ExampleReader {
 public:
  explicit QuestionLines(LineReader lines) : lines_(std::move(lines)) {}

  bool next(Example& example) override {
    std::string line;
    do {
      if (!lines_.next(line)) {
        require(any_, lines_.name(), ": expected lines \"document<tab>question<tab>answer\", got none");
        return false;
      }
    } while (split_words(line).empty());
    QuestionLine read = parse_any_line(where(), line);
    if (!read.answers)
      fail(where(), ": expected a document, a question and its answer, got no answer in ", quoted(line),
           "; leave it empty if there is none");
    example = std::move(read.example);
    return any_ = true;
  }
  std::string where() const override { return lines_.where(); }

 private:
  LineReader lines_;
  bool any_ = false;
};

}  // namespace

Example parse_question_line(const std::string& where, std::string_view line) {
  check_utf8(where, line);
  QuestionLine read = parse_any_line(where, line);
  require(!read.answers || is_json_line(line), where, ": expected \"document<tab>question\", got ",
          1 + std::ranges::count(line, '\t'), " columns; give one question a line");
  return std::move(read.example);
}

std::unique_ptr<ExampleReader> question_lines(LineReader lines) {
  return std::make_unique<QuestionLines>(std::move(lines));
}

bool begins_question_line(std::string_view front) {
  const size_t brace = front.find_first_not_of(kWhiteSpace);
  if (brace == front.npos || front[brace] != '{') return false;
  const size_t key = front.find_first_not_of(kWhiteSpace, brace + 1);
  return key != front.npos && std::ranges::any_of(kQuestionKeys, [&](std::string_view one) {
    return front.substr(key).starts_with("\"" + std::string(one) + "\"");
  });
}

}  // namespace attend::data
