#include "attend/autograd/ops/rows.h"

#include <memory>
#include <vector>

#include "attend/autograd/ops/broadcast.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/divergence.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/rows.h"
#include "attend/kernels/sparsemax.h"

namespace attend {
namespace {

/// A mask that broadcasts over the rows of x, in the form that kernels read; owns what they point to.
class Mask {
 public:
  Mask(const char* where, const Tensor& mask, const Shape& x) : mask_(mask) {
    if (!mask.defined()) return;
    require(mask.rank() >= 1 && mask.rank() <= x.rank() && mask.dim(-1) == x[-1], where,
            ": the mask must have x's last extent and broadcast to ", x, ", got ", mask.shape());
    require(broadcast_shape(where, x, mask.shape()) == x, where, ": the mask must broadcast to ", x, ", got ",
            mask.shape());
    const BroadcastRows rows(x, mask.shape());
    row_of_.resize(x.outer(x.rank() - 1));  // even if rows have no elements, which `rows` does not count
    const size_t length = std::max<size_t>(1, rows.length());
    for (size_t r = 0; r < row_of_.size(); ++r) row_of_[r] = static_cast<uint32_t>(rows.offset(r) / length);
  }
  kernels::RowMask rows() const {
    return mask_.defined() ? kernels::RowMask{mask_.data(), row_of_.data()} : kernels::RowMask{};
  }

 private:
  Tensor mask_;
  std::vector<uint32_t> row_of_;
};

struct Rows {
  size_t count, length;
};

Rows rows_of(const char* where, const Var& x) {
  require(x.defined() && x.rank() >= 1, where, ": expected a tensor of at least one axis, got ", x.shape());
  return {x.shape().outer(x.rank() - 1), static_cast<size_t>(x.dim(-1))};
}

struct Axis {
  size_t outer, length, inner;
  Shape shape;  // without the axis
};

Axis axis_of(const char* where, const Var& x, int axis) {
  require(x.defined(), where, ": expected a tensor, got an undefined one");
  const int a = resolve_axis(where, x.shape(), axis);
  return {x.shape().outer(a), static_cast<size_t>(x.dim(a)), x.shape().inner(a), x.shape().without(a)};
}

/// scale·Σ over an axis.
Var reduce_sum(const char* where, const Var& x, int axis, bool average) {
  const Axis a = axis_of(where, x, axis);
  require(!average || a.length > 0, where, ": expected an axis of at least one element, got ", x.shape());
  Tensor y(a.shape);
  kernels::sum_axis(x.value().data(), a.outer, a.length, a.inner, y.data());
  const real scale = average ? real{1} / static_cast<real>(a.length) : real{1};
  if (average) kernels::affine(y.data(), scale, 0, y.data(), y.size());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), shape = x.shape(), a, scale](Tensor dy) {
    Tensor dx(shape);
    for (size_t o = 0; o < a.outer; ++o) {
      for (size_t k = 0; k < a.length; ++k) {
        kernels::affine(dy.data() + o * a.inner, scale, 0, dx.data() + (o * a.length + k) * a.inner, a.inner);
      }
    }
    x.add(std::move(dx));
  });
}

/// How many count.
size_t require_targets(const char* where, const Var& logits, const Ids& targets, const CrossEntropyOptions& options) {
  const Rows r = rows_of(where, logits);
  require(targets.size() == r.count, where, ": logits ", logits.shape(), " want ", r.count, " targets, got ",
          targets.shape);
  require(options.smoothing >= 0 && options.smoothing < 1, where, ": smoothing must be in [0, 1), got ",
          options.smoothing);
  size_t counted = 0;
  for (const int32_t target : targets.values) {
    if (target == options.ignored) continue;
    require(target >= 0 && static_cast<size_t>(target) < r.length, where, ": targets must be in [0, ", r.length,
            ") or ", options.ignored, " (ignored), got ", target);
    ++counted;
  }
  return counted;
}

/// The cross-entropy of each row, and ln Σ eˣ.
struct Entropy {
  kernels::CrossEntropy problem;
  Tensor losses, log_sums;

