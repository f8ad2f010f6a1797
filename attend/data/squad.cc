#include "attend/data/squad.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/utf8.h"
#include "attend/data/answers.h"

namespace attend::data {
namespace {

using nlohmann::json;

/// The bytes of a stream one by one, counting lines.
class CountedBytes {
 public:
  CountedBytes(std::string name, std::unique_ptr<ByteStream> bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  bool at_end() {
    if (at_ == chunk_.size() && !ended_) fill();
    return ended_;
  }
  char front() const { return chunk_[at_]; }
  void pop() { line_ += chunk_[at_++] == '\n'; }
  std::string where() const { return name_ + ":" + std::to_string(line_); }
  const std::string& name() const { return name_; }

 private:
  void fill() {
    chunk_ = bytes_->next(where());
    at_ = 0;
    ended_ = chunk_.empty();
    read_ += chunk_.size();
    require(read_ <= squad::kLargest, name_, ": expected at most ", squad::kLargest >> 20, " MiB of JSON, got more");
  }

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::span<const char> chunk_;
  size_t at_ = 0, read_ = 0;
  int64_t line_ = 1;
  bool ended_ = false;
};

/// As an iterator, for the parser.
class ByteIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  ByteIterator() = default;  // the end
  explicit ByteIterator(CountedBytes& bytes) : bytes_(&bytes) {}

  char operator*() const { return bytes_->front(); }
  ByteIterator& operator++() {
    bytes_->pop();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const ByteIterator& other) const { return is_end() == other.is_end(); }

 private:
  bool is_end() const { return bytes_ == nullptr || bytes_->at_end(); }
  CountedBytes* bytes_ = nullptr;
};

struct SquadAnswer {
  std::string text;
  std::optional<uint64_t> start;  // in code points
};

struct SquadQuestion {
  std::string id, question, where;
  std::vector<SquadAnswer> answers;
  bool impossible = false;
};

struct SquadParagraph {
  std::string context;
  std::vector<SquadQuestion> questions;
};

/// Where a value stands: within these, or within anything that is not read.
enum class SquadLevel {
  kFile,
  kRoot,
  kData,
  kArticle,
  kParagraphs,
  kParagraph,
  kQuestions,
  kQuestion,
  kAnswers,
  kAnswer,
  kOther
};

enum class JsonKind { kList, kObject, kText, kWhole, kTruth, kNothing };
constexpr const char* kJsonKindNames[] = {"a list",        "an object",    "text", "a whole number from 0",
                                          "true or false", "another value"};

/// What each level contains, by key; the elements of a list have none.
struct SquadField {
  SquadLevel of;
  std::string_view key;
  JsonKind kind;
  SquadLevel level;  // of what is within it
};
constexpr SquadField kSquadFields[] = {
    {SquadLevel::kFile, "", JsonKind::kObject, SquadLevel::kRoot},
    {SquadLevel::kRoot, "data", JsonKind::kList, SquadLevel::kData},
    {SquadLevel::kData, "", JsonKind::kObject, SquadLevel::kArticle},
    {SquadLevel::kArticle, "paragraphs", JsonKind::kList, SquadLevel::kParagraphs},
    {SquadLevel::kParagraphs, "", JsonKind::kObject, SquadLevel::kParagraph},
    {SquadLevel::kParagraph, "context", JsonKind::kText, SquadLevel::kOther},
    {SquadLevel::kParagraph, "qas", JsonKind::kList, SquadLevel::kQuestions},
    {SquadLevel::kQuestions, "", JsonKind::kObject, SquadLevel::kQuestion},
    {SquadLevel::kQuestion, "id", JsonKind::kText, SquadLevel::kOther},
    {SquadLevel::kQuestion, "question", JsonKind::kText, SquadLevel::kOther},
    {SquadLevel::kQuestion, "is_impossible", JsonKind::kTruth, SquadLevel::kOther},
    {SquadLevel::kQuestion, "answers", JsonKind::kList, SquadLevel::kAnswers},
    {SquadLevel::kAnswers, "", JsonKind::kObject, SquadLevel::kAnswer},
    {SquadLevel::kAnswer, "text", JsonKind::kText, SquadLevel::kOther},
    {SquadLevel::kAnswer, "answer_start", JsonKind::kWhole, SquadLevel::kOther},
};

/// Takes the parser's events (nlohmann's SAX interface) and keeps what is read.
class SquadEvents {
 public:
  explicit SquadEvents(const CountedBytes& bytes) : bytes_(bytes) {}

