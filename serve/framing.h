// Where a request ends in the bytes of a connection: known before any thread is given to it, so that nobody waits for bytes
// but the loop that waits for all of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend::serve {

/// Longest request line and headers.
constexpr size_t kHeaderBytes = 16 << 10;
/// Most headers.
constexpr size_t kHeaders = 100;

struct Frame {
  enum class State {
    more,    ///< its end has not come yet
    whole,   ///< the first `bytes` of the buffer are one request
    last,    ///< as whole, but nothing behind it can be read: its body has no length, or one that is too large
    refused  ///< no request; `status`, `code` and `message` say why
  };
  State state = State::more;
  size_t bytes = 0;
  bool expects = false;  ///< the client waits for "100 Continue" before it sends the rest
  int status = 0;
  std::string_view code, message;
};

/// Reads the head (RFC 9112): lines that end with CR LF, names that are tokens, one Host, and what frames a body. Whatever
/// another reader, such as a proxy, could take for something else is refused.
Frame find_frame(std::string_view buffer, size_t body_bytes);

/// A request whose frame was found: views of its bytes.
struct Message {
  std::string_view method, target, body;
  bool old = false;  ///< HTTP/1.0
  std::vector<std::pair<std::string_view, std::string_view>> fields;

  /// The value of the header, whatever the case of its name; "" where there is none.
  std::string_view field(std::string_view name) const;
  bool has(std::string_view name) const;
  /// The target without its query, %XX read as bytes.
  std::string path() const;
  /// Whether the client wants to keep its connection (RFC 9112, 9.3).
  bool keeps() const;
};
Message read_message(std::string_view frame);

/// Whether both are the same but for upper and lower case (of ASCII).
bool same_letters(std::string_view a, std::string_view b);
/// Without blanks around it.
std::string_view trimmed(std::string_view text);

}  // namespace attend::serve
