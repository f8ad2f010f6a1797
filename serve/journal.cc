#include "serve/journal.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

#include "attend/base/names.h"
#include "serve/json.h"

namespace attend::serve {
namespace {

constexpr size_t kLongestId = 64;

double milliseconds(double seconds) { return std::round(seconds * 1e5) / 100; }

/// Differs from process to process.
uint64_t first_id() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

std::string line_of(const Record& record, std::string_view format, std::string_view time) {
  if (format == "json") {
    return dumped({{"time", time},
                   {"id", record.id},
                   {"client", record.client},
                   {"key", record.key},
                   {"method", record.method},
                   {"path", record.path},
                   {"model", record.model},
                   {"status", record.status},
                   {"bytes_in", record.in},
                   {"bytes_out", record.out},
                   {"tokens", record.tokens},
                   {"waited_ms", milliseconds(record.waited)},
                   {"computed_ms", milliseconds(record.computed)},
                   {"ms", milliseconds(record.seconds)}});
  }
  char numbers[96];
  std::snprintf(numbers, sizeof(numbers), " %d %zu bytes %.1f ms ", record.status, record.out, 1e3 * record.seconds);
  return record.client + " " + record.method + " " + attend::quoted(record.path) + numbers + record.id;
}

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto whole = std::chrono::floor<std::chrono::seconds>(now);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(now - whole).count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40], all[48];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(all, sizeof(all), "%s.%03dZ", text, static_cast<int>(rest));
  return all;
}

std::string request_id(std::string_view given) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (!given.empty() && given.size() <= kLongestId && std::ranges::all_of(given, allowed)) return std::string(given);
  static const uint64_t first = first_id();
  static std::atomic<uint64_t> count{0};
  char text[24];
  // An odd factor makes neighbours look different, and leaves each number its own.
  const uint64_t id = (first + count++) * 0x9e3779b97f4a7c15;
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(id));
  return text;
}

}  // namespace attend::serve
