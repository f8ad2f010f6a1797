#include "attend/autograd/tape.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend {
namespace {
thread_local Tape* current_tape = nullptr;
thread_local Tape* unwinding_tape = nullptr;
}  // namespace

FinalGradients::FinalGradients(std::span<const Var> leaves, Final final, std::function<void()> between)
    : final_(std::move(final)), between_(std::move(between)) {
  for (const Var& leaf : leaves) {
    require(leaf.tracked() && leaf.slot().node()->leaf, "FinalGradients: expected leaves, got ", leaf);
    waiting_.push_back({waiting_.size(), leaf.slot(), 0});
  }
  for (Leaf& leaf : waiting_) leaf.owners = leaf.slot.node()->references.load(std::memory_order_relaxed);
}

void FinalGradients::complete(const Leaf& leaf) {
  leaf.slot.settle();
  leaf.slot.node()->final = true;
  final_(leaf.place);
}

void FinalGradients::look(std::span<const Slot> unsettled) {
  const auto waits = [&](const Leaf& leaf) {
    const uint32_t references = leaf.slot.node()->references.load(std::memory_order_relaxed);
    if (references > leaf.owners + unsettled.size()) return true;
    const auto ours = std::ranges::count_if(unsettled, [&](const Slot& s) { return s.node() == leaf.slot.node(); });
    return references > leaf.owners + static_cast<uint32_t>(ours);
  };
  for (size_t i = 0; i < waiting_.size();) {
    if (waits(waiting_[i])) {
      ++i;
      continue;
    }
    const Leaf leaf = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    complete(leaf);
  }
  between_();
}

void FinalGradients::finish() {
  for (const Leaf& leaf : waiting_) complete(leaf);
  waiting_.clear();
}

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

/// The last entry, with what it kept, is gone afterwards.
void Tape::unwind_last() {
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

void Tape::backward(const Var& loss, const Tensor& seed, FinalGradients* finals) {
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
      unwind_last();
      if (finals) finals->look(unsettled_);
    }
    for (const Slot& leaf : unsettled_) leaf.settle();
    if (finals) finals->finish();
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
