#include "serve/http.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "attend/base/names.h"
#include "serve/listener.h"
#include "serve/routes.h"

namespace attend::serve {
namespace {

constexpr std::string_view kSvg = "image/svg+xml";
constexpr size_t kLongestTarget = 1024;
/// Bytes of a stream that a client may leave unread before it gets fewer partial lines.
constexpr size_t kStreamAhead = 64 << 10;
constexpr int kGone = 499;  // as nginx logs it; nobody is told

/// Changes with the bytes (FNV-1a).
std::string tag_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char text[24];
  std::snprintf(text, sizeof(text), "\"%016llx\"", static_cast<unsigned long long>(hash));
  return text;
}

bool has_body(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

bool json_type(std::string_view type) {
  return same_letters(trimmed(type.substr(0, type.find(';'))), "application/json");
}

/// Of "Authorization: Bearer KEY" or "X-Api-Key: KEY".
std::string_view key_in(const Message& message) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given = message.field("authorization");
  if (same_letters(given.substr(0, kBearer.size()), kBearer)) return trimmed(given.substr(kBearer.size()));
  return message.field("x-api-key");
}

/// For a label: clients may call their methods what they like.
std::string known_method(std::string_view method) {
  for (const std::string_view one : {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    if (method == one) return std::string(one);
  }
  return "other";
}

}  // namespace

Http::Http(const Api& api, Metrics& metrics, Keys* keys, const ServeOptions& options)
    : api_(api), metrics_(metrics), keys_(keys), options_(options), origins_(options.security) {
  for (const PageFile& page : page_files()) files_.emplace(page.path, File{page, tag_of(page.bytes)});
}

Next Http::handle(Exchange& exchange) const {
  Asked asked = find(exchange);
  return answer(exchange, asked);
}

std::optional<Next> Http::handle_at_once(Exchange& exchange) const {
  Asked asked = find(exchange);
  if (asked.endpoint && !asked.endpoint->quick) return std::nullopt;
  return answer(exchange, asked);
}

Http::Asked Http::find(const Exchange& exchange) const {
  Asked asked{.message = read_message(exchange.request)};
  const std::string_view method = asked.message.method == "HEAD" ? "GET" : asked.message.method;
  if (asked.message.target.size() > kLongestTarget) return asked;
  asked.path = asked.message.path();
  if (const auto file = files_.find(asked.path); file != files_.end()) {
    asked.methods = "GET";
    if (method == "GET") asked.file = &file->second;
    return asked;
  }
  for (const Endpoint& endpoint : endpoints()) {
    std::optional<std::vector<std::string>> names = names_in(endpoint.path, asked.path);
    if (!names) continue;
    asked.methods.append(asked.methods.empty() ? "" : ", ").append(endpoint.method);
    if (asked.endpoint || endpoint.method != method) continue;
    asked.endpoint = &endpoint, asked.names = std::move(*names);
  }
  return asked;
}

Next Http::answer(Exchange& exchange, Asked& asked) const {
  Record& record = asked.record;
  record.id = request_id(asked.message.field("x-request-id"));
  record.client = exchange.address, record.path = asked.path, record.method = asked.message.method;
  record.in = exchange.request.size();
  if (asked.endpoint) record.route = asked.endpoint->path;
  if (asked.file) record.route = "page";
  Head head;
  head.set("X-Request-Id", record.id);
  head.set("X-Content-Type-Options", "nosniff");
  head.set("Cross-Origin-Resource-Policy", "same-origin");
  head.set("Referrer-Policy", "no-referrer");
  origins_.allow(asked.message, head);
  Reply reply;
  try {
    reply = reply_for(exchange, asked, head);
  } catch (...) {
    reply = reply_to(std::current_exception());
  }
  const Next next = send(exchange, asked, std::move(head), std::move(reply));
  tell(exchange, asked);
  return next;
}

Reply Http::reply_for(Exchange& exchange, Asked& asked, Head& head) const {
  if (origins_.asks_beforehand(asked.message) && !asked.methods.empty()) {
    Reply reply;
    reply.status = 204;
    return reply;
  }
  try {
    check(asked, head);
  } catch (const Refusal& refusal) {  // whoever asks so is not trusted to frame what follows
    asked.objection = refusal.status() != 404;
    throw;
  }
  if (asked.file) return file_reply(asked, head);
  const std::optional<Holder> holder = admit(asked, head);
  if (holder) asked.record.key = holder->name;
  return call(exchange, asked, holder);
}

/// What is wrong with a request, whoever sends it.
void Http::check(const Asked& asked, Head& head) const {
  const Message& message = asked.message;
  if (message.target.size() > kLongestTarget) {
    refuse(414, "too_large", "address: expected at most ", kLongestTarget, " characters, got more");
  }
  if (const std::optional<Refusal> refusal = origins_.objection(message)) throw Refusal(*refusal);
  if (asked.methods.empty()) refuse(404, "not_found", not_found(asked.path));
  if (!asked.file && !asked.endpoint) {
    head.set("Allow", asked.methods);
    refuse(405, "method_not_allowed", asked.path, ": expected ", asked.methods, ", got ",
           attend::quoted(std::string(message.method)));
  }
  if (has_body(message.method) || message.method == "DELETE") check_body(message);
}

void Http::check_body(const Message& message) const {
  if (message.has("transfer-encoding")) {
    refuse(411, "length_required", "body: expected a Content-Length, got a body in chunks");
  }
  const std::string length(message.field("content-length"));
  if (std::strtoull(length.c_str(), nullptr, 10) > static_cast<uint64_t>(options_.limits.body_bytes)) {
    refuse(413, "too_large", "body: expected at most ", options_.limits.body_bytes, " bytes, got ",
           attend::quoted(length), "; send less at once");
  }
  const std::string encoding(message.field("content-encoding"));
  if (!encoding.empty() && !same_letters(encoding, "identity")) {
    refuse(415, "unsupported", "body: expected plain bytes, got Content-Encoding ", attend::quoted(encoding));
  }
  // A page of another site cannot send this type without asking first, so it cannot make a visitor's server work.
  const std::string type(message.field("content-type"));
  if (has_body(message.method) && !json_type(type)) {
    refuse(415, "unsupported", "body: expected Content-Type: application/json, got ", attend::quoted(type));
  }
}

/// Who asks; nobody in particular where keys are not needed. Refuses (401, 403, 429) who may not.
std::optional<Holder> Http::admit(const Asked& asked, Head& head) const {
  const Access access = asked.endpoint->access;
  if (!keys_ && access == Access::admins) {
    refuse(403, "not_allowed",
           "models: expected a server with keys (--keys), one of which may load them, got one without");
  }
  const bool open = access == Access::everyone || (access == Access::watchers && options_.security.open_metrics);
  if (!keys_ || open) return std::nullopt;
  const std::string_view key = key_in(asked.message);
  const std::optional<Holder> holder = key.empty() ? std::nullopt : keys_->holder(key);
  if (!holder) {
    head.set("WWW-Authenticate",
             key.empty() ? R"(Bearer realm="attend")" : R"(Bearer realm="attend", error="invalid_token")");
    refuse(401, "no_key", "key: expected Authorization: Bearer KEY (or X-Api-Key: KEY) with a key of this server, got ",
           key.empty() ? "none" : "one that it does not know");
  }
  if (access == Access::admins && !holder->admin) {
    refuse(403, "not_allowed", "key: expected one that may load models (admin), got that of ", holder->name);
  }
  if (const double wait = keys_->ask(holder->name); wait > 0) {
    head.set("Retry-After", std::to_string(static_cast<int64_t>(std::ceil(wait))));
    refuse(429, "too_many", "requests: ", holder->name, " has asked as often as its key allows; wait for a moment");
  }
  return holder;
}

Reply Http::file_reply(const Asked& asked, Head& head) const {
  head.set("ETag", asked.file->tag);
  head.set("Cache-Control", "no-cache");
  Reply reply;
  reply.type = asked.file->page.type;
  if (asked.message.field("if-none-match") == asked.file->tag) {
    reply.status = 304;
  } else {
    reply.body = asked.file->page.bytes;
  }
  return reply;
}

Reply Http::call(Exchange& exchange, Asked& asked, const std::optional<Holder>& holder) const {
  const auto named = [&](size_t i) { return asked.names.size() > i ? asked.names[i] : ""; };
  Call call{named(0), named(1), asked.message.body, holder ? "key " + holder->name : client_of(exchange.address)};
  call.accept = asked.message.field("accept");
  call.effort = asked.effort;
  call.when_gone = [&exchange](std::function<void()> act) { exchange.when_gone(std::move(act)); };
  return (api_.*asked.endpoint->answer)(call);
}

std::string Http::not_found(const std::string& path) const {
  std::string known;
  for (const Endpoint& endpoint : endpoints()) {
    known.append(known.empty() ? "" : ", ").append(endpoint.method).append(" ").append(endpoint.path);
  }
  return "path: expected one of " + known + ", got " + attend::quoted(path);
}

Next Http::send(Exchange& exchange, Asked& asked, Head head, Reply reply) const {
  const Message& message = asked.message;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(head.fields, [&](const auto& field) { return field.first == name; });
  };
  head.status = reply.status, head.type = reply.type;
  if (!has("Cache-Control")) head.set("Cache-Control", "no-store");
  if (reply.retry && !has("Retry-After")) head.set("Retry-After", "1");
  const bool svg = reply.type == kSvg;  // which could run scripts, if it was opened by itself
  head.set(
      "Content-Security-Policy",
      svg ? "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
          : "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  const bool silent = message.method == "HEAD";
  Framing framing{.old = message.old, .chunked = reply.live != nullptr, .length = reply.body.size()};
  framing.close =
      stopping_() || exchange.last || asked.objection || !message.keeps() || (framing.chunked && framing.old);
  std::string text = head_text(head, framing);
  asked.record.status = reply.status;
  asked.record.out = text.size() + (silent ? 0 : reply.body.size());
  bool sent = true;
  constexpr size_t kTogether = 64 << 10;  // a longer body is not copied behind its head
  if (silent || reply.body.size() > kTogether || reply.live) {
    sent = exchange.write(std::move(text));
    if (!silent && !reply.body.empty()) sent = exchange.write(std::move(reply.body));
  } else {
    sent = exchange.write(text.append(reply.body));
  }
  if (reply.live && !silent) sent = stream(exchange, asked, *reply.live, !framing.old);
  if (!sent) asked.record.status = kGone;
  if (!sent) return Next::close;
  return framing.close ? Next::drain : Next::keep;
}

/// A client that reads slowly gets fewer partial lines, and a client that is gone ends the search. False: it is.
bool Http::stream(Exchange& exchange, Asked& asked, Live& live, bool chunked) const {
  for (bool last = false; !last;) {
    std::string line;
    std::tie(line, last) = live.next();
    if (!last && exchange.unsent() > kStreamAhead) continue;
    std::string part = chunked ? chunk(line) : line;
    if (last && chunked) part += chunk("");
    asked.record.out += part.size();
    if (exchange.write(std::move(part))) continue;
    live.cancel();
    return false;
  }
  return true;
}

void Http::tell(const Exchange& exchange, Asked& asked) const {
  Record& record = asked.record;
  record.model = asked.effort->model;
  record.tokens = asked.effort->tokens, record.waited = asked.effort->waited, record.computed = asked.effort->computed;
  record.seconds = std::chrono::duration<double>(Clock::now() - exchange.begun).count();
  metrics_
      .counter("attend_requests_total", "requests that were answered",
               {{"endpoint", record.route},
                {"method", known_method(record.method)},
                {"status", std::to_string(record.status)}})
      .add();
  metrics_
      .histogram("attend_request_seconds", "from the first byte of a request until its answer is made",
                 Metrics::times(), {{"endpoint", record.route}})
      .observe(record.seconds);
  metrics_.counter("attend_received_bytes_total", "bytes of requests").add(record.in);
  metrics_.counter("attend_answered_bytes_total", "bytes of answers").add(record.out);
  if (!record.model.empty()) {
    metrics_.counter("attend_tokens_total", "tokens of answers", {{"model", record.model}})
        .add(static_cast<uint64_t>(record.tokens));
    metrics_.histogram("attend_wait_seconds", "until a worker began with a request", Metrics::times())
        .observe(record.waited);
    metrics_.histogram("attend_compute_seconds", "from then on until it was done", Metrics::times())
        .observe(record.computed);
  }
  if (options_.log != "none") std::cerr << line_of(record, options_.log, time_now()) + "\n";
}

}  // namespace attend::serve
