#include "attend/base/shape.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/base/error.h"
#include "tests/support/message.h"

namespace attend {
namespace {

using test::message_of;

TEST(Shape, EmptyIsAScalar) {
  const Shape shape;
  EXPECT_EQ(shape.rank(), 0);
  EXPECT_EQ(shape.size(), 1u);
  EXPECT_EQ(to_string(shape), "[]");
}

TEST(Shape, CountsAndIndexesFromBothEnds) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.size(), 30u);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(to_string(shape), "[2, 3, 5]");
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), (std::vector<int64_t>{2, 3, 5}));
}

TEST(Shape, AnExtentOfZeroMakesItEmpty) { EXPECT_EQ((Shape{4, 0, 7}).size(), 0u); }

TEST(Shape, EqualityNeedsRankAndExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3} == Shape{3, 2}));
  EXPECT_FALSE((Shape{2, 3} == Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{} == Shape{1}));
}

TEST(Shape, FromARange) {
  const std::vector<int> extents{4, 1};
  EXPECT_EQ(Shape(extents.begin(), extents.end()), (Shape{4, 1}));
}

TEST(Shape, WithAndWithoutAnAxis) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.with(1, 7), (Shape{2, 7, 5}));
  EXPECT_EQ(shape.with(-1, 7), (Shape{2, 3, 7}));
  EXPECT_EQ(shape.without(0), (Shape{3, 5}));
  EXPECT_EQ(shape.without(-1), (Shape{2, 3}));
  EXPECT_EQ(shape, (Shape{2, 3, 5}));
}

TEST(Shape, OuterAndInnerSurroundAnAxis) {
  const Shape shape{2, 3, 5, 7};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    EXPECT_EQ(shape.outer(axis) * static_cast<size_t>(shape[axis]) * shape.inner(axis), shape.size());
  }
  EXPECT_EQ(shape.outer(0), 1u);
  EXPECT_EQ(shape.outer(2), 6u);
  EXPECT_EQ(shape.inner(2), 7u);
  EXPECT_EQ(shape.inner(3), 1u);
}

TEST(Shape, RefusesWhatItCannotHold) {
  EXPECT_EQ(message_of([] { Shape{1, 1, 1, 1, 1, 1, 1}; }),
            "Shape: at most 6 axes are supported, got more after [1, 1, 1, 1, 1, 1]");
  EXPECT_EQ(message_of([] { Shape{2, -3}; }), "Shape: extents must not be negative, got -3 after [2]");
}

TEST(Shape, RefusesMoreThan2To48Elements) {
  constexpr int64_t kMost = int64_t{1} << 48;
  EXPECT_EQ(Shape{kMost}.size(), size_t{1} << 48);
  EXPECT_NE(message_of([] { Shape{kMost + 1}; }), "");
  EXPECT_NE(message_of([] { Shape{1 << 24, 1 << 24, 2}; }), "");
  // A product that would wrap around 64 bits to something small.
  EXPECT_NE(message_of([] { Shape{int64_t{1} << 32, int64_t{1} << 32}; }), "");
  EXPECT_NE(message_of([] { Shape{INT64_MAX, INT64_MAX, INT64_MAX}; }), "");
}

TEST(Shape, ResolvesAnAxisOrNamesTheCaller) {
  const Shape shape{2, 3};
  EXPECT_EQ(resolve_axis("sum", shape, 0), 0);
  EXPECT_EQ(resolve_axis("sum", shape, 1), 1);
  EXPECT_EQ(resolve_axis("sum", shape, -1), 1);
  EXPECT_EQ(resolve_axis("sum", shape, -2), 0);
  EXPECT_EQ(message_of([&] { resolve_axis("sum", shape, 2); }),
            "sum: axis must be within -2 … 1 for shape [2, 3], got 2");
  EXPECT_NE(message_of([&] { resolve_axis("sum", shape, -3); }), "");
  EXPECT_NE(message_of([&] { resolve_axis("sum", Shape{}, 0); }), "");
}

}  // namespace
}  // namespace attend
