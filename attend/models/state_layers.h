// Layers over vectors rather than words: what reads the states of an encoder once more, as a reader does after it has met its
// question.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/encoder.h"

namespace attend::models {

/// x [T,B,in], of which the first lengths[b] places count → [T,B,size()].
class StateLayers {
 public:
  virtual ~StateLayers() = default;
  virtual Var operator()(const Var& x, const std::vector<int32_t>& lengths, Training* training) const = 0;
  virtual int64_t size() const = 0;
  virtual void params(const nn::VisitParams& visit) = 0;
};

struct StateLayerOptions {
  std::string kind = "recurrent";
  int64_t size = 0, layers = 1;
  std::string cell = "lstm";
  int64_t heads = 4, hidden = 1024;
  BlockOptions blocks;
  // Set by the network:
  int64_t input = 0, first_layer = 0;  // width of x; layer of the first block, for observers
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit);
};

struct StateLayerRow {
  std::string_view name, formula, paper;
  std::unique_ptr<StateLayers> (*make)(const StateLayerOptions& options, Random& random);
};
/// The menu of its kinds.
std::span<const StateLayerRow> state_layers();
std::unique_ptr<StateLayers> make_state_layers(const StateLayerOptions& options, Random& random);

template <class Visit>
void StateLayerOptions::fields(Visit&& visit) {
  visit("kind", kind, "recurrent (both ways) or transformer", bounds::one_of(state_layers()));
  visit("size", size, "width of a state, in each direction; 0: the encoder's", bounds::width_or_none());
  visit("layers", layers, "number of layers", bounds::layers());
  visit("cell", cell, "recurrent: rnn, gru or lstm", bounds::one_of(nn::cells()));
  visit("heads", heads, "transformer: heads", bounds::width());
  visit("hidden", hidden, "transformer: width inside the feed-forward layers", bounds::width());
  visit("blocks", blocks, "");
}

}  // namespace attend::models
