// How bytes pass through a socket that never waits: as they are, or through TLS (tls.h). Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace attend::serve {

/// What became of an attempt to read or write.
struct Passed {
  enum class State { moved, later, ended };  ///< so many bytes; none before the socket is ready for `wants`; it is over
  State state = State::ended;
  size_t bytes = 0;
};

class Channel {
 public:
  virtual ~Channel() = default;
  virtual Passed read(std::span<char> to) = 0;
  virtual Passed write(std::string_view bytes) = 0;
  /// Tells the other side that nothing follows.
  virtual void finish() = 0;
  /// Whether there are bytes to be read of which the system knows nothing any more.
  virtual bool ahead() const { return false; }
  /// What the last attempt waits for beside what it is for (EPOLLIN, EPOLLOUT).
  virtual uint32_t wants() const { return 0; }
};

std::unique_ptr<Channel> plain_channel(int socket);

}  // namespace attend::serve
