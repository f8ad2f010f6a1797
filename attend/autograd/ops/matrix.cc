#include "attend/autograd/ops/matrix.h"

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/rows.h"

namespace attend {
namespace {

// A product with so few rows is probably one step of many over the same b: its gradient is gathered.
constexpr int64_t kFewRows = 4;

struct Matrices {
  size_t count, rows, columns;
};

/// The last two axes after the transposition, and how many such matrices there are.
Matrices extents(const Tensor& x, bool transposed) {
  const size_t r = static_cast<size_t>(x.dim(-2)), c = static_cast<size_t>(x.dim(-1));
  const size_t count = x.rank() == 3 ? static_cast<size_t>(x.dim(0)) : 1;
  return transposed ? Matrices{count, c, r} : Matrices{count, r, c};
}

Tensor multiply(const Tensor& a, const Tensor& b, bool ta, bool tb) {
  const Matrices x = extents(a, ta), y = extents(b, tb);
  const int64_t m = static_cast<int64_t>(x.rows), n = static_cast<int64_t>(y.columns);
  Tensor c(a.rank() == 3 ? Shape{a.dim(0), m, n} : Shape{m, n});
  kernels::batched_gemm({.m = x.rows,
                         .n = y.columns,
                         .k = x.columns,
                         .a = a.data(),
                         .lda = static_cast<size_t>(a.dim(-1)),
                         .transpose_a = ta,
                         .b = b.data(),
                         .ldb = static_cast<size_t>(b.dim(-1)),
                         .transpose_b = tb,
                         .c = c.data(),
                         .ldc = y.columns},
                        x.count, x.rows * x.columns, y.rows * y.columns, x.rows * y.columns);
  return c;
}

Var product(const char* where, int rank, const Var& a, const Var& b, bool ta, bool tb) {
  require(a.defined() && b.defined() && a.rank() == rank && b.rank() == rank, where, ": two tensors of rank ", rank,
          " are wanted, got ", a.shape(), " and ", b.shape());
  const Matrices x = extents(a.value(), ta), y = extents(b.value(), tb);
  require(x.count == y.count && x.columns == y.rows, where, ": [", rank == 3 ? "B," : "", "m,k] and [",
          rank == 3 ? "B," : "", "k,n] are wanted", ta || tb ? " after transposing" : "", ", got ", a.shape(),
          ta ? "ᵀ" : "", " and ", b.shape(), tb ? "ᵀ" : "");
  Tensor c = multiply(a.value(), b.value(), ta, tb);
  if (!recording(a, b)) return c;
  // C = op(A)·op(B): d op(A) = dC·op(B)ᵀ and d op(B) = op(A)ᵀ·dC, each turned back if its side was transposed.
  return record(std::move(c), [a = a.slot(), b = b.slot(), x = a.value(), y = b.value(), ta, tb](Tensor dc) {
    if (a.wanted()) a.add(ta ? multiply(y, dc, tb, true) : multiply(dc, y, false, !tb));
    if (b.wanted() && !ta && dc.rank() == 3 && dc.dim(1) <= kFewRows) {
      return tb ? b.add_batched_product(dc, x) : b.add_batched_product(x, dc);
    }
    if (b.wanted()) b.add(tb ? multiply(dc, x, true, ta) : multiply(x, dc, !ta, false));
  });
}

kernels::Unary function_of(Activation activation) {
  switch (activation) {
    case Activation::relu: return kernels::Unary::relu;
    case Activation::tanh: return kernels::Unary::tanh;
    case Activation::sigmoid: return kernels::Unary::sigmoid;
    default: return kernels::Unary::gelu;
  }
}

}  // namespace

Var matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  return product("matmul", 2, a, b, transpose_a, transpose_b);
}

Var batched_matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  return product("batched_matmul", 3, a, b, transpose_a, transpose_b);
}

Var linear(const Var& x, const Var& weight, const Var& bias, Activation activation) {
  require(x.defined() && weight.defined() && weight.rank() == 2 && x.rank() >= 1 && x.dim(-1) == weight.dim(1),
          "linear: x [..,I] and weight [O,I] are wanted, got ", x.shape(), " and ", weight.shape());
  require(!bias.defined() || bias.shape() == Shape{weight.dim(0)}, "linear: bias [", weight.dim(0),
          "] is wanted for weight ", weight.shape(), ", got ", bias.shape());
  const size_t I = static_cast<size_t>(weight.dim(1)), O = static_cast<size_t>(weight.dim(0));
  const size_t N = x.shape().outer(x.rank() - 1);
  const uint64_t version = weight.version();
  Tensor pre(x.shape().with(-1, weight.dim(0)));
  kernels::gemm({.m = N,
                 .n = O,
                 .k = I,
                 .a = x.value().data(),
                 .lda = I,
                 .b = weight.value().data(),
                 .ldb = I,
                 .transpose_b = true,
                 .c = pre.data(),
                 .ldc = O,
                 .bias = bias.defined() ? bias.value().data() : nullptr,
                 .version = version});
  const bool plain = activation == Activation::none;
  const kernels::Unary f = function_of(activation);
  const bool tape = recording(x, weight, bias);
  // In place unless the slope has to be computed from what comes before the activation (gelu).
  Tensor y = plain || kernels::keeps_output(f) || !tape ? pre : Tensor(pre.shape());
  if (!plain) kernels::unary(f, pre.data(), y.data(), y.size());
  if (!tape) return y;
  const Tensor kept = plain ? Tensor() : kernels::keeps_output(f) ? y : pre;
  return record(y, [x = x.slot(), w = weight.slot(), b = bias.slot(), input = x.value(), matrix = weight.value(), kept,
                    plain, f, N, I, O, version](Tensor dy) {
    if (!plain) {
      Tensor dpre = dy.unique() ? dy : Tensor(dy.shape());
      kernels::unary_backward(f, dy.data(), kept.data(), dpre.data(), dpre.size());
      dy = std::move(dpre);
    }
    if (b.wanted()) kernels::sum_columns(dy.data(), N, O, b.buffer().data(), true);
    if (x.wanted()) {
      Tensor dx(input.shape());
      kernels::gemm({.m = N,
                     .n = I,
                     .k = O,
                     .a = dy.data(),
                     .lda = O,
                     .b = matrix.data(),
                     .ldb = I,
                     .c = dx.data(),
                     .ldc = I,
                     .version = version});
      x.add(std::move(dx));
    }
    const int64_t rows = static_cast<int64_t>(N);
    if (w.wanted())
      w.add_product(dy.reshape({rows, static_cast<int64_t>(O)}), input.reshape({rows, static_cast<int64_t>(I)}));
  });
}

}  // namespace attend
