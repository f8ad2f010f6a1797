// Published networks of images in inference, against PyTorch.
#include <algorithm>
#include <cmath>
#include <memory>

#include "attend/autograd/tape.h"
#include "attend/models/image_networks.h"
#include "attend/models/pretrained_encoder.h"
#include "attend/models/source_images.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/row.h"

namespace attend::bench {
namespace {

constexpr int64_t kPhotoSide = 224;
constexpr double kLeastOverTorch = 1.2;

/// Multiplications and additions of one image.
double flop_of(const models::ImageNetwork& network) {
  std::vector<double> sides{kPhotoSide};
  double flop = 0;
  for (const models::ImageLayer& layer : network.layers) {
    const kernels::ChainStep& s = layer.step;
    const auto from = static_cast<size_t>(sides[s.from]);
    sides.push_back(static_cast<double>(kernels::padding_of(from, s.kernel, s.stride, s.same).windows));
    if (!layer.has_weights()) continue;
    const Shape w = layer.weight_shape();
    flop += 2 * sides.back() * sides.back() * static_cast<double>(w[0] * w[1] * w[2] * w[3]);
  }
  return flop;
}

Row photo_row(const std::string& kind, int64_t batch) {
  const models::ImageNetworkRow& network = *models::find_image_network(kind);
  models::ImageNetwork cut = models::make_image_network(network, 1);
  cut.layers.resize(cut.end_of(network.grid_stage));
  Row row{.name = "photos/" + kind + " B" + std::to_string(batch),
          .unit = Unit::gflops,
          .work = static_cast<double>(batch) * flop_of(cut),
          .peer = kLeastOverTorch};
  row.prepare = [kind, batch]() -> std::function<void()> {
    Random random(1);
    models::ImageEncoderOptions options{.kind = kind};
    const std::shared_ptr<const models::Encoder> encoder = models::make_encoder(options, random);
    Tensor images({batch, 3, kPhotoSide, kPhotoSide});
    for (real& x : images.values()) x = random.uniform();
    const Tensor fused = models::fixed_grids(*encoder, images);
    Tensor composed;
    {
      const models::SourceImages pixels(models::SourceImages::Look::pixels);  // op by op, as gradients need it
      const Tape tape;
      composed = (*encoder)(data::Source::of_images(images), nullptr).states.value();
    }
    const int64_t D = fused.dim(1), cells = fused.dim(2) * fused.dim(3);
    double largest = 0;
    for (const real x : fused) largest = std::max(largest, std::abs(static_cast<double>(x)));
    for (int64_t i = 0; i < batch * D * cells; i += 101) {
      const int64_t b = i / (D * cells), d = i / cells % D, cell = i % cells;
      require_near("a feature", fused.data()[i] / largest, composed.data()[(b * cells + cell) * D + d] / largest, 1e-5);
    }
    return [=] { models::fixed_grids(*encoder, images); };
  };
  return row;
}

}  // namespace

std::vector<Row> photo_rows() {
  std::vector<Row> rows;
  for (const char* kind : {"resnet50", "efficientnet-lite0"}) {
    for (const int64_t batch : {1, 16}) rows.push_back(photo_row(kind, batch));
  }
  return rows;
}

}  // namespace attend::bench
