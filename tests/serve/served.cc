#include "tests/serve/served.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace attend::test {

RawClient::RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("no connection");
  }
}
RawClient::~RawClient() { ::close(socket_); }

void RawClient::send(std::string_view text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

std::string RawClient::receive(double seconds) const {
  std::string text;
  char part[4096];
  pollfd input{socket_, POLLIN, 0};
  while (::poll(&input, 1, static_cast<int>(1000 * seconds)) > 0) {
    const ssize_t count = ::recv(socket_, part, sizeof(part), 0);
    if (count <= 0) break;
    text.append(part, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace attend::test
