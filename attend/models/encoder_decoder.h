// Network = encoder × decoder, with `Encoded` in between: any row of the table of encoders with any decoder. What all
// combinations share (the loss, scheduled sampling, several answers to a source, begin and next) is implemented here,
// once.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "attend/models/decoder.h"

namespace attend::models {

/// In the names of parameters, the prefix `from` is replaced with `to`.
struct ParameterName {
  std::string_view from, to;
};

class EncoderDecoder : public Model {
 public:
  /// What it is made of. Its parameters are named encoder.… and decoder.…; if `names` is given, those of its first
  /// entry come first, then those of the second, each renamed by the first entry that fits (for networks that were
  /// saved before names were uniform).
  struct Parts {
    std::string name;  // in messages
    std::unique_ptr<Encoder> encoder = nullptr;
    std::unique_ptr<Decoder> decoder = nullptr;
    double label_smoothing = 0;
    double r_drop = 0;  // weight of how far two passes with other dropout are apart
    std::span<const ParameterName> names = {};
  };
  explicit EncoderDecoder(Parts parts);

  void params(const nn::VisitParams& visit) override;
  /// Answers to the same source are read together if the batch says which they are (Batch::source_of).
  Var loss(const data::Batch& batch, Training* training = nullptr) const override;
  std::unique_ptr<State> begin(const data::Source& source) const override;
  Tensor next(State& state, std::span<const int32_t> last) const override;
  std::vector<std::vector<double>> copied_shares(const data::Batch& batch) const override;
  int64_t vocabulary() const override { return parts_.decoder->vocabulary(); }
  int64_t hypothesis_numbers(int64_t length) const override { return parts_.decoder->hypothesis_numbers(length); }
  int64_t longest_source() const override;
  int64_t stride() const override { return parts_.encoder->sizes().stride; }
  /// Of a sound: as many as it has encoded places.
  int64_t longest_answer(int64_t source_length) const override;
  Var word_table() const override { return parts_.encoder->word_table(); }

  /// Logits of each word of the targets and of their ends, under teacher forcing: [T,N,V] of a recurrent decoder,
  /// [N,T,V] of a Transformer's. Of a network that copies those of the vocabulary alone.
  Var logits(const data::Batch& batch) const;
  /// Whether each word attends to the source separately; otherwise all words see the same of it.
  bool attends() const { return parts_.decoder->attends(); }
  /// Trained with one align, used with another.
  void set_align(const std::string& name) { parts_.decoder->set_align(name); }

 protected:
  Encoded encoded(const data::Source& source, Training* training) const;
  /// The loss, given what the encoder has made of the sources. R-Drop has it read them once more.
  Var loss_of(const Encoded& encoded, const data::Batch& batch, Training* training) const;
  const Encoder& encoder() const { return *parts_.encoder; }
  const Decoder& decoder() const { return *parts_.decoder; }
  const char* name() const { return parts_.name.c_str(); }

 private:
  /// What was said under teacher forcing, of which source.
  struct Pass {
    std::unique_ptr<Decoder::Memory> memory;
    Prediction said;
  };
  Pass pass(const Encoded& encoded, const data::Batch& batch, Training* training) const;
  Ids laid_out(Ids ids) const;
  Prediction predict(Ids inputs, const Decoder::Memory& memory, Training* training) const;

  Parts parts_;
};

/// A network of these options, which `parts_of(options, random)` makes.
template <class Options>
class Preset : public EncoderDecoder {
 public:
  Preset(const Options& options, Random& random) : EncoderDecoder(parts_of(options, random)) {}
};

}  // namespace attend::models
