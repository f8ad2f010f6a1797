// Feeds any bytes to the reader of requests and to the finder of their end; whatever is neither a request within the limits
// nor a Refusal that can be sent is a bug.
#include <cstdint>
#include <exception>
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
  // What the HTTP library gets to read has nothing that it could take for the end of a line, or for another name.
  const bool taken = frame.state == Frame::State::whole || frame.state == Frame::State::last;
  const std::string_view head = text.substr(0, taken ? text.find("\r\n\r\n") + 2 : 0);
  for (size_t i = 0; i < head.size(); ++i) {
    check(static_cast<uint8_t>(head[i]) >= ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n');
    check(head[i] != '\n' || (i > 0 && head[i - 1] == '\r'));
    check(head[i] != '\r' || (i + 1 < head.size() && head[i + 1] == '\n'));
  }
  return 0;
}
