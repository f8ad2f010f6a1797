#include "serve/http.h"

#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "attend/base/names.h"
#include "serve/page.h"

namespace attend::serve {
namespace {

constexpr std::string_view kSvg = "image/svg+xml";
/// One part of a path, or the name of a model of the lab, which has three.
constexpr const char* kName = "((?:lab/[^/]+/)?[^/]+)";
constexpr size_t kLongestTarget = 1024;  // paths are matched by expressions, whose depth grows with them

/// What the library reads is in memory already; what it writes goes to the socket, whole or not at all.
class ClientStream : public httplib::Stream {
 public:
  ClientStream(const Client& client, double write_seconds)
      : client_(client), rest_(std::string_view(client.buffer).substr(0, client.frame)), seconds_(write_seconds) {}

  bool is_readable() const override { return !rest_.empty(); }
  bool is_writable() const override { return !failed_; }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, rest_.size());
    std::copy_n(rest_.data(), count, to);
    rest_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    // "HTTP/1.1 200 …": the library, which writes the head at once, tells nobody else what it said.
    if (written_ == 0 && size > 12) {
      status_ = std::atoi(bytes + 9);
      told_to_close_ = std::string_view(bytes, size).find("\r\nConnection: close\r\n") != std::string_view::npos;
    }
    const auto until = Clock::now() + std::chrono::duration<double>(seconds_);
    for (size_t done = 0; done < size && !failed_;) {
      const ssize_t count = ::send(client_.socket.number(), bytes + done, size - done, MSG_NOSIGNAL);
      if (count >= 0) {
        done += static_cast<size_t>(count);
      } else if (errno != EINTR && (errno != EAGAIN || !wait_for_room(until))) {
        failed_ = true;
      }
    }
    if (failed_) return -1;
    written_ += size;
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip = client_.address, port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return -1; }

  bool failed() const { return failed_; }
  int status() const { return status_; }
  bool told_to_close() const { return told_to_close_; }
  size_t written() const { return written_; }

 private:
  template <class Time>
  bool wait_for_room(const Time& until) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd room{client_.socket.number(), POLLOUT, 0};
    return left > 0 && ::poll(&room, 1, static_cast<int>(left)) > 0 && (room.revents & POLLOUT) != 0;
  }

  const Client& client_;
  std::string_view rest_;
  const double seconds_;
  bool failed_ = false, told_to_close_ = false;
  int status_ = 0;
  size_t written_ = 0;
};

/// Whether the other side has closed its end.
bool hung_up(int socket) {
  pollfd state{socket, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// Whose request this thread handles: the library tells an endpoint nothing of it.
thread_local int handled_socket = -1;

/// Changes with the bytes (FNV-1a).
std::string tag_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char text[24];
  std::snprintf(text, sizeof(text), "\"%016llx\"", static_cast<unsigned long long>(hash));
  return text;
}

/// A path as an expression, each {name} a group; all else is meant as it is.
std::string expression_of(std::string_view path) {
  std::string expression;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '{') {
      expression += kName;
      i = path.find('}', i);
    } else {
      if (std::string_view(".+*?()[]^$|\\").find(path[i]) != std::string_view::npos) expression += '\\';
      expression += path[i];
    }
  }
  return expression;
}

void send(Reply reply, httplib::Response& to) {
  to.status = reply.status;
  to.set_header("Cache-Control", "no-store");
  if (reply.retry) to.set_header("Retry-After", "1");
  if (reply.type == kSvg) {  // which could run scripts, if it was opened by itself
    to.headers.erase("Content-Security-Policy");
    to.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox");
  }
  if (!reply.live) return to.set_content(reply.body, reply.type);
  const auto provide = [live = reply.live](size_t, httplib::DataSink& sink) {
    const auto [line, last] = live->next();
    if (!sink.write(line.data(), line.size())) return false;
    if (last) sink.done();
    return true;
  };
  to.set_chunked_content_provider(reply.type, provide, [live = reply.live](bool) { live->cancel(); });
}

void send(int status, std::string_view code, const std::string& message, httplib::Response& to) {
  Reply reply;
  reply.status = status;
  reply.body = error_json(code, message);
  send(std::move(reply), to);
}

/// "localhost:8080" → "localhost", "[::1]:8080" → "[::1]".
std::string host_of(const std::string& header) {
  const size_t begin = header.starts_with('[') ? std::min(header.find(']'), header.size()) : 0;
  return header.substr(0, header.find(':', begin));
}

