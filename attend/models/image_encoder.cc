#include "attend/models/image_encoder.h"

#include <charconv>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/image_cells.h"
#include "attend/models/image_networks.h"
#include "attend/models/rows.h"
#include "attend/models/source_images.h"
#include "attend/nn/layers.h"

namespace attend::models {
namespace {

const Tensor& images_of(const data::Source& source, const ImageEncoderOptions& o) {
  return require_images("encoder", source, o.channels, o.height, o.width);
}

struct ReductionRow {
  std::string_view name, formula;
  Var (*reduce)(const Var& x, const Pool2dOptions& options);  // null: the first convolution has a stride of 2
};
constexpr ReductionRow kReductions[] = {
    {"max", "the largest of 2 × 2", max_pool2d},
    {"average", "the mean of 2 × 2", avg_pool2d},
    {"stride", "every second place is computed", nullptr},
};

struct NormRow {
  std::string_view name, formula;
  int64_t (*groups)(int64_t channels);  // null: no normalisation
};
constexpr NormRow kNorms[] = {
    {"none", "x", nullptr},
    {"group", "8 channels of an image together", [](int64_t channels) { return channels % 8 == 0 ? channels / 8 : 1; }},
    {"instance", "each channel of an image alone", [](int64_t channels) { return channels; }},
};

class ConvolutionalEncoder : public Encoder {
 public:
  ConvolutionalEncoder(const ImageEncoderOptions& o, Random& random)
      : options_(o),
        widths_(widths_of("stages", o.stages)),
        reduction_(row_named("reduce", kReductions, o.reduce)),
        norm_(row_named("norm", kNorms, o.norm)),
        cells_(o, widths_.back(), random) {
    require_option(o.kernel >= 1 && o.kernel % 2 == 1, "kernel", "expected an odd number of pixels, got ", o.kernel);
    int64_t in = require_size("channels", o.channels);
    for (size_t stage = 0; stage < widths_.size(); ++stage) {
      for (int64_t i = 0; i < require_size("convolutions", o.convolutions); ++i) {
        const bool strides = i == 0 && !reduction_.reduce && reduces(stage);
        layers_.emplace_back(in, widths_[stage], o.kernel, random,
                             Conv2dOptions{.stride = strides ? 2 : 1, .padding = o.kernel / 2}, "he");
        in = widths_[stage];
        if (norm_.groups) norms_.emplace_back(in, GroupNormOptions{.groups = norm_.groups(in), .relu = true});
      }
    }
  }
  Encoded operator()(const data::Source& source, Training* training) const override {
    Var x = SourceImages::pixels(images_of(source, options_));
    size_t layer = 0;
    for (size_t stage = 0; stage < widths_.size(); ++stage) {
      for (int64_t i = 0; i < options_.convolutions; ++i, ++layer) {
        const bool last = i + 1 == options_.convolutions, added = options_.residual && i > 0;
        const bool reduced = last && reduction_.reduce && reduces(stage);
        Var y = layers_[layer](x);
        if (norm_.groups) y = norms_[layer](y);
        // max(0, ·) of the largest is the largest of max(0, ·), on a quarter of the numbers.
        const bool relu_last = reduced && reduction_.reduce == max_pool2d && !added;
        if (!norm_.groups && !relu_last) y = relu(y);
        if (added) y = add(x, y);
        if (reduced) y = reduction_.reduce(y, {.kernel = 2, .stride = 2});
        x = !norm_.groups && relu_last ? relu(y) : y;
      }
    }
    return cells_(x, training);
  }
  EncodedSizes sizes() const override { return {.states = widths_.back()}; }
  void params(const nn::VisitParams& visit) override {
    for (size_t i = 0; i < layers_.size(); ++i) nn::visit_part(visit, std::to_string(i), layers_[i]);
    for (size_t i = 0; i < norms_.size(); ++i) nn::visit_part(visit, "norm." + std::to_string(i), norms_[i]);
    cells_.params(visit);
  }

 private:
  bool reduces(size_t stage) const { return options_.reduce_last || stage + 1 < widths_.size(); }

