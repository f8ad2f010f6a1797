#include "attend/models/intra.h"

#include <algorithm>
#include <array>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"

namespace attend::models {

IntraLstm::IntraLstm(int64_t input, int64_t hidden, Random& random)
    : hidden_(hidden),
      cell_(Cell::lstm, input, hidden, random),
      attention_({.query = input + hidden, .key = hidden, .value = 2 * hidden, .score = "additive", .hidden = hidden},
                 random, "encoder.past") {}

IntraLstm::Output IntraLstm::operator()(const Var& x, const std::vector<int32_t>& lengths) const {
  require(x.defined() && x.rank() == 3, "IntraLstm: x [T,B,I] is wanted, got ", x.shape());
  const int64_t T = x.dim(0), B = x.dim(1), H = hidden_;
  const Var nothing = Tensor::zeros({B, H});
  Var h = nothing, c = nothing;  // h̃ and c̃: before there is a past, zeros
  std::vector<Var> states;       // hₜ [B,1,H]
  AttentionMemory past;          // of the values [hₜ; cₜ]
  for (int64_t t = 0; t < T; ++t) {
    const Var word = select(x, t);
    if (t > 0) {
      const Var query = reshape(concat(std::array{word, h}, 1), {B, 1, x.dim(2) + H});
      const Var both = reshape(attention_(query, past, {.position = t}).context, {B, 2 * H});
      h = slice(both, 1, 0, H), c = slice(both, 1, H, 2 * H);
    }
    const RecurrentState next = cell_(word, {h, c});
    states.push_back(reshape(next.h, {B, 1, H}));
    attention_.extend(past, states.back(), reshape(concat(std::array{next.h, next.c}, 1), {B, 1, 2 * H}));
  }
  const Var all = concat(states, 1);  // [B,T,H]
  Output out;
  Tensor within = Tensor::full({B, T, 1}, 1);
  std::vector<int32_t> last(static_cast<size_t>(B));
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = lengths.empty() ? T : lengths[static_cast<size_t>(b)];
    std::fill_n(within.data() + b * T + length, T - length, real{0});
    last[static_cast<size_t>(b)] = static_cast<int32_t>(b * T + length - 1);
  }
  out.y = transpose(multiply(all, within), 0, 1);
  out.last = take_rows(reshape(all, {B * T, H}), last);
  return out;
}

void IntraLstm::params(const nn::VisitParams& visit) {
  nn::visit_part(visit, "cell", cell_);
  nn::visit_part(visit, "attention", attention_);
}

}  // namespace attend::models
