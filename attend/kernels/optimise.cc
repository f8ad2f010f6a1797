#include "attend/kernels/optimise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attend/kernels/optimise.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "attend/kernels/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attend::kernels {
namespace HWY_NAMESPACE {

// Elements per chunk: 256 KiB of each stream, long enough for the hardware's prefetchers, short enough to share out.
constexpr size_t kChunk = size_t{64} << 10;
// Every part begins at a multiple of this, so that splitting keeps vectors aligned; whole cache lines for every target.
constexpr size_t kPartMultiple = 64;

/// The parts end to end, split into chunks.
class Chunks {
 public:
  template <class Part, class SizeOf>
  Chunks(std::span<const Part> parts, SizeOf size_of) {
    starts_.reserve(parts.size() + 1);
    size_t start = 0;
    for (const Part& part : parts) {
      starts_.push_back(start);
      sizes_.push_back(size_of(part));
      start += (sizes_.back() + kPartMultiple - 1) / kPartMultiple * kPartMultiple;
    }
    starts_.push_back(start);
  }

  size_t count() const { return (starts_.back() + kChunk - 1) / kChunk; }

  /// Calls body(part, begin, end) for the elements of each part that lie in a chunk.
  template <class Body>
  void visit(size_t chunk, Body body) const {
    const size_t low = chunk * kChunk, high = low + kChunk;
    size_t part = static_cast<size_t>(std::upper_bound(starts_.begin(), starts_.end(), low) - starts_.begin()) - 1;
    for (; part < sizes_.size() && starts_[part] < high; ++part) {
      const size_t begin = std::max(low, starts_[part]) - starts_[part];
      const size_t end = std::min(high - starts_[part], sizes_[part]);
      if (begin < end) body(part, begin, end);
    }
  }

 private:
  std::vector<size_t> starts_, sizes_;
};

/// Runs body(update, begin, end) over all chunks of all updates.
template <class Body>
void over_updates(std::span<const Update> updates, Body body) {
  const Chunks chunks(updates, [](const Update& u) { return u.size; });
  parallel_for(chunks.count(), [&](size_t chunk) {
    chunks.visit(chunk, [&](size_t part, size_t begin, size_t end) { body(updates[part], begin, end); });
  });
}

HWY_INLINE Reals constant(double value) { return hn::Set(Real(), static_cast<real>(value)); }

template <bool kMomentum, bool kNesterov>
void sgd_chunk(const Update& u, size_t begin, size_t end, const SgdRule& rule) {
  const Reals scale = constant(rule.scale), decay = constant(rule.decay), rate = constant(rule.rate);
  const Reals momentum = constant(rule.momentum);
  walk(end - begin, [=](size_t i, auto load, auto store, auto) HWY_ATTR {
    const size_t at = begin + i;
    const Reals p = load(u.value + at);
    const Reals g = hn::MulAdd(decay, p, hn::Mul(scale, load(u.gradient + at)));
    Reals change = g;
    if constexpr (kMomentum) {
      const Reals b = hn::MulAdd(momentum, load(u.first + at), g);
      store(b, u.first + at);
      change = kNesterov ? hn::MulAdd(momentum, b, g) : b;
    }
    store(hn::NegMulAdd(rate, change, p), u.value + at);
  });
}

void Sgd(std::span<const Update> updates, const SgdRule& rule) {
  over_updates(updates, [&](const Update& u, size_t begin, size_t end) {
    if (rule.momentum == 0) return sgd_chunk<false, false>(u, begin, end, rule);
    if (rule.nesterov) return sgd_chunk<true, true>(u, begin, end, rule);
    sgd_chunk<true, false>(u, begin, end, rule);
  });
}

// Reading and writing 28 bytes per parameter is all that this costs (Zen 3, two cores: 68 GB/s where memcpy moves 34).
// Unrolling and prefetching by hand gain nothing, and writing lines that were just read past the caches loses a third.
void adam_chunk(const Update& u, size_t begin, size_t end, const AdamRule& rule) {
  const double t = static_cast<double>(u.step);
  const double correction1 = 1 - std::pow(rule.beta1, t), correction2 = 1 - std::pow(rule.beta2, t);
  const Reals scale = constant(rule.scale), epsilon = constant(rule.epsilon);
  const Reals decay = constant(rule.decoupled ? 0 : rule.decay);
  const Reals shrink = constant(rule.decoupled ? 1 - rule.rate * rule.decay : 1);
  const Reals beta1 = constant(rule.beta1), rest1 = constant(1 - rule.beta1);
  const Reals beta2 = constant(rule.beta2), rest2 = constant(1 - rule.beta2);
  const Reals rate = constant(rule.rate / correction1), root = constant(1 / std::sqrt(correction2));
  walk(end - begin, [=](size_t i, auto load, auto store, auto) HWY_ATTR {
    const size_t at = begin + i;
    const Reals p = load(u.value + at);
    const Reals g = hn::MulAdd(decay, p, hn::Mul(scale, load(u.gradient + at)));
    const Reals m = hn::MulAdd(beta1, load(u.first + at), hn::Mul(rest1, g));
    const Reals v = hn::MulAdd(beta2, load(u.second + at), hn::Mul(hn::Mul(rest2, g), g));
    const Reals change = hn::Div(hn::Mul(rate, m), hn::MulAdd(hn::Sqrt(v), root, epsilon));
    store(m, u.first + at);
    store(v, u.second + at);
    store(hn::MulSub(shrink, p, change), u.value + at);
  });
}

void Adam(std::span<const Update> updates, const AdamRule& rule) {
  over_updates(updates, [&](const Update& u, size_t begin, size_t end) { adam_chunk(u, begin, end, rule); });
}

void adadelta_chunk(const Update& u, size_t begin, size_t end, const AdadeltaRule& rule) {
  const Reals scale = constant(rule.scale), decay = constant(rule.decay), epsilon = constant(rule.epsilon);
  const Reals rho = constant(rule.rho), rest = constant(1 - rule.rho), rate = constant(rule.rate);
  walk(end - begin, [=](size_t i, auto load, auto store, auto) HWY_ATTR {
    const size_t at = begin + i;
    const Reals p = load(u.value + at), d = load(u.second + at);
    const Reals g = hn::MulAdd(decay, p, hn::Mul(scale, load(u.gradient + at)));
    const Reals s = hn::MulAdd(rho, load(u.first + at), hn::Mul(hn::Mul(rest, g), g));
    const Reals change = hn::Mul(hn::Div(hn::Sqrt(hn::Add(d, epsilon)), hn::Sqrt(hn::Add(s, epsilon))), g);
    store(s, u.first + at);
    store(hn::MulAdd(rho, d, hn::Mul(hn::Mul(rest, change), change)), u.second + at);
    store(hn::NegMulAdd(rate, change, p), u.value + at);
  });
}

void Adadelta(std::span<const Update> updates, const AdadeltaRule& rule) {
  over_updates(updates, [&](const Update& u, size_t begin, size_t end) { adadelta_chunk(u, begin, end, rule); });
}

// Element i goes to sum i % 16 on every target: 16 sums are 8, 4 or 2 vectors. The square of an f32 is exact in double
// precision, so that fusing it with the addition changes nothing.
constexpr size_t kSums = 16;

using Double = hn::ScalableTag<double>;
using Doubles = hn::Vec<Double>;

HWY_INLINE Doubles load_doubles(const double* x) { return hn::LoadU(Double(), x); }
HWY_INLINE Doubles load_doubles(const float* x) {
  return hn::PromoteTo(Double(), hn::LoadU(hn::Rebind<float, Double>(), x));
}

double squares(const real* x, size_t n) {
  const Double d;
  constexpr size_t kStep = HWY_MAX_BYTES / sizeof(double);
  Doubles sums[kSums / kStep];
#pragma GCC unroll 8
  for (Doubles& sum : sums) sum = hn::Zero(d);
  size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
#pragma GCC unroll 8
    for (size_t k = 0; k < kSums / kStep; ++k) {
      const Doubles v = load_doubles(x + i + k * kStep);
      sums[k] = hn::MulAdd(v, v, sums[k]);
    }
  }
  HWY_ALIGN double lanes[kSums];
  for (size_t k = 0; k < kSums / kStep; ++k) hn::Store(sums[k], d, lanes + k * kStep);
  for (size_t k = 0; i < n; ++i, ++k) lanes[k] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  double total = 0;
  for (const double lane : lanes) total += lane;
  return total;
}

