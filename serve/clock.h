// The server's clock, which tests replace by one that they advance by hand.
#pragma once

#include <chrono>
#include <functional>

namespace attend::serve {

using Clock = std::chrono::steady_clock;
using Now = std::function<Clock::time_point()>;

}  // namespace attend::serve
