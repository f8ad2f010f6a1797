// Matrix products. One blocked kernel of our own (gemm-inl.h) serves every instruction set: measured beside oneDNN's
// sgemm and packed matmul on the shapes of our models it is as fast or faster (`make bench`, rows "product"), it takes
// weights packed once for many time steps, and it runs in double precision too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  uint64_t version = 0;  // identifies b's value if it is a parameter: a PackedWeights scope keeps its packed form
};

/// While one is open on this thread, weights are packed once for all products of few rows; otherwise the steps of a
/// decoder would spend as long on packing as on multiplying.
class PackedWeights {
 public:
  PackedWeights();
  ~PackedWeights();
  /// Not open anywhere: for whoever uses it again and again, on one thread at a time.
  struct Closed {};
  explicit PackedWeights(Closed) : open_(false) {}
  /// Opens such a one on this thread.
  class Use {
   public:
    explicit Use(PackedWeights& weights);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    PackedWeights* outer_;
  };
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;
  static PackedWeights* current();
  void forget();

  /// A version is unique to one state of one parameter; a form is a layout of an instruction set.
  struct Key {
    uint64_t version;
    size_t form;
    bool operator==(const Key&) const = default;
  };
  /// The packed form for that key; if there is none yet, `pack(memory)` writes its `size` numbers.
  template <class Pack>
  const real* find(const Key& key, size_t size, Pack&& pack) {
    if (const real* known = known_as(key)) return known;
    real* fresh = keep(key, size);
    pack(fresh);
    return fresh;
  }

 private:
  struct Entry {
    Key key;
    memory::Scratch packed;
  };
  const real* known_as(const Key& key) const;
  real* keep(const Key& key, size_t size);
  std::vector<Entry> entries_;
  bool open_ = true;
  PackedWeights* outer_ = nullptr;
};

/// While one is open on this thread, each row of a product has the same bits however many rows there are: what is computed
/// piece by piece, or together with others, equals the whole. Otherwise few rows are summed in another order, which is faster
/// for them. Weights are then packed, and kept by a PackedWeights scope for any number of rows.
class SteadyRows {
 public:
  SteadyRows();
  ~SteadyRows();
  SteadyRows(const SteadyRows&) = delete;
  SteadyRows& operator=(const SteadyRows&) = delete;
  static bool active();

 private:
  bool outer_;
};

/// The sum over k runs in the same order for any number of threads.
void gemm(const Product& product);
/// `count` products of the same shape, with matrices `stride_*` elements apart.
void batched_gemm(const Product& first, size_t count, size_t stride_a, size_t stride_b, size_t stride_c);

/// out[columns, rows] = in[rows, columns]ᵀ.
void transpose(const real* in, size_t rows, size_t columns, real* out);

}  // namespace attend::kernels
