// Errors: the library throws attend::Error and never prints, aborts or exits.
// A message reads "where: expected this, got that". What the caller asked for wrongly is a UsageError, everything else
// that goes wrong a plain Error: commands exit with 2 for the one and with 1 for the other.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace attend {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was asked for cannot be: an option's value, a name that nothing has, a file that does not exist.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The value of an option, called by its name within its struct ("n_best"). Whoever knows where it was given says that
/// in its place: "--n-best", "x.yml:3: search.n_best" (with_places in options.h).
class OptionError : public UsageError {
 public:
  OptionError(std::string option, std::string reason)
      : UsageError(option + ": " + reason), option_(std::move(option)), reason_(std::move(reason)) {}
  const std::string& option() const { return option_; }
  const std::string& reason() const { return reason_; }

 private:
  std::string option_, reason_;
};

namespace detail {
template <class... Parts>
std::string concatenated(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}
}  // namespace detail

/// Throws Error with the parts concatenated.
template <class... Parts>
[[noreturn]] [[gnu::cold]] [[gnu::noinline]] void fail(const Parts&... parts) {
  throw Error(detail::concatenated(parts...));
}
/// The same with UsageError.
template <class... Parts>
[[noreturn]] [[gnu::cold]] [[gnu::noinline]] void fail_usage(const Parts&... parts) {
  throw UsageError(detail::concatenated(parts...));
}
/// The same with OptionError.
template <class... Parts>
[[noreturn]] [[gnu::cold]] [[gnu::noinline]] void fail_option(std::string option, const Parts&... parts) {
  throw OptionError(std::move(option), detail::concatenated(parts...));
}

/// Throws Error unless `condition` holds; the message is only put together when it does not.
template <class... Parts>
inline void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail(parts...);
}
template <class... Parts>
inline void require_usage(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail_usage(parts...);
}
template <class... Parts>
inline void require_option(bool condition, const char* option, const Parts&... parts) {
  if (!condition) [[unlikely]]
    fail_option(option, parts...);
}

}  // namespace attend
