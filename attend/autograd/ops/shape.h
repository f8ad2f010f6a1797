// Ops that move values: views, joins, cuts, look-ups.
#pragma once

#include <span>
#include <vector>

#include "attend/autograd/var.h"

namespace attend {

/// The same values under another shape: a view. One extent may be -1, to be inferred.
Var reshape(const Var& x, const Shape& shape);
Var reshape(const Var& x, std::initializer_list<int64_t> extents);
/// Exchanges two axes (a copy).
Var transpose(const Var& x, int axis0 = -2, int axis1 = -1);
/// Joins along an axis; all other extents must agree.
Var concat(std::span<const Var> parts, int axis);
/// Joins along a new axis; all shapes must agree.
Var stack(std::span<const Var> parts, int axis = 0);
/// Positions [begin, end) of an axis; a view for the first axis.
Var slice(const Var& x, int axis, int64_t begin, int64_t end);
/// Position i of the first axis, which disappears: a view.
Var select(const Var& x, int64_t index);
/// Positions `rows` of the first axis, in that order, repeats allowed: y[n] = x[rows[n]]. Undefined stays undefined.
Var take_rows(const Var& x, std::span<const int32_t> rows);
/// One element per row: x [..,N], ids [..] → y[..] = x[.., ids[..]].
Var gather(const Var& x, const Ids& ids);
/// Rows of a table: table [V,E], ids [..] → [..,E]. The gradient is added to the rows that were used and touches no
/// others.
Var embedding(const Var& table, const Ids& ids);
/// Weighted sums of rows of a table: table [V,E], ids [..,J], weights [W,E], places [..,J] → [..,E],
/// y[..] = Σⱼ weights[places[..,j]]∘table[ids[..,j]]; a place of −1 adds nothing.
Var weighted_rows(const Var& table, const Ids& ids, const Tensor& weights, const Ids& places);

}  // namespace attend
