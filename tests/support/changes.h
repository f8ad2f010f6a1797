// What happens in a folder, reported by the system (inotify): tests wait for it rather than for a clock.
#pragma once

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace attend::test {

/// Files that are made, written, renamed or removed in a folder and in those within it, from the moment it is constructed.
class Changes {
 public:
  explicit Changes(std::filesystem::path folder) : folder_(std::move(folder)), events_(::inotify_init1(kFlags)) {
    if (events_ < 0) throw std::runtime_error("no inotify");
    watch();
  }
  ~Changes() { ::close(events_); }
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  /// Waits for the next changes and says how many there were; 0 where none came before the other side of the pipe `output`
  /// was closed, as it is when a process ends that writes to it.
  size_t wait(int output = -1) {
    pollfd both[] = {{events_, POLLIN, 0}, {output, 0, 0}};
    while (::poll(both, 2, -1) < 0 && errno == EINTR) continue;
    size_t count = 0;
    alignas(inotify_event) char buffer[1 << 14];
    for (ssize_t size; (size = ::read(events_, buffer, sizeof(buffer))) > 0;) {
      for (const char* at = buffer; at < buffer + size; ++count) {
        at += sizeof(inotify_event) + reinterpret_cast<const inotify_event*>(at)->len;
      }
    }
    watch();
    return count;
  }
  /// Waits until `done()`, asked again after each change; false where the pipe was closed before.
  template <class Done>
  bool wait_until(int output, Done&& done) {
    while (!done()) {
      if (wait(output) == 0) return done();
    }
    return true;
  }

 private:
  static constexpr int kFlags = IN_CLOEXEC | IN_NONBLOCK;

  /// Also what was made since: who asks `done()` only afterwards misses nothing.
  void watch() {
    constexpr uint32_t kEvents = IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
    ::inotify_add_watch(events_, folder_.c_str(), kEvents);
    std::error_code gone;  // a folder may be removed at any moment
    for (std::filesystem::recursive_directory_iterator at(folder_, gone), end; !gone && at != end; at.increment(gone)) {
      if (at->is_directory(gone)) ::inotify_add_watch(events_, at->path().c_str(), kEvents);
    }
  }

  std::filesystem::path folder_;
  int events_;
};

}  // namespace attend::test
