// What an attend::Error says.
#pragma once

#include <string>

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

}  // namespace attend::test
