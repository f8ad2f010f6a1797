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
  check_bounds(options);
  check_bounds(options.limits);
  check_bounds(options.traffic);
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
      : models(folders, options.lab, options.traffic.lab_bytes),
        workers(turns_of(options.traffic)),
        api(models, workers, turns_of(options.traffic), options.limits),
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
  require(!folders.empty() || !options.lab.empty(),
          "serve: expected at least one model's folder, or that of a lab, got none");
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
const std::vector<std::string>& Server::notes() const { return parts_->models.lab().notes(); }
std::string Server::address() const {
  const bool six = parts_->host.find(':') != std::string::npos;
  return "http://" + (six ? "[" + parts_->host + "]" : parts_->host) + ":" + std::to_string(port());
}

}  // namespace attend::serve
