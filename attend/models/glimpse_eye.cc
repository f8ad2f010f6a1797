#include "attend/models/glimpse_eye.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"

namespace attend::models {
namespace {

constexpr PolicyRow kPolicies[] = {
    {"learned", "l ~ N(tanh(W h + b), σ²), by REINFORCE", "Mnih et al. 2014, section 3.1"},
    {"random", "l uniform over the image", ""},
    {"centre", "l = 0", ""},
    {"tiles", "one tile of a partition, by attention: any align", "Xu et al. 2015, section 4"},
};

constexpr PolicyRow kFirstLooks[] = {
    {"centre", "l₀ = 0", ""},
    {"random", "l₀ uniform over the image", "Mnih et al. 2014, section 4"},
    {"coarse", "l₀ ~ N(tanh(W c + b), σ²), c = max(0, V·small copy of the image + d)",
     "after Ba et al. 2015, section 3"},
};

uint64_t bits_of(const real* x, int64_t count) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a over what float holds of each number
  for (int64_t i = 0; i < count; ++i) {
    hash = (hash ^ std::bit_cast<uint32_t>(static_cast<float>(x[i]))) * 0x100000001B3;
  }
  return hash;
}

/// What and where: g = max(0, W·max(0, P·patches + p) + U·max(0, Q·location + q) + b) (Mnih et al. 2014, section 4).
class Sensor {
 public:
  Sensor(const EyeOptions& o, Random& random)
      : patches_{.patch = o.patch, .scales = o.scales, .growth = o.growth},
        what_(o.scales * o.channels * o.patch * o.patch, o.what, random, true, Activation::relu),
        where_(2, o.where, random, true, Activation::relu),
        both_(o.what, o.where, o.glimpse, random, Activation::relu) {}
  Var operator()(const Var& images, const Tensor& locations) const {
    return both_(what_(glimpse_patches(images, locations, patches_)), where_(locations));
  }
  void params(const nn::VisitParams& visit) {
    nn::visit_part(visit, "what", what_);
    nn::visit_part(visit, "where", where_);
    nn::visit_part(visit, "glimpse", both_);
  }

 private:
  PatchOptions patches_;
  nn::Linear what_, where_;
  nn::LinearPair both_;
};

/// N(mean, σ²) in two dimensions, with the mean computed from features.
class Gaussian {
 public:
  Gaussian(int64_t features, double deviation, bool learned_width, Random& random)
      : mean_(features, 2, random, true, Activation::tanh), learned_(learned_width) {
    require(deviation > 0 && std::isfinite(deviation), "deviation: expected more than 0, got ", deviation);
    const Tensor width = Tensor::full({2}, static_cast<real>(std::log(deviation)));
    log_width_ = learned_ ? Var::leaf(width) : Var(width);
  }

  /// Constants [N,2]: draws are not recorded on any tape.
  Tensor draw(const Var& features, Dice& dice) const {
    const TapePause pause;
    Tensor at = mean_(features.detach()).value();
    if (!dice.samples) return at;
    for (size_t i = 0; i < at.size(); ++i) {
      const double width = std::exp(static_cast<double>(log_width_.value().data()[i % 2]));
      at.data()[i] += static_cast<real>(width * dice.rows[i / 2].normal());
    }
    return at;
  }

  /// −½Σ((l − μ)/σ)² − Σ ln σ − ln 2π: features [..,F] and l [..,2] → [..].
  EyeChoices choices(const Var& features, const Tensor& drawn) const {
    const Var off = multiply(subtract(mean_(features), drawn), exp(-log_width_));
    const Var squares = affine(sum(multiply(off, off), -1), real(-0.5), real(-std::log(2 * std::numbers::pi)));
    const Var widths = sum(log_width_);
    if (!learned_) return {subtract(squares, widths), {}};
    const real constant = static_cast<real>(std::log(2 * std::numbers::pi * std::numbers::e));
    return {subtract(squares, widths), add(affine(widths, 1, constant), Tensor::zeros(squares.shape()))};
  }

