// Var: a tensor that a tape may follow. Without a tape, or for constants, it is only its tensor.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "attend/tensor/tensor.h"

namespace attend {

/// Accumulates the gradient of one tracked value.
struct GradientNode {
  std::atomic<uint32_t> references{1};
  bool leaf = false;
  bool probe = false;    // Var::probe
  bool final = false;    // nothing more may be added until it is cleared (FinalGradients)
  uint64_t version = 0;  // of a leaf's value; see Var::version
  Shape shape;
  Tensor gradient;
  // Pending += dyᵀ·x of a weight that is multiplied many times, until one product covers them all (Slot::add_product).
  struct Product {
    Tensor dy, x;
  };
  std::vector<Product> products;
  int64_t product_rows = 0;
};

/// The handle through which an op's backward pass passes a gradient to one of its inputs.
/// It does not keep the input's value alive. Constants have an empty slot, which needs no gradient.
class Slot {
 public:
  Slot() = default;
  explicit Slot(GradientNode* node) : node_(node) {}
  Slot(const Slot& other) : node_(other.node_) {
    if (node_) node_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Slot(Slot&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Slot& operator=(Slot other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Slot() {
    if (node_ && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
  }

  /// False for constants: their gradient need not be computed.
  bool needed() const { return node_ != nullptr; }
  /// gradient += g. The first g is taken as it is, without a copy.
  void add(Tensor g) const;
  /// gradient += dyᵀ·x for a weight [O, I], dy [N, O], x [N, I]. For leaves the pairs of all time steps are gathered
  /// and multiplied as one product when the tape has unwound: N = 64 rows alone would use half of the machine.
  void add_product(Tensor dy, Tensor x) const;
  /// The same for each of B matrices: gradient [B, O, I] += dyᵀ·x, dy [B, N, O], x [B, N, I]; for a memory that every
  /// step of a decoder reads.
  void add_batched_product(Tensor dy, Tensor x) const;
  /// The gradient as a buffer to add into, zero where nothing has arrived yet.
  Tensor& buffer() const;
  /// Multiplies what add_product has gathered.
  void settle() const;

  GradientNode* node() const { return node_; }

 private:
  GradientNode* node_ = nullptr;
};

/// Within its scope the leaves of this thread are constants: gradients flow only to what was made inside it
/// (Var::probe), and networks shared with other threads stay untouched.
class FrozenLeaves {
 public:
  FrozenLeaves() : outer_(std::exchange(active_, true)) {}
  ~FrozenLeaves() { active_ = outer_; }
  FrozenLeaves(const FrozenLeaves&) = delete;
  FrozenLeaves& operator=(const FrozenLeaves&) = delete;
  static bool active() { return active_; }

 private:
  static inline thread_local constinit bool active_ = false;
  bool outer_;
};

class Var {
 public:
  Var() = default;
  /// A constant: no gradient flows to it.
  Var(Tensor value) : value_(std::move(value)) {}  // NOLINT: a tensor is a constant Var
  Var(Tensor value, Slot slot) : value_(std::move(value)), slot_(std::move(slot)) {}
  /// A value that has a gradient: a parameter, or an input under study. Gradients accumulate in it.
  static Var leaf(Tensor value);
  /// The same for temporary use: it is not a parameter, and FrozenLeaves does not freeze it.
  static Var probe(Tensor value);

  const Tensor& value() const { return value_; }
  /// For modification: a leaf gets a new version.
  Tensor& value() {
    if (is_leaf()) slot_.node()->version = new_version();
    return value_;
  }
  /// A number unique to this state of this leaf, which identifies packed weights; 0 if this is not a leaf.
  uint64_t version() const { return slot_.needed() ? slot_.node()->version : 0; }
  bool defined() const { return value_.defined(); }
  const Shape& shape() const { return value_.shape(); }
  int rank() const { return value_.rank(); }
  int64_t dim(int axis) const { return value_.dim(axis); }
  size_t size() const { return value_.size(); }
  real item() const { return value_.item(); }

  bool tracked() const { return slot().needed(); }
  const Slot& slot() const { return FrozenLeaves::active() && is_leaf() ? kNoSlot : slot_; }
  /// The gradient; undefined if none has arrived.
  const Tensor& gradient() const;
  void clear_gradient();
  /// The same value, cut off from the tape.
  Var detach() const { return Var(value_); }

 private:
  bool is_leaf() const { return slot_.needed() && slot_.node()->leaf; }
  static uint64_t new_version();
  static const Slot kNoSlot;
  Tensor value_;
  Slot slot_;
};

/// Its tensor, and whether a gradient flows to it.
std::ostream& operator<<(std::ostream& out, const Var& var);

}  // namespace attend