  ImageEncoderOptions options_;
  std::vector<int64_t> widths_;
  const ReductionRow& reduction_;
  const NormRow& norm_;
  ImageCells cells_;
  std::vector<nn::Conv2d> layers_;
  std::vector<nn::GroupNorm> norms_;  // none, or one for each layer
};

class DenseEncoder : public Encoder {
 public:
  DenseEncoder(const ImageEncoderOptions& o, Random& random) : options_(o), dropout_(static_cast<real>(o.dropout)) {
    require(o.height >= 1 && o.width >= 1,
            "encoder.kind dense: needs the size of the images; set height and width, and no keep_size");
    int64_t in = require_size("channels", o.channels) * o.height * o.width;
    for (const int64_t width : widths_of("stages", o.stages)) {
      layers_.emplace_back(in, width, random, true, Activation::relu, "he");
      in = width;
    }
    output_ = in;
  }
  Encoded operator()(const data::Source& source, Training* training) const override {
    const Tensor& images = images_of(source, options_);
    const int64_t B = images.dim(0);
    Var x = reshape(SourceImages::pixels(images), {B, images.dim(1) * images.dim(2) * images.dim(3)});
    for (const nn::Linear& layer : layers_) x = dropout_(layer(x), random_of(training));
    Encoded encoded;
    encoded.states = reshape(x, {B, 1, output_});
    encoded.summary = x;
    return encoded;
  }
  EncodedSizes sizes() const override { return {.states = output_}; }
  void params(const nn::VisitParams& visit) override {
    for (size_t i = 0; i < layers_.size(); ++i) nn::visit_part(visit, std::to_string(i), layers_[i]);
  }

 private:
  ImageEncoderOptions options_;
  int64_t output_ = 0;
  nn::Dropout dropout_;
  std::vector<nn::Linear> layers_;
};

class GivenGrid : public Encoder {
 public:
  GivenGrid(const ImageEncoderOptions& o, Random& random)
      : options_(o), cells_(o, require_size("channels", o.channels), random) {}
  Encoded operator()(const data::Source& source, Training* training) const override {
    return cells_(SourceImages::pixels(images_of(source, options_)), training);
  }
  EncodedSizes sizes() const override { return {.states = options_.channels}; }
  void params(const nn::VisitParams& visit) override { cells_.params(visit); }

 private:
  ImageEncoderOptions options_;
  ImageCells cells_;
};

}  // namespace

std::unique_ptr<Encoder> make_convolutional_encoder(const ImageEncoderOptions& options, Random& random) {
  return std::make_unique<ConvolutionalEncoder>(options, random);
}

std::unique_ptr<Encoder> make_dense_encoder(const ImageEncoderOptions& options, Random& random) {
  return std::make_unique<DenseEncoder>(options, random);
}

std::unique_ptr<Encoder> make_given_grid(const ImageEncoderOptions& options, Random& random) {
  return std::make_unique<GivenGrid>(options, random);
}

GridSize grid_size(const ImageEncoderOptions& options, int64_t height, int64_t width) {
  if (!encoder_row(options.kind).grid) return {};
  if (options.kind == "none") return {height, width};
  if (find_image_network(options.kind)) return pretrained_grid_size(options, height, width);
  const size_t stages = widths_of("stages", options.stages).size();
  for (size_t stage = 0; stage < stages; ++stage) {
    if (!options.reduce_last && stage + 1 == stages) break;
    // A stride keeps the cell that a window of two would lose at the edge.
    const int64_t more = options.reduce == "stride" ? 1 : 0;
    height = (height + more) / 2, width = (width + more) / 2;
    require_option(height >= 1 && width >= 1, "stages", "images must be halved ",
                   stages - (options.reduce_last ? 0 : 1),
                   " times, and these are too small; give fewer stages or larger images");
  }
  return {height, width};
}

Var image_vector(const Encoded& encoded, bool all) {
  const Var& cells = encoded.states;
  if (!all || encoded.grid.cells() == 0) return encoded.summary;
  return reshape(cells, {cells.dim(0), cells.dim(1) * cells.dim(2)});
}

int64_t image_vector_size(const char* where, const ImageEncoderOptions& options, const Encoder& encoder, bool all) {
  if (!all || !encoder_row(options.kind).grid) return encoder.output_size();
  require(options.height >= 1 && options.width >= 1, where,
          ": cells side by side need the size of the images; set encoder.height and encoder.width");
  return grid_size(options, options.height, options.width).cells() * encoder.output_size();
}

std::vector<int64_t> widths_of(const char* where, std::string_view text) {
  constexpr int64_t kWidest = 1 << 16;
  std::vector<int64_t> widths;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int64_t width = 0;
    const auto [next, error] = std::from_chars(at, end, width);
    require_option(error == std::errc() && width >= 1 && width <= kWidest && (next == end || *next == ','), where,
                   "expected widths of 1 to ", kWidest, " with commas between them, such as 32,64, got ", quoted(text));
    widths.push_back(width);
    if (next == end) return widths;
    at = next + 1;
  }
}

const Tensor& require_images(const char* where, const data::Source& source, int64_t channels, int64_t height,
                             int64_t width) {
  const Tensor& images = source.pixels();
  require(images.defined(), where, ": expected images, got ", source.lengths().empty() ? "nothing" : "words");
  require(images.dim(0) >= 1 && images.dim(1) == channels && (height == 0 || images.dim(2) == height) &&
              (width == 0 || images.dim(3) == width),
          where, ": expected images [B,", channels, ",", height == 0 ? std::string("H") : std::to_string(height), ",",
          width == 0 ? std::string("W") : std::to_string(width), "], got ", images.shape());
  return images;
}

}  // namespace attend::models
