#include "attend/models/sound_encoder.h"

#include <algorithm>
#include <array>
#include <optional>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/source_words.h"
#include "attend/models/transformer_block.h"
#include "attend/nn/layers.h"

namespace attend::models {
namespace {

constexpr FrontRow kFronts[] = {
    {"none", "x", "", 1},
    {"convolutional", "relu(W ∗ x + b) twice, 3 × 3 with a stride of 2 over time × frequency, then W·x + b",
     "Dong et al. 2018, section 3.2", 4},
};

/// How many places are left of so many frames when every `stride` of them become one.
std::vector<int32_t> shortened(const std::vector<int32_t>& lengths, int64_t stride) {
  const auto by = static_cast<int32_t>(stride);
  std::vector<int32_t> fewer;
  for (const int32_t length : lengths) fewer.push_back((length + by - 1) / by);
  return fewer;
}

/// x [B,C,T,F] with zeros beyond the end of each sound, as it would have alone.
Var silenced(const Var& x, const std::vector<int32_t>& lengths) {
  const int64_t B = x.dim(0), T = x.dim(2);
  if (std::ranges::all_of(lengths, [&](int32_t length) { return length == T; })) return x;
  Tensor within = Tensor::zeros({B, 1, T, 1});
  for (int64_t b = 0; b < B; ++b) std::fill_n(within.data() + b * T, lengths[static_cast<size_t>(b)], real{1});
  return multiply(x, within);
}

/// What frames pass before they are encoded: [B,T,F] → [B,⌈T/stride⌉,size()].
class FrontEnd {
 public:
  FrontEnd(const SequenceEncoderOptions& o, Random& random)
      : row_(row_named("front", kFronts, o.front)), size_(require_size("features", o.features)) {
    if (row_.stride == 1) return;
    const int64_t C = require_size("front_filters", o.front_filters);
    const Conv2dOptions halves{.stride = 2, .padding = 1};
    layers_.emplace_back(1, C, 3, random, halves, "he");
    layers_.emplace_back(C, C, 3, random, halves, "he");
    output_.emplace(C * ((o.features + 3) / 4), o.size, random);
    size_ = o.size;
  }
  Var operator()(const Var& frames, std::vector<int32_t> lengths) const {
    if (layers_.empty()) return frames;
    Var x = reshape(frames, {frames.dim(0), 1, frames.dim(1), frames.dim(2)});
    for (const nn::Conv2d& layer : layers_) {
      x = relu(layer(silenced(x, lengths)));
      lengths = shortened(lengths, 2);
    }
    return (*output_)(reshape(transpose(x, 1, 2), {x.dim(0), x.dim(2), x.dim(1) * x.dim(3)}));
  }
  int64_t size() const { return size_; }
  int64_t stride() const { return row_.stride; }
  void params(const nn::VisitParams& visit) {
    for (size_t i = 0; i < layers_.size(); ++i) nn::visit_part(visit, std::to_string(i), layers_[i]);
    if (output_) nn::visit_part(visit, "output", *output_);
  }

 private:
  const FrontRow& row_;
  int64_t size_;
  std::vector<nn::Conv2d> layers_;
  std::optional<nn::Linear> output_;
};

/// Recurrent layers, and a pyramid of n on top of them:
///   hʲₜ = f([hʲ⁻¹₂ₜ; hʲ⁻¹₂ₜ₊₁], hʲₜ₋₁)      (Chan et al. 2016, eq. 4), both ways or forwards alone.
/// The summary is the last state of the top layer; where both directions are read, as its states are.
class Listener : public Encoder {
 public:
  Listener(const SequenceEncoderOptions& o, int64_t pyramid, Random& random)
      : features_(o.features),
        adds_(o.bidirectional && o.directions == "add"),
        front_(o, random),
        dropout_(static_cast<real>(o.dropout)) {
    require_one_of("directions", {"concat", "add"}, o.directions);
    const auto layers = [&](int64_t input, int64_t count) {
      return nn::Recurrent({.cell = nn::cell_named(o.cell),
                            .input = input,
                            .hidden = require_size("size", o.size),
                            .layers = count,
                            .bidirectional = o.bidirectional,
                            .dropout = static_cast<real>(o.dropout)},
                           random);
    };
    stages_.push_back(layers(front_.size(), require_size("layers", o.layers)));
    const int64_t states = (o.bidirectional ? 2 : 1) * o.size;
    for (int64_t i = 0; i < pyramid; ++i) stages_.push_back(layers(2 * states, 1));
  }

