// Matrix products. One blocked kernel of our own (gemm-inl.h) serves every instruction set: measured beside oneDNN's
// sgemm and packed matmul on the shapes of our models it is as fast or faster (`make bench`, rows "product"), it takes
// weights packed once for many time steps, and it runs in double precision too.
#pragma once

#include <cstddef>

#include "attend/base/memory.h"
#include "attend/base/real.h"

namespace attend::kernels {

enum class Activation { none, relu, tanh, sigmoid, gelu };

/// C[m,n] = op(A)[m,k] · op(B)[k,n] (+ C if `accumulate`) (+ bias[n]); row-major, leading dimensions in elements.
struct Product {
  size_t m = 0, n = 0, k = 0;
  const real* a = nullptr;
  size_t lda = 0;
  bool transpose_a = false;
  const real* b = nullptr;
  size_t ldb = 0;
  bool transpose_b = false;
  real* c = nullptr;
  size_t ldc = 0;
  bool accumulate = false;
  const real* bias = nullptr;
};

/// The sum over k runs in the same order whatever the number of threads.
void gemm(const Product& product);
/// `count` products of the same shape, matrices lying `stride_*` elements apart.
void batched_gemm(const Product& first, size_t count, size_t stride_a, size_t stride_b, size_t stride_c);

/// out[columns, rows] = in[rows, columns]ᵀ.
void transpose(const real* in, size_t rows, size_t columns, real* out);

}  // namespace attend::kernels
