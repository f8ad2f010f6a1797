#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

/// By definition: every energy, every weight, with the dropout pattern of attend/kernels/random-inl.h.
Arrays attention_loops(const Arrays& in, const AttentionOptions& o) {
  const Array &q = in[0], &k = in[1], &v = in[2];
  const int64_t B = q.dim(0), Tq = q.dim(1), Tk = k.dim(1), D = q.dim(2) / o.heads;
  const double scale = o.scale != 0 ? static_cast<double>(o.scale) : 1 / std::sqrt(static_cast<double>(D));
  const double keep = 1 - static_cast<double>(o.dropout);
  const uint64_t key = Random(3).next_key();
  Array out(q.shape);
  for (int64_t b = 0; b < B; ++b) {
    const int64_t length = o.key_lengths.empty() ? Tk : o.key_lengths[static_cast<size_t>(b)];
    for (int64_t h = 0; h < o.heads; ++h) {
      for (int64_t i = 0; i < Tq; ++i) {
        const int64_t at = o.window_stays ? std::min(i, length - 1) : i;
        std::vector<double> w(static_cast<size_t>(Tk), 0);
        double sum = 0;
        for (int64_t j = 0; j < Tk; ++j) {
          const bool seen = j < length && (!o.causal || j <= at) && (o.window < 0 || std::abs(at - j) <= o.window);
          if (!seen) continue;
          double energy = 0;
          for (int64_t d = 0; d < D; ++d) energy += q(b, i, h * D + d) * k(b, j, h * D + d);
          sum += w[static_cast<size_t>(j)] = std::exp(scale * energy);
        }
        if (sum == 0) continue;
        const uint64_t row = static_cast<uint64_t>((b * o.heads + h) * Tq + i);
        for (int64_t j = 0; j < Tk; ++j) {
          double weight = w[static_cast<size_t>(j)] / sum;
          if (o.dropout > 0) {
            const uint32_t counter = static_cast<uint32_t>(j / 64 * 8 + j % 8);
            const uint32_t word =
                philox({counter, static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32), 0x64726F70},
                       key)[static_cast<size_t>(j % 32 / 8)];
            const uint32_t number = j % 64 < 32 ? word & 0xFFFF : word >> 16;
            weight *= number < static_cast<uint32_t>(static_cast<double>(1 - o.dropout) * 65536.0) ? 1 / keep : 0;
          }
          for (int64_t d = 0; d < D; ++d) out(b, i, h * D + d) += weight * v(b, j, h * D + d);
        }
      }
    }
  }
  return {out};
}

/// vᵀtanh(q + k + Zᵀ(F ∗ previous)) by loops.
Arrays location_loops(const Arrays& x) {
  const Array &q = x[0], &k = x[1], &v = x[2], &previous = x[3], &filters = x[4], &location = x[5];
  const int64_t B = k.dim(0), Tk = k.dim(1), H = k.dim(2), C = filters.dim(0), reach = filters.dim(1) / 2;
  Array e({B, 1, Tk});
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t j = 0; j < Tk; ++j) {
      for (int64_t h = 0; h < H; ++h) {
        double argument = q(b, 0, h) + k(b, j, h);
        for (int64_t c = 0; c < C; ++c) {
          double seen = 0;
          for (int64_t d = -reach; d <= reach; ++d) {
            if (j + d >= 0 && j + d < Tk) seen += filters(c, d + reach) * previous(b, j + d);
          }
          argument += location(c, h) * seen;
        }
        e(b, 0, j) += v(h) * std::tanh(argument);
      }
    }
  }
  return {e};
}

void add_location_rows(std::vector<OpRow>& table) {
  const auto score = [](const Shape& q, const Shape& k, const Shape& v, const Shape& previous, const Shape& filters,
                        const Shape& location) {
    return [=] {
      location_score(Tensor::zeros(q), Tensor::zeros(k), Tensor::zeros(v), Tensor::zeros(previous),
                     Tensor::zeros(filters), Tensor::zeros(location));
    };
  };
  struct Kind {
    const char* name;
    int64_t keys, hidden, filters, reach;
  };
  for (const Kind& kind : {Kind{"one key", 1, 1, 1, 0},
                           {"reach past both ends", 3, 5, 2, 4},
                           {"plain", 7, 19, 3, 1},
                           {"whole vectors", 32, 32, 10, 8}}) {
    const Shape q{2, 1, kind.hidden}, k{2, kind.keys, kind.hidden}, v{kind.hidden}, previous{2, kind.keys},
        filters{kind.filters, 2 * kind.reach + 1}, location{kind.filters, kind.hidden};
    table.push_back(
        {std::string("location_score ") + kind.name,
         {q, k, v, previous, filters, location},
         [](const Vars& x) { return Vars{location_score(x[0], x[1], x[2], x[3], x[4], x[5])}; },
         location_loops,
         {{score({2, 2, 4}, {2, 5, 4}, {4}, {2, 5}, {3, 3}, {3, 4}), "expected q [B,1,H], k [B,Tk,H] and v [H]"},
          {score({2, 1, 4}, {2, 5, 4}, {5}, {2, 5}, {3, 3}, {3, 4}), "expected q [B,1,H], k [B,Tk,H] and v [H]"},
          {score({2, 1, 4}, {2, 5, 4}, {4}, {2, 4}, {3, 3}, {3, 4}), "expected previous weights [2,5], got [2, 4]"},
          {score({2, 1, 4}, {2, 5, 4}, {4}, {2, 5}, {3, 4}, {3, 4}), "expected filters [C,2r + 1] and location [C,4]"},
          {score({2, 1, 4}, {2, 5, 4}, {4}, {2, 5}, {3, 3}, {2, 4}), "got [3, 3] and [2, 4]"}}});
    table.back().step = 2e-4;  // many filters and places add up in tanh, so that differences need small steps
  }
}

}  // namespace

