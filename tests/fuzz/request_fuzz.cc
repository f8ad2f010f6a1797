// Feeds any bytes to the reader of requests and to the finder of their end; whatever is neither a request within the limits
// nor a Refusal that can be sent is a bug.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "serve/framing.h"
#include "serve/request.h"

namespace {

using namespace attend::serve;

void check(bool held) {
  if (!held) std::terminate();
}

template <class Parse>
void expect_read_or_refused(Parse&& parse) {
  try {
    parse();
  } catch (const Refusal& refusal) {
    check(refusal.status() == 400 || refusal.status() == 413);
    check(!error_json(refusal.code(), refusal.what()).empty());
  }
}

/// What the message says that its body has, without the zeros before it.
std::string length_in(const Message& message) {
  std::string digits(message.field("content-length"));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits.empty() ? "0" : digits;
}

/// The parts of a message are those of its bytes, and nothing of them is left out.
void expect_same_message(std::string_view text, const Frame& frame) {
  const Message message = read_message(text);
  size_t bytes = message.method.size() + message.target.size() + std::string_view("  HTTP/1.1\r\n\r\n").size();
  for (const auto& [name, value] : message.fields) {
    check(!name.empty() && message.has(name) && name.find(':') == name.npos);
    bytes += name.size() + value.size() + std::string_view(":\r\n").size();
  }
  check(!message.method.empty() && !message.target.empty() && message.fields.size() <= kHeaders);
  check(bytes + message.body.size() <= text.size());  // blanks around values are no part of them
  check(frame.state == Frame::State::last || std::to_string(message.body.size()) == length_in(message));
  check(message.path().size() <= message.target.size());
  (void)message.keeps();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Limits limits;
  expect_read_or_refused([&] {
    const RunRequest run = parse_run(text, limits);
    check(run.texts.empty() == !run.image.empty() && static_cast<int64_t>(run.texts.size()) <= limits.texts);
    const attend::decode::SearchOptions search = search_of({}, run.search, limits);
    check(search.beam <= limits.beam && search.n_best <= limits.n_best && search.max_length <= limits.answer_tokens);
  });
  expect_read_or_refused([&] {
    const ExplainRequest asked = parse_explain(text, limits);
    check(asked.texts.empty() == !asked.image.empty());
  });
  const Frame frame = find_frame(text, 64);
  check(frame.bytes <= size);
  check(frame.state != Frame::State::whole || frame.bytes > 0);
  check((frame.status != 0) == (frame.state == Frame::State::refused));
  // What is read as a message has nothing that could be taken for the end of a line, or for another name.
  const bool taken = frame.state == Frame::State::whole || frame.state == Frame::State::last;
  const std::string_view head = text.substr(0, taken ? text.find("\r\n\r\n") + 2 : 0);
  for (size_t i = 0; i < head.size(); ++i) {
    check(static_cast<uint8_t>(head[i]) >= ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n');
    check(head[i] != '\n' || (i > 0 && head[i - 1] == '\r'));
    check(head[i] != '\r' || (i + 1 < head.size() && head[i + 1] == '\n'));
  }
  if (taken) expect_same_message(text.substr(0, frame.bytes), frame);
  return 0;
}
