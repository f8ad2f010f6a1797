// How the grid of an image is handed on, whichever encoder made it.
#pragma once

#include <optional>

#include "attend/models/image_encoder.h"
#include "attend/nn/layers.h"

namespace attend::models {

/// Channels [B,D,h,w] as cells, row by row, with a vector for each place that is added, and dropout; and their mean.
class ImageCells {
 public:
  ImageCells(const ImageEncoderOptions& options, int64_t size, Random& random);
  Encoded operator()(const Var& channels, Training* training) const;
  void params(const nn::VisitParams& visit) {
    if (positions_) nn::visit_part(visit, "positions", *positions_);
  }

 private:
  std::optional<nn::Positions> positions_;
  nn::Dropout dropout_;
};

}  // namespace attend::models