  void params(const nn::VisitParams& visit) {
    nn::visit_part(visit, "mean", mean_);
    if (learned_) visit("log_width", log_width_);
  }

 private:
  nn::Linear mean_;
  bool learned_;
  Var log_width_;  // [2]
};

/// [N,heads,1,K] → [N,K].
Tensor mean_of_heads(const Tensor& weights) {
  const int64_t N = weights.dim(0), heads = weights.dim(1), K = weights.dim(3);
  Tensor mean = Tensor::zeros({N, K});
  for (int64_t i = 0; i < N * heads * K; ++i) {
    mean.data()[i / (heads * K) * K + i % K] += weights.data()[i] / static_cast<real>(heads);
  }
  return mean;
}

Tensor kept_within(const Tensor& drawn) {
  Tensor at(drawn.shape());
  for (size_t i = 0; i < at.size(); ++i) at.data()[i] = std::clamp(drawn.data()[i], real{-1}, real{1});
  return at;
}

Tensor anywhere(Dice& dice) {
  Tensor at({static_cast<int64_t>(dice.rows.size()), 2});
  for (size_t i = 0; i < at.size(); ++i) at.data()[i] = 2 * static_cast<real>(dice.rows[i / 2].uniform()) - 1;
  return at;
}

/// Looks at patches around locations.
class LocationEye : public Eye {
 public:
  LocationEye(const EyeOptions& o, int64_t hidden, Random& random) : options_(o), sensor_(o, random) {
    row_named("first", kFirstLooks, o.first);
    if (!learns()) return;
    policy_ = std::make_unique<Gaussian>(hidden, o.deviation, o.learned_width, random);
    if (!chooses_first()) return;
    coarse_ = std::make_unique<nn::Linear>(o.channels * o.patch * o.patch, hidden, random, true, Activation::relu);
  }

  std::unique_ptr<Looking> begin(const Var& images, int64_t copies) const override {
    return std::make_unique<Look>(*this, images, copies);
  }
  EyeChoices choices(std::span<const Glance> glances, const Var& features) const override {
    std::vector<Var> drawn;
    for (const Glance& g : glances) drawn.emplace_back(g.drawn);
    return policy_->choices(features, stack(drawn).value());
  }
  bool learns() const override { return options_.policy == "learned"; }
  bool chooses_first() const override { return learns() && options_.first == "coarse"; }
  bool draws() const override { return options_.policy == "random" || (learns() && options_.first == "random"); }
  int64_t size() const override { return options_.glimpse; }
  void params(const nn::VisitParams& visit) override {
    sensor_.params(visit);
    if (policy_) nn::visit_part(visit, "location", *policy_);
    if (coarse_) nn::visit_part(visit, "coarse", *coarse_);
  }

 private:
  class Look : public Looking {
   public:
    Look(const LocationEye& eye, const Var& images, int64_t copies) : eye_(eye), images_(images), copies_(copies) {
      if (eye.coarse_) first_ = repeated((*eye.coarse_)(eye.small_copy(images)), copies);
    }
    Glance look(const Var& state, Dice& dice) override {
      const std::string& way = state.defined() || !eye_.learns() ? eye_.options_.policy : eye_.options_.first;
      if (way == "random") return look_at(anywhere(dice));
      if (way == "centre") {
        // Before the first choice all copies of an image see the same: once is enough.
        return look_at(Tensor::zeros({images_.dim(0) * (state.defined() ? copies_ : 1), 2}));
      }
      const Tensor drawn = eye_.policy_->draw(state.defined() ? state : first_, dice);
      Glance glance = look_at(kept_within(drawn));
      glance.drawn = drawn;
      return glance;
    }
    Glance look_at(const Tensor& locations) override {
      return {eye_.sensor_(images_, locations), locations, locations, {}, {}, {}, {}};
    }
    Var first_features() const override { return first_; }

   private:
    const LocationEye& eye_;
    Var images_, first_;
    int64_t copies_;
  };

