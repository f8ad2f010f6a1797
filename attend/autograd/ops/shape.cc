#include "attend/autograd/ops/shape.h"

#include <algorithm>
#include <array>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/parallel.h"

namespace attend {
namespace {

/// Copies between a block of `rows` runs of `run` numbers and a larger tensor in which the runs are further apart.
void copy_runs(const real* from, size_t from_stride, real* to, size_t to_stride, size_t rows, size_t run) {
  for (size_t r = 0; r < rows; ++r) std::copy_n(from + r * from_stride, run, to + r * to_stride);
}

void add_runs(const real* from, size_t from_stride, real* to, size_t to_stride, size_t rows, size_t run) {
  if (from_stride == run && to_stride == run) return kernels::add_into(to, from, rows * run);
  for (size_t r = 0; r < rows; ++r) kernels::add_into(to + r * to_stride, from + r * from_stride, run);
}

Tensor exchanged(const Tensor& x, int a, int b) {
  Shape shape = x.shape().with(a, x.dim(b)).with(b, x.dim(a));
  Tensor y(shape);
  // [outer, A, middle, B, inner] → [outer, B, middle, A, inner]
  const size_t outer = x.shape().outer(a), A = static_cast<size_t>(x.dim(a)), B = static_cast<size_t>(x.dim(b));
  const size_t inner = x.shape().inner(b), middle = A * B * inner == 0 ? 0 : x.shape().inner(a) / (B * inner);
  if (x.size() == 0) return y;
  const size_t block = A * middle * B * inner;
  if (middle == 1 && inner == 1) {
    for (size_t o = 0; o < outer; ++o) kernels::transpose(x.data() + o * block, A, B, y.data() + o * block);
    return y;
  }
  kernels::parallel_ranges<1>(outer * B, std::max<size_t>(1, (size_t{32} << 10) / (middle * A * inner)),
                              [&](size_t begin, size_t end) {
                                for (size_t t = begin; t < end; ++t) {
                                  const size_t o = t / B, j = t % B;
                                  for (size_t m = 0; m < middle; ++m) {
                                    copy_runs(x.data() + o * block + (m * B + j) * inner, middle * B * inner,
                                              y.data() + o * block + (j * middle + m) * A * inner, inner, A, inner);
                                  }
                                }
                              });
  return y;
}

Var reshaped(const Var& x, Tensor view) {
  if (!recording(x)) return view;
  return record(std::move(view), [x = x.slot(), shape = x.shape()](Tensor dy) { x.add(dy.reshape(shape)); });
}

bool any_recording(std::span<const Var> parts) {
  return Tape::current() && std::any_of(parts.begin(), parts.end(), [](const Var& v) { return v.tracked(); });
}

/// Joins [outer, part.inner·length] blocks; `lengths` are the parts' runs.
Var join(std::span<const Var> parts, const Shape& shape, size_t outer) {
  Tensor y(shape);
  const size_t row = outer == 0 ? 0 : y.size() / outer;
  size_t at = 0;
  for (const Var& part : parts) {
    const size_t run = outer == 0 ? 0 : part.size() / outer;
    copy_runs(part.value().data(), run, y.data() + at, row, outer, run);
    at += run;
  }
  if (!any_recording(parts)) return y;
  struct Part {
    Slot slot;
    Shape shape;
  };
  std::vector<Part> slots;
  for (const Var& part : parts) slots.push_back({part.slot(), part.shape()});
  return record(std::move(y), [slots = std::move(slots), outer, row](Tensor dy) {
    size_t from = 0;
    for (const Part& part : slots) {
      const size_t run = outer == 0 ? 0 : part.shape.size() / outer;
      if (part.slot.needed()) {
        Tensor dx(part.shape);
        copy_runs(dy.data() + from, row, dx.data(), run, outer, run);
        part.slot.add(std::move(dx));
      }
      from += run;
    }
  });
}

}  // namespace

Var reshape(const Var& x, const Shape& shape) { return reshaped(x, x.value().reshape(shape)); }
Var reshape(const Var& x, std::initializer_list<int64_t> extents) { return reshaped(x, x.value().reshape(extents)); }

Var transpose(const Var& x, int axis0, int axis1) {
  require(x.defined(), "transpose: expected a tensor, got an undefined one");
  int a = resolve_axis("transpose", x.shape(), axis0), b = resolve_axis("transpose", x.shape(), axis1);
  if (a == b) return x;
  if (a > b) std::swap(a, b);
  Tensor y = exchanged(x.value(), a, b);
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), a, b](Tensor dy) { x.add(exchanged(dy, a, b)); });
}

