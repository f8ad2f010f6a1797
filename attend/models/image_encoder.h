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
  std::string weights;  // of published networks
  int64_t stage = 0, train_stages = 0, narrow = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind,
          "convolutional, dense (no grid), none (the images are feature grids already), or a published network: resnet18, "
          "-34, -50, efficientnet-lite0 to -lite4",
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
    visit("weights", weights,
          "published networks: the safetensors file of their weights (scripts/convert_weights.py makes it)",
          bounds::files_to_read());
    visit("stage", stage,
          "published networks: the stage that gives the grid; resnet 1 to 4, efficientnet 1 to 8 (its head); 0: 4, or 7",
          bounds::within(0, 8));
    visit("train_stages", train_stages,
          "published networks: so many of the last stages are trained, as convolutions with their batch norm folded in; "
          "0: none",
          bounds::within(0, 9));
    visit("narrow", narrow, "published networks: all widths are divided by this; 1: as they were published",
          bounds::within(1, 64));
  }
};

/// Rows of the table of encoders (encoder.h). The published networks (pretrained_encoder.h) are rows, too.
std::unique_ptr<Encoder> make_convolutional_encoder(const ImageEncoderOptions& options, Random& random);
/// All pixels at once through fully connected layers. It has a single place: the whole image.
std::unique_ptr<Encoder> make_dense_encoder(const ImageEncoderOptions& options, Random& random);
/// Features computed by another network, [B,D,h,w].
std::unique_ptr<Encoder> make_given_grid(const ImageEncoderOptions& options, Random& random);

std::unique_ptr<Encoder> make_pretrained_encoder(const ImageEncoderOptions& options, Random& random);
GridSize pretrained_grid_size(const ImageEncoderOptions& options, int64_t height, int64_t width);

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
