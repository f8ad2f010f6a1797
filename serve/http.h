// HTTP: reads a request that has come whole, finds its endpoint, writes the answer.
#pragma once

#include <functional>
#include <memory>

#include "serve/api.h"
#include "serve/connections.h"
#include "serve/options.h"

namespace attend::serve {

class Http {
 public:
  /// `api` must outlive it.
  Http(const Api& api, const ServeOptions& options);
  ~Http();

  /// From now on, requests whose Host is neither this machine nor `own` are refused: the page of another site whose name was
  /// made to point here (DNS rebinding) reads nothing.
  void only_for(const std::string& own);
  /// Answers that are written while `stopping()` tell their client that the connection ends with them.
  void close_when(std::function<bool()> stopping);
  /// The request at the front of the client's buffer.
  Next handle(Client& client);

 private:
  class Router;
  std::unique_ptr<Router> router_;
};

}  // namespace attend::serve