  std::vector<SquadParagraph> take() && {
    require(has_data_, bytes_.name(),
            ": expected SQuAD's layout, {\"data\": [{\"paragraphs\": [{\"context\": …, \"qas\": …}]}]}, got no "
            "\"data\"; lines of JSON begin with {\"document\": or {\"question\":");
    return std::move(paragraphs_);
  }

  bool null() { return value(JsonKind::kNothing) == nullptr; }
  bool boolean(bool truth) {
    if (value(JsonKind::kTruth) != nullptr) question().impossible = truth;
    return true;
  }
  bool number_integer(json::number_integer_t) { return value(JsonKind::kNothing) == nullptr; }
  bool number_unsigned(json::number_unsigned_t number) {
    if (value(JsonKind::kWhole) != nullptr) question().answers.back().start = number;
    return true;
  }
  bool number_float(json::number_float_t, const json::string_t&) { return value(JsonKind::kNothing) == nullptr; }
  bool binary(json::binary_t&) { return false; }
  bool string(json::string_t& text) {
    const SquadField* field = value(JsonKind::kText);
    if (field == nullptr) return true;
    std::string& into = field->key == "context"    ? paragraphs_.back().context
                        : field->key == "id"       ? question().id
                        : field->key == "question" ? question().question
                                                   : question().answers.back().text;
    into = std::move(text);
    return true;
  }
  bool key(json::string_t& name) {
    key_ = std::move(name);
    return true;
  }
  bool start_object(size_t) {
    const SquadLevel level = begin(JsonKind::kObject);
    if (level == SquadLevel::kParagraph) paragraphs_.emplace_back();
    if (level == SquadLevel::kQuestion) paragraphs_.back().questions.push_back({.where = bytes_.where()});
    if (level == SquadLevel::kAnswer) question().answers.emplace_back();
    return true;
  }
  bool end_object() { return end(); }
  bool start_array(size_t) {
    has_data_ = begin(JsonKind::kList) == SquadLevel::kData || has_data_;
    return true;
  }
  bool end_array() { return end(); }
  bool parse_error(size_t, const std::string& token, const json::exception&) {
    constexpr size_t kShown = 40;
    fail(bytes_.where(), ": expected JSON, got what is not, after ",
         quoted(std::string_view(token).substr(token.size() - std::min(token.size(), kShown))));
  }

 private:
  SquadQuestion& question() { return paragraphs_.back().questions.back(); }

  /// What the value that comes is; null if it is not read.
  const SquadField* value(JsonKind kind) {
    const SquadLevel level = levels_.back();
    const std::string name = std::exchange(key_, {});
    for (const SquadField& field : kSquadFields) {
      if (field.of != level || field.key != name) continue;
      require(field.kind == kind, bytes_.where(), ": expected ", kJsonKindNames[static_cast<int>(field.kind)],
              name.empty() ? "" : " in \"", name, name.empty() ? "" : "\"", ", got ",
              kJsonKindNames[static_cast<int>(kind)]);
      return &field;
    }
    return nullptr;
  }

  SquadLevel begin(JsonKind kind) {
    require(levels_.size() <= squad::kDeepest, bytes_.where(), ": expected JSON at most ", squad::kDeepest,
            " lists and objects deep, got more");
    const SquadField* field = value(kind);
    levels_.push_back(field == nullptr ? SquadLevel::kOther : field->level);
    return levels_.back();
  }
  bool end() {
    levels_.pop_back();
    key_.clear();
    return true;
  }