  Entropy(const Var& logits, const Ids& targets, const CrossEntropyOptions& options)
      : problem{.logits = logits.value().data(),
                .targets = targets.values.data(),
                .rows = targets.values.size(),
                .n = static_cast<size_t>(logits.dim(-1)),
                .smoothing = options.smoothing,
                .ignored = options.ignored},
        losses({static_cast<int64_t>(problem.rows)}),
        log_sums(losses.shape()) {
    kernels::cross_entropy(problem, losses.data(), log_sums.data());
  }
};

Var reduce_all(const char* where, const Var& x, bool average) {
  require(x.defined() && (!average || x.size() > 0), where, ": expected a tensor with elements, got ", x.shape());
  const real scale = average ? real{1} / static_cast<real>(x.size()) : real{1};
  Tensor y = Tensor::scalar(kernels::sum(x.value().data(), x.size()) * scale);
  if (!recording(x)) return y;
  return record(std::move(y),
                [x = x.slot(), shape = x.shape(), scale](Tensor dy) { x.add(Tensor::full(shape, dy.item() * scale)); });
}

}  // namespace

Var softmax(const Var& x, const Tensor& mask) {
  const Rows r = rows_of("softmax", x);
  const Mask seen("softmax", mask, x.shape());
  Tensor y(x.shape());
  kernels::softmax(x.value().data(), r.count, r.length, seen.rows(), y.data());
  if (!recording(x)) return y;
  return record(y, [x = x.slot(), y, r](Tensor dy) {  // masked weights are 0, and so is their gradient
    Tensor dx = dy.unique() ? dy : Tensor(dy.shape());
    kernels::softmax_backward(dy.data(), y.data(), r.count, r.length, dx.data());
    x.add(std::move(dx));
  });
}

Var log_softmax(const Var& x, const Tensor& mask) {
  const Rows r = rows_of("log_softmax", x);
  auto seen = std::make_shared<const Mask>("log_softmax", mask, x.shape());
  Tensor y(x.shape());
  kernels::log_softmax(x.value().data(), r.count, r.length, seen->rows(), y.data());
  if (!recording(x)) return y;
  return record(y, [x = x.slot(), y, seen, r](Tensor dy) {
    Tensor dx = dy.unique() ? dy : Tensor(dy.shape());
    kernels::log_softmax_backward(dy.data(), y.data(), r.count, r.length, seen->rows(), dx.data());
    x.add(std::move(dx));
  });
}

Var sparsemax(const Var& x, const Tensor& mask) {
  const Rows r = rows_of("sparsemax", x);
  const Mask which("sparsemax", mask, x.shape());
  Tensor y(x.shape());
  kernels::sparsemax(x.value().data(), r.count, r.length, which.rows(), y.data());
  if (!recording(x)) return y;
  return record(y, [x = x.slot(), y, r](Tensor dy) {
    Tensor dx(y.shape());
    kernels::sparsemax_backward(dy.data(), y.data(), r.count, r.length, dx.data());
    x.add(std::move(dx));
  });
}

Var cross_entropy(const Var& logits, const Ids& targets, const CrossEntropyOptions& options) {
  const Rows r = rows_of("cross_entropy", logits);
  const size_t counted = require_targets("cross_entropy", logits, targets, options);
  Entropy all(logits, targets, options);
  const real scale = counted > 0 ? real{1} / static_cast<real>(counted) : 0;
  Tensor loss = Tensor::scalar(kernels::sum(all.losses.data(), r.count) * scale);
  if (!recording(logits)) return loss;
  return record(std::move(loss), [x = logits.slot(), log_sums = all.log_sums, problem = all.problem,
                                  ids = targets.values, input = logits.value(), scale](Tensor dy) mutable {
    problem.targets = ids.data();
    Tensor dx(input.shape());
    kernels::cross_entropy_backward(problem, log_sums.data(), dy.item() * scale, dx.data());
    x.add(std::move(dx));
  });
}

