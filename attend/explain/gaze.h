// Whether words look at what they speak of.
#pragma once

#include <span>

#include "attend/explain/image_trace.h"

namespace attend::explain {

/// Sums over words that speak of an object whose place is known.
class Gaze {
 public:
  int64_t words = 0;
  /// Adds a caption; `boxes`: for each of its words the place of what it speaks of, of height 0 where that is nothing.
  void add(const CaptionLook& caption, const data::Image& image, std::span<const data::Box> boxes);
  /// Of the weights of these words, the share in percent on cells that touch their object, …
  double on_object() const { return on_object_ * (100 / static_cast<double>(words)); }
  /// … and what even attention to all cells would have there.
  double by_chance() const { return by_chance_ * (100 / static_cast<double>(words)); }

 private:
  double on_object_ = 0, by_chance_ = 0;
};

}  // namespace attend::explain