  /// The whole image in patch × patch numbers: [B, C·patch·patch].
  Var small_copy(const Var& images) const {
    const int64_t longest = std::max(images.dim(2), images.dim(3));
    return glimpse_patches(images, Tensor::zeros({images.dim(0), 2}),
                           {.patch = options_.patch, .finest = (longest + options_.patch - 1) / options_.patch});
  }

  EyeOptions options_;
  Sensor sensor_;
  std::unique_ptr<Gaussian> policy_;
  std::unique_ptr<nn::Linear> coarse_;
};

/// Looks at tiles: every tile is a key and a value, and the state so far is the query.
class TileEye : public Eye {
 public:
  TileEye(const EyeOptions& o, int64_t hidden, Random& random) : options_(o), hidden_(hidden), sensor_(o, random) {
    AttentionConfig config = o.attention;
    refuse_previous(config, "attention.");
    config.query = hidden;
    config.key = config.value = o.glimpse;
    attention_ = std::make_unique<Attention>(config, random, AttentionSite{"glimpse", Purpose::glimpse});
  }

  std::unique_ptr<Looking> begin(const Var& images, int64_t copies) const override {
    return std::make_unique<Look>(*this, images, copies);
  }
  EyeChoices choices(std::span<const Glance> glances, const Var&) const override {
    std::vector<Var> log_probability, entropy;
    for (const Glance& g : glances) {
      log_probability.push_back(g.log_probability);
      entropy.push_back(g.entropy);
    }
    return {stack(log_probability), stack(entropy)};
  }
  bool learns() const override {
    const AlignRow& align = align_named(attention_->config().align);
    return align.hard && align.trains;
  }
  bool chooses_first() const override { return learns(); }
  int64_t size() const override { return attention_->context_size(); }
  TileGrid tiles(int64_t height, int64_t width) const override {
    const int64_t side = options_.patch;
    return {(height + side - 1) / side, (width + side - 1) / side, side, attention_->hard()};
  }
  void params(const nn::VisitParams& visit) override {
    sensor_.params(visit);
    nn::visit_part(visit, "attention", *attention_);
  }

 private:
  class Look : public Looking {
   public:
    Look(const TileEye& eye, const Var& images, int64_t copies) : eye_(eye) {
      const int64_t B = images.dim(0), side = eye.options_.patch;
      const TileGrid grid = eye.tiles(images.dim(2), images.dim(3));
      centres_ = centres(grid.columns, grid.rows, images.dim(3), images.dim(2), side);
      const int64_t K = centres_.dim(0);
      Tensor locations({K, B, 2});  // row k·B + b looks at image b
      for (int64_t i = 0; i < K * B; ++i) std::copy_n(centres_.data() + i / B * 2, 2, locations.data() + 2 * i);
      const Var seen = eye.sensor_(images, locations.reshape({K * B, 2}));
      const Var tiles = transpose(reshape(seen, {K, B, eye.options_.glimpse}), 0, 1);
      memory_ = eye.attention_->prepare(tiles, tiles);
      std::vector<int32_t> rows;
      for (int64_t n = 0; n < copies * B; ++n) rows.push_back(static_cast<int32_t>(n % B));
      if (copies > 1) memory_.take(rows);
    }

    Glance look(const Var& state, Dice& dice) override {
      const int64_t N = memory_.rows(), H = eye_.hidden_;
      AttentionStep step = dice.step;
      step.position = position_++;
      step.weights = true;
      const Var query = state.defined() ? state : Var(Tensor::zeros({N, H}));
      const AttentionRead read = (*eye_.attention_)(reshape(query, {N, 1, H}), memory_, step);
      Glance glance;
      glance.seen = reshape(read.context, {N, eye_.size()});
      glance.tile_weights = mean_of_heads(read.weights.value());
      glance.tile_shares =
          eye_.attention_->hard() && read.energies.defined() ? chances(read.energies.value()) : glance.tile_weights;
      glance.location = glance.drawn = mean_centre(glance.tile_weights);
      if (read.log_probability.defined()) {
        glance.log_probability = sum(reshape(read.log_probability, {N, -1}), 1);
        glance.entropy = sum(reshape(read.entropy, {N, -1}), 1);
      }
      return glance;
    }
    Glance look_at(const Tensor&) override { fail("look: with policy tiles, locations cannot be given"); }

