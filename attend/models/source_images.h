// Gives access to the source images and the grid that a network makes of them, to see what an answer depends on.
#pragma once

#include "attend/autograd/var.h"

namespace attend::models {

/// While it lives, the networks of this thread read their images, or the last grid of channels that they make of them,
/// through a probe whose gradient shows what an answer depended on. Only one of the two at a time: the probe of the
/// grid cuts off everything before it.
class SourceImages {
 public:
  enum class Look { pixels, grid };
  explicit SourceImages(Look look);
  ~SourceImages();
  SourceImages(const SourceImages&) = delete;
  SourceImages& operator=(const SourceImages&) = delete;

  /// Images [B,C,H,W], and the channels of cells [B,D,h,w]; the same values, and the very same Var if there is no
  /// observer.
  static Var pixels(Var images) { return seen(std::move(images), Look::pixels); }
  static Var grid(Var channels) { return seen(std::move(channels), Look::grid); }

  /// True if a network has passed through the probe.
  bool shown() const { return probe_.defined(); }
  /// From the last forward pass: what was read and, after a backward pass, its gradient. Throws Error unless shown().
  const Tensor& value() const;
  Tensor gradient() const;

 private:
  static Var seen(Var x, Look look);

  Look look_;
  Var probe_;
  SourceImages* outer_;
};

}  // namespace attend::models
