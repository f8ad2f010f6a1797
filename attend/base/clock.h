// Time as a parameter, so that tests advance it by hand.
#pragma once

#include <chrono>
#include <functional>

namespace attend {

/// Seconds since any fixed moment, never going back.
using Seconds = std::function<double()>;

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace attend