Var concat(std::span<const Var> parts, int axis) {
  require(!parts.empty() && parts[0].defined(), "concat: expected at least one tensor, got ", parts.size());
  const Shape& first = parts[0].shape();
  const int a = resolve_axis("concat", first, axis);
  int64_t length = 0;
  for (const Var& part : parts) {
    require(part.defined() && part.rank() == first.rank() && part.shape().with(a, first[a]) == first,
            "concat: shapes must agree except on axis ", a, ", got ", first, " and ", part.shape());
    length += part.dim(a);
  }
  return join(parts, first.with(a, length), first.outer(a));
}

Var stack(std::span<const Var> parts, int axis) {
  require(!parts.empty() && parts[0].defined(), "stack: expected at least one tensor, got ", parts.size());
  const Shape& first = parts[0].shape();
  require(axis >= 0 && axis <= first.rank(), "stack: the new axis must be within 0 … ", first.rank(), " for shape ",
          first, ", got ", axis);
  Shape shape;
  for (int i = 0; i <= first.rank(); ++i) {
    if (i == axis) shape.append(static_cast<int64_t>(parts.size()));
    if (i < first.rank()) shape.append(first[i]);
  }
  for (const Var& part : parts) {
    require(part.shape() == first, "stack: shapes must agree, got ", first, " and ", part.shape());
  }
  return join(parts, shape, first.outer(axis));
}

Var slice(const Var& x, int axis, int64_t begin, int64_t end) {
  require(x.defined(), "slice: expected a tensor, got an undefined one");
  const int a = resolve_axis("slice", x.shape(), axis);
  require(0 <= begin && begin <= end && end <= x.dim(a), "slice: expected a range within [0, ", x.dim(a), ") of axis ",
          a, " of ", x.shape(), ", got [", begin, ", ", end, ")");
  const size_t outer = x.shape().outer(a), inner = x.shape().inner(a);
  const size_t row = static_cast<size_t>(x.dim(a)) * inner, run = static_cast<size_t>(end - begin) * inner;
  const size_t at = static_cast<size_t>(begin) * inner;
  Tensor y = a == 0 ? x.value().rows(begin, end) : Tensor(x.shape().with(a, end - begin));
  if (a > 0) copy_runs(x.value().data() + at, row, y.data(), run, outer, run);
  if (!recording(x)) return y;
  // Added in place: slices of every time step share one buffer instead of a full-size gradient each.
  return record(std::move(y), [x = x.slot(), outer, row, run, at](Tensor dy) {
    add_runs(dy.data(), run, x.buffer().data() + at, row, outer, run);
  });
}

Var select(const Var& x, int64_t index) {
  require(x.defined() && x.rank() > 0 && index >= 0 && index < x.dim(0),
          "select: expected an index within the first axis, got ", index, " for ", x.shape());
  Tensor y = x.value()[index];
  if (!recording(x)) return y;
  const size_t at = static_cast<size_t>(index) * y.size();
  return record(std::move(y),
                [x = x.slot(), at](Tensor dy) { kernels::add_into(x.buffer().data() + at, dy.data(), dy.size()); });
}

Var gather(const Var& x, const Ids& ids) {
  require(x.defined() && x.rank() >= 1 && x.shape().without(-1) == ids.shape,
          "gather: expected one id per row: ids of shape ", x.rank() >= 1 ? x.shape().without(-1) : Shape(), " for x ",
          x.shape(), ", got ", ids.shape);
  const size_t N = static_cast<size_t>(x.dim(-1));
  Tensor y(ids.shape);
  for (size_t r = 0; r < ids.size(); ++r) {
    const int32_t id = ids.values[r];
    require(id >= 0 && static_cast<size_t>(id) < N, "gather: ids must be in [0, ", N, "), got ", id);
    y.data()[r] = x.value().data()[r * N + static_cast<size_t>(id)];
  }
  if (!recording(x)) return y;
  return record(std::move(y), [x = x.slot(), N, values = ids.values](Tensor dy) {
    real* dx = x.buffer().data();
    for (size_t r = 0; r < values.size(); ++r) dx[r * N + static_cast<size_t>(values[r])] += dy.data()[r];
  });
}

