#include <array>

#include "tests/autograd/op_table.h"

namespace attend::test {
namespace {

Array exchanged(const Array& x, int a, int b) {
  Array y(x.shape.with(a, x.dim(b)).with(b, x.dim(a)));
  const int rank = x.shape.rank();
  for (size_t at = 0; at < x.size(); ++at) {
    std::array<size_t, Shape::kMaxRank> index{};
    size_t rest = at;
    for (int i = rank - 1; i >= 0; --i) {
      index[static_cast<size_t>(i)] = rest % static_cast<size_t>(x.dim(i));
      rest /= static_cast<size_t>(x.dim(i));
    }
    std::swap(index[static_cast<size_t>(a)], index[static_cast<size_t>(b)]);
    size_t to = 0;
    for (int i = 0; i < rank; ++i) to = to * static_cast<size_t>(y.dim(i)) + index[static_cast<size_t>(i)];
    y.v[to] = x.v[at];
  }
  return y;
}

/// 0.5, 0.75, 1, …
Array rising(const Shape& shape) {
  Array y(shape);
  for (size_t i = 0; i < y.size(); ++i) y.v[i] = 0.5 + 0.25 * static_cast<double>(i);
  return y;
}

/// The block of x [A,B,C] with axis `axis` cut to [begin, end).
Array cut(const Array& x, int axis, int64_t begin, int64_t end) {
  Array y(x.shape.with(axis, end - begin));
  for (int64_t i = 0; i < y.dim(0); ++i) {
    for (int64_t j = 0; j < y.dim(1); ++j) {
      for (int64_t k = 0; k < y.dim(2); ++k) {
        y(i, j, k) = x(i + (axis == 0 ? begin : 0), j + (axis == 1 ? begin : 0), k + (axis == 2 ? begin : 0));
      }
    }
  }
  return y;
}

Array joined(const Array& a, const Array& b, int axis) {
  Array y(a.shape.with(axis, a.dim(axis) + b.dim(axis)));
  for (int64_t i = 0; i < y.dim(0); ++i) {
    for (int64_t j = 0; j < y.dim(1); ++j) {
      for (int64_t k = 0; k < y.dim(2); ++k) {
        const int64_t at[] = {i, j, k}, over = at[axis] - a.dim(axis);
        y(i, j, k) = over < 0 ? a(i, j, k) : b(axis == 0 ? over : i, axis == 1 ? over : j, axis == 2 ? over : k);
      }
    }
  }
  return y;
}

}  // namespace

void add_shape_rows(std::vector<OpRow>& table) {
  table.push_back({"reshape",
                   {{4, 6}},
                   [](const Vars& x) {
                     return Vars{reshape(x[0], {2, -1, 3})};
                   },
                   [](const Arrays& x) {
                     Array y = x[0];
                     y.shape = {2, 4, 3};
                     return Arrays{y};
                   },
                   {{[] {
                       reshape(Tensor::zeros({4, 6}), {5, 5});
                     },
                     "expected 24 elements as in [4, 6], got [5, 5]"},
                    {[] {
                       reshape(Tensor::zeros({4, 6}), {-1, -1});
                     },
                     "at most one extent may be -1"}}});
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {0, 2}, {2, 3}, {1, 3}, {0, 3}}) {
    table.push_back({"transpose " + std::to_string(a) + std::to_string(b),
                     {{3, 5, 9, 7}},
                     [a = a, b = b](const Vars& x) { return Vars{transpose(x[0], b, a)}; },
                     [a = a, b = b](const Arrays& x) { return Arrays{exchanged(x[0], a, b)}; },
                     {{[] { transpose(Tensor::zeros({3}), 0, 1); }, "transpose: axis must be within -1 … 0"}}});
  }
  for (int axis = 0; axis < 3; ++axis) {
    const Shape a{2, 3, 4}, b = a.with(axis, 5);
    const std::string which = " " + std::to_string(axis);
    table.push_back({"concat" + which,
                     {a, b},
                     [axis](const Vars& x) { return Vars{concat(x, axis)}; },
                     [axis](const Arrays& x) { return Arrays{joined(x[0], x[1], axis)}; },
                     {{[] {
                         concat(Vars{Tensor::zeros({2, 3}), Tensor::zeros({3, 4})}, 0);
                       },
                       "concat: shapes must agree except on axis 0, got [2, 3] and [3, 4]"},
                      {[] { concat(Vars{}, 0); }, "at least one"}}});
    table.push_back({"slice" + which,
                     {{4, 5, 6}},
                     [axis](const Vars& x) { return Vars{slice(x[0], axis, 1, 3)}; },
                     [axis](const Arrays& x) { return Arrays{cut(x[0], axis, 1, 3)}; },
                     {{[] {
                         slice(Tensor::zeros({4, 5}), 1, 2, 6);
                       },
                       "slice: expected a range within [0, 5) of axis 1"}}});
  }
  table.push_back({"stack 0",
                   {{3, 4}, {3, 4}},
                   [](const Vars& x) { return Vars{stack(x, 0)}; },
                   [](const Arrays& x) {
                     Array y({2, 3, 4});
                     for (size_t i = 0; i < 12; ++i) y.v[i] = x[0].v[i], y.v[12 + i] = x[1].v[i];
                     return Arrays{y};
                   },
                   {{[] {
                       stack(Vars{Tensor::zeros({2}), Tensor::zeros({3})}, 0);
                     },
                     "stack: shapes must agree"},
                    {[] { stack(Vars{Tensor::zeros({2})}, 2); }, "the new axis must be within 0 … 1"}}});
  table.push_back({"stack 1",
                   {{3, 4}, {3, 4}},
                   [](const Vars& x) { return Vars{stack(x, 1)}; },
                   [](const Arrays& x) {
                     Array y({3, 2, 4});
                     for (int64_t i = 0; i < 3; ++i) {
                       for (int64_t k = 0; k < 4; ++k) y(i, 0, k) = x[0](i, k), y(i, 1, k) = x[1](i, k);
                     }
                     return Arrays{y};
                   }});
  table.push_back({"select",
                   {{4, 3, 2}},
                   [](const Vars& x) {
                     return Vars{select(x[0], 2), select(x[0], 1)};
                   },
                   [](const Arrays& x) {
                     Array a({3, 2}), b({3, 2});
                     for (size_t i = 0; i < 6; ++i) a.v[i] = x[0].v[12 + i], b.v[i] = x[0].v[6 + i];
                     return Arrays{a, b};
                   },
                   {{[] { select(Tensor::zeros({4}), 4); }, "select: expected an index within the first axis"}}});
  table.push_back({"take_rows",
                   {{4, 3, 2}},
                   [](const Vars& x) {
                     return Vars{take_rows(x[0], std::array{2, 0, 2}), take_rows(x[0], {})};
                   },
                   [](const Arrays& x) {
                     Array y({3, 3, 2});
                     const size_t rows[] = {2, 0, 2};
                     for (size_t i = 0; i < y.size(); ++i) y.v[i] = x[0].v[rows[i / 6] * 6 + i % 6];
                     return Arrays{y, Array({0, 3, 2})};
                   },
                   {{[] { take_rows(Tensor::zeros({4, 3}), std::array{0, 4}); }, "ids must be in [0, 4), got 4"},
                    {[] { take_rows(Tensor::scalar(1), std::array{0}); }, "take_rows: expected a tensor of at least one axis"}}});
  table.push_back({"gather",
                   {{2, 3, 5}},
                   [](const Vars& x) {
                     return Vars{gather(x[0], Ids({2, 3}, {0, 4, 2, 1, 1, 3}))};
                   },
                   [](const Arrays& x) {
                     const size_t ids[] = {0, 4, 2, 1, 1, 3};
                     Array y({2, 3});
                     for (size_t r = 0; r < 6; ++r) y.v[r] = x[0].v[r * 5 + ids[r]];
                     return Arrays{y};
                   },
                   {{[] {
                       gather(Tensor::zeros({2, 5}), Ids({2}, {0, 5}));
                     },
                     "gather: ids must be in [0, 5), got 5"},
                    {[] {
                       gather(Tensor::zeros({2, 5}), Ids({3}, {0, 1, 2}));
                     },
                     "expected one id per row"}}});
  table.push_back({"embedding",
                   {{6, 9}},
                   [](const Vars& x) {
                     return Vars{embedding(x[0], Ids({2, 3}, {0, 4, 4, 1, 5, 4}))};
                   },
                   [](const Arrays& x) {
                     const size_t ids[] = {0, 4, 4, 1, 5, 4};
                     Array y({2, 3, 9});
                     for (size_t r = 0; r < 6; ++r) {
                       for (size_t e = 0; e < 9; ++e) y.v[r * 9 + e] = x[0].v[ids[r] * 9 + e];
                     }
                     return Arrays{y};
                   },
                   {{[] {
                       embedding(Tensor::zeros({6, 9}), Ids({1}, {6}));
                     },
                     "embedding: ids must be in [0, 6), got 6"},
                    {[] { embedding(Tensor::zeros({6}), Ids({1}, {0})); }, "expected a table [V,E]"}}});
  table.push_back({"weighted_rows",
                   {{6, 9}},
                   [](const Vars& x) {
                     return Vars{weighted_rows(x[0], Ids({2, 3}, {0, 4, 4, 1, 5, 4}), to_tensor(rising({3, 9})),
                                               Ids({2, 3}, {0, 2, 1, -1, 2, 2}))};
                   },
                   [](const Arrays& x) {
                     const int ids[] = {0, 4, 4, 1, 5, 4}, places[] = {0, 2, 1, -1, 2, 2};
                     const Array weights = rising({3, 9});
                     Array y({2, 9});
                     for (int64_t i = 0; i < 6; ++i) {
                       for (int64_t e = 0; places[i] >= 0 && e < 9; ++e) y(i / 3, e) += weights(places[i], e) * x[0](ids[i], e);
                     }
                     return Arrays{y};
                   },
                   {{[] {
                       weighted_rows(Tensor::zeros({6, 9}), Ids({1}, {6}), Tensor::zeros({1, 9}), Ids({1}, {0}));
                     },
                     "weighted_rows: ids must be in [0, 6), got 6"},
                    {[] {
                       weighted_rows(Tensor::zeros({6, 9}), Ids({1}, {5}), Tensor::zeros({1, 9}), Ids({1}, {1}));
                     },
                     "weighted_rows: places must be in [-1, 1), got 1"},
                    {[] {
                       weighted_rows(Tensor::zeros({6, 9}), Ids({1}, {5}), Tensor::zeros({1, 8}), Ids({1}, {0}));
                     },
                     "expected weights [W,9]"},
                    {[] {
                       weighted_rows(Tensor::zeros({6, 9}), Ids({2}, {5, 5}), Tensor::zeros({1, 9}), Ids({1}, {0}));
                     },
                     "expected a place for each id"}}});
}

}  // namespace attend::test
