#include "serve/server.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include "attend/base/error.h"
#include "attend/kernels/parallel.h"
#include "serve/api.h"
#include "serve/connections.h"
#include "serve/http.h"

namespace attend::serve {
namespace {

constexpr int64_t kMostWorkers = 4;  // by default: the kernels' threads are shared, and each worker adds its own

TurnOptions turns_of(const Traffic& traffic) {
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t workers = traffic.workers > 0 ? traffic.workers : std::min(cores, kMostWorkers);
  return {.workers = static_cast<size_t>(workers),
          .places = static_cast<size_t>(workers + traffic.waiting),
          .most_long = static_cast<size_t>(traffic.long_requests)};
}

/// Each request that is computed or waits holds a thread; these are left for those that need no worker.
constexpr size_t kSpareHandlers = 16;
/// For those who are told that their request is given up to read it.
constexpr auto kLastWords = std::chrono::seconds(1);

const ServeOptions& checked(const ServeOptions& options) {
  require(options.port >= 0 && options.port <= 65535, "port: expected 0 to 65535, got ", options.port);
  const Limits& l = options.limits;
  for (const int64_t limit :
       {l.body_bytes, l.text_characters, l.texts, l.beam, l.n_best, l.answer_tokens, l.cost, l.weights, l.image_pixels}) {
    require(limit >= 1, "limits: expected at least 1, got ", limit);
  }
  const Traffic& t = options.traffic;
  require(t.workers >= 0 && t.threads >= 0, "workers, threads: expected at least 0");
  require(t.waiting >= 0 && t.waiting <= 10'000, "waiting: expected 0 to 10000, got ", t.waiting);
  require(t.long_requests >= 1 && t.long_requests <= 1000, "long_requests: expected 1 to 1000, got ", t.long_requests);
  require(t.connections >= 1, "connections: expected at least 1, got ", t.connections);
  for (const double time : {l.seconds, t.read_seconds, t.write_seconds, t.idle_seconds, t.stop_seconds}) {
    require(time > 0 && time <= 86'400, "times: expected more than 0 and at most 86400 seconds, got ", time);
  }
  return options;
}

}  // namespace

struct Server::Parts {
  // Ended from the last to the first: nobody is asked who is gone.
  Models models;
  Workers workers;
  Api api;
  Http http;
  Connections connections;
  std::string host;
  std::chrono::duration<double> patience;

  Parts(const std::vector<std::string>& folders, const ServeOptions& options)
      : models(folders),
        workers(turns_of(options.traffic)),
        api(models, workers, options.limits),
        http(api, options),
        connections(options.host, options.port, options.traffic, static_cast<size_t>(options.limits.body_bytes),
                    turns_of(options.traffic).places + kSpareHandlers,
                    [this](Client& client) { return http.handle(client); }),
        host(options.host),
        patience(options.traffic.stop_seconds) {
    if (connections.loopback()) http.only_for(host);
    http.close_when([this] { return connections.stopping(); });
  }

  void stop() {
    std::promise<void> ended;
    std::thread impatient([this, over = ended.get_future()] {
      if (over.wait_for(patience) == std::future_status::ready) return;
      workers.cancel();
      if (over.wait_for(kLastWords) == std::future_status::timeout) connections.cut();
    });
    connections.stop();
    ended.set_value();
    impatient.join();
  }
};

Server::Server(const std::vector<std::string>& folders, const ServeOptions& options) {
  require(!folders.empty(), "serve: expected at least one model's folder, got none");
  if (checked(options).traffic.threads > 0) kernels::set_threads(static_cast<int>(options.traffic.threads));
  parts_ = std::make_unique<Parts>(folders, options);
}

Server::~Server() {
  if (parts_) stop();
}
void Server::start() { parts_->connections.start(); }
void Server::stop() { parts_->stop(); }
int Server::port() const { return parts_->connections.port(); }
size_t Server::models() const { return parts_->models.all().size(); }
std::string Server::address() const {
  const bool six = parts_->host.find(':') != std::string::npos;
  return "http://" + (six ? "[" + parts_->host + "]" : parts_->host) + ":" + std::to_string(port());
}

}  // namespace attend::serve