   private:
    /// [K,2] in −1 … 1; the last tiles may reach beyond the image, and their centre with them.
    static Tensor centres(int64_t across, int64_t down, int64_t width, int64_t height, int64_t side) {
      Tensor all({across * down, 2});
      const auto place = [side](int64_t i, int64_t extent) {
        const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(side);
        return static_cast<real>(std::min(1.0, 2 * at / static_cast<double>(extent) - 1));
      };
      for (int64_t k = 0; k < across * down; ++k) {
        all.data()[2 * k] = place(k % across, width);
        all.data()[2 * k + 1] = place(k / across, height);
      }
      return all;
    }
    /// What a single tile is drawn by, or the likeliest taken: softmax of energies [N,heads,1,K] → [N,K].
    static Tensor chances(const Tensor& energies) {
      const TapePause pause;
      return mean_of_heads(softmax(Var(energies)).value());
    }
    /// weights [N,K] → [N,2].
    Tensor mean_centre(const Tensor& weights) const {
      const int64_t N = weights.dim(0), K = weights.dim(1);
      Tensor at = Tensor::zeros({N, 2});
      for (int64_t i = 0; i < N * K; ++i) {
        for (int64_t d = 0; d < 2; ++d) at.data()[i / K * 2 + d] += weights.data()[i] * centres_.data()[i % K * 2 + d];
      }
      return at;
    }

    const TileEye& eye_;
    AttentionMemory memory_;
    Tensor centres_;
    int64_t position_ = 0;
  };

  EyeOptions options_;
  int64_t hidden_;
  Sensor sensor_;
  std::unique_ptr<Attention> attention_;
};

}  // namespace

Var repeated(const Var& x, int64_t copies) {
  if (!x.defined() || copies == 1) return x;
  const int64_t size = static_cast<int64_t>(x.size());
  return reshape(add(reshape(x, {1, size}), Tensor::zeros({copies, 1})), x.shape().with(0, copies * x.dim(0)));
}

std::span<const PolicyRow> policies() { return kPolicies; }
std::span<const PolicyRow> first_looks() { return kFirstLooks; }

Dice Dice::training(int64_t rows, Random& random, int64_t update) {
  Dice dice;
  const uint64_t key = random.next_key();
  for (int64_t n = 0; n < rows; ++n) dice.rows.emplace_back(key, static_cast<uint64_t>(n));
  dice.samples = true;
  dice.step = {.random = &random, .update = update};
  return dice;
}

Dice Dice::of_images(const Tensor& images, int64_t copies, bool samples, bool draws) {
  Dice dice;
  const int64_t B = images.dim(0), size = static_cast<int64_t>(images.size()) / std::max<int64_t>(1, B);
  std::vector<uint64_t> seeds(static_cast<size_t>(B), 0);
  for (int64_t b = 0; b < B && (samples || draws); ++b) {
    seeds[static_cast<size_t>(b)] = bits_of(images.data() + b * size, size);
  }
  for (int64_t n = 0; n < copies * B; ++n) {
    dice.rows.emplace_back(seeds[static_cast<size_t>(n % B)], static_cast<uint64_t>(n / B));
  }
  dice.samples = samples;
  return dice;
}

std::unique_ptr<Eye> make_eye(const EyeOptions& o, int64_t hidden, Random& random) {
  row_named("policy", kPolicies, o.policy);
  for (const auto& [name, size] : {std::pair{"channels", o.channels},
                                   {"patch", o.patch},
                                   {"scales", o.scales},
                                   {"growth", o.growth},
                                   {"what", o.what},
                                   {"where", o.where},
                                   {"glimpse", o.glimpse}}) {
    require_size(name, size);
  }
  patch_pixels({.patch = o.patch, .scales = o.scales, .growth = o.growth}, o.scales - 1);
  if (o.policy == "tiles") return std::make_unique<TileEye>(o, hidden, random);
  return std::make_unique<LocationEye>(o, hidden, random);
}

}  // namespace attend::models
