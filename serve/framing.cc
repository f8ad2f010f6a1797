#include "serve/framing.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace attend::serve {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_one_of(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }
bool is_hex(char c) { return is_digit(c) || is_one_of("abcdefABCDEF", c); }
bool in_token(char c) { return is_word(c) || is_one_of("!#$%&'*+-.^_`|~", c); }  // RFC 9110, 5.6.2
bool in_target(char c) { return c > ' ' && c < '\x7f'; }
bool in_value(char c) { return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f'); }

template <class Allowed>
bool consists_of(std::string_view text, Allowed&& allowed) {
  return !text.empty() && std::ranges::all_of(text, allowed);
}

std::optional<size_t> length_of(std::string_view digits) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// A name or an address, IPv6 in brackets, and perhaps a port.
bool is_host(std::string_view value) {
  const bool six = value.starts_with('[');
  const size_t end = six ? value.find(']') : value.find(':');
  if (six && end == std::string_view::npos) return false;
  const auto in_name = [](char c) { return is_word(c) || is_one_of("-._~", c); };
  const auto in_six = [](char c) { return is_hex(c) || is_one_of(":.", c); };
  const bool named = six ? consists_of(value.substr(1, end - 1), in_six) : consists_of(value.substr(0, end), in_name);
  const std::string_view port = value.substr(std::min(six ? end + 1 : end, value.size()));
  return named && (port.empty() || (port[0] == ':' && consists_of(port.substr(1), is_digit)));
}

struct RequestHead {
  bool chunked = false, expects = false, host = false, needs_host = true;
  std::optional<size_t> length;
};

/// What is wrong with a line; "": nothing.
using Wrong = std::string_view;

Wrong read_request_line(std::string_view line, RequestHead& head) {
  constexpr Wrong kWrong = "request: expected METHOD /path HTTP/1.1, got something else";
  const size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == line.npos || second == line.npos) return kWrong;
  const std::string_view version = line.substr(second + 1);
  head.needs_host = version != "HTTP/1.0";
  const bool known = version == "HTTP/1.1" || version == "HTTP/1.0";
  const bool right = known && consists_of(line.substr(0, first), in_token) &&
                     consists_of(line.substr(first + 1, second - first - 1), in_target);
  return right ? "" : kWrong;
}

Wrong read_field(std::string_view line, RequestHead& head) {
  if (is_blank(line[0])) return "headers: expected each in one line, got one that is continued in the next";
  const size_t colon = line.find(':');
  if (colon == line.npos) return "headers: expected Name: value, got a line without a colon";
  const std::string_view name = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (!consists_of(name, in_token)) {
    return "headers: expected a name of letters, digits and -, and the colon right behind it, got something else";
  }
  if (!std::ranges::all_of(value, in_value)) return "headers: expected values without control characters, got one";
  if (same_letters(name, "host")) {
    if (std::exchange(head.host, true) || !is_host(value)) return "Host: expected one name or address, got another";
  } else if (same_letters(name, "expect")) {
    head.expects = same_letters(value, "100-continue");
  } else if (same_letters(name, "transfer-encoding")) {
    head.chunked = true;
  } else if (same_letters(name, "content-length")) {
    if (head.length || !(head.length = length_of(value))) return "Content-Length: expected one whole number";
  }
  return "";
}

/// Of all lines together.
Wrong objection_to(const RequestHead& head) {
  if (head.needs_host && !head.host) return "Host: expected one name or address, got none";
  if (head.chunked && head.length) return "Content-Length: expected no Transfer-Encoding beside it";
  return "";
}

Frame refused(int status, std::string_view code, std::string_view message) {
  return {Frame::State::refused, 0, false, status, code, message};
}

/// Whether `value`, a list with commas, has `wanted` in it.
bool lists(std::string_view value, std::string_view wanted) {
  for (;;) {
    const size_t comma = value.find(',');
    if (same_letters(trimmed(value.substr(0, comma)), wanted)) return true;
    if (comma == value.npos) return false;
    value.remove_prefix(comma + 1);
  }
}

}  // namespace

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

Frame find_frame(std::string_view buffer, size_t body_bytes) {
  using State = Frame::State;
  RequestHead head;
  size_t begin = 0, fields = 0;
  for (bool first = true, ended = false; !ended; first = false) {
    const size_t end = buffer.substr(0, kHeaderBytes).find('\n', begin);
    if (end == buffer.npos) {
      if (buffer.size() < kHeaderBytes) return {};
      return refused(431, "too_large", "headers: expected at most 16 KiB, got more");
    }
    if (end == begin || buffer[end - 1] != '\r') {
      return refused(400, "bad_request", "headers: expected lines that end with CR LF, got LF alone");
    }
    const std::string_view line = buffer.substr(begin, end - 1 - begin);
    begin = end + 1;
    ended = line.empty() && !first;
    const Wrong wrong = first ? read_request_line(line, head) : ended ? objection_to(head) : read_field(line, head);
    if (!wrong.empty()) return refused(400, "bad_request", wrong);
    if (++fields > kHeaders + 2) return refused(431, "too_large", "headers: expected at most 100, got more");
  }
  if (head.chunked) return {State::last, begin};
  const size_t length = head.length.value_or(0);
  if (length > body_bytes) return {State::last, begin};
  if (buffer.size() - begin < length) return {State::more, 0, head.expects};
  return {State::whole, begin + length};
}

Message read_message(std::string_view frame) {
  Message message;
  const auto line = [&] {
    const size_t end = std::min(frame.find("\r\n"), frame.size());
    const std::string_view whole = frame.substr(0, end);
    frame.remove_prefix(std::min(end + 2, frame.size()));
    return whole;
  };
  const std::string_view first = line();
  const size_t space = std::min(first.find(' '), first.size()), second = std::min(first.rfind(' '), first.size());
  message.method = first.substr(0, space);
  message.target = first.substr(std::min(space + 1, second), second - std::min(space + 1, second));
  message.old = first.ends_with("/1.0");
  for (std::string_view field = line(); !field.empty(); field = line()) {
    const size_t colon = std::min(field.find(':'), field.size());
    message.fields.emplace_back(field.substr(0, colon), trimmed(field.substr(std::min(colon + 1, field.size()))));
  }
  message.body = frame;
  return message;
}

bool Message::has(std::string_view name) const {
  return std::ranges::any_of(fields, [&](const auto& field) { return same_letters(field.first, name); });
}

std::string_view Message::field(std::string_view name) const {
  const auto found = std::ranges::find_if(fields, [&](const auto& field) { return same_letters(field.first, name); });
  return found == fields.end() ? "" : found->second;
}

std::string Message::path() const {
  const std::string_view encoded = target.substr(0, target.find('?'));
  std::string path;
  for (size_t i = 0; i < encoded.size(); ++i) {
    unsigned value = 0;
    const char* const digits = encoded.data() + i + 1;
    const bool hex = encoded[i] == '%' && i + 2 < encoded.size() && is_hex(digits[0]) && is_hex(digits[1]);
    if (hex) std::from_chars(digits, digits + 2, value, 16), i += 2;
    path += hex ? static_cast<char>(value) : encoded[i];
  }
  return path;
}

bool Message::keeps() const {
  const std::string_view wish = field("connection");
  return old ? lists(wish, "keep-alive") : !lists(wish, "close");
}

}  // namespace attend::serve
