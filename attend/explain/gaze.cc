#include "attend/explain/gaze.h"

#include "attend/base/error.h"

namespace attend::explain {
namespace {

/// A rows × columns grid over an image of height × width pixels.
struct BoxCells {
  int64_t rows, columns, height, width;

  bool touches(int64_t cell, const data::Box& box) const {
    const int64_t row = cell / columns, column = cell % columns;
    return meets(row, rows, height, box.top, box.height) && meets(column, columns, width, box.left, box.width);
  }

 private:
  /// Cell i of n along `extent` pixels is [i·extent/n, (i+1)·extent/n).
  static bool meets(int64_t i, int64_t n, int64_t extent, int64_t begin, int64_t length) {
    return i * extent < (begin + length) * n && begin * n < (i + 1) * extent;
  }
};

}  // namespace

void Gaze::add(const CaptionLook& caption, const data::Image& image, std::span<const data::Box> boxes) {
  require(caption.words.size() == boxes.size(), "gaze: expected a caption of ", boxes.size(), " words, got one of ",
          caption.words.size());
  const BoxCells grid{caption.rows, caption.columns, image.height, image.width};
  const int64_t cells = caption.rows * caption.columns;
  for (size_t word = 0; word < boxes.size(); ++word) {
    if (boxes[word].height == 0) continue;
    const real* weights = caption.weights.data() + static_cast<int64_t>(word) * cells;
    for (int64_t cell = 0; cell < cells; ++cell) {
      if (!grid.touches(cell, boxes[word])) continue;
      on_object_ += static_cast<double>(weights[cell]);
      by_chance_ += 1.0 / static_cast<double>(cells);
    }
    ++words;
  }
}

}  // namespace attend::explain
