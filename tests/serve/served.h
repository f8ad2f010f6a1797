// A tiny model in a folder, a server for it, and a client.
#pragma once

#include <httplib.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "serve/server.h"
#include "tests/serve/description.h"
#include "tests/support/folder.h"
#include "tests/support/untrained.h"

namespace attend::test {

using nlohmann::json;

/// With new weights, which say nothing sensible; but always the same.
inline std::string tiny_model(const TestFolder& folder, const std::string& name) {
  save_untrained(folder.path() / name,
                 {{"tsv", "none", "", true},
                  {"tokeniser.kind", "words", ""},
                  {"model.name", "recurrent", ""},
                  {"model.embedding", "8", ""},
                  {"model.hidden", "12", ""},
                  {"filter.longest", "40", ""},
                  {"search.max_length", "6", ""}},
                 text_corpus("a b c d e f g h , .", "A B C D E F G H"));
  return (folder.path() / name).string();
}

/// The same of a model that looks at images of 28 × 28: "glimpse", "image_classifier", "captioner", "autoencoder".
std::string tiny_image_model(const TestFolder& folder, const std::string& network);

/// A server on a free port of this machine.
class Served {
 public:
  using Make = std::function<std::vector<std::string>(const TestFolder& folder)>;

  explicit Served(
      serve::ServeOptions options = {}, const Make& models = [](const TestFolder& folder) {
        return std::vector{tiny_model(folder, "tiny"), tiny_model(folder, "other/tiny")};
      }) {
    options.port = 0;
    server_.emplace(models(folder_), options);
    server_->start();
  }

  httplib::Client client() const {
    httplib::Client made("127.0.0.1", server_->port());
    made.set_read_timeout(600);
    return made;
  }
  // Every answer has to be as serve/openapi.yaml describes it.
  httplib::Result post(const std::string& path, const std::string& body) const {
    httplib::Result result = client().Post(path, body, "application/json");
    expect_described("post", path, result);
    return result;
  }
  httplib::Result get(const std::string& path) const {
    httplib::Result result = client().Get(path);
    expect_described("get", path, result);
    return result;
  }
  int port() const { return server_->port(); }
  serve::Server& server() { return *server_; }
  const TestFolder& folder() const { return folder_; }

 private:
  TestFolder folder_;
  std::optional<serve::Server> server_;
};

json body_of(const httplib::Result& result);
void expect_error(const httplib::Result& result, int status, const std::string& code, const std::string& part);

/// A socket of one's own, for what no client library would send.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  void send(std::string_view text) const;
  /// All that comes until the other side closes, or until it ends with `ending`. Throws where a minute brings nothing, so that
  /// a server that says nothing is not taken for one that hangs up.
  std::string receive(std::string_view ending = "") const;
  /// One answer that says how long it is; what came of it where the other side closed before.
  std::string answer() const;
  /// Whether the other side has neither closed nor said anything that was not received.
  bool quiet() const;

 private:
  bool readable(int milliseconds) const;
  bool read_more(std::string& text) const;
  int socket_;
  mutable std::string ahead_;  // read, and not yet received
};

}  // namespace attend::test
