#include "attend/autograd/ops/elementwise.h"

#include "attend/autograd/ops/broadcast.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"

namespace attend {
namespace {

using kernels::Binary;
using kernels::Unary;

Tensor combine(const char* where, Binary f, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) {
    Tensor y(a.shape());
    kernels::binary(f, a.data(), 1, b.data(), 1, y.data(), y.size());
    return y;
  }
  Tensor y(broadcast_shape(where, a.shape(), b.shape()));
  const BroadcastRows of_a(y.shape(), a.shape()), of_b(y.shape(), b.shape());
  for (size_t row = 0; row < of_a.count(); ++row) {
    kernels::binary(f, a.data() + of_a.offset(row), of_a.step(), b.data() + of_b.offset(row), of_b.step(),
                    y.data() + row * of_a.length(), of_a.length());
  }
  return y;
}

void require_defined(const char* where, const Var& a, const Var& b) {
  require(a.defined() && b.defined(), where, ": expected two tensors, got an undefined one");
}

Var apply(const char* where, Unary f, const Var& x) {
  require(x.defined(), where, ": expected a tensor, got an undefined one");
  Tensor y(x.shape());
  kernels::unary(f, x.value().data(), y.data(), y.size());
  if (!recording(x)) return y;
  return record(y, [x = x.slot(), kept = kernels::keeps_output(f) ? y : x.value(), f](Tensor dy) {
    Tensor dx = dy.unique() ? dy : Tensor(dy.shape());
    kernels::unary_backward(f, dy.data(), kept.data(), dx.data(), dx.size());
    x.add(std::move(dx));
  });
}

}  // namespace

Var add(const Var& a, const Var& b) {
  require_defined("add", a, b);
  Tensor y = combine("add", Binary::add, a.value(), b.value());
  if (!recording(a, b)) return y;
  return record(std::move(y), [a = a.slot(), b = b.slot(), as = a.shape(), bs = b.shape()](Tensor dy) {
    if (a.needed()) a.add(sum_to_shape(dy, as));
    if (b.needed()) b.add(sum_to_shape(dy, bs));
  });
}

Var subtract(const Var& a, const Var& b) {
  require_defined("subtract", a, b);
  Tensor y = combine("subtract", Binary::subtract, a.value(), b.value());
  if (!recording(a, b)) return y;
  return record(std::move(y), [a = a.slot(), b = b.slot(), as = a.shape(), bs = b.shape()](Tensor dy) {
    if (a.needed()) a.add(sum_to_shape(dy, as));
    if (b.needed()) {
      Tensor db(dy.shape());
      kernels::affine(dy.data(), -1, 0, db.data(), db.size());
      b.add(sum_to_shape(db, bs));
    }
  });
}

Var multiply(const Var& a, const Var& b) {
  require_defined("multiply", a, b);
  Tensor y = combine("multiply", Binary::multiply, a.value(), b.value());
  if (!recording(a, b)) return y;
  return record(std::move(y), [a = a.slot(), b = b.slot(), x = a.value(), z = b.value()](Tensor dy) {
    if (a.needed()) a.add(sum_to_shape(combine("multiply", Binary::multiply, dy, z), x.shape()));
    if (b.needed()) b.add(sum_to_shape(combine("multiply", Binary::multiply, dy, x), z.shape()));
  });
}

Var divide(const Var& a, const Var& b) {
  require_defined("divide", a, b);
  Tensor y = combine("divide", Binary::divide, a.value(), b.value());
  if (!recording(a, b)) return y;
  return record(y, [a = a.slot(), b = b.slot(), as = a.shape(), z = b.value(), y](Tensor dy) {
    const Tensor da = combine("divide", Binary::divide, dy, z);  // ∂/∂a = 1/b, ∂/∂b = −y/b
    if (a.needed()) a.add(sum_to_shape(da, as));
    if (b.needed()) {
      Tensor db = combine("divide", Binary::multiply, da, y);
      kernels::affine(db.data(), -1, 0, db.data(), db.size());
      b.add(sum_to_shape(db, z.shape()));
    }
  });
}

Var affine(const Var& x, real scale, real shift) {
  require(x.defined(), "affine: expected a tensor, got an undefined one");
  Tensor y(x.shape());
  kernels::affine(x.value().data(), scale, shift, y.data(), y.size());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), scale](Tensor dy) {
    Tensor dx(dy.shape());
    kernels::affine(dy.data(), scale, 0, dx.data(), dx.size());
    x.add(std::move(dx));
  });
}

Var tanh(const Var& x) { return apply("tanh", Unary::tanh, x); }
Var sigmoid(const Var& x) { return apply("sigmoid", Unary::sigmoid, x); }
Var relu(const Var& x) { return apply("relu", Unary::relu, x); }
Var relu6(const Var& x) { return apply("relu6", Unary::relu6, x); }
Var gelu(const Var& x) { return apply("gelu", Unary::gelu, x); }
Var exp(const Var& x) { return apply("exp", Unary::exp, x); }
Var log(const Var& x) { return apply("log", Unary::log, x); }

Var dropout(const Var& x, real rate, Random& random) {
  require(x.defined(), "dropout: expected a tensor, got an undefined one");
  require(rate >= 0 && rate < 1, "dropout: the rate must be in [0, 1), got ", rate);
  if (rate == 0) return x;
  const uint64_t key = random.next_key();
  Tensor y(x.shape());
  kernels::dropout(x.value().data(), 1 - rate, key, y.data(), y.size());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), rate, key](Tensor dy) {
    Tensor dx(dy.shape());
    kernels::dropout(dy.data(), 1 - rate, key, dx.data(), dx.size());
    x.add(std::move(dx));
  });
}

}  // namespace attend
