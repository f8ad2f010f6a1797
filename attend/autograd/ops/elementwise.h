// Element-wise ops. Two operands broadcast as in NumPy: axes are matched from the last, and an extent of 1 is repeated.
#pragma once

#include "attend/autograd/var.h"
#include "attend/base/random.h"

namespace attend {

/// a + b, a − b, a ∘ b, a / b, with broadcasting.
Var add(const Var& a, const Var& b);
Var subtract(const Var& a, const Var& b);
Var multiply(const Var& a, const Var& b);
Var divide(const Var& a, const Var& b);
/// scale·x + shift.
Var affine(const Var& x, real scale, real shift = 0);

Var tanh(const Var& x);
/// 1/(1+e⁻ˣ).
Var sigmoid(const Var& x);
Var relu(const Var& x);
/// min(max(0, x), 6) (Krizhevsky 2010).
Var relu6(const Var& x);
/// x·Φ(x), with the error function (Hendrycks & Gimpel 2016).
Var gelu(const Var& x);
Var exp(const Var& x);
/// Natural logarithm; x must be positive for a finite result.
Var log(const Var& x);

/// Zero with probability `rate`, else x/(1−rate) (Srivastava et al. 2014, inverted). Each call takes one key from
/// `random`; the pattern is not kept but drawn again in the backward pass. A rate of 0 returns x itself.
Var dropout(const Var& x, real rate, Random& random);

inline Var operator+(const Var& a, const Var& b) { return add(a, b); }
inline Var operator-(const Var& a, const Var& b) { return subtract(a, b); }
inline Var operator*(const Var& a, const Var& b) { return multiply(a, b); }
inline Var operator/(const Var& a, const Var& b) { return divide(a, b); }
inline Var operator*(const Var& a, real s) { return affine(a, s); }
inline Var operator*(real s, const Var& a) { return affine(a, s); }
inline Var operator-(const Var& a) { return affine(a, -1); }

}  // namespace attend
