#include "serve/origins.h"

#include <algorithm>

#include "attend/base/names.h"

namespace attend::serve {
namespace {

/// "localhost:8080" → "localhost", "[::1]:8080" → "[::1]".
std::string_view host_of(std::string_view value) {
  const size_t begin = value.starts_with('[') ? std::min(value.find(']'), value.size()) : 0;
  return value.substr(0, value.find(':', begin));
}

/// "https://name:8443" → "name:8443"; "" where it has no scheme of the web.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return "";
}

const std::vector<std::string>& checked_origins(const std::vector<std::string>& origins) {
  for (const std::string& origin : origins) {
    const std::string_view rest = authority_of(origin);
    if (rest.empty() || rest.find_first_of("/*?# ") != rest.npos) {
      throw OptionError("cors", "expected an origin as browsers send it (https://name or http://name:8080), got " +
                                    attend::quoted(origin));
    }
  }
  return origins;
}

const std::vector<std::string>& checked_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    if (host.empty() || host_of(host) != host || host.find_first_of("/ ") != host.npos) {
      throw OptionError("public_host", "expected a name alone (translate.example), got " + attend::quoted(host));
    }
  }
  return hosts;
}

}  // namespace

Origins::Origins(const Security& security)
    : public_(checked_hosts(security.public_host)), origins_(checked_origins(security.cors)), hosts_(public_) {
  if (!hosts_.empty()) hosts_.insert(hosts_.begin(), {"localhost", "127.0.0.1", "[::1]"});
}

void Origins::only_for(const std::string& own) {
  hosts_ = {"localhost", "127.0.0.1", "[::1]", own.find(':') == std::string::npos ? own : "[" + own + "]"};
  hosts_.insert(hosts_.end(), public_.begin(), public_.end());
}

std::optional<Refusal> Origins::objection(const Message& message) const {
  const std::string_view host = host_of(message.field("host"));
  const auto same = [&](std::string_view one) { return same_letters(one, host); };
  if (!host.empty() && !hosts_.empty() && std::ranges::none_of(hosts_, same)) {
    return Refusal(403, "wrong_host",
                   "Host: expected " + hosts_.back() + " or localhost, got " + attend::quoted(host) +
                       "; a server for other names is started with --public-host, a proxy in front of it sends Host: "
                       "localhost");
  }
  const bool harmless = message.method == "GET" || message.method == "HEAD" || message.method == "OPTIONS";
  const std::string_view origin = message.field("origin");
  if (harmless || origin.empty() || named(origin) || ours(origin, message.field("host"))) return std::nullopt;
  return Refusal(403, "wrong_origin",
                 "Origin: expected a page of this server, got one of " + attend::quoted(origin) +
                     "; its pages may ask a server that is started with --cors " + std::string(origin));
}

bool Origins::named(std::string_view origin) const {
  return std::ranges::any_of(origins_, [&](std::string_view one) { return same_letters(one, origin); });
}

bool Origins::ours(std::string_view origin, std::string_view host) const {
  const std::string_view authority = authority_of(origin);
  const auto is_it = [&](std::string_view one) { return same_letters(one, host_of(authority)); };
  return !authority.empty() && (same_letters(authority, host) || std::ranges::any_of(public_, is_it));
}

bool Origins::asks_beforehand(const Message& message) const {
  return message.method == "OPTIONS" && named(message.field("origin")) && message.has("access-control-request-method");
}

void Origins::allow(const Message& message, Head& head) const {
  if (origins_.empty()) return;
  head.set("Vary", "Origin");
  const std::string_view origin = message.field("origin");
  if (!named(origin)) return;
  head.set("Access-Control-Allow-Origin", std::string(origin));
  head.set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id");
  if (!asks_beforehand(message)) return;
  head.set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE");
  head.set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Api-Key, X-Request-Id");
  head.set("Access-Control-Max-Age", "600");
}

}  // namespace attend::serve
