#include "lab/operations.h"

#include "attend/base/error.h"

namespace attend::lab {
namespace {

int64_t convolutional(const models::ImageClassifierOptions& options, int64_t side) {
  const models::ImageEncoderOptions& o = options.encoder;
  require(o.convolutions == 1 && o.reduce != "stride" && options.pooling == "mean",
          "multiply_adds: expected one convolution in each stage, reduced by max or average, and pooling mean");
  const std::vector<int64_t> widths = models::widths_of("stages", o.stages);
  int64_t sum = 0, in = o.channels;
  for (size_t stage = 0; stage < widths.size(); ++stage) {
    sum += o.kernel * o.kernel * in * widths[stage] * side * side;
    if (o.reduce_last || stage + 1 < widths.size()) side /= 2;
    in = widths[stage];
  }
  return sum + in * options.labels;
}

int64_t dense(const models::ImageClassifierOptions& options, int64_t side) {
  int64_t sum = 0, in = options.encoder.channels * side * side;
  for (const int64_t width : models::widths_of("stages", options.encoder.stages)) {
    sum += in * width;
    in = width;
  }
  return sum + in * options.labels;
}

}  // namespace

int64_t multiply_adds(const models::GlimpseOptions& o) {
  const models::EyeOptions& e = o.eye;
  require(o.core != "lstm" && e.policy != "tiles", "multiply_adds: expected core relu or tanh, and no tiles");
  int64_t read = 0;
  for (int64_t scale = 0; scale < e.scales; ++scale) {
    const int64_t side = patch_pixels({.patch = e.patch, .scales = e.scales, .growth = e.growth}, scale);
    read += e.channels * side * side;
  }
  const int64_t what = e.scales * e.channels * e.patch * e.patch * e.what;
  const int64_t both = 2 * e.where + (e.what + e.where) * e.glimpse;
  const int64_t core = (e.glimpse + o.hidden) * o.hidden, next = 2 * o.hidden;
  return o.glimpses * (read + what + both + core + next) + o.hidden * o.labels;
}

int64_t multiply_adds(const models::ImageClassifierOptions& options, int64_t side) {
  return options.encoder.kind == "dense" ? dense(options, side) : convolutional(options, side);
}

}  // namespace attend::lab