  Encoded operator()(const data::Source& source, Training* training) const override {
    Random* random = random_of(training);
    const Var frames = SourceWords::seen(require_frames("encoder", source, features_), false);
    Encoded encoded;
    encoded.lengths = shortened(source.lengths(), front_.stride());
    Var x = transpose(dropout_(front_(frames, source.lengths()), random), 0, 1);
    for (size_t i = 0; i < stages_.size(); ++i) {
      if (i > 0) {
        x = in_pairs(dropout_(x, random));
        encoded.lengths = shortened(encoded.lengths, 2);
      }
      nn::Recurrent::Output read = stages_[i](x, encoded.lengths, {}, random);
      x = read.y;
      encoded.last.insert(encoded.last.end(), read.last.begin(), read.last.end());
    }
    const size_t count = encoded.last.size();
    encoded.summary =
        both_ways() ? joined(encoded.last[count - 2].h, encoded.last[count - 1].h) : encoded.last.back().h;
    encoded.by_time = joined(x);
    encoded.states = transpose(encoded.by_time, 0, 1);
    return encoded;
  }
  EncodedSizes sizes() const override {
    const nn::RecurrentOptions& o = stages_[0].options();
    const auto pyramid = static_cast<int64_t>(stages_.size()) - 1;
    return {.states = o.hidden * (both_ways() && !adds_ ? 2 : 1),
            .layers = o.layers + pyramid,
            .state = o.hidden,
            .directions = both_ways() ? 2 : 1,
            .stride = front_.stride() << pyramid};
  }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "front", front_);
    nn::visit_part(visit, "layers", stages_[0]);
    for (size_t i = 1; i < stages_.size(); ++i) nn::visit_part(visit, "pyramid." + std::to_string(i - 1), stages_[i]);
  }
  std::unique_ptr<EncoderStream> stream() const override;

 private:
  class Stream;

  bool both_ways() const { return stages_[0].options().bidirectional; }
  Var joined(const Var& forward, const Var& backward) const {
    return adds_ ? add(forward, backward) : concat(std::array{forward, backward}, -1);
  }
  /// [T,B,2H] → [T,B,D].
  Var joined(const Var& both) const {
    const int64_t H = stages_[0].options().hidden;
    return adds_ ? add(slice(both, 2, 0, H), slice(both, 2, H, 2 * H)) : both;
  }

  int64_t features_;
  bool adds_;
  FrontEnd front_;
  nn::Dropout dropout_;
  std::vector<nn::Recurrent> stages_;  // the first layers, then each of the pyramid
};

/// Each stage keeps its states; each of the pyramid also a state that waits for the second of its pair.
class Listener::Stream : public EncoderStream {
 public:
  explicit Stream(const Listener& listener) : listener_(listener), stages_(listener.stages_.size()) {}

  Tensor push(const Tensor& frames) override {
    require(!finished_, "EncoderStream: expected no more frames after finish");
    require(frames.defined() && frames.rank() == 2 && frames.dim(1) == listener_.features_,
            "EncoderStream: expected frames [t,", listener_.features_, "], got ", frames.shape());
    const TapePause pause;
    return through(0, frames.reshape({frames.dim(0), 1, frames.dim(1)}));
  }
  Tensor finish() override {
    require(!finished_, "EncoderStream: expected to be finished once");
    finished_ = true;
    const TapePause pause;
    return through(0, {});
  }

 private:
  struct Stage {
    std::vector<RecurrentState> states;
    Var waiting;  // [1,1,D]
  };

  /// x [t,1,·], or undefined, through stage i and those above: [n,D].
  Tensor through(size_t i, Var x) {
    if (i == stages_.size()) return x.defined() ? x.value().reshape({x.dim(0), x.dim(2)}) : none();
    if (i > 0) x = paired(stages_[i], x);
    // Nothing is new here; at the end, a stage above may have a state that waits.
    if (!x.defined() || x.dim(0) == 0) return finished_ ? through(i + 1, {}) : none();
    nn::Recurrent::Output read = listener_.stages_[i](x, {}, stages_[i].states);
    stages_[i].states = std::move(read.last);
    return through(i + 1, read.y);
  }

  /// What waits and what is new, two by two; one that is left over waits, or at the end has zeros beside it.
  Var paired(Stage& stage, const Var& x) const {
    Var all = stage.waiting;
    if (x.defined() && x.dim(0) > 0) all = all.defined() ? concat(std::array{all, x}, 0) : x;
    stage.waiting = {};
    if (!all.defined()) return {};
    const int64_t T = all.dim(0), even = finished_ ? T : T / 2 * 2;
    if (even < T) stage.waiting = slice(all, 0, even, T).value().clone();
    return even > 0 ? in_pairs(slice(all, 0, 0, even)) : Var();
  }
  Tensor none() const { return Tensor({0, listener_.sizes().states}); }

