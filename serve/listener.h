// Where the server listens, and who is on the other side.
#pragma once

#include <cstdint>
#include <string>

#include "serve/descriptor.h"

struct sockaddr_storage;

namespace attend::serve {

/// A socket that takes connections. Throws UsageError where `host` is no address of this machine, Error where it is not to be had.
Descriptor listen_on(const std::string& host, int64_t port);
int port_of(int socket);
/// Whether only this machine can reach it.
bool is_loopback(int socket);
std::string address_of(const sockaddr_storage& address);
/// Who is meant by an address: those of one network of IPv6 (/64), of which a single machine has any number, are one client.
std::string client_of(const std::string& address);

}  // namespace attend::serve
