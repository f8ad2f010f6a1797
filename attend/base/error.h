// Errors: the library throws attend::Error and never prints, aborts or exits.
// A message reads "where: what was wanted, what came".
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace attend {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the parts written one after the other.
template <class... Parts>
[[noreturn]] [[gnu::cold]] [[gnu::noinline]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(text.str());
}

/// Throws Error unless `wanted`; the parts are only put together when it fails.
template <class... Parts>
inline void require(bool wanted, const Parts&... parts) {
  if (!wanted) [[unlikely]]
    fail(parts...);
}

}  // namespace attend
