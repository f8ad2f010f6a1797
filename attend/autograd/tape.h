// Tape: a record of what was computed, in order, from which gradients are computed backwards. Ops record on the
// innermost tape of their thread; without one nothing is recorded or kept.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "attend/autograd/var.h"
#include "attend/kernels/gemm.h"

namespace attend {

/// Tells, while a tape unwinds, when the gradient of each of these leaves is complete, so that it can be sent on while the rest is
/// computed. Every op that is yet to be unwound keeps the Slots of its inputs: a leaf is complete once as many refer to it as
/// before the forward pass. What would be added later is refused (Slot), so that none is ever sent incomplete.
class FinalGradients {
 public:
  using Final = std::function<void(size_t leaf)>;
  /// To be made before the forward pass. `final` is called once for each leaf, by its place among `leaves`, those that received
  /// no gradient at all too; `between` after every step backwards.
  FinalGradients(
      std::span<const Var> leaves, Final final, std::function<void()> between = [] {});

 private:
  friend class Tape;
  struct Leaf {
    size_t place;
    Slot slot;
    uint32_t owners;  // references before the forward pass
  };
  /// `unsettled`: leaves that the tape itself refers to, as their products are yet to be multiplied.
  void look(std::span<const Slot> unsettled);
  void finish();
  void complete(const Leaf& leaf);

  std::vector<Leaf> waiting_;
  Final final_;
  std::function<void()> between_;
};

class Tape {
 public:
  Tape();
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  static Tape* current();

  /// Adds ∂loss/∂leaf to every leaf that `loss` depends on. `seed` is ∂(objective)/∂loss, one for a scalar.
  /// Unwinds the tape: each entry, with the activations it kept, is freed once its gradient has been passed on, and
  /// entries that the loss does not depend on are skipped. The tape is spent then: a second call is refused, as is a loss
  /// that another tape has recorded.
  void backward(const Var& loss, const Tensor& seed = {}, FinalGradients* finals = nullptr);

  size_t size() const { return entries_.size(); }

  /// Most outputs of one op: y, last hidden state, last cell state.
  static constexpr size_t kMaxOutputs = 3;
  /// Given ∂objective/∂output for each output (undefined where none arrived), passes gradients to the inputs' slots.
  using Backward = std::function<void(std::span<Tensor> gradients)>;
  void add(std::span<const Slot> outputs, Backward backward);

  /// Called by Slot: this leaf has products to multiply once the tape has unwound.
  static void settle_later(const Slot& leaf);

 private:
  struct Entry {
    Backward backward;
    std::array<Slot, kMaxOutputs> outputs;
  };
  bool has_output(const Slot& slot) const;
  void unwind_last();

  std::vector<Entry> entries_;
  std::vector<Slot> unsettled_;
  bool spent_ = false;
  Tape* outer_;
  kernels::PackedWeights packed_;  // for the steps of a decoder, forwards and backwards
};

/// Within its scope nothing is recorded, whatever tape is open.
class TapePause {
 public:
  TapePause();
  ~TapePause();
  TapePause(const TapePause&) = delete;
  TapePause& operator=(const TapePause&) = delete;

 private:
  Tape* paused_;
};

/// True if an op on these inputs must be recorded.
template <class... Vars>
bool recording(const Vars&... inputs) {
  return Tape::current() != nullptr && (inputs.tracked() || ...);
}

namespace detail {
Slot new_slot(const Shape& shape);
}  // namespace detail

/// The third beat of an op with one output: `backward(dy)` may keep or overwrite dy if it is unique.
template <class Backward>
Var record(Tensor value, Backward backward) {
  Slot slot = detail::new_slot(value.shape());
  Tape::current()->add(std::span(&slot, 1),
                       [backward = std::move(backward)](std::span<Tensor> dy) mutable { backward(std::move(dy[0])); });
  return Var(std::move(value), std::move(slot));
}

}  // namespace attend