  const CountedBytes& bytes_;
  std::vector<SquadLevel> levels_ = {SquadLevel::kFile};
  std::string key_;
  std::vector<SquadParagraph> paragraphs_;
  bool has_data_ = false;
};

/// Byte offsets of a text's code points, and of its end.
std::vector<size_t> code_point_offsets(std::string_view text) {
  std::vector<size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (size_t at = 0; at < text.size(); at += character_bytes(text.substr(at))) offsets.push_back(at);
  offsets.push_back(text.size());
  return offsets;
}

std::optional<TextRange> place_of_answer(std::string_view context, const std::vector<size_t>& offsets,
                                         const SquadAnswer& answer) {
  if (!answer.start) return first_place(context, answer.text);
  return nearest_place(context, answer.text, offsets[std::min<uint64_t>(*answer.start, offsets.size() - 1)]);
}

std::string place_in_file(const SquadQuestion& question) {
  return question.where + (question.id.empty() ? "" : ", question " + quoted(question.id));
}

class SquadQuestions : public ExampleReader {
 public:
  SquadQuestions(std::string name, std::unique_ptr<ByteStream> bytes) : bytes_(std::move(name), std::move(bytes)) {}

  bool next(Example& example) override {
    if (!std::exchange(read_, true)) read();
    while (paragraph_ < paragraphs_.size() && question_ == paragraphs_[paragraph_].questions.size()) {
      paragraphs_[paragraph_++] = {};
      question_ = 0;
      offsets_.clear();
    }
    if (paragraph_ == paragraphs_.size()) return false;
    const SquadParagraph& paragraph = paragraphs_[paragraph_];
    if (offsets_.empty()) offsets_ = code_point_offsets(paragraph.context);
    example = example_of(paragraph, paragraph.questions[question_++]);
    return true;
  }
  std::string where() const override { return where_; }

 private:
  void read() {
    SquadEvents events(bytes_);
    json::sax_parse(ByteIterator(bytes_), ByteIterator(), &events);
    paragraphs_ = std::move(events).take();
    size_t count = 0;
    for (const SquadParagraph& paragraph : paragraphs_) {
      count += paragraph.questions.size();
      for (const SquadQuestion& question : paragraph.questions) check(paragraph, question);
    }
    require(count > 0, bytes_.name(), ": expected questions, got none");
    check_places();
  }

  static void check(const SquadParagraph& paragraph, const SquadQuestion& question) {
    const std::string where = place_in_file(question);
    check_document(where, paragraph.context);
    check_question(where, question.question);
    require(question.answers.empty() == question.impossible, where, ": expected answers, or \"is_impossible\": true",
            question.impossible ? " without any, got both" : ", got neither");
    for (const SquadAnswer& answer : question.answers) {
      require(!answer.text.empty() && answer.text.find('\0') == answer.text.npos, where,
              ": expected the text of an answer, got ", answer.text.empty() ? "none" : "one with a zero byte");
    }
  }

  /// All that are wrong, so that they can be repaired in one go.
  void check_places() const {
    constexpr size_t kShown = 20;
    size_t missing = 0;
    std::string shown;
    for (const SquadParagraph& paragraph : paragraphs_) {
      for (const SquadQuestion& question : paragraph.questions) {
        for (const SquadAnswer& answer : question.answers) {
          if (paragraph.context.find(answer.text) != std::string::npos) continue;
          if (++missing <= kShown) shown += "\n  " + place_in_file(question) + ": " + quoted(answer.text);
        }
      }
    }
    require(missing == 0, bytes_.name(), ": expected answers that stand in their contexts, got ", missing,
            " that do not; correct or remove ", missing == 1 ? "it" : "them", ":", shown,
            missing > kShown ? "\n  …" : "");
  }

  Example example_of(const SquadParagraph& paragraph, const SquadQuestion& question) {
    where_ = place_in_file(question);
    Example example{.source = paragraph.context, .target = {}, .further = {question.question}, .name = question.id};
    std::vector<Answer> answers;
    for (const SquadAnswer& answer : question.answers) {
      answers.push_back({answer.text, place_of_answer(paragraph.context, offsets_, answer)});
    }
    set_answers(example, std::move(answers));
    return example;
  }

  CountedBytes bytes_;
  std::vector<SquadParagraph> paragraphs_;
  size_t paragraph_ = 0, question_ = 0;  // the next one
  std::vector<size_t> offsets_;          // of the current paragraph
  std::string where_;
  bool read_ = false;
};

}  // namespace

std::unique_ptr<ExampleReader> squad_questions(std::string name, std::unique_ptr<ByteStream> bytes) {
  return std::make_unique<SquadQuestions>(std::move(name), std::move(bytes));
}

}  // namespace attend::data
