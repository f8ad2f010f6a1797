// An answer as HTTP has it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attend::serve {

/// "Not Found"; "Unknown" for a status that this server does not give.
std::string_view reason_of(int status);

struct Head {
  int status = 200;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields;

  void set(std::string name, std::string value) { fields.emplace_back(std::move(name), std::move(value)); }
};

/// Which lines say where the body ends.
struct Framing {
  bool close = false;    ///< the connection ends with it
  bool old = false;      ///< for a client of HTTP/1.0
  bool chunked = false;  ///< its length is not known; for an old client, it ends with the connection
  size_t length = 0;
};

/// Status line and headers, with the empty line.
std::string head_text(const Head& head, const Framing& framing);
/// A part of a body in chunks; "": its end.
std::string chunk(std::string_view bytes);

}  // namespace attend::serve
