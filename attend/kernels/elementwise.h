// Element-wise kernels. Large outputs are written past the caches; `out` may be the same memory as an input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/base/real.h"

namespace attend::kernels {

enum class Unary { tanh, sigmoid, relu, relu6, gelu, exp, log };
enum class Binary { add, subtract, multiply, divide };

/// out[i] = f(x[i]).
void unary(Unary f, const real* x, real* out, size_t n);
/// dx[i] = dy[i]·f'(x[i]); `kept` is y = f(x) where the slope is cheaper from the output (tanh, sigmoid, relu, relu6,
/// exp), x otherwise (gelu, log).
void unary_backward(Unary f, const real* dy, const real* kept, real* dx, size_t n);
constexpr bool keeps_output(Unary f) { return f != Unary::gelu && f != Unary::log; }

/// out[i] = a[i] ∘ b[i]; with `a_step` or `b_step` zero, that side is one number.
void binary(Binary f, const real* a, size_t a_step, const real* b, size_t b_step, real* out, size_t n);
inline void add(const real* a, const real* b, real* out, size_t n) { binary(Binary::add, a, 1, b, 1, out, n); }
void add_into(real* sum, const real* x, size_t n);
/// out[i] = scale·x[i] + shift.
void affine(const real* x, real scale, real shift, real* out, size_t n);
void copy(const real* x, real* out, size_t n);

/// out[i] = x[i]/keep with probability keep, else 0; the choice is number i of the Philox stream (key, row 0).
void dropout(const real* x, real keep, uint64_t key, real* out, size_t n);

}  // namespace attend::kernels
