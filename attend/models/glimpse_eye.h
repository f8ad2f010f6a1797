// Eyes of a glimpse network: how it chooses where to look, and what it then sees.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/autograd/ops/glimpse.h"
#include "attend/nn/layers.h"

namespace attend::models {

struct PolicyRow {
  std::string_view name, formula, paper;
};
std::span<const PolicyRow> policies();
std::span<const PolicyRow> first_looks();

struct EyeOptions {
  int64_t channels = 1, patch = 8, scales = 1, growth = 2;
  int64_t what = 128, where = 128, glimpse = 256;
  std::string policy = "learned", first = "centre";
  double deviation = 0.15;
  bool learned_width = false;
  AttentionConfig attention{.score = "additive", .align = "sample"};

  template <class Visit>
  void fields(Visit&& visit) {
    visit("channels", channels, "of the images", bounds::width());
    visit("patch", patch, "numbers along each side of a patch; with policy tiles, pixels along each side of a tile",
          bounds::width());
    visit("scales", scales, "patches around each location", bounds::layers());
    visit("growth", growth, "how much wider each of them is than the one before", bounds::layers());
    visit("what", what, "width of what is seen", bounds::width());
    visit("where", where, "width of where it is seen", bounds::width());
    visit("glimpse", glimpse, "width of both together", bounds::width());
    visit("policy", policy, "where it looks: learned, random, centre or tiles", bounds::one_of(policies()));
    visit("first", first,
          "where a learned policy looks first: centre, random, or coarse (from a small copy of the whole image)",
          bounds::one_of(first_looks()));
    visit("deviation", deviation, "standard deviation of a location around its mean; the image is 2 wide",
          bounds::above(0));
    visit("learned_width", learned_width, "the deviation is learned too");
    visit("attention", attention, "");
  }
};

/// Random numbers for N rows: a stream for each. In training all streams share one key; otherwise an image's own bits
/// determine its stream, so that an answer depends neither on the batch nor on the order.
struct Dice {
  std::vector<Random> rows;
  bool samples = false;  ///< choices are drawn; otherwise the likeliest (the mean) is taken
  AttentionStep step;    ///< for tiles

  static Dice training(int64_t rows, Random& random, int64_t update);
  /// `copies` streams for each of [B,C,H,W]; where nothing is drawn from them, images are not read for it.
  static Dice of_images(const Tensor& images, int64_t copies, bool samples, bool draws);
};

/// x [B,..] → [copies·B,..], one batch after another; undefined stays undefined.
Var repeated(const Var& x, int64_t copies);

/// One look of N rows.
struct Glance {
  Var seen;                      ///< [N,size()]; [B,size()] if all copies of an image see the same
  Tensor location;               ///< [N,2], within −1 … 1; for tiles the weighted mean of their centres
  Tensor drawn;                  ///< [N,2], as drawn from the Gaussian; `location` is this, clamped to the image
  Var log_probability, entropy;  ///< [N], of tiles that were drawn
  Tensor tile_shares;            ///< [N,K], P(tile | state); undefined without tiles
  Tensor tile_weights;  ///< [N,K], what the tiles were read by: as the shares, or 1 for the one that was chosen
};

/// How an image is cut into tiles, row by row; the last ones may reach beyond it.
struct TileGrid {
  int64_t rows = 0, columns = 0;
  int64_t side = 0;    ///< in pixels
  bool alone = false;  ///< each head reads one of them, not a mean
};

/// How N = copies·B rows look at B images (row n at image n mod B), glance by glance.
class Looking {
 public:
  virtual ~Looking() = default;
  /// `state` [N,H] after the glances so far; undefined before the first.
  virtual Glance look(const Var& state, Dice& dice) = 0;
  /// The same at given locations [N,2].
  virtual Glance look_at(const Tensor& locations) = 0;
  /// What the first choice was based on, [N,H], if there was one.
  virtual Var first_features() const { return {}; }
};

struct EyeChoices {
  Var log_probability, entropy;  ///< [A,N]; entropy may be undefined
};

class Eye {
 public:
  virtual ~Eye() = default;
  virtual std::unique_ptr<Looking> begin(const Var& images, int64_t copies) const = 0;
  /// ln p of A glances, given what each was based on, [A,N,H]. No gradient flows through the choices themselves.
  virtual EyeChoices choices(std::span<const Glance> glances, const Var& features) const = 0;
  virtual bool learns() const = 0;         ///< by REINFORCE
  virtual bool chooses_first() const = 0;  ///< the first glance is a choice as well
  /// The tiles of images of that size; none where it looks elsewhere.
  virtual TileGrid tiles(int64_t /*height*/, int64_t /*width*/) const { return {}; }
  virtual bool draws() const { return false; }  ///< places at random, outside training too
  virtual int64_t size() const = 0;        ///< width of what it sees
  virtual void params(const nn::VisitParams& visit) = 0;
};

std::unique_ptr<Eye> make_eye(const EyeOptions& options, int64_t hidden, Random& random);

}  // namespace attend::models
