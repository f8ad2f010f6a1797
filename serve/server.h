// The server: models, workers, endpoints and connections put together.
//
//   Server server({"my-model"}, options);
//   server.start();                 // answers from here on, at server.address()
//   server.stop();                  // finishes what is running, for stop_seconds at most
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/options.h"

namespace attend::serve {

class Server {
 public:
  /// Loads the models and takes the port. Throws Error where a folder is no model, there is nothing to serve, or the address is
  /// not to be had.
  Server(const std::vector<std::string>& folders, const ServeOptions& options);
  ~Server();

  void start();
  /// Lets nobody new in and finishes what was asked for. What is not done after stop_seconds is told so (503) and given up, and
  /// clients that do not even take that are cut off a second later.
  void stop();
  /// Reads the keys and the certificate again, and the models that have changed on disk; what cannot be used leaves what is there
  /// in its place. What came of it, in sentences.
  std::vector<std::string> reload();
  int port() const;
  /// "http://127.0.0.1:8080", or https
  std::string address() const;
  size_t models() const;
  /// What whoever started it should know: what was left out of the lab and why, who can reach it, who can read its keys.
  std::vector<std::string> notes() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace attend::serve
