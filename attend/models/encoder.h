// Encoders for networks that label their input: recurrent, Transformer, or an LSTM that attends to its own past.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "attend/models/intra.h"
#include "attend/models/transformer.h"
#include "attend/nn/recurrent.h"

namespace attend::models {

struct EncoderOptions {
  std::string kind = "recurrent";
  int64_t vocabulary = 0;
  int64_t size = 256, layers = 1;
  std::string cell = "lstm";  // recurrent
  bool bidirectional = true;
  int64_t heads = 4, hidden = 1024;  // transformer
  double dropout = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("kind", kind, "recurrent, transformer or intra (an lstm that attends to its own past)");
    visit("vocabulary", vocabulary, "number of input words");
    visit("size", size, "width of a word and of a state");
    visit("layers", layers, "layers on top of each other");
    visit("cell", cell, "recurrent: rnn, gru or lstm");
    visit("bidirectional", bidirectional, "recurrent: read both ways");
    visit("heads", heads, "transformer: heads");
    visit("hidden", hidden, "transformer: width inside the feed-forward layers");
    visit("dropout", dropout, "on words and between layers");
  }
};

/// B sequences as vectors, and each of them as one.
struct Encoded {
  Var states;   ///< [B,T,output_size()]
  Var summary;  ///< [B,output_size()]: the last state of each direction; for a Transformer the mean of the states
};

class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual Encoded operator()(const data::Sequences& source, Training* training) const = 0;
  virtual int64_t output_size() const = 0;
  virtual void params(const nn::VisitParams& visit) = 0;
};

struct EncoderRow {
  std::string_view name, formula, paper;
  std::unique_ptr<Encoder> (*make)(const EncoderOptions& options, Random& random);
};
std::span<const EncoderRow> encoders();
std::unique_ptr<Encoder> make_encoder(const EncoderOptions& options, Random& random);

}  // namespace attend::models
