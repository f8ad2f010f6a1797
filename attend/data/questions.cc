#include "attend/data/questions.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/data/babi.h"
#include "attend/data/lines.h"
#include "attend/data/question_lines.h"
#include "attend/data/squad.h"

namespace attend::data {
namespace {

/// Without a byte order mark and the white space before the text.
std::string_view beginning(std::string_view front) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (front.starts_with(kMark)) front.remove_prefix(kMark.size());
  return front.substr(std::min(front.find_first_not_of(kWhiteSpace), front.size()));
}

/// Whether this much of a file tells its layout: its first line, or a part that is long enough for any first key.
bool tells(std::string_view front) {
  constexpr size_t kEnough = 4096;
  const std::string_view text = beginning(front);
  return text.size() >= kEnough || (!text.starts_with('{') && text.find('\n') != text.npos);
}

class Questions : public ExampleReader {
 public:
  Questions(std::string name, std::unique_ptr<ByteStream> bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  bool next(Example& example) override {
    if (!reader_) reader_ = recognised();  // not earlier: opening a pipe must not wait for its data
    return reader_->next(example);
  }
  std::string where() const override { return reader_ ? reader_->where() : name_; }

 private:
  std::unique_ptr<ExampleReader> recognised() {
    std::unique_ptr<ByteStream> rest = unpacked(std::move(bytes_), name_);
    std::string front;
    while (!tells(front)) {
      const std::span<const char> part = rest->next(name_);
      if (part.empty()) break;
      front.append(part.data(), part.size());
      require(front.size() <= LineReader::kLongest, name_, ": expected questions, got white space alone");
    }
    const std::string_view text = beginning(front);
    auto all = put_back(front, std::move(rest));
    if (text.starts_with('{') && !begins_question_line(text)) return squad_questions(name_, std::move(all));
    LineReader lines(name_, std::move(all));
    const bool story = begins_story(text.substr(0, text.find('\n')));
    return story ? babi_stories(std::move(lines)) : question_lines(std::move(lines));
  }

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::unique_ptr<ExampleReader> reader_;
};

}  // namespace

std::unique_ptr<ExampleReader> questions(std::string name, std::unique_ptr<ByteStream> bytes) {
  return std::make_unique<Questions>(std::move(name), std::move(bytes));
}

std::unique_ptr<ExampleReader> open_questions(const std::filesystem::path& path) {
  return questions(path.native(), file_bytes(path));
}

}  // namespace attend::data
