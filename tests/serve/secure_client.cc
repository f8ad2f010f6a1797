#include "tests/serve/secure_client.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace attend::test {
namespace {

void must(bool held, const char* what) {
  if (!held) throw std::runtime_error(what);
}

template <class Write>
void write_pem(const std::filesystem::path& path, Write&& write) {
  const std::unique_ptr<FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "w"), &std::fclose);
  must(file != nullptr && write(file.get()) == 1, "no PEM file");
}

}  // namespace

void write_certificate(const std::filesystem::path& certificate, const std::filesystem::path& key,
                       const std::string& name) {
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> pair(::EVP_EC_gen("P-256"), &::EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&::X509_free)> made(::X509_new(), &::X509_free);
  must(pair && made, "no key");
  ::X509_set_version(made.get(), 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), 0);
  ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), 86'400);
  ::X509_set_pubkey(made.get(), pair.get());
  X509_NAME* const whose = ::X509_get_subject_name(made.get());
  ::X509_NAME_add_entry_by_txt(whose, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                               0);
  ::X509_set_issuer_name(made.get(), whose);
  must(::X509_sign(made.get(), pair.get(), ::EVP_sha256()) > 0, "no signature");
  write_pem(certificate, [&](FILE* file) { return ::PEM_write_X509(file, made.get()); });
  write_pem(
      key, [&](FILE* file) { return ::PEM_write_PrivateKey(file, pair.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

SecureClient::SecureClient(int port, int newest)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      context_(::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free),
      ssl_(nullptr, &::SSL_free) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  ::SSL_CTX_set_max_proto_version(context_.get(), newest);
  ssl_.reset(::SSL_new(context_.get()));
  if (connected && ::SSL_set_fd(ssl_.get(), socket_) == 1 && ::SSL_connect(ssl_.get()) == 1) return;
  ::close(socket_);
  throw std::runtime_error("no handshake");
}
SecureClient::~SecureClient() { ::close(socket_); }

void SecureClient::send(std::string_view text) const {
  (void)::SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
}

std::string SecureClient::receive(std::string_view ending) const {
  std::string text;
  char part[4096];
  while (ending.empty() || !text.ends_with(ending)) {
    const int count = ::SSL_read(ssl_.get(), part, sizeof(part));
    if (count <= 0) break;
    text.append(part, static_cast<size_t>(count));
  }
  return text;
}

std::string SecureClient::peer() const {
  const std::unique_ptr<X509, decltype(&::X509_free)> shown(::SSL_get1_peer_certificate(ssl_.get()), &::X509_free);
  char name[256] = "";
  if (shown) ::X509_NAME_get_text_by_NID(::X509_get_subject_name(shown.get()), NID_commonName, name, sizeof(name));
  return name;
}

}  // namespace attend::test
