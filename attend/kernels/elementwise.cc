#include "attend/kernels/elementwise.h"

#include <algorithm>

#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/elementwise.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/math-inl.h"
#include "attend/kernels/random-inl.h"
#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Elements below which a loop stays on one thread: about 10 µs of work, as for products (gemm.cc).
constexpr size_t kGrainCheap = size_t{64} << 10;
constexpr size_t kGrainCostly = size_t{16} << 10;

template <class Function>
void map1(size_t grain, const real* x, real* out, size_t n, Function f) {
  parallel_ranges(n, grain, [&](size_t begin, size_t end) {
    map_range(out + begin, end - begin, n, [&](auto d, size_t i, auto load) { return f(load(d, x + begin + i)); });
  });
}

template <class Function>
void map2(size_t grain, const real* a, const real* b, real* out, size_t n, Function f) {
  parallel_ranges(n, grain, [&](size_t begin, size_t end) {
    map_range(out + begin, end - begin, n,
              [&](auto d, size_t i, auto load) { return f(load(d, a + begin + i), load(d, b + begin + i)); });
  });
}

void UnaryMap(Unary f, const real* x, real* out, size_t n) {
  switch (f) {
    case Unary::tanh: return map1(kGrainCostly, x, out, n, [](auto v) HWY_ATTR { return tanh_of(v); });
    case Unary::sigmoid: return map1(kGrainCostly, x, out, n, [](auto v) HWY_ATTR { return sigmoid_of(v); });
    case Unary::gelu: return map1(kGrainCostly, x, out, n, [](auto v) HWY_ATTR { return gelu_of(v); });
    case Unary::exp: return map1(kGrainCostly, x, out, n, [](auto v) HWY_ATTR { return exp_of(v); });
    case Unary::log: return map1(kGrainCostly, x, out, n, [](auto v) HWY_ATTR { return log_of(v); });
    case Unary::relu:
      return map1(kGrainCheap, x, out, n, [](auto v) HWY_ATTR { return hn::Max(v, hn::Zero(TagOf<decltype(v)>())); });
    case Unary::relu6:
      return map1(kGrainCheap, x, out, n, [](auto v) HWY_ATTR {
        const TagOf<decltype(v)> d;
        return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, real{6}));
      });
  }
}

void UnaryBackward(Unary f, const real* dy, const real* kept, real* dx, size_t n) {
  switch (f) {
    case Unary::tanh:
      return map2(kGrainCheap, dy, kept, dx, n,
                  [](auto g, auto y) HWY_ATTR { return hn::NegMulAdd(hn::Mul(g, y), y, g); });
    case Unary::sigmoid:
      return map2(kGrainCheap, dy, kept, dx, n, [](auto g, auto y) HWY_ATTR {
        const auto gy = hn::Mul(g, y);
        return hn::NegMulAdd(gy, y, gy);
      });
    case Unary::relu:
      return map2(kGrainCheap, dy, kept, dx, n, [](auto g, auto y) HWY_ATTR {
        return hn::IfThenElseZero(hn::Gt(y, hn::Zero(TagOf<decltype(y)>())), g);
      });
    case Unary::relu6:
      return map2(kGrainCheap, dy, kept, dx, n, [](auto g, auto y) HWY_ATTR {
        const TagOf<decltype(y)> d;
        return hn::IfThenElseZero(hn::And(hn::Gt(y, hn::Zero(d)), hn::Lt(y, hn::Set(d, real{6}))), g);
      });
    case Unary::exp: return map2(kGrainCheap, dy, kept, dx, n, [](auto g, auto y) HWY_ATTR { return hn::Mul(g, y); });
    case Unary::log: return map2(kGrainCheap, dy, kept, dx, n, [](auto g, auto x) HWY_ATTR { return hn::Div(g, x); });
    case Unary::gelu:
      return map2(kGrainCostly, dy, kept, dx, n, [](auto g, auto x) HWY_ATTR { return hn::Mul(g, gelu_slope_of(x)); });
  }
}

template <class Function>
void binary_with(const real* a, size_t a_step, const real* b, size_t b_step, real* out, size_t n, Function f) {
  parallel_ranges(n, kGrainCheap, [&](size_t begin, size_t end) {
    const auto side = [&](auto d, auto load, const real* x, size_t step, size_t i)
                          HWY_ATTR { return step == 0 ? hn::Set(d, *x) : load(d, x + begin + i); };
    map_range(out + begin, end - begin, n, [&](auto d, size_t i, auto load) HWY_ATTR {
      return f(side(d, load, a, a_step, i), side(d, load, b, b_step, i));
    });
  });
}

void BinaryMap(Binary f, const real* a, size_t a_step, const real* b, size_t b_step, real* out, size_t n) {
  switch (f) {
    case Binary::add:
      return binary_with(a, a_step, b, b_step, out, n, [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); });
    case Binary::subtract:
      return binary_with(a, a_step, b, b_step, out, n, [](auto x, auto y) HWY_ATTR { return hn::Sub(x, y); });
    case Binary::multiply:
      return binary_with(a, a_step, b, b_step, out, n, [](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); });
    case Binary::divide:
      return binary_with(a, a_step, b, b_step, out, n, [](auto x, auto y) HWY_ATTR { return hn::Div(x, y); });
  }
}

void Affine(const real* x, real scale, real shift, real* out, size_t n) {
  map1(kGrainCheap, x, out, n, [=](auto v) HWY_ATTR {
    const TagOf<decltype(v)> d;
    return hn::MulAdd(v, hn::Set(d, scale), hn::Set(d, shift));
  });
}

void Copy(const real* x, real* out, size_t n) {
  map1(kGrainCheap, x, out, n, [](auto v) HWY_ATTR { return v; });
}

void Dropout(const real* x, real keep, uint64_t key, real* out, size_t n) {
  parallel_ranges(n, kGrainCostly, [&](size_t begin, size_t end) {  // pieces start at multiples of 64
    HWY_ALIGN real scales[kRandomBlock];
    for (size_t i = begin; i < end; i += kRandomBlock) {
      dropout_block(keep, key, 0, i / kRandomBlock, scales);
      const size_t count = std::min(kRandomBlock, end - i);
      for (size_t j = 0; j < count; ++j) out[i + j] = x[i + j] * scales[j];
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(UnaryMap);
HWY_EXPORT(UnaryBackward);
HWY_EXPORT(BinaryMap);
HWY_EXPORT(Affine);
HWY_EXPORT(Copy);
HWY_EXPORT(Dropout);

void unary(Unary f, const real* x, real* out, size_t n) { HWY_DYNAMIC_DISPATCH(UnaryMap)(f, x, out, n); }

void unary_backward(Unary f, const real* dy, const real* kept, real* dx, size_t n) {
  HWY_DYNAMIC_DISPATCH(UnaryBackward)(f, dy, kept, dx, n);
}

void binary(Binary f, const real* a, size_t a_step, const real* b, size_t b_step, real* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(BinaryMap)(f, a, a_step, b, b_step, out, n);
}

void add_into(real* sum, const real* x, size_t n) { binary(Binary::add, sum, 1, x, 1, sum, n); }

void affine(const real* x, real scale, real shift, real* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(Affine)(x, scale, shift, out, n);
}

void copy(const real* x, real* out, size_t n) { HWY_DYNAMIC_DISPATCH(Copy)(x, out, n); }

void dropout(const real* x, real keep, uint64_t key, real* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(Dropout)(x, keep, key, out, n);
}

}  // namespace attend::kernels
#endif
