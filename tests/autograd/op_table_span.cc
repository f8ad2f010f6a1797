// Spans: −ln p of the first and the last place, by listing all spans.
#include <cmath>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

/// ln p(first) and ln p(last | first), each from a sum over every span that there is.
std::pair<double, double> listed(const Array& start, const Array& end, int64_t b, int32_t length,
                                 const std::vector<int32_t>& span, const SpanOptions& options) {
  const int32_t slots = length + (options.none ? 1 : 0);
  double all = 0, begins = 0, both = 0;
  for (int32_t s = 0; s < slots; ++s) {
    for (int32_t e = 0; e < slots; ++e) {
      const bool none = s == length || e == length;
      if (options.joint && (none ? s != e : e < s)) continue;
      const double p = std::exp(start(b, s) + end(b, e));
      all += p;
      if (s == span[0]) begins += p;
      if (s == span[0] && e == span[1]) both += p;
    }
  }
  return {std::log(begins / all), std::log(both / begins)};
}

OpRow span_row(const std::string& name, int64_t S, const std::vector<int32_t>& lengths,
               const std::vector<std::vector<int32_t>>& spans, const SpanOptions& options,
               std::vector<Refusal> refusals = {}) {
  const int64_t B = static_cast<int64_t>(lengths.size());
  std::vector<int32_t> flat;
  for (const auto& span : spans) flat.insert(flat.end(), span.begin(), span.end());
  return {"span_loss " + name,
          {{B, S}, {B, S}},
          [=](const Vars& x) { return Vars{span_loss(x[0], x[1], Ids({B, 2}, flat), lengths, options)}; },
          [=](const Arrays& x) {
            Array loss({B, 2});
            for (int64_t b = 0; b < B; ++b) {
              const size_t i = static_cast<size_t>(b);
              const auto [first, last] = listed(x[0], x[1], b, lengths[i], spans[i], options);
              loss(b, 0) = -first, loss(b, 1) = -last;
            }
            return Arrays{loss};
          },
          std::move(refusals)};
}

}  // namespace

void add_span_rows(std::vector<OpRow>& table) {
  const auto call = [](const Shape& start, const Shape& end, const std::vector<int32_t>& spans,
                       const std::vector<int32_t>& lengths, const SpanOptions& options) {
    return [=] {
      span_loss(Tensor::zeros(start), Tensor::zeros(end), Ids({static_cast<int64_t>(spans.size()) / 2, 2}, spans), lengths,
                options);
    };
  };
  const SpanOptions joint, apart{.joint = false}, none{.none = true};
  table.push_back(span_row("joint", 6, {6, 4, 1, 6}, {{1, 3}, {3, 3}, {0, 0}, {0, 5}}, joint,
                           {{call({2, 3}, {2, 4}, {0, 0, 0, 0}, {3, 3}, joint), "expected scores [B,S]"},
                            {call({2, 3}, {2, 3}, {0, 0}, {3, 3}, joint), "for each of 2 sequences"},
                            {call({2, 3}, {2, 3}, {0, 0, 0, 0}, {3, 4}, joint), "lengths from 1 to 3, got 4"},
                            {call({2, 3}, {2, 3}, {0, 0, 0, 0}, {3, 3}, none), "lengths from 1 to 2, got 3"},
                            {call({1, 3}, {1, 3}, {2, 1}, {3}, joint), "got 2 to 1"},
                            {call({1, 3}, {1, 3}, {2, 2}, {2}, joint), "within the 2 places of sequence 0, got 2 to 2"},
                            {call({1, 3}, {1, 3}, {1, 2}, {2}, none), "or none at all, got 1 to 2"}}));
  table.push_back(span_row("apart", 6, {6, 4, 1}, {{1, 3}, {3, 3}, {0, 0}}, apart));
  table.push_back(span_row("joint, or none", 6, {5, 4, 1, 3}, {{1, 3}, {4, 4}, {1, 1}, {0, 2}}, none));
  table.push_back(span_row("apart, or none", 6, {5, 4, 1, 3}, {{1, 3}, {4, 4}, {1, 1}, {0, 2}},
                           {.joint = false, .none = true}));
}

}  // namespace attend::test
