#include "serve/channel.h"

#include <sys/socket.h>

#include <cerrno>

namespace attend::serve {
namespace {

class PlainChannel : public Channel {
 public:
  explicit PlainChannel(int socket) : socket_(socket) {}
  Passed read(std::span<char> to) override { return passed(::recv(socket_, to.data(), to.size(), 0)); }
  Passed write(std::string_view bytes) override {
    return passed(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void finish() override { ::shutdown(socket_, SHUT_WR); }

 private:
  static Passed passed(ssize_t count) {
    if (count > 0) return {Passed::State::moved, static_cast<size_t>(count)};
    const bool later = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return {later ? Passed::State::later : Passed::State::ended};
  }
  const int socket_;
};

}  // namespace

std::unique_ptr<Channel> plain_channel(int socket) { return std::make_unique<PlainChannel>(socket); }

}  // namespace attend::serve
