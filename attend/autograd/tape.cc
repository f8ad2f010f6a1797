#include "attend/autograd/tape.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend {
namespace {
thread_local Tape* current_tape = nullptr;
thread_local Tape* unwinding_tape = nullptr;
}  // namespace

Tape::Tape() : outer_(current_tape) { current_tape = this; }
Tape::~Tape() { current_tape = outer_; }
Tape* Tape::current() { return current_tape; }

TapePause::TapePause() : paused_(current_tape) { current_tape = nullptr; }
TapePause::~TapePause() { current_tape = paused_; }

void Tape::add(std::span<const Slot> outputs, Backward backward) {
  Entry& entry = entries_.emplace_back();
  entry.backward = std::move(backward);
  std::copy(outputs.begin(), outputs.end(), entry.outputs.begin());
}

void Tape::settle_later(const Slot& leaf) {
  if (unwinding_tape) unwinding_tape->unsettled_.push_back(leaf);
}

/// From the end, where a loss usually is.
bool Tape::has_output(const Slot& slot) const {
  return std::any_of(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) {
    return std::ranges::any_of(entry.outputs, [&](const Slot& output) { return output.node() == slot.node(); });
  });
}

void Tape::backward(const Var& loss, const Tensor& seed) {
  require(loss.defined(), "Tape::backward: the loss is undefined");
  require(!spent_,
          "Tape::backward: expected a tape that has not been unwound, got one that is spent: its record is freed as "
          "gradients are passed on; open a new Tape for each pass, or add the losses up and call backward once");
  require(loss.tracked(), "Tape::backward: the loss does not depend on any leaf that this tape has followed");
  require(seed.defined() || loss.size() == 1,
          "Tape::backward: expected a loss of one element, or a seed of the loss's shape; got shape ", loss.shape());
  require(!seed.defined() || seed.shape() == loss.shape(), "Tape::backward: the seed must have the loss's shape ",
          loss.shape(), ", got ", seed.shape());
  require(loss.slot().node()->leaf || has_output(loss.slot()),
          "Tape::backward: expected a loss that this tape has recorded, got one of another tape");
  spent_ = true;
  const TapePause pause;
  Tape* const outer = std::exchange(unwinding_tape, this);
  try {
    loss.slot().add(seed.defined() ? seed : Tensor::full(loss.shape(), 1));
    while (!entries_.empty()) {
      Entry entry = std::move(entries_.back());
      entries_.pop_back();
      std::array<Tensor, kMaxOutputs> gradients;
      bool reached = false;
      for (size_t i = 0; i < kMaxOutputs; ++i) {
        if (!entry.outputs[i].needed()) break;
        entry.outputs[i].settle();
        gradients[i] = std::exchange(entry.outputs[i].node()->gradient, Tensor());
        reached |= gradients[i].defined();
      }
      if (reached) entry.backward(gradients);
    }
    for (const Slot& leaf : unsettled_) leaf.settle();
  } catch (...) {
    unwinding_tape = outer;
    entries_.clear();
    for (const Slot& leaf : unsettled_) {  // an incomplete gradient, which the next tape would take for registered
      leaf.node()->products.clear();
      leaf.node()->product_rows = 0;
    }
    unsettled_.clear();
    packed_.forget();
    throw;
  }
  unsettled_.clear();
  packed_.forget();
  unwinding_tape = outer;
}

namespace detail {
Slot new_slot(const Shape& shape) {
  auto* node = new GradientNode;
  node->shape = shape;
  return Slot(node);
}
}  // namespace detail

}  // namespace attend
