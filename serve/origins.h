// From where a request may come: under which names this server is known, and which pages may ask it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/answer.h"
#include "serve/framing.h"
#include "serve/options.h"
#include "serve/refusal.h"

namespace attend::serve {

class Origins {
 public:
  /// Throws OptionError where an origin or a host is not one.
  explicit Origins(const Security& security);

  /// From now on, requests whose Host is neither this machine nor `own` are refused: the page of another site whose name was
  /// made to point here (DNS rebinding) reads nothing.
  void only_for(const std::string& own);
  /// What is wrong with where it comes from: a Host that is not ours, or what changes or computes something, asked by a page that
  /// is neither ours nor named (Fetch, “CORS protocol”).
  std::optional<Refusal> objection(const Message& message) const;
  /// Whether it is a browser that asks beforehand for a page that is named.
  bool asks_beforehand(const Message& message) const;
  /// Lets the page read the answer, where it is named.
  void allow(const Message& message, Head& head) const;

 private:
  bool named(std::string_view origin) const;
  bool ours(std::string_view origin, std::string_view host) const;

  const std::vector<std::string> public_, origins_;
  std::vector<std::string> hosts_;  // empty: any
};

}  // namespace attend::serve
