// TLS over sockets that never wait, with the certificate of this server.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "serve/channel.h"

struct ssl_ctx_st;

namespace attend::serve {

class Tls {
 public:
  /// PEM files: the certificate, with those that vouch for it behind it, and its key. Throws UsageError where they cannot be used.
  Tls(std::string certificate, std::string key);

  /// Reads the files again, for who connects from now on. Throws, and changes nothing, where they cannot be used.
  void reload();
  /// A socket whose client begins with a handshake.
  std::unique_ptr<Channel> channel(int socket) const;
  /// Whether the first byte of a connection is that of a handshake (RFC 8446, 5.1: content type 22).
  static bool begins(char first) { return first == 22; }

 private:
  std::shared_ptr<ssl_ctx_st> current() const;

  const std::string certificate_, key_;
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace attend::serve
