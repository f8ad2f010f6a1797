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
  require(a.defined() && b.defined() && a.rank() == rank && b.rank() == rank, where, ": expected two tensors of rank ",
          rank, ", got ", a.shape(), " and ", b.shape());
  const Matrices x = extents(a.value(), ta), y = extents(b.value(), tb);
  require(x.count == y.count && x.columns == y.rows, where, ": expected [", rank == 3 ? "B," : "", "m,k] and [",
          rank == 3 ? "B," : "", "k,n]", ta || tb ? " after transposing" : "", ", got ", a.shape(),
          ta ? "ᵀ" : "", " and ", b.shape(), tb ? "ᵀ" : "");
  Tensor c = multiply(a.value(), b.value(), ta, tb);
  if (!recording(a, b)) return c;
  // C = op(A)·op(B): d op(A) = dC·op(B)ᵀ and d op(B) = op(A)ᵀ·dC, each turned back if its side was transposed.
  return record(std::move(c), [a = a.slot(), b = b.slot(), x = a.value(), y = b.value(), ta, tb](Tensor dc) {
    if (a.needed()) a.add(ta ? multiply(y, dc, tb, true) : multiply(dc, y, false, !tb));
    if (b.needed() && !ta && dc.rank() == 3 && dc.dim(1) <= kFewRows) {
      return tb ? b.add_batched_product(dc, x) : b.add_batched_product(x, dc);
    }
    if (b.needed()) b.add(tb ? multiply(dc, x, true, ta) : multiply(x, dc, !ta, false));
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

/// out (+)= x·Wᵀ (+ b), all rows of x at once.
void multiply_rows(const Var& x, const Var& weight, const Var& bias, Tensor& out, bool accumulate) {
  const size_t I = static_cast<size_t>(weight.dim(1)), O = static_cast<size_t>(weight.dim(0));
  kernels::gemm({.m = x.shape().outer(x.rank() - 1),
                 .n = O,
                 .k = I,
                 .a = x.value().data(),
                 .lda = I,
                 .b = weight.value().data(),
                 .ldb = I,
                 .transpose_b = true,
                 .c = out.data(),
                 .ldc = O,
                 .accumulate = accumulate,
                 .bias = bias.defined() ? bias.value().data() : nullptr,
                 .version = weight.version()});
}

/// One side of a linear layer in the backward pass: dx += dy·W, dW += dyᵀ·x.
struct LinearSide {
  Slot x, weight;
  Tensor input, matrix;
  uint64_t version;

  LinearSide(const Var& x, const Var& weight)
      : x(x.slot()), weight(weight.slot()), input(x.value()), matrix(weight.value()), version(weight.version()) {}

  void backward(const Tensor& dy) const {
    const size_t I = static_cast<size_t>(matrix.dim(1)), O = static_cast<size_t>(matrix.dim(0));
    const size_t N = dy.shape().outer(dy.rank() - 1);
    if (x.needed()) {
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
    if (weight.needed()) {
      weight.add_product(dy.reshape({rows, static_cast<int64_t>(O)}), input.reshape({rows, static_cast<int64_t>(I)}));
    }
  }
};

/// What follows the products: the activation, and in the backward pass its slope and the bias's sum.
class Activated {
 public:
  /// In place unless the slope must be computed from what comes before the activation (gelu).
  Activated(const Tensor& pre, Activation activation, const Var& bias, bool tape)
      : plain_(activation == Activation::none), f_(function_of(activation)), bias_(bias.slot()) {
    y_ = plain_ || kernels::keeps_output(f_) || !tape ? pre : Tensor(pre.shape());
    if (!plain_) kernels::unary(f_, pre.data(), y_.data(), y_.size());
    if (!plain_ && tape) kept_ = kernels::keeps_output(f_) ? y_ : pre;
  }
  Tensor take() { return std::move(y_); }

  /// The gradient before the activation.
  Tensor backward(Tensor dy) const {
    if (!plain_) {
      Tensor dpre = dy.unique() ? dy : Tensor(dy.shape());
      kernels::unary_backward(f_, dy.data(), kept_.data(), dpre.data(), dpre.size());
      dy = std::move(dpre);
    }
    if (bias_.needed()) {
      const size_t N = dy.shape().outer(dy.rank() - 1), O = static_cast<size_t>(dy.dim(-1));
      kernels::sum_columns(dy.data(), N, O, bias_.buffer().data(), true);
    }
    return dy;
  }

 private:
  bool plain_;
  kernels::Unary f_;
  Slot bias_;
  Tensor y_, kept_;
};

}  // namespace

Var matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  return product("matmul", 2, a, b, transpose_a, transpose_b);
}

Var batched_matmul(const Var& a, const Var& b, bool transpose_a, bool transpose_b) {
  return product("batched_matmul", 3, a, b, transpose_a, transpose_b);
}

Var linear(const Var& x, const Var& weight, const Var& bias, Activation activation) {
  require(x.defined() && weight.defined() && weight.rank() == 2 && x.rank() >= 1 && x.dim(-1) == weight.dim(1),
          "linear: expected x [..,I] and weight [O,I], got ", x.shape(), " and ", weight.shape());
  require(!bias.defined() || bias.shape() == Shape{weight.dim(0)}, "linear: expected bias [", weight.dim(0),
          "] for weight ", weight.shape(), ", got ", bias.shape());
  Tensor pre(x.shape().with(-1, weight.dim(0)));
  multiply_rows(x, weight, bias, pre, false);
  const bool tape = recording(x, weight, bias);
  Activated activated(pre, activation, bias, tape);
  Tensor y = activated.take();
  if (!tape) return y;
  return record(std::move(y), [side = LinearSide(x, weight), activated = std::move(activated)](Tensor dy) {
    side.backward(activated.backward(std::move(dy)));
  });
}

Var linear_pair(const Var& x, const Var& x_weight, const Var& y, const Var& y_weight, const Var& bias,
                Activation activation) {
  require(x.defined() && y.defined() && x.rank() == 2 && y.rank() == 2 && x.dim(0) == y.dim(0) && x_weight.defined() &&
              y_weight.defined() && x_weight.rank() == 2 && y_weight.rank() == 2 && x.dim(1) == x_weight.dim(1) &&
              y.dim(1) == y_weight.dim(1) && x_weight.dim(0) == y_weight.dim(0),
          "linear_pair: expected x [N,I], weight [O,I], y [N,J] and weight [O,J], got ", x.shape(), ", ",
          x_weight.shape(), ", ", y.shape(), " and ", y_weight.shape());
  require(!bias.defined() || bias.shape() == Shape{x_weight.dim(0)}, "linear_pair: expected bias [", x_weight.dim(0),
          "], got ", bias.shape());
  Tensor pre({x.dim(0), x_weight.dim(0)});
  multiply_rows(x, x_weight, bias, pre, false);
  multiply_rows(y, y_weight, {}, pre, true);
  const bool tape = recording(x, x_weight, y, y_weight, bias);
  Activated activated(pre, activation, bias, tape);
  Tensor z = activated.take();
  if (!tape) return z;
  return record(std::move(z), [one = LinearSide(x, x_weight), other = LinearSide(y, y_weight),
                               activated = std::move(activated)](Tensor dz) {
    const Tensor dpre = activated.backward(std::move(dz));
    one.backward(dpre);
    other.backward(dpre);
  });
}

}  // namespace attend
