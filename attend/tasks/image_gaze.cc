#include "attend/tasks/image_gaze.h"

#include "attend/base/error.h"
#include "attend/models/captioner.h"
#include "attend/tasks/image_explanation.h"

namespace attend::tasks {
namespace {

/// A rows × columns grid over an image of height × width pixels.
struct Cells {
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

void add_words(Gaze& sum, const explain::CaptionLook& seen, const ImageExample& example) {
  require(seen.words.size() == example.spoken.size(), "gaze: a caption of ", example.spoken.size(),
          " words is wanted, got one of ", seen.words.size());
  const Cells grid{seen.rows, seen.columns, example.image.height, example.image.width};
  const int64_t cells = seen.rows * seen.columns;
  for (size_t word = 0; word < seen.words.size(); ++word) {
    const data::Box& box = example.spoken[word];
    if (box.height == 0) continue;
    const real* weights = seen.weights.data() + static_cast<int64_t>(word) * cells;
    for (int64_t cell = 0; cell < cells; ++cell) {
      if (!grid.touches(cell, box)) continue;
      sum.on_object += static_cast<double>(weights[cell]);
      sum.by_chance += 1.0 / static_cast<double>(cells);
    }
    ++sum.words;
  }
}

}  // namespace

bool has_gaze(const ImageModel& model, const ImageExamples& examples) {
  const auto* captioner = dynamic_cast<const models::Captioner*>(&model.model());
  return captioner && captioner->attends() && examples.count > 0 && !examples.at(0).spoken.empty();
}

Gaze gaze(const ImageModel& model, const ImageExamples& examples, const ImagesDone& done) {
  Gaze sum;
  for (int64_t i = 0; i < examples.count; ++i) {
    const ImageExample example = examples.at(i);
    const explain::ImageLook seen = look(model, example, {.method = "attention", .target = example.captions.at(0)});
    add_words(sum, std::get<explain::CaptionLook>(seen.seen), example);
    if (done) done(i + 1);
  }
  require(sum.words > 0, "gaze: a caption with a word that speaks of an object is wanted, got none");
  const double percent = 100 / static_cast<double>(sum.words);
  return {sum.words, sum.on_object * percent, sum.by_chance * percent};
}

}  // namespace attend::tasks
