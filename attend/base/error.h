// Errors: the library throws attend::Error and never prints, aborts or exits.
// A message reads "where: expected this, got that".
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace attend {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the parts concatenated.
template <class... Parts>
[[noreturn]] [[gnu::cold]] [[gnu::noinline]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

/// Throws Error unless `condition` holds; the message is only put together when it does not.
template <class... Parts>
inline void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}

}  // namespace attend
