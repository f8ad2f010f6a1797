// Speech: a training step of a network that listens and spells, its memory, and the loss of CTC; random sounds and random
// parameters.
#include <memory>
#include <optional>

#include "attend/models/encoder_decoder_options.h"
#include "bench/inputs.h"
#include "bench/row.h"
#include "bench/training.h"

namespace attend::bench {
namespace {

// Sounds of eight seconds, and sixty predictions of letters.
constexpr int64_t kSounds = 16, kSoundFrames = 800, kFeatures = 80, kSpelled = 59, kAlphabet = 50;
constexpr const char* kListener = "listener + speller lstm B16 T800";

models::EncoderDecoderOptions listener_options() {
  models::EncoderDecoderOptions o;
  o.target_vocabulary = kAlphabet;
  o.encoder.text.kind = "listener", o.encoder.text.features = kFeatures, o.encoder.text.size = 256;
  o.encoder.text.cell = "lstm", o.encoder.text.layers = 1, o.encoder.text.pyramid = 2;
  o.decoder.recurrent.hidden = 256, o.decoder.recurrent.cell = "lstm";
  o.decoder.recurrent.attention.score = "location_aware";
  o.label_smoothing = 0;
  return o;
}

double listener_flop(const models::EncoderDecoderOptions& o) {
  const double H = static_cast<double>(o.encoder.text.size), T = kSoundFrames, U = kSpelled + 1, V = kAlphabet;
  const AttentionConfig& attention = o.decoder.recurrent.attention;
  const double filters = static_cast<double>(attention.filters), reach = static_cast<double>(attention.reach);
  const double layers = lstm_flop(T, kFeatures, H) + lstm_flop(T / 2, 4 * H, H) + lstm_flop(T / 4, 4 * H, H);
  // Of each place of a step: what its filters see, v·tanh, and its part of the context.
  const double place = 2 * filters * (2 * reach + 1 + H) + 2 * H + 4 * H;
  const double step = 2 * H * H + T / 4 * place + 2 * 4 * H * (H + 2 * H + H) + 2 * 4 * H * V;
  return 3 * kSounds * (layers + T / 4 * 2 * 2 * H * H + U * step);
}

Training listening() {
  Random random(1);
  const models::EncoderDecoderOptions o = listener_options();
  auto model = std::make_unique<models::EncoderDecoder>(models::parts_of(o, random));
  const data::Source sounds = data::Source::of_frames(normal({kSounds, kSoundFrames, kFeatures}, 1, 7),
                                                      std::vector<int32_t>(kSounds, int32_t{kSoundFrames}));
  return {std::move(model), {sounds, random_words(kSounds, kSpelled, kAlphabet, 1)}};
}

Row listener_row() {
  Row row{.name = std::string("step/") + kListener,
          .work = listener_flop(listener_options()),
          .peer = 1.3,
          .least_runs = 4};
  row.prepare = [name = row.name] { return checked_step(name, std::make_shared<Training>(listening())); };
  return row;
}

}  // namespace

std::vector<Row> speech_rows() { return {listener_row(), memory_row(kListener)}; }

std::optional<Training> speech_training(const std::string& name) {
  if (name != kListener) return {};
  return listening();
}

}  // namespace attend::bench
