// Spans: the loss of the first and the last place of an answer within a text.
#pragma once

#include <cstdint>
#include <vector>

#include "attend/autograd/var.h"

namespace attend {

struct SpanOptions {
  /// p(s,e) ∝ e^(start[s]+end[e]) over all s ≤ e: what −ln p(s) − ln p(e|s) adds up to. Otherwise a softmax over the starts and
  /// another over the ends (Seo et al. 2017, eq. 5), whatever their order.
  bool joint = true;
  /// Scores have one more slot, at index lengths[b]: there is no span.
  bool none = false;
};

/// −ln p(first) and −ln p(last | first) of each span, [B,2]: scores start and end [B,S], of which sequence b has the first
/// lengths[b] (and one more, options.none); spans [B,2] first and last place, both included, or both lengths[b].
Var span_loss(const Var& start, const Var& end, const Ids& spans, const std::vector<int32_t>& lengths,
              const SpanOptions& options = {});

}  // namespace attend
