// What a client is told when it does not get what it asked for: a status, a code for programs, a sentence for people.
#pragma once

#include <string>
#include <string_view>

#include "attend/base/error.h"

namespace attend::serve {

class Refusal : public Error {
 public:
  Refusal(int status, std::string_view code, const std::string& message)
      : Error(message), status_(status), code_(code) {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string code_;
};

/// Throws a Refusal with the parts written one after the other.
template <class... Parts>
[[noreturn]] void refuse(int status, std::string_view code, const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Refusal(status, code, text.str());
}

/// Errors about what was asked for, whoever found them, are Refusals (400).
template <class Look>
auto refusing(Look&& look) {
  try {
    return look();
  } catch (const Refusal&) {
    throw;
  } catch (const Error& error) {
    refuse(400, "bad_request", error.what());
  }
}

/// {"error":{"code":…,"message":…}}
std::string error_json(std::string_view code, std::string_view message);

}  // namespace attend::serve
