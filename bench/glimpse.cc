// The glimpse network: its retina, and training steps at the sizes of Mnih et al. 2014.
#include "attend/autograd/ops/glimpse.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/glimpse.h"
#include "attend/models/glimpse.h"
#include "attend/train/optimiser.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/row.h"

namespace attend::bench {
namespace {

constexpr int64_t kGlimpseImages = 128;

Tensor random_images(int64_t side) {
  Random random(2);
  Tensor images({kGlimpseImages, 1, side, side});
  for (real& x : images.values()) x = random.uniform();
  return images;
}

struct Retina {
  const char* name;
  int64_t side;
  PatchOptions patches;
};

/// Bytes: pixels read and numbers written.
Row retina_row(const Retina& r) {
  constexpr int64_t kRows = 10 * kGlimpseImages;
  double pixels = 0;
  for (int64_t j = 0; j < r.patches.scales; ++j) pixels += std::pow(static_cast<double>(patch_pixels(r.patches, j)), 2);
  const double numbers = static_cast<double>(r.patches.scales * r.patches.patch * r.patches.patch);
  Row row{.name = std::string("glimpse/patches ") + r.name,
          .unit = Unit::gbs,
          .work = sizeof(real) * static_cast<double>(kRows) * (pixels + numbers),
          .peer = 4.0};
  row.prepare = [r]() -> std::function<void()> {
    const Tensor images = random_images(r.side);
    Random random(3);
    Tensor at({kRows, 2});
    for (real& x : at.values()) x = 2 * random.uniform() - 1;
    const Tensor seen = glimpse_patches(images, at, r.patches).value();
    for (int64_t n = 0; n < kRows; n += 97) {  // one pixel of the finest patch
      const int64_t i = n % (r.patches.patch * r.patches.patch);
      const size_t side = static_cast<size_t>(r.side), patch = static_cast<size_t>(r.patches.patch);
      const ptrdiff_t y = kernels::patch_begin(at.data()[2 * n + 1], side, patch) + i / r.patches.patch,
                      x = kernels::patch_begin(at.data()[2 * n], side, patch) + i % r.patches.patch;
      const bool inside = y >= 0 && y < r.side && x >= 0 && x < r.side;
      const real expected = inside ? images.data()[(n % kGlimpseImages * r.side + y) * r.side + x] : real{0};
      require_near("a pixel of a patch", seen.data()[n * seen.dim(1) + i], expected, 1e-6);
    }
    return [=] { glimpse_patches(images, at, r.patches); };
  };
  return row;
}

struct GlimpseCase {
  std::string name;
  int64_t side, patch, scales, copies;
  double peer;
};

models::GlimpseOptions options_of(const GlimpseCase& n) {
  models::GlimpseOptions options;
  options.labels = 10;
  options.copies = n.copies;
  options.eye.patch = n.patch;
  options.eye.scales = n.scales;
  options.eye.first = "random";  // as in the paper; from the centre, all copies share their first glimpse
  return options;
}

/// Products of a step that are needed: forward and twice that backward; no gradient of pixels and places, no state before the
/// first glance.
double glimpse_flop(const GlimpseCase& n) {
  const models::GlimpseOptions o = options_of(n);
  const double seen = static_cast<double>(n.scales * n.patch * n.patch), what = static_cast<double>(o.eye.what),
               where = static_cast<double>(o.eye.where), G = static_cast<double>(o.eye.glimpse),
               H = static_cast<double>(o.hidden), T = static_cast<double>(o.glimpses);
  const double first = seen * what + 2 * where, glimpse = (what + where) * G + G * H, state = H * H,
               label = H * static_cast<double>(o.labels);
  const double products = T * (2 * first + 3 * glimpse) + (T - 1) * 3 * state + 3 * label;
  return 2 * static_cast<double>(kGlimpseImages * n.copies) * products;
}

/// What a training loop works with.
class GlimpseTraining {
 public:
  explicit GlimpseTraining(const GlimpseCase& n) : random_(1), network_(options_of(n), random_) {
    std::vector<std::vector<int32_t>> labels;
    for (int64_t b = 0; b < kGlimpseImages; ++b) labels.push_back({static_cast<int32_t>(b % 10)});
    batch_ = {data::Source::of_images(random_images(n.side)), data::Sequences(labels)};
    adam_ = train::make_optimiser("adam", {}, nn::parameters(network_));
  }
  void step() {
    adam_->clear_gradients();
    {
      Tape tape;
      tape.backward(network_.loss(batch_, &training_));
    }
    adam_->step(1e-3, train::clip_scale(train::gradient_norm(adam_->parameters()), 1));
    ++training_.update;
  }
  double loss() const { return network_.loss(batch_, nullptr).item(); }

 private:
  Random random_;
  models::GlimpseNetwork network_;
  data::Batch batch_;
  std::unique_ptr<train::Optimiser> adam_;
  models::Training training_{Random(3), 0};
};

Row glimpse_row(const GlimpseCase& n) {
  Row row{.name = "glimpse/" + n.name, .work = glimpse_flop(n), .percent = 60, .peer = n.peer, .least_runs = 6};
  row.prepare = [n]() -> std::function<void()> {
    const auto training = std::make_shared<GlimpseTraining>(n);
    const double before = training->loss();
    for (int i = 0; i < 5; ++i) training->step();
    const double after = training->loss();
    require(std::isfinite(before) && after < before, "bench: five steps must lower the loss of ", n.name, ", from ",
            before, ", got ", after);
    return [training] { training->step(); };
  };
  return row;
}

}  // namespace

std::vector<Row> glimpse_rows() {
  return {retina_row({"28x28 8x8", 28, {.patch = 8}}),
          retina_row({"60x60 12x12 three scales", 60, {.patch = 12, .scales = 3}}),
          glimpse_row({"step 28x28 B128 M1", 28, 8, 1, 1, 2}), glimpse_row({"step 28x28 B128 M10", 28, 8, 1, 10, 2}),
          glimpse_row({"step 60x60 three scales B128 M1", 60, 12, 3, 1, 2})};
}

}  // namespace attend::bench
