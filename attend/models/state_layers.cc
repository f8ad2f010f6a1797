#include "attend/models/state_layers.h"

#include "attend/autograd/ops.h"
#include "attend/base/names.h"
#include "attend/models/rows.h"
#include "attend/models/transformer_block.h"

namespace attend::models {
namespace {

/// [h→ₜ; h←ₜ] with hₜ = f(xₜ, hₜ₋₁).
class RecurrentStates : public StateLayers {
 public:
  RecurrentStates(const StateLayerOptions& o, Random& random)
      : layers_({.cell = nn::cell_named(o.cell),
                 .input = o.input,
                 .hidden = o.size,
                 .layers = o.layers,
                 .bidirectional = true,
                 .dropout = static_cast<real>(o.dropout)},
                random) {}
  Var operator()(const Var& x, const std::vector<int32_t>& lengths, Training* training) const override {
    return layers_(x, lengths, {}, random_of(training)).y;
  }
  int64_t size() const override { return 2 * layers_.options().hidden; }
  void params(const nn::VisitParams& visit) override { layers_.params(visit); }

 private:
  nn::Recurrent layers_;
};

/// Blocks of self-attention over W·x + b.
class TransformerStates : public StateLayers {
 public:
  TransformerStates(const StateLayerOptions& o, Random& random)
      : size_(o.size), input_(o.input, o.size, random) {
    const TransformerOptions blocks = checked(with_blocks(
        {.size = o.size, .heads = o.heads, .hidden = o.hidden, .dropout = o.dropout}, o.blocks));
    for (int64_t i = 0; i < o.layers; ++i) {
      blocks_.emplace_back(blocks, TransformerBlock::Kind::encoder, o.first_layer + i, random);
    }
    if (o.blocks.norm == "pre") norm_ = std::make_unique<nn::LayerNorm>(o.size);
  }
  Var operator()(const Var& x, const std::vector<int32_t>& lengths, Training* training) const override {
    Var y = transpose(input_(x), 0, 1);
    for (const TransformerBlock& block : blocks_) y = block(y, nullptr, {training, lengths});
    return transpose(norm_ ? (*norm_)(y) : y, 0, 1);
  }
  int64_t size() const override { return size_; }
  void params(const nn::VisitParams& visit) override {
    nn::visit_part(visit, "input", input_);
    for (size_t i = 0; i < blocks_.size(); ++i) nn::visit_part(visit, std::to_string(i), blocks_[i]);
    if (norm_) nn::visit_part(visit, "norm", *norm_);
  }

 private:
  int64_t size_;
  nn::Linear input_;
  std::vector<TransformerBlock> blocks_;
  std::unique_ptr<nn::LayerNorm> norm_;
};

template <class Kind>
std::unique_ptr<StateLayers> make_layers(const StateLayerOptions& options, Random& random) {
  return std::make_unique<Kind>(options, random);
}

constexpr StateLayerRow kStateLayers[] = {
    {"recurrent", "hₜ = f(xₜ, hₜ₋₁), both ways", "Graves & Schmidhuber 2005", make_layers<RecurrentStates>},
    {"transformer", "blocks of self-attention", "Vaswani et al. 2017", make_layers<TransformerStates>},
};

}  // namespace

std::span<const StateLayerRow> state_layers() { return kStateLayers; }

std::unique_ptr<StateLayers> make_state_layers(const StateLayerOptions& options, Random& random) {
  require_size("size", options.size);
  return row_named("kind", kStateLayers, options.kind).make(options, random);
}

}  // namespace attend::models
