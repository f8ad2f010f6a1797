// The still picture of a trace, and its options.
#pragma once

#include <string>

#include "attend/base/bounds.h"
#include "attend/explain/trace.h"

namespace attend::explain {

struct PictureOptions {
  std::string level = "words";
  bool heads = false;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("level", level, "words or tokens on both sides of the picture", bounds::one_of({"words", "tokens"}));
    visit("heads", heads, "every head of every layer too, as small pictures");
  }
};

/// As SVG: the text and its answer (a tree is drawn), the trace's first map with its legend and what it shows (for a
/// document as running text), the heads if requested, and the evidence if there is any. Throws Error if the trace has
/// no map, or if the sizes of its parts disagree.
std::string svg_picture(const Trace& trace, const PictureOptions& options);

}  // namespace attend::explain