Var paired_cross_entropy(const Var& a, const Var& b, const Ids& targets, real weight,
                         const CrossEntropyOptions& options) {
  const char* const name = "paired_cross_entropy";
  const Rows r = rows_of(name, a);
  require(b.defined() && b.shape() == a.shape(), name, ": expected two tensors of logits of one shape, got ", a.shape(),
          " and ", b.shape());
  require(weight >= 0, name, ": expected a weight of 0 or more, got ", weight);
  const size_t counted = require_targets(name, a, targets, options);
  const Entropy first(a, targets, options), second(b, targets, options);
  kernels::Divergence apart{.a = a.value().data(),
                            .b = b.value().data(),
                            .a_log_sum = first.log_sums.data(),
                            .b_log_sum = second.log_sums.data(),
                            .targets = targets.values.data(),
                            .rows = r.count,
                            .n = r.length,
                            .ignored = options.ignored};
  const int64_t rows = static_cast<int64_t>(r.count);
  Tensor there({rows}), back({rows});
  kernels::divergence(apart, there.data(), back.data());
  const real half = counted > 0 ? real(0.5) / static_cast<real>(counted) : 0;
  const auto sum_of = [&](const Tensor& x) { return kernels::sum(x.data(), r.count); };
  Tensor loss =
      Tensor::scalar(half * (sum_of(first.losses) + sum_of(second.losses) + weight * (sum_of(there) + sum_of(back))));
  if (!recording(a, b)) return loss;
  return record(std::move(loss), [x = a.slot(), y = b.slot(), a = a.value(), b = b.value(), as = first.log_sums,
                                  bs = second.log_sums, of_a = first.problem, of_b = second.problem, there, back, apart,
                                  ids = targets.values, half, weight](Tensor dy) mutable {
    of_a.targets = of_b.targets = apart.targets = ids.data();
    const real scale = dy.item() * half;
    Tensor da(a.shape()), db(b.shape());
    kernels::cross_entropy_backward(of_a, as.data(), scale, da.data());
    kernels::cross_entropy_backward(of_b, bs.data(), scale, db.data());
    kernels::divergence_backward(apart, there.data(), back.data(), scale * weight, da.data(), db.data());
    x.add(std::move(da));
    y.add(std::move(db));
  });
}

Var layer_norm(const Var& x, const Var& gain, const Var& bias, real epsilon) {
  const Rows r = rows_of("layer_norm", x);
  require(r.length > 0 && gain.defined() && bias.defined() && gain.shape() == Shape{x.dim(-1)} &&
              bias.shape() == gain.shape(),
          "layer_norm: expected gain and bias [", x.dim(-1), "] for x ", x.shape(), ", got ", gain.shape(), " and ",
          bias.shape());
  const int64_t rows = static_cast<int64_t>(r.count);
  Tensor y(x.shape()), means({rows}), rstds({rows});
  kernels::layer_norm(x.value().data(), gain.value().data(), bias.value().data(), r.count, r.length, epsilon, y.data(),
                      means.data(), rstds.data());
  if (!recording(x, gain, bias)) return y;
  return record(std::move(y), [x = x.slot(), g = gain.slot(), b = bias.slot(), input = x.value(), scale = gain.value(),
                               means, rstds, r](Tensor dy) {
    Tensor dx = x.needed() ? Tensor(input.shape()) : Tensor();
    kernels::layer_norm_backward(dy.data(), input.data(), scale.data(), means.data(), rstds.data(), r.count, r.length,
                                 dx.data(), g.needed() ? g.buffer().data() : nullptr,
                                 b.needed() ? b.buffer().data() : nullptr);
    if (x.needed()) x.add(std::move(dx));
  });
}

Var sum(const Var& x, int axis) { return reduce_sum("sum", x, axis, false); }
Var mean(const Var& x, int axis) { return reduce_sum("mean", x, axis, true); }
Var sum(const Var& x) { return reduce_all("sum", x, false); }
Var mean(const Var& x) { return reduce_all("mean", x, true); }

Var max(const Var& x, int axis) {
  const Axis a = axis_of("max", x, axis);
  require(a.length > 0, "max: expected an axis of at least one element, got ", x.shape());
  Tensor y(a.shape);
  std::vector<int32_t> at(y.size());
  kernels::max_axis(x.value().data(), a.outer, a.length, a.inner, y.data(), at.data());
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), shape = x.shape(), a, at = std::move(at)](Tensor dy) {
    Tensor dx = Tensor::zeros(shape);
    for (size_t o = 0; o < a.outer; ++o) {
      for (size_t i = 0; i < a.inner; ++i) {
        const size_t k = static_cast<size_t>(at[o * a.inner + i]);
        dx.data()[(o * a.length + k) * a.inner + i] = dy.data()[o * a.inner + i];
      }
    }
    x.add(std::move(dx));
  });
}

}  // namespace attend
