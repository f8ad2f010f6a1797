#include "serve/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "attend/base/error.h"

namespace attend::serve {
namespace {

constexpr unsigned char kProtocols[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};  // ALPN: each with its length

/// What OpenSSL says of its last mistake, which it then forgets.
std::string tls_error() {
  const unsigned long code = ::ERR_peek_last_error();  // NOLINT: OpenSSL's type
  char text[256] = "";
  ::ERR_error_string_n(code, text, sizeof(text));
  ::ERR_clear_error();
  const char* reason = ::ERR_reason_error_string(code);
  return reason ? reason : text;
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* offered,
                    unsigned int length, void*) {
  unsigned char* chosen = nullptr;
  if (::SSL_select_next_proto(&chosen, size, kProtocols, sizeof(kProtocols), offered, length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

std::shared_ptr<SSL_CTX> context_of(const std::string& certificate, const std::string& key) {
  std::shared_ptr<SSL_CTX> context(::SSL_CTX_new(::TLS_server_method()), &::SSL_CTX_free);
  require(context != nullptr, "TLS: cannot begin: ", tls_error());
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(),
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  ::SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);  // tickets are with the clients
  ::SSL_CTX_set_alpn_select_cb(context.get(), &choose_protocol, nullptr);
  require_usage(::SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) == 1,
                "--cert: expected a certificate in PEM, got ", certificate, ": ", tls_error());
  require_usage(::SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1,
                "--key: expected the key of the certificate in PEM, without a password, got ", key, ": ", tls_error());
  require_usage(::SSL_CTX_check_private_key(context.get()) == 1, "--key: expected the key of ", certificate,
                ", got that of another certificate");
  return context;
}

class TlsChannel : public Channel {
 public:
  TlsChannel(std::shared_ptr<SSL_CTX> context, int socket)
      : context_(std::move(context)), ssl_(::SSL_new(context_.get()), &::SSL_free) {
    require(ssl_ != nullptr && ::SSL_set_fd(ssl_.get(), socket) == 1, "TLS: cannot begin: ", tls_error());
    ::SSL_set_accept_state(ssl_.get());
  }
  Passed read(std::span<char> to) override {
    ::ERR_clear_error();
    return passed(::SSL_read(ssl_.get(), to.data(), static_cast<int>(std::min<size_t>(to.size(), INT_MAX))), EPOLLIN);
  }
  Passed write(std::string_view bytes) override {
    ::ERR_clear_error();
    return passed(::SSL_write(ssl_.get(), bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT_MAX))),
                  EPOLLOUT);
  }
  void finish() override {
    ::ERR_clear_error();
    if (::SSL_is_init_finished(ssl_.get())) ::SSL_shutdown(ssl_.get());
    ::shutdown(::SSL_get_fd(ssl_.get()), SHUT_WR);
    ::ERR_clear_error();
  }
  bool ahead() const override { return ::SSL_pending(ssl_.get()) > 0; }
  uint32_t wants() const override { return wants_; }

 private:
  /// `own`: what the attempt is for, and waits for unless TLS has something to say of its own first.
  Passed passed(int count, uint32_t own) {
    wants_ = 0;
    if (count > 0) return {Passed::State::moved, static_cast<size_t>(count)};
    const int error = ::SSL_get_error(ssl_.get(), count);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      ::ERR_clear_error();
      return {Passed::State::ended};
    }
    const uint32_t needed = error == SSL_ERROR_WANT_READ ? EPOLLIN : EPOLLOUT;
    if (needed != own) wants_ = needed;
    return {Passed::State::later};
  }

  const std::shared_ptr<SSL_CTX> context_;
  const std::unique_ptr<SSL, decltype(&::SSL_free)> ssl_;
  uint32_t wants_ = 0;
};

}  // namespace

Tls::Tls(std::string certificate, std::string key)
    : certificate_(std::move(certificate)), key_(std::move(key)), context_(context_of(certificate_, key_)) {}

void Tls::reload() {
  std::shared_ptr<SSL_CTX> fresh = context_of(certificate_, key_);
  const std::lock_guard lock(mutex_);
  context_ = std::move(fresh);
}

std::shared_ptr<SSL_CTX> Tls::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

std::unique_ptr<Channel> Tls::channel(int socket) const { return std::make_unique<TlsChannel>(current(), socket); }

}  // namespace attend::serve
