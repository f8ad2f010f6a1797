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
#include "serve/tls.h"
#include "serve/watched.h"

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
  check_bounds(options.security);
  const bool whole = options.security.cert.empty() == options.security.key.empty();
  require_usage(whole, "--cert: expected --key beside it, the key of that certificate, got one of the two alone");
  return options;
}

}  // namespace

struct Server::Parts {
  // Ended from the last to the first: nobody is asked who is gone.
  const ServeOptions options;
  Metrics numbers;
  std::unique_ptr<Keys> keys;
  std::unique_ptr<Tls> tls;
  Models models;
  Workers workers;
  Api api;
  Http http;
  Connections connections;
  std::chrono::duration<double> patience;

  Parts(const std::vector<std::string>& folders, const ServeOptions& given)
      : options(given),
        keys(options.security.keys.empty() ? nullptr : std::make_unique<Keys>(options.security.keys)),
        tls(options.security.cert.empty() ? nullptr
                                          : std::make_unique<Tls>(options.security.cert, options.security.key)),
        models(folders, options.models, options.lab, options.traffic.lab_bytes),
        workers(turns_of(options.traffic)),
        api(models, workers, numbers, turns_of(options.traffic), options.limits),
        http(api, numbers, keys.get(), options),
        connections(options.host, options.port, options.traffic, static_cast<size_t>(options.limits.body_bytes),
                    turns_of(options.traffic).places + kSpareHandlers,
                    [this](Exchange& exchange) { return http.handle(exchange); }),
        patience(options.traffic.stop_seconds) {
    if (connections.loopback()) http.origins().only_for(options.host);
    const auto stopping = [this] { return connections.stopping(); };
    http.close_when(stopping), api.unready_when(stopping);
    // Whoever reads the log may be slow, and the loop waits for nobody.
    if (options.log == "none") {
      connections.answer_at_once([this](Exchange& exchange) { return http.handle_at_once(exchange); });
    }
    if (tls) connections.encrypt(*tls);
    watch(numbers, connections), watch(numbers, api), watch(numbers, models), watch_memory(numbers);
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
  require(!folders.empty() || !options.models.empty() || !options.lab.empty(),
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

std::vector<std::string> Server::reload() {
  std::vector<std::string> said;
  const auto attempt = [&](const std::string& what, auto&& again) {
    try {
      again();
      said.push_back(what + ": read again");
    } catch (const std::exception& error) {
      said.push_back(what + ": as before, as what is there now cannot be used: " + error.what());
    }
  };
  if (parts_->keys) attempt("keys", [&] { parts_->keys->reload(); });
  if (parts_->tls) attempt("certificate", [&] { parts_->tls->reload(); });
  const Reloaded models = parts_->models.reload();
  said.insert(said.end(), models.said.begin(), models.said.end());
  if (models.said.empty()) said.emplace_back("models: none has changed");
  return said;
}

std::vector<std::string> Server::notes() const {
  std::vector<std::string> notes;
  for (const std::string& note : parts_->models.lab().notes()) notes.push_back(note + " (left out)");
  if (parts_->keys && !parts_->keys->note().empty()) notes.push_back(parts_->keys->note());
  const bool others = !parts_->connections.loopback();
  if (others && !parts_->keys) {
    notes.emplace_back("everyone who can reach this machine may ask: --keys FILE lets only holders of a key in");
  }
  if (others && !parts_->tls) {
    notes.emplace_back("texts and keys pass as they are: --cert and --key, or a proxy that does it, encrypt them");
  }
  return notes;
}

std::string Server::address() const {
  const std::string& host = parts_->options.host;
  const bool six = host.find(':') != std::string::npos;
  return (parts_->tls ? "https://" : "http://") + (six ? "[" + host + "]" : host) + ":" + std::to_string(port());
}

}  // namespace attend::serve
