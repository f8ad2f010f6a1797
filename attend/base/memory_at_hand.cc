#include "attend/base/memory_at_hand.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

namespace attend::memory {
namespace {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

/// MemAvailable of /proc/meminfo, which counts what the page cache can give back.
size_t available() {
  std::ifstream in("/proc/meminfo");
  for (std::string name; in >> name;) {
    uint64_t kilobytes = 0;
    if (name == "MemAvailable:" && in >> kilobytes) return static_cast<size_t>(kilobytes << 10);
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kUnlimited;
}

std::optional<uint64_t> number_in(const char* path) {
  std::ifstream in(path);
  uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// The page cache of a control group, which it gives back before anyone is killed.
uint64_t cached_files(const char* path) {
  std::ifstream in(path);
  uint64_t sum = 0, bytes = 0;
  for (std::string name; in >> name >> bytes;) {
    if (name == "inactive_file" || name == "active_file") sum += bytes;
  }
  return sum;
}

/// What the container may still take: version 2 of control groups, then version 1. Without a limit there is no number.
size_t left_in_group() {
  struct Files {
    const char *limit, *used, *parts;
  };
  constexpr Files kFiles[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes",
       "/sys/fs/cgroup/memory/memory.stat"}};
  for (const Files& files : kFiles) {
    const auto limit = number_in(files.limit), used = number_in(files.used);
    if (!limit || !used) continue;
    const uint64_t held = *used - std::min(*used, cached_files(files.parts));
    return *limit > held ? static_cast<size_t>(*limit - held) : 0;
  }
  return kUnlimited;
}

}  // namespace

size_t at_hand() { return std::min(available(), left_in_group()); }

std::string in_words(size_t bytes) {
  char text[32];
  const double mebibytes = static_cast<double>(bytes) / (1 << 20);
  if (mebibytes < 1024) {
    std::snprintf(text, sizeof(text), "%.0f MiB", mebibytes);
  } else {
    std::snprintf(text, sizeof(text), "%.1f GiB", mebibytes / 1024);
  }
  return text;
}

}  // namespace attend::memory
