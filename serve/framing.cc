#include "serve/framing.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace attend::serve {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<size_t> length_of(std::string_view digits) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

struct Headers {
  bool chunked = false, expects = false, bad = false;
  std::optional<size_t> length;
};

void read_line(std::string_view line, Headers& headers) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  // Whoever reads "Content-Length : 5" otherwise than the next one in the chain lets a second request slip through.
  if (same_letters(trimmed(name), "transfer-encoding")) headers.chunked = true;
  if (same_letters(name, "expect")) headers.expects = same_letters(value, "100-continue");
  if (!same_letters(trimmed(name), "content-length")) return;
  const std::optional<size_t> length = length_of(value);
  headers.bad = headers.bad || name != trimmed(name) || !length || headers.length.has_value();
  headers.length = length;
}

Headers read_headers(std::string_view text) {
  Headers headers;
  size_t begin = std::min(text.find('\n') + 1, text.size());
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    read_line(text.substr(begin, end - begin), headers);
    begin = end + 1;
  }
  return headers;
}

}  // namespace

Frame find_frame(std::string_view buffer, size_t body_bytes) {
  using State = Frame::State;
  const size_t end = buffer.substr(0, kHeaderBytes).find("\n\r\n");
  if (end == std::string_view::npos) {
    if (buffer.size() < kHeaderBytes) return {};
    return {State::refused, 0, false, 431, "too_large", "headers: expected at most 16 KiB, got more"};
  }
  const size_t begin = end + 3;
  const Headers headers = read_headers(buffer.substr(0, begin));
  if (headers.bad || (headers.chunked && headers.length)) {
    return {State::refused, 0,
            false,          400,
            "bad_request",  "Content-Length: expected one whole number, and no Transfer-Encoding beside it"};
  }
  if (headers.chunked) return {State::last, begin};
  const size_t length = headers.length.value_or(0);
  if (length > body_bytes) return {State::last, begin};
  if (buffer.size() - begin < length) return {State::more, 0, headers.expects};
  return {State::whole, begin + length};
}

}  // namespace attend::serve
