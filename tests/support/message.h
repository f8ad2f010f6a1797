// What an attend::Error says.
#pragma once

#include <string>
#include <string_view>

#include "attend/base/error.h"

namespace attend::test {

/// The message of the Error that `act` throws; "" if it throws none.
template <class Act>
std::string message_of(Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline bool says(std::string_view message, std::string_view part) { return message.find(part) != message.npos; }

}  // namespace attend::test
