#include "attend/autograd/ops/span.h"

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/span.h"

namespace attend {
namespace {

using kernels::SpanScores;

SpanScores scores_of(const Tensor& start, const Tensor& end, const std::vector<int32_t>& lengths, int64_t b,
                     const SpanOptions& options) {
  const int64_t S = start.dim(1);
  return {start.data() + b * S, end.data() + b * S, static_cast<size_t>(lengths[static_cast<size_t>(b)]), options.none,
          options.joint};
}

void require_spans(const Var& start, const Var& end, const Ids& spans, const std::vector<int32_t>& lengths,
                   const SpanOptions& options) {
  require(start.defined() && end.defined() && start.rank() == 2 && start.shape() == end.shape(),
          "span_loss: expected scores [B,S] of starts and ends, got ", start.shape(), " and ", end.shape());
  const int64_t B = start.dim(0), S = start.dim(1);
  require(spans.shape == Shape{B, 2} && static_cast<int64_t>(lengths.size()) == B,
          "span_loss: expected a span [first, last] and a length for each of ", B, " sequences, got ", spans.shape, " and ",
          lengths.size());
  for (int64_t b = 0; b < B; ++b) {
    const int32_t length = lengths[static_cast<size_t>(b)];
    require(length >= 1 && length + (options.none ? 1 : 0) <= S, "span_loss: expected lengths from 1 to ",
            S - (options.none ? 1 : 0), ", got ", length);
    const int32_t first = spans.values[static_cast<size_t>(2 * b)], last = spans.values[static_cast<size_t>(2 * b + 1)];
    const bool none = options.none && first == length && last == length;
    require(none || (0 <= first && first <= last && last < length), "span_loss: expected a span within the ", length,
            " places of sequence ", b, options.none ? ", or none at all" : "", ", got ", first, " to ", last);
  }
}

}  // namespace

Var span_loss(const Var& start, const Var& end, const Ids& spans, const std::vector<int32_t>& lengths,
              const SpanOptions& options) {
  require_spans(start, end, spans, lengths, options);
  const int64_t B = start.dim(0);
  const auto place = [](const Ids& all, int64_t i) { return static_cast<size_t>(all.values[static_cast<size_t>(i)]); };
  Tensor loss({B, 2});
  for (int64_t b = 0; b < B; ++b) {
    kernels::span_loss(scores_of(start.value(), end.value(), lengths, b, options), place(spans, 2 * b),
                       place(spans, 2 * b + 1), loss.data() + 2 * b);
  }
  if (!recording(start, end)) return loss;
  return record(std::move(loss), [start_slot = start.slot(), end_slot = end.slot(), start = start.value(),
                                  end = end.value(), spans, lengths, options, place](Tensor dy) {
    const int64_t B = start.dim(0), S = start.dim(1);
    Tensor dstart = Tensor::zeros(start.shape()), dend = Tensor::zeros(end.shape());
    for (int64_t b = 0; b < B; ++b) {
      kernels::span_loss_backward(scores_of(start, end, lengths, b, options), place(spans, 2 * b),
                                  place(spans, 2 * b + 1), dy.data() + 2 * b, dstart.data() + b * S,
                                  dend.data() + b * S);
    }
    start_slot.add(std::move(dstart));
    end_slot.add(std::move(dend));
  });
}

}  // namespace attend