  const Listener& listener_;
  std::vector<Stage> stages_;
  bool finished_ = false;
};

std::unique_ptr<EncoderStream> Listener::stream() const {
  if (both_ways() || front_.stride() > 1) return nullptr;
  return std::make_unique<Stream>(*this);
}

/// Blocks of self-attention. The summary is the mean of the states.
class SoundTransformer : public Encoder {
 public:
  SoundTransformer(const SequenceEncoderOptions& o, Random& random)
      : features_(o.features),
        size_(o.size),
        front_(o, random),
        positions_(positions_of(o.positions == "auto" ? "sinusoidal" : o.positions, o.longest, o.size, random)),
        longest_(o.positions == "learned" || o.blocks.score == "location" ? o.longest : 0),
        dropout_(static_cast<real>(o.dropout)) {
    const TransformerOptions blocks = checked(with_blocks(
        {.size = o.size, .heads = o.heads, .hidden = o.hidden, .longest = o.longest, .dropout = o.dropout}, o.blocks));
    if (front_.stride() == 1) input_.emplace(front_.size(), o.size, random);
    for (int64_t i = 0; i < o.layers; ++i) blocks_.emplace_back(blocks, TransformerBlock::Kind::encoder, i, random);
    if (o.blocks.norm == "pre") norm_.emplace(o.size);
  }
  Encoded operator()(const data::Source& source, Training* training) const override {
    const Var frames = SourceWords::seen(require_frames("encoder", source, features_), false);
    Encoded encoded;
    encoded.lengths = shortened(source.lengths(), front_.stride());
    Var x = front_(frames, source.lengths());
    if (input_) x = (*input_)(x);
    x = dropout_(positions_ ? (*positions_)(x) : x, random_of(training));
    for (const TransformerBlock& block : blocks_) x = block(x, nullptr, {training, encoded.lengths});
    encoded.states = norm_ ? (*norm_)(x) : x;
    encoded.summary = mean_state(encoded.states, encoded.lengths);
    return encoded;
  }
  EncodedSizes sizes() const override { return {.states = size_, .stride = front_.stride()}; }
  int64_t longest() const override { return longest_ * front_.stride(); }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "front", front_);
    if (input_) nn::visit_part(visit, "input", *input_);
    if (positions_) nn::visit_part(visit, "positions", *positions_);
    for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
    if (norm_) nn::visit_part(visit, "norm", *norm_);
  }

 private:
  int64_t features_, size_;
  FrontEnd front_;
  std::optional<nn::Linear> input_;  // none after a front end, which has its own
  std::optional<nn::Positions> positions_;
  int64_t longest_;
  nn::Dropout dropout_;
  std::vector<TransformerBlock> blocks_;
  std::optional<nn::LayerNorm> norm_;  // after the last block, for pre-norm
};

}  // namespace

std::span<const FrontRow> fronts() { return kFronts; }

std::unique_ptr<Encoder> make_recurrent_listener(const SequenceEncoderOptions& options, Random& random) {
  return std::make_unique<Listener>(options, 0, random);
}

std::unique_ptr<Encoder> make_listener(const SequenceEncoderOptions& options, Random& random) {
  return std::make_unique<Listener>(options, options.pyramid, random);
}

std::unique_ptr<Encoder> make_sound_transformer(const SequenceEncoderOptions& options, Random& random) {
  return std::make_unique<SoundTransformer>(options, random);
}

const Tensor& require_frames(const char* where, const data::Source& source, int64_t features) {
  const Tensor& frames = source.frames();
  require(frames.defined(), where, ": expected sound, got ",
          source.pixels().defined()  ? "images"
          : source.lengths().empty() ? "nothing"
                                     : "words");
  require(frames.dim(0) >= 1 && frames.dim(2) == features, where, ": expected frames [B,T,", features, "], got ",
          frames.shape());
  require_not_empty(where, source);
  return frames;
}

Var in_pairs(const Var& by_time) {
  const int64_t T = by_time.dim(0), B = by_time.dim(1), D = by_time.dim(2), half = (T + 1) / 2;
  const Var even = T % 2 == 0 ? by_time : concat(std::array{by_time, Var(Tensor::zeros({1, B, D}))}, 0);
  return reshape(transpose(reshape(even, {half, 2, B, D}), 1, 2), {half, B, 2 * D});
}

}  // namespace attend::models