double SumOfSquares(std::span<const std::span<const real>> parts) {
  const Chunks chunks(parts, [](std::span<const real> part) { return part.size(); });
  std::vector<double> sums(chunks.count(), 0.0);
  parallel_for(chunks.count(), [&](size_t chunk) {
    chunks.visit(chunk, [&](size_t part, size_t begin, size_t end) {
      sums[chunk] += squares(parts[part].data() + begin, end - begin);
    });
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

void Scale(std::span<const std::span<real>> parts, real factor) {
  const Chunks chunks(parts, [](std::span<real> part) { return part.size(); });
  parallel_for(chunks.count(), [&](size_t chunk) {
    chunks.visit(chunk, [&](size_t part, size_t begin, size_t end) {
      real* x = parts[part].data() + begin;
      const Reals by = hn::Set(Real(), factor);
      walk(end - begin,
           [=](size_t i, auto load, auto store, auto) HWY_ATTR { store(hn::Mul(by, load(x + i)), x + i); });
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace attend::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attend::kernels {

HWY_EXPORT(Sgd);
HWY_EXPORT(Adam);
HWY_EXPORT(Adadelta);
HWY_EXPORT(SumOfSquares);
HWY_EXPORT(Scale);

void sgd(std::span<const Update> updates, const SgdRule& rule) { HWY_DYNAMIC_DISPATCH(Sgd)(updates, rule); }

void adam(std::span<const Update> updates, const AdamRule& rule) { HWY_DYNAMIC_DISPATCH(Adam)(updates, rule); }

void adadelta(std::span<const Update> updates, const AdadeltaRule& rule) {
  HWY_DYNAMIC_DISPATCH(Adadelta)(updates, rule);
}

double sum_of_squares(std::span<const std::span<const real>> parts) {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(parts);
}

void scale(std::span<const std::span<real>> parts, real factor) { HWY_DYNAMIC_DISPATCH(Scale)(parts, factor); }

}  // namespace attend::kernels
#endif