Var embedding(const Var& table, const Ids& ids) {
  require(table.defined() && table.rank() == 2, "embedding: expected a table [V,E], got ", table.shape());
  const size_t V = static_cast<size_t>(table.dim(0)), E = static_cast<size_t>(table.dim(1));
  for (const int32_t id : ids.values) {
    require(id >= 0 && static_cast<size_t>(id) < V, "embedding: ids must be in [0, ", V, "), got ", id);
  }
  Shape shape = ids.shape;
  shape.append(table.dim(1));
  Tensor y(shape);
  const real* rows = table.value().data();
  kernels::parallel_ranges<1>(ids.size(), 4096 / (E + 1) + 1, [&](size_t begin, size_t end) {
    for (size_t r = begin; r < end; ++r) {
      std::copy_n(rows + static_cast<size_t>(ids.values[r]) * E, E, y.data() + r * E);
    }
  });
  if (!recording(table)) return y;
  return record(std::move(y), [t = table.slot(), E, values = ids.values](Tensor dy) {
    real* sum = t.buffer().data();
    // Threads split columns, not rows: the same word may occur twice, and its sum must not depend on the threads.
    kernels::parallel_ranges(E, std::max<size_t>(64, (size_t{32} << 10) / (values.size() + 1)),
                             [&](size_t begin, size_t end) {
                               for (size_t r = 0; r < values.size(); ++r) {
                                 real* row = sum + static_cast<size_t>(values[r]) * E;
                                 const real* g = dy.data() + r * E;
                                 for (size_t e = begin; e < end; ++e) row[e] += g[e];
                               }
                             });
  });
}

Var weighted_rows(const Var& table, const Ids& ids, const Tensor& weights, const Ids& places) {
  require(table.defined() && table.rank() == 2, "weighted_rows: expected a table [V,E], got ", table.shape());
  require(weights.rank() == 2 && weights.dim(1) == table.dim(1), "weighted_rows: expected weights [W,", table.dim(1),
          "], got ", weights.shape());
  require(ids.shape.rank() >= 1 && ids.shape == places.shape,
          "weighted_rows: expected a place for each id: ", ids.shape, ", got ", places.shape);
  const int64_t V = table.dim(0), W = weights.dim(0);
  for (size_t i = 0; i < ids.size(); ++i) {
    require(ids.values[i] >= 0 && ids.values[i] < V, "weighted_rows: ids must be in [0, ", V, "), got ", ids.values[i]);
    require(places.values[i] >= -1 && places.values[i] < W, "weighted_rows: places must be in [-1, ", W, "), got ",
            places.values[i]);
  }
  const size_t E = static_cast<size_t>(table.dim(1)), J = static_cast<size_t>(ids.shape[ids.shape.rank() - 1]);
  Shape shape = ids.shape.without(-1);
  shape.append(table.dim(1));
  Tensor y = Tensor::zeros(shape);
  const real *rows = table.value().data(), *scales = weights.data();
  kernels::parallel_ranges<1>(ids.shape.without(-1).size(), 4096 / (E * J + 1) + 1, [&](size_t begin, size_t end) {
    for (size_t i = begin * J; i < end * J; ++i) {
      if (places.values[i] < 0) continue;
      const real* row = rows + static_cast<size_t>(ids.values[i]) * E;
      const real* scale = scales + static_cast<size_t>(places.values[i]) * E;
      real* sum = y.data() + i / J * E;
      for (size_t e = 0; e < E; ++e) sum[e] += scale[e] * row[e];
    }
  });
  if (!recording(table)) return y;
  return record(std::move(y), [t = table.slot(), E, J, weights, values = ids.values, at = places.values](Tensor dy) {
    real* sum = t.buffer().data();
    // By columns, as for embedding.
    kernels::parallel_ranges(E, std::max<size_t>(64, (size_t{32} << 10) / (values.size() + 1)),
                             [&](size_t begin, size_t end) {
                               for (size_t i = 0; i < values.size(); ++i) {
                                 if (at[i] < 0) continue;
                                 real* row = sum + static_cast<size_t>(values[i]) * E;
                                 const real* scale = weights.data() + static_cast<size_t>(at[i]) * E;
                                 const real* g = dy.data() + i / J * E;
                                 for (size_t e = begin; e < end; ++e) row[e] += scale[e] * g[e];
                               }
                             });
  });
}

Var take_rows(const Var& x, std::span<const int32_t> rows) {
  if (!x.defined()) return x;
  require(x.rank() >= 1, "take_rows: expected a tensor of at least one axis, got ", x.shape());
  const int64_t N = static_cast<int64_t>(rows.size()), width = static_cast<int64_t>(x.shape().inner(0));
  const Ids ids({N}, {rows.begin(), rows.end()});
  return reshape(embedding(reshape(x, {x.dim(0), width}), ids), x.shape().with(0, N));
}

}  // namespace attend