void add_attention_rows(std::vector<OpRow>& table) {
  struct Kind {
    const char* name;
    int64_t queries, keys, columns;
    AttentionOptions options;
  };
  const Kind kinds[] = {
      {"plain", 7, 7, 10, {}},
      {"heads", 5, 9, 24, {.heads = 3}},
      {"padding", 4, 9, 12, {.heads = 2, .key_lengths = {9, 0}}},
      {"causal", 8, 8, 12, {.heads = 2, .causal = true}},
      {"causal more keys", 5, 8, 12, {.heads = 2, .causal = true}},
      {"window", 9, 9, 12, {.heads = 2, .window = 2}},
      {"window past the keys", 9, 5, 12, {.heads = 2, .key_lengths = {5, 2}, .window = 1}},
      {"window that stays", 9, 5, 12, {.heads = 2, .key_lengths = {5, 2}, .window = 1, .window_stays = true}},
      {"causal window that stays",
       9,
       5,
       12,
       {.heads = 2, .key_lengths = {5, 2}, .causal = true, .window = 1, .window_stays = true}},
      {"all masks", 9, 9, 12, {.heads = 2, .key_lengths = {5, 9}, .causal = true, .window = 3}},
      {"scale", 6, 6, 8, {.heads = 2, .scale = real(0.7)}},
      {"dropout", 9, 70, 12, {.heads = 2, .causal = false, .dropout = real(0.25)}},
      {"tiles", 100, 130, 40, {.heads = 2, .key_lengths = {130, 61}}},
      {"tiles window", 130, 270, 17, {.heads = 1, .window = 5}},
  };
  for (const Kind& kind : kinds) {
    table.push_back(
        {std::string("scaled_dot_product_attention ") + kind.name,
         {{2, kind.queries, kind.columns}, {2, kind.keys, kind.columns}, {2, kind.keys, kind.columns}},
         [o = kind.options](const Vars& x) {
           Random random(3);
           AttentionOptions options = o;
           options.random = &random;
           return Vars{scaled_dot_product_attention(x[0], x[1], x[2], options)};
         },
         [o = kind.options](const Arrays& x) { return attention_loops(x, o); },
         {{[] {
             scaled_dot_product_attention(Tensor::zeros({2, 3, 4}), Tensor::zeros({2, 5, 6}), Tensor::zeros({2, 5, 6}));
           },
           "expected q [B,Tq,D], k and v [B,Tk,D], got [2, 3, 4], [2, 5, 6], [2, 5, 6]"},
          {[] {
             const Var x = Tensor::zeros({2, 3, 4});
             scaled_dot_product_attention(x, x, x, {.heads = 3});
           },
           "heads must divide D = 4, got 3"},
          {[] {
             const Var x = Tensor::zeros({1, 3, 4});
             scaled_dot_product_attention(x, x, x, {.key_lengths = {4}});
           },
           "key lengths must be in [0, 3], got 4"},
          {[] {
             const Var x = Tensor::zeros({1, 3, 4});
             scaled_dot_product_attention(x, x, x, {.dropout = real(0.1)});
           },
           "dropout needs a stream"}}});
  }

  for (const auto& [kind, H] : {std::pair{"one", int64_t{1}}, {"odd", int64_t{19}}, {"even", int64_t{32}}}) {
    table.push_back({std::string("additive_score ") + kind,
                     {{2, 5, H}, {2, 7, H}, {H}},
                     [](const Vars& x) { return Vars{additive_score(x[0], x[1], x[2])}; },
                     [](const Arrays& x) {
                       Array e({2, 5, 7});
                       for (int64_t b = 0; b < 2; ++b) {
                         for (int64_t i = 0; i < 5; ++i) {
                           for (int64_t j = 0; j < 7; ++j) {
                             for (int64_t h = 0; h < x[2].dim(0); ++h) {
                               e(b, i, j) += x[2](h) * std::tanh(x[0](b, i, h) + x[1](b, j, h));
                             }
                           }
                         }
                       }
                       return Arrays{e};
                     },
                     {{[] {
                         additive_score(Tensor::zeros({2, 3, 4}), Tensor::zeros({2, 5, 4}), Tensor::zeros({5}));
                       },
                       "additive_score: expected q [B,Tq,H], k [B,Tk,H] and v [H]"}}});
  }
  add_location_rows(table);
}

}  // namespace attend::test
