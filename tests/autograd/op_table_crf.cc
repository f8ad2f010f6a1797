#include "tests/autograd/op_table.h"
#include "tests/support/fields.h"

namespace attend::test {
namespace {

/// Tags [B,T] as one list, and those given, if any; what lies beyond a length is never read.
OpRow crf_row(const std::string& name, int64_t T, int64_t L, const std::vector<int32_t>& lengths,
              const std::vector<int32_t>& tags, std::vector<Refusal> refusals = {},
              const std::vector<int32_t>& given = {}) {
  const int64_t B = static_cast<int64_t>(lengths.size());
  return {"crf_loss " + name,
          {{B, T, L}, {L, L}, {L}, {L}},
          [=](const Vars& x) {
            const Ids condition = given.empty() ? Ids() : Ids({B, T}, given);
            return Vars{crf_loss(x[0], {x[1], x[2], x[3]}, Ids({B, T}, tags), lengths, condition)};
          },
          [=](const Arrays& x) {
            Array loss({B});
            for (int64_t b = 0; b < B; ++b) {
              const FieldScores field{sequence_of(x[0], b), x[1], x[2], x[3]};
              const auto log_probability = [&](const std::vector<int32_t>& all) {
                const auto first = all.begin() + b * T;
                return field.log_probability({first, first + lengths[static_cast<size_t>(b)]});
              };
              loss(b) = (given.empty() ? 0 : log_probability(given)) - log_probability(tags);
            }
            return Arrays{loss};
          },
          std::move(refusals)};
}

}  // namespace

void add_crf_rows(std::vector<OpRow>& table) {
  const auto call = [](const Shape& emissions, const Shape& transitions, const Shape& start, const Shape& end,
                       const std::vector<int32_t>& tags, const std::vector<int32_t>& lengths) {
    return [=] {
      crf_loss(Tensor::zeros(emissions), {Tensor::zeros(transitions), Tensor::zeros(start), Tensor::zeros(end)},
               Ids({2, static_cast<int64_t>(tags.size()) / 2}, tags), lengths);
    };
  };
  const Shape e{2, 3, 4}, a{4, 4}, s{4};
  const std::vector<int32_t> tags(6, 0);
  table.push_back(crf_row("plain", 4, 5, {4, 2, 1, 0}, {0, 4, 2, 2, 3, 1, 9, 9, 4, 9, 9, 9, 9, 9, 9, 9},
                          {{call({2, 3}, a, s, s, tags, {3, 3}), "crf_loss: expected emissions [B,T,L]"},
                           {call(e, {4, 3}, s, s, tags, {3, 3}), "expected transitions [4,4], got [4, 3]"},
                           {call(e, a, s, {5}, tags, {3, 3}), "expected start and end [4], got [5]"},
                           {call(e, a, s, s, {0, 0}, {3, 3}), "expected tags [2,3], got [2, 1]"},
                           {call(e, a, s, s, tags, {3}), "expected 2 lengths, got 1"},
                           {call(e, a, s, s, tags, {3, 4}), "lengths in [0, 3], got 4 for sequence 1"},
                           {call(e, a, s, s, {0, 0, 0, 0, 4, 0}, {3, 3}), "tags below 4, or -1"}}));
  table.push_back(crf_row("partly known", 4, 3, {4, 4, 3}, {0, -1, 2, -1, -1, -1, -1, -1, -1, 1, 0, 9}));
  const auto call_given = [=](const std::vector<int32_t>& given) {
    const Ids condition({2, static_cast<int64_t>(given.size()) / 2}, given);
    return [=] {
      crf_loss(Tensor::zeros(e), {Tensor::zeros(a), Tensor::zeros(s), Tensor::zeros(s)}, Ids({2, 3}, tags), {3, 3},
               condition);
    };
  };
  table.push_back(crf_row("given some", 4, 3, {4, 4, 3}, {0, 1, 2, -1, 2, -1, -1, -1, 1, 1, 0, 9},
                          {{call_given({0, 0}), "expected given tags [2,3], got [2, 1]"},
                           {call_given({0, -1, -1, 0, 3, -1}), "agree with those given, got 0 for 3 in sequence 1"}},
                          {0, 1, -1, -1, -1, -1, -1, -1, 1, -1, 0, 9}));
  table.push_back(crf_row("wide", 3, 19, {3, 2}, {18, 0, 7, 3, 3, 9}));  // more labels than a vector has numbers
  // More sequences than there are groups of them to add gradients up in.
  table.push_back(crf_row("many", 2, 2, std::vector<int32_t>(37, 2), std::vector<int32_t>(74, 1)));
  table.push_back(crf_row("one label", 3, 1, {3, 1}, {0, 0, 0, 0, 9, 9}));
}

}  // namespace attend::test
