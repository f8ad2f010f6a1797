// A line for each request, to be read by people or by programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace attend::serve {

/// What a request cost, told by whoever computes while somebody else may already have given up.
struct Effort {
  std::string model;                ///< set before it is computed
  std::atomic<int64_t> tokens{0};   ///< of its answers
  std::atomic<double> waited{0};    ///< seconds until it began
  std::atomic<double> computed{0};  ///< seconds from then on, pauses included
};

/// What became of a request.
struct Record {
  std::string id, client, key, method, path, model;
  std::string route = "other";  ///< the endpoint as the table has it
  int status = 0;               ///< 499: the client went away before it was answered
  size_t in = 0, out = 0;       ///< bytes
  int64_t tokens = 0;
  double waited = 0, computed = 0, seconds = 0;
};

/// One line, without its end. `format`: "text" or "json". `time`: as it is to be shown.
std::string line_of(const Record& record, std::string_view format, std::string_view time);

/// The time now: 2026-01-31T23:59:59.123Z
std::string time_now();

/// The id that the client gave its request, if it is one of 1 to 64 letters, digits, -, _ and .; else a new one.
std::string request_id(std::string_view given);

}  // namespace attend::serve
