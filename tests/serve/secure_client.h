// A certificate of one's own, and a client that speaks TLS with whoever has it.
#pragma once

#include <openssl/ssl.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace attend::test {

/// Writes a new key and a certificate for 127.0.0.1 that it has signed itself, as PEM. `name`: whose it is.
void write_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key,
                       const std::string& name);

class SecureClient {
 public:
  /// Connects to that port of this machine. Throws where the handshake fails. `newest`: the last version of TLS that it knows.
  explicit SecureClient(int port, int newest = TLS1_3_VERSION);
  ~SecureClient();
  SecureClient(const SecureClient&) = delete;
  SecureClient& operator=(const SecureClient&) = delete;
  void send(std::string_view text) const;
  /// All that comes until the other side ends, or until it ends with `ending`.
  std::string receive(std::string_view ending = "") const;
  /// Whose certificate the other side has shown.
  std::string peer() const;

 private:
  int socket_;
  std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&::SSL_free)> ssl_;
};

}  // namespace attend::test
