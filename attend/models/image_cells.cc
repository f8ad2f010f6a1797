#include "attend/models/image_cells.h"

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/models/rows.h"
#include "attend/models/source_images.h"

namespace attend::models {
namespace {

/// [B,D,h,w] as cells, row by row, and their mean: [B,h·w,D] and [B,D].
Encoded as_cells(const Var& channels) {
  const GridSize grid{channels.dim(2), channels.dim(3)};
  const Var cells = reshape(channels, {channels.dim(0), channels.dim(1), grid.cells()});
  Encoded encoded;
  encoded.states = transpose(cells, 1, 2);
  encoded.summary = mean(cells, 2);
  encoded.grid = grid;
  return encoded;
}

}  // namespace

ImageCells::ImageCells(const ImageEncoderOptions& o, int64_t size, Random& random)
    : dropout_(static_cast<real>(o.dropout)) {
  require_one_of("positions", {"none", "learned"}, o.positions);
  if (o.positions == "none") return;
  require(o.height >= 1 && o.width >= 1, "positions: learned ones need the size of the images; set height and width, and no keep_size");
  positions_ = nn::Positions::learned(grid_size(o, o.height, o.width).cells(), size, random);
}

Encoded ImageCells::operator()(const Var& channels, Training* training) const {
  Encoded encoded = as_cells(SourceImages::grid(channels));
  if (positions_) encoded.states = (*positions_)(encoded.states);
  encoded.states = dropout_(encoded.states, random_of(training));
  return encoded;
}

}  // namespace attend::models
