// Pixels and shares as signs of a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attend/data/image.h"
#include "attend/explain/colours.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

using Lines = std::vector<std::string>;

/// A sign of the picture that is no pixel.
struct Mark {
  int64_t line, column;
  char sign;
};

Colour colour_at(const data::Image& image, int64_t y, int64_t x);

/// In true colour. Signs of a terminal are twice as high as wide: each shows two pixels.
Lines half_blocks(const data::Image& image, const std::vector<Mark>& marks = {});
/// Shares [lines, columns], the darker the more; "·" where there is nothing.
Lines shades(const Tensor& shares, const std::vector<Mark>& marks = {});

}  // namespace attend::explain