bool same_name(const std::string& a, const std::string& b) { return edit_distance(a, b) == 0; }

bool json_type(const std::string& type) {
  const std::string plain = type.substr(0, type.find(';'));
  return edit_distance(plain.substr(0, plain.find_last_not_of(' ') + 1), "application/json") == 0;
}

}  // namespace

class Http::Router : public httplib::Server {
 public:
  Router(const Api& api, const ServeOptions& options) : api_(api), options_(options) {
    svr_sock_ = 0;  // the library writes no streams for a server that does not listen
    set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"Content-Security-Policy",
          "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Referrer-Policy", "no-referrer"}});
    for (const PageFile& file : page_files()) add_file(file);
    for (const Endpoint& endpoint : endpoints()) add_endpoint(endpoint);
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const std::optional<Refusal> refusal = objection(request);
      if (!refusal) return HandlerResponse::Unhandled;
      if (refusal->status() == 405) response.set_header("Allow", methods_for(request.path));
      send(refusal->status(), refusal->code(), refusal->what(), response);
      return HandlerResponse::Handled;
    });
    set_error_handler(HandlerWithResponse([this](const httplib::Request& request, httplib::Response& response) {
      if (response.body.empty()) explain_status(request, response);
      return HandlerResponse::Handled;
    }));
    set_post_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      // It would promise the library's own times and counts, which are not the ones that hold here.
      response.headers.erase("Keep-Alive");
      if (!stopping_()) return;
      response.headers.erase("Connection");
      response.set_header("Connection", "close");
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr error) {
      send(reply_to(std::move(error)), response);
    });
  }

  void only_for(const std::string& own) {
    hosts_ = {"localhost", "127.0.0.1", "[::1]", own.find(':') == std::string::npos ? own : "[" + own + "]"};
  }

  void close_when(std::function<bool()> stopping) { stopping_ = std::move(stopping); }

  Next handle(Client& client) {
    const auto begun = Clock::now();
    ClientStream stream(client, options_.traffic.write_seconds);
    bool closed = false, read = false;
    std::string line = "(no request)";
    const auto prepare = [&](httplib::Request& request) {
      read = true;
      line = request.method + " " + attend::quoted(request.path);
      // Sent as it is: the library would compress at its slowest, and cut ranges as often as it is asked to.
      request.headers.erase("Accept-Encoding");
      request.ranges.clear();
      request.headers.erase("Expect");
      if (!objection(request) && !client.last) return;
      closed = true;
      request.headers.erase("Connection");
      request.set_header("Connection", "close");
    };
    handled_socket = client.socket.number();
    const bool sent = process_request(stream, client.last, closed, prepare);
    if (options_.log) log(client, line, stream, begun);
    if (stream.failed()) return Next::close;
    return sent && read && !closed && !stream.told_to_close() ? Next::keep : Next::drain;
  }

 private:
  void add_file(const PageFile& file) {
    paths_["GET"].emplace_back(expression_of(file.path));
    Get(expression_of(file.path),
        [file, tag = tag_of(file.bytes)](const httplib::Request& request, httplib::Response& response) {
          response.set_header("ETag", tag);
          response.set_header("Cache-Control", "no-cache");
          if (request.get_header_value("If-None-Match") == tag) {
            response.status = 304;
          } else {
            response.set_content(file.bytes.data(), file.bytes.size(), std::string(file.type));
          }
        });
  }

  void add_endpoint(const Endpoint& endpoint) {
    paths_[std::string(endpoint.method)].emplace_back(expression_of(endpoint.path));
    // Without `this`: GCC 12's sanitizer takes it for another object where a member function is called by its pointer.
    const auto answer = [&api = api_, ask = endpoint.answer](const httplib::Request& request,
                                                             httplib::Response& response) {
      try {
        const auto named = [&](size_t i) { return request.matches.size() > i ? request.matches[i].str() : ""; };
        const bool events = request.get_header_value("Accept").find("text/event-stream") != std::string::npos;
        const Call call{named(1),     named(2),
                        request.body, client_of(request.remote_addr),
                        events,       [socket = handled_socket] { return hung_up(socket); }};
        send((api.*ask)(call), response);
      } catch (...) {
        send(reply_to(std::current_exception()), response);
      }
    };
    const std::string expression = expression_of(endpoint.path);
    if (endpoint.method == "POST") {
      Post(expression, answer);
    } else {
      Get(expression, answer);
    }
  }

  /// What is wrong with a request before its body is read.
  std::optional<Refusal> objection(const httplib::Request& request) const {
    if (request.target.size() > kLongestTarget) {
      return Refusal(414, "too_large", "address: expected at most 1024 characters, got more");
    }
    const std::string host = host_of(request.get_header_value("Host"));
    const auto same = [&](const std::string& one) { return same_name(one, host); };
    if (!host.empty() && !hosts_.empty() && std::ranges::none_of(hosts_, same)) {
      return Refusal(
          403, "wrong_host",
          "Host: expected " + hosts_.back() + " or localhost, got " + attend::quoted(host) +
              "; a server for other names is started with --host, a proxy in front of it sends Host: localhost");
    }
    const std::string allowed = methods_for(request.path);
    if (!allowed.empty() && allowed.find(request.method == "HEAD" ? "GET" : request.method) == std::string::npos) {
      return Refusal(405, "method_not_allowed",
                     request.path + ": expected " + allowed + ", got " + attend::quoted(request.method));
    }
    const bool body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (!body && request.method != "DELETE") return std::nullopt;
    if (request.has_header("Transfer-Encoding")) {
      return Refusal(411, "length_required", "body: expected a Content-Length, got a body in chunks");
    }
    const std::string length = request.get_header_value("Content-Length");
    if (std::strtoull(length.c_str(), nullptr, 10) > static_cast<uint64_t>(options_.limits.body_bytes)) {
      return Refusal(413, "too_large",
                     "body: expected at most " + std::to_string(options_.limits.body_bytes) + " bytes, got " +
                         attend::quoted(length) + "; send less at once");
    }
    const std::string encoding = request.get_header_value("Content-Encoding");
    if (!encoding.empty() && edit_distance(encoding, "identity") != 0) {
      return Refusal(415, "unsupported",
                     "body: expected plain bytes, got Content-Encoding " + attend::quoted(encoding));
    }
    // A page of another site cannot send this type without asking first, so it cannot make a visitor's server work.
    const std::string type = request.get_header_value("Content-Type");
    if (body && !json_type(type)) {
      return Refusal(415, "unsupported", "body: expected Content-Type: application/json, got " + attend::quoted(type));
    }
    return std::nullopt;
  }

  /// The body of an answer that the library itself decided on.
  void explain_status(const httplib::Request& request, httplib::Response& response) const {
    if (response.status == 404) return send(404, "not_found", not_found(request.path), response);
    if (response.status == 414) return send(414, "too_large", "address: expected a shorter one", response);
    if (response.status >= 500) return send(500, "internal", "the server made a mistake; its log says which", response);
    send(response.status, "bad_request", "request: expected HTTP/1.1, got something else", response);
  }

  std::string methods_for(const std::string& path) const {
    std::string methods;
    if (path.size() > kLongestTarget) return methods;
    for (const auto& [method, paths] : paths_) {
      const auto matches = [&](const std::regex& one) { return std::regex_match(path, one); };
      if (std::ranges::any_of(paths, matches)) methods += (methods.empty() ? "" : ", ") + method;
    }
    return methods;
  }

  std::string not_found(const std::string& path) const {
    std::string known;
    for (const Endpoint& endpoint : endpoints()) {
      known.append(known.empty() ? "" : ", ").append(endpoint.method).append(" ").append(endpoint.path);
    }
    return "path: expected one of " + known + ", got " + attend::quoted(path);
  }

  void log(const Client& client, const std::string& line, const ClientStream& stream, Clock::time_point begun) const {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    char numbers[96];
    std::snprintf(numbers, sizeof(numbers), " %d %zu bytes %.1f ms\n", stream.status(), stream.written(), ms);
    std::cerr << client.address + " " + line + numbers;
  }

  const Api& api_;
  const ServeOptions options_;
  std::map<std::string, std::vector<std::regex>> paths_;
  std::vector<std::string> hosts_;  // empty: any
  std::function<bool()> stopping_ = [] { return false; };
};

Http::Http(const Api& api, const ServeOptions& options) : router_(std::make_unique<Router>(api, options)) {}
Http::~Http() = default;
void Http::only_for(const std::string& own) { router_->only_for(own); }
void Http::close_when(std::function<bool()> stopping) { router_->close_when(std::move(stopping)); }
Next Http::handle(Client& client) { return router_->handle(client); }

}  // namespace attend::serve
