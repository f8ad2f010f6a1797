// What a request may cost, known before anything is computed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "serve/options.h"
#include "serve/refusal.h"

namespace attend::serve {

/// A request beyond this takes turns with others (serve/turns.h). One sentence at the widest beam stays far below it.
constexpr int64_t kShortCost = 20'000;

/// Tokens that a search may predict, in all of its hypotheses.
struct Cost {
  int64_t texts = 0;
  int64_t beam = 1;     ///< hypotheses per text
  int64_t longest = 0;  ///< tokens of the longest answer
  int64_t kept = 1;     ///< continuations of each token that are remembered, to be told of
  int64_t total = 0;    ///< Σ beam · tokens · kept over the texts
  int64_t more = 0;     ///< tokens that may be read again to explain an answer; at most, as its length is not known yet

  void add(int64_t tokens) {
    longest = std::max(longest, tokens);
    total += beam * tokens * kept;
  }
  /// Of a document, which is read anew for each question.
  void read(int64_t tokens) { total += tokens; }
  bool is_short() const { return total + more <= kShortCost; }
};

/// Refuses (413) what is over the limit. What an explanation reads again is not counted: its limit is checked when its length is
/// known.
inline void require_affordable(const Cost& cost, const Limits& limits) {
  if (cost.total <= limits.cost) return;
  const std::string kept =
      cost.kept > 1 ? ", each with " + std::to_string(cost.kept) + " continuations to tell of" : "";
  refuse(413, "too_large", "cost: expected at most ", limits.cost, " (texts × beam × tokens of an answer), got ",
         cost.total, ": ", cost.texts, cost.texts == 1 ? " text" : " texts", " at beam ", cost.beam, " of up to ",
         cost.longest, " tokens", kept,
         "; ask for fewer texts, a narrower beam or a smaller max_length (this server's limit is --cost)");
}

}  // namespace attend::serve
