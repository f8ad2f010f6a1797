// Encoders of images: a grid of annotation vectors, one for each cell, for networks that attend to places; and one
// vector for the whole image.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/encoder.h"

namespace attend::models {

struct ImageEncoderOptions {
  std::string kind = "convolutional";
  int64_t channels = 3, height = 0, width = 0;
  std::string stages = "32,64,128,256";
  int64_t kernel = 3, convolutions = 1;
  std::string reduce = "max";
  bool reduce_last = true;
  bool residual = false;
  std::string norm = "none";
  std::string positions = "none";
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "convolutional, dense (no grid), or none (the images are feature grids already)",
          bounds::one_of(encoders()));
    visit("channels", channels, "of an image: 1 is grey, 3 is colour; none: width of a cell", bounds::width());
    visit("height", height, "of an image; 0: any (dense and learned positions need it)", bounds::width_or_none());
    visit("width", width, "of an image; 0: any", bounds::width_or_none());
    visit("stages", stages, "convolutional: channels of each stage; dense: widths of the layers",
          bounds::widths());
    visit("kernel", kernel, "convolutional: an odd number of pixels", bounds::within(1, 1001));
    visit("convolutions", convolutions, "convolutional: in each stage", bounds::layers());
    visit("reduce", reduce, "convolutional: how a stage halves the image: max, average or stride",
          bounds::one_of({"max", "average", "stride"}));
    visit("reduce_last", reduce_last, "convolutional: the last stage halves it too");
    visit("residual", residual, "convolutional: later convolutions of a stage are added to what they read");
    visit("norm", norm,
          "convolutional: after each convolution: none, group (8 channels together) or instance (each by itself)",
          bounds::one_of({"none", "group", "instance"}));
    visit("positions", positions, "none, or learned: a vector for each cell is added to it",
          bounds::one_of({"none", "learned"}));
    visit("dropout", dropout, "on the grid and after each dense layer", bounds::share());
  }
};

/// Rows of the table of encoders (encoder.h).
std::unique_ptr<Encoder> make_convolutional_encoder(const ImageEncoderOptions& options, Random& random);
/// All pixels at once through fully connected layers. It has a single place: the whole image.
std::unique_ptr<Encoder> make_dense_encoder(const ImageEncoderOptions& options, Random& random);
/// Features computed by another network, [B,D,h,w].
std::unique_ptr<Encoder> make_given_grid(const ImageEncoderOptions& options, Random& random);

/// The grid that images of this size give.
GridSize grid_size(const ImageEncoderOptions& options, int64_t height, int64_t width);

/// An image as one vector [B,W]: the summary, or with `all` its cells concatenated if it has a grid.
Var image_vector(const Encoded& encoded, bool all);
/// The width W of that vector.
int64_t image_vector_size(const char* where, const ImageEncoderOptions& options, const Encoder& encoder, bool all);

/// "64,128" → {64, 128}: numbers of at least 1.
std::vector<int64_t> widths_of(const char* where, std::string_view text);

/// The images of a batch, [B,C,H,W]; rejects words, an empty batch, and the wrong number of channels or size (0: any).
const Tensor& require_images(const char* where, const data::Source& source, int64_t channels, int64_t height = 0,
                             int64_t width = 0);

}  // namespace attend::models
