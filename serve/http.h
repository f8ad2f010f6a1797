// HTTP: reads a request that has come whole, finds its endpoint and who asks, writes the answer.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/answer.h"
#include "serve/api.h"
#include "serve/exchange.h"
#include "serve/framing.h"
#include "serve/journal.h"
#include "serve/keys.h"
#include "serve/metrics.h"
#include "serve/options.h"
#include "serve/origins.h"
#include "serve/page.h"

namespace attend::serve {

class Http {
 public:
  /// All must outlive it. `keys`: null where nobody needs one. Throws OptionError where an origin is not one.
  Http(const Api& api, Metrics& metrics, Keys* keys, const ServeOptions& options);

  Origins& origins() { return origins_; }
  /// Answers that are written while `stopping()` tell their client that the connection ends with them.
  void close_when(std::function<bool()> stopping) { stopping_ = std::move(stopping); }
  Next handle(Exchange& exchange) const;
  /// The same, if that takes no time: files of the page, counts, what is refused; otherwise nothing happens.
  std::optional<Next> handle_at_once(Exchange& exchange) const;

 private:
  struct File {
    PageFile page;
    std::string tag;
  };
  /// A request, what it means, and what there is to say of it afterwards.
  struct Asked {
    Message message;
    std::string path;
    const File* file = nullptr;
    const Endpoint* endpoint = nullptr;
    std::vector<std::string> names;
    std::string methods;     ///< that the path has, where this one has none
    bool objection = false;  ///< it ends the connection
    Record record;
    std::shared_ptr<Effort> effort = std::make_shared<Effort>();
  };

  Asked find(const Exchange& exchange) const;
  Next answer(Exchange& exchange, Asked& asked) const;
  Reply reply_for(Exchange& exchange, Asked& asked, Head& head) const;
  Reply file_reply(const Asked& asked, Head& head) const;
  Reply call(Exchange& exchange, Asked& asked, const std::optional<Holder>& holder) const;
  void check(const Asked& asked, Head& head) const;
  void check_body(const Message& message) const;
  std::optional<Holder> admit(const Asked& asked, Head& head) const;
  std::string not_found(const std::string& path) const;
  Next send(Exchange& exchange, Asked& asked, Head head, Reply reply) const;
  bool stream(Exchange& exchange, Asked& asked, Live& live, bool chunked) const;
  void tell(const Exchange& exchange, Asked& asked) const;

  const Api& api_;
  Metrics& metrics_;
  Keys* const keys_;
  const ServeOptions options_;
  Origins origins_;
  std::map<std::string, File, std::less<>> files_;
  std::function<bool()> stopping_ = [] { return false; };
};

}  // namespace attend::serve
