// Whole networks: a training step of each, its memory, and decoding; random words and random parameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "attend/base/error.h"
#include "attend/base/temporary_folder.h"
#include "attend/data/batches.h"
#include "attend/decode/search.h"
#include "attend/models/captioner.h"
#include "attend/models/recurrent.h"
#include "attend/models/transformer.h"
#include "attend/train/log.h"
#include "attend/train/trainer.h"
#include "bench/inputs.h"
#include "bench/measure.h"
#include "bench/process.h"
#include "bench/row.h"
#include "bench/training.h"

namespace attend::bench {
namespace {

/// A network to train or to decode with, and the targets for its step.
struct Network {
  std::string name;
  int64_t batch, vocabulary, source, target;  // target: steps of the decoder, including the end
  std::string cell, score;                    // cell "": the Transformer
  double percent = 0, peer = 0;
  std::vector<OtherPeer> others = {};
};

constexpr int64_t kHidden = 256, kFeedForward = 1024, kLayers = 3;
constexpr int64_t kWordsIn = 25, kWordsOut = 32, kDecoderVocabulary = 8000;

std::vector<Network> trained_networks() {
  return {{"gru additive B64 V8000", 64, 8000, 20, 20, "gru", "additive", 85, 1.3, {{kCompiled, 1.15}}},
          {"lstm general B64 V8000", 64, 8000, 20, 20, "lstm", "general", 85, 1.3},
          {"gru additive B64 V1000", 64, 1000, 20, 20, "gru", "additive", 75, 1.5},
          {"gru additive B16 V1000", 16, 1000, 20, 20, "gru", "additive", 65, 1.8},
          {"transformer 3+3 d256 B128 V8000", 128, 8000, 32, 32, "", "", 75, 1.8, {{kCompiled, 1.6}}}};
}

std::unique_ptr<models::Model> make_model(const Network& n) {
  Random random(1);
  if (n.cell.empty()) {
    models::TransformerOptions options;
    options.source_vocabulary = options.target_vocabulary = n.vocabulary;
    return std::make_unique<models::Transformer>(options, random);
  }
  models::RecurrentModelOptions options;
  options.source_vocabulary = options.target_vocabulary = n.vocabulary;
  options.cell = n.cell;
  options.attention.score = n.score;
  return std::make_unique<models::RecurrentModel>(options, random);
}

/// Products of a step, forward and twice that backward: three times what one reading of the batch multiplies.
double step_flop(const Network& n) {
  const double B = static_cast<double>(n.batch), V = static_cast<double>(n.vocabulary),
               S = static_cast<double>(n.source), T = static_cast<double>(n.target), H = kHidden, E = kHidden,
               F = kFeedForward;
  if (n.cell.empty()) {
    const double encoder = kLayers * (8 * H * H + 4 * H * F + 4 * S * H) * B * S;
    const double decoder = kLayers * (16 * H * H + 4 * H * F + 8 * T * H) * B * T;
    return 3 * (encoder + decoder + 2 * H * V * B * T);
  }
  const double gates = n.cell == "gru" ? 3 : 4;
  const double encoder = 2 * S * 2 * gates * H * (E + H), keys = S * 4 * H * H;
  const double query = n.score == "additive" ? T * 2 * H * H : 0;
  const double decoder = T * 2 * gates * H * (E + 3 * H), output = T * 2 * (3 * H + E) * V;
  return 3 * B * (encoder + keys + query + decoder + output);
}

Training training_of(const Network& n) {
  return {make_model(n), {random_words(n.batch, n.source, n.vocabulary, 0),
                          random_words(n.batch, n.target - 1, n.vocabulary, 1)}};
}

Row step_row(const Network& n) {
  Row row{.name = "step/" + n.name,
          .work = step_flop(n),
          .percent = n.percent,
          .peer = n.peer,
          .others = n.others,
          .least_runs = 6};
  row.prepare = [n] { return checked_step(n.name, std::make_shared<Training>(training_of(n))); };
  return row;
}

// 32 images of 112 × 112, five captions each; four stages, 7 × 7 cells.
constexpr int64_t kImages = 32, kCaptionsEach = 5, kSide = 112, kCaptionVocabulary = 5000, kCaptionSteps = 12;

double caption_flop(const models::CaptionerOptions& o) {
  const double H = static_cast<double>(o.hidden), E = static_cast<double>(o.embedding), V = kCaptionVocabulary;
  double stages = 0, in = 3, side = kSide;
  for (const int64_t width : models::widths_of("stages", o.encoder.stages)) {
    const double out = static_cast<double>(width);
    // The gradient of the images is not needed: two thirds of the first stage.
    stages += (in == 3 ? 2.0 : 3.0) / 3 * 2 * 9 * in * out * side * side;
    in = out, side /= 2;
  }
  const double rows = kImages * kCaptionsEach, cells = side * side, D = in;
  const double keys = kImages * cells * 2 * D * H, first = rows * 4 * D * H;
  const double step = 2 * H * H + 2 * cells * D + 8 * H * (E + D + H), output = 2 * E * (H + D + V);
  return 3 * (kImages * stages + keys + first + rows * kCaptionSteps * (step + output));
}

Row captioner_row() {
  models::CaptionerOptions options;
  options.target_vocabulary = kCaptionVocabulary;
  Row row{.name = "step/captioner 112x112 B32x5 V5000",
          .work = caption_flop(options),
          .percent = 60,
          .peer = 1.2,
          .least_runs = 6};
  row.prepare = [options, name = row.name] {
    Random random(1);
    data::Batch batch;
    Tensor images = normal({kImages, 3, kSide, kSide}, 0.25, 7);
    for (real& x : images.values()) x += real{0.5};
    batch.source = data::Source::of_images(images);
    batch.target = random_words(kImages * kCaptionsEach, kCaptionSteps - 1, kCaptionVocabulary, 1);
    for (int32_t n = 0; n < kImages * kCaptionsEach; ++n) batch.source_of.push_back(n / int32_t{kCaptionsEach});
    return checked_step(name, std::make_shared<Training>(std::make_unique<models::Captioner>(options, random), batch));
  };
  return row;
}

/// Alternates between the trainer and the bare step, ten steps each, and keeps the time of both.
class Turns : public train::Watcher {
 public:
  explicit Turns(const Network& n) : bare_(training_of(n)) { bare_.step(); }

  void stepped(const train::StepReport&) override {
    const double arrived = now();
    if (started_ > 0) loop_.push_back(arrived - started_);
    const double start = now();
    for (int i = 0; i < kSteps; ++i) bare_.step();
    bare_seconds_.push_back(now() - start);
    started_ = now();
  }
  bool stop() override { return loop_.size() >= kTurns; }
  double percent() const { return 100 * median(bare_seconds_) / median(loop_); }

 private:
  static constexpr int kSteps = 10;  // as many as the trainer takes between reports
  static constexpr size_t kTurns = 5;
  static double median(std::vector<double> all) {
    std::ranges::nth_element(all, all.begin() + static_cast<ptrdiff_t>(all.size() / 2));
    return all[all.size() / 2];
  }

  Training bare_;
  double started_ = 0;
  std::vector<double> loop_, bare_seconds_;
};

/// The training loop, including its batches and its log, as a share of the speed of the bare step.
Row loop_row(const Network& n) {
  Row row{.name = "loop/" + n.name, .unit = Unit::percent, .least = 90};
  row.value = [n] {
    const TemporaryFolder folder("attend-bench");
    data::EncodedPairsWriter writer(folder.path());
    const data::Sequences sources = random_words(20 * n.batch, n.source, n.vocabulary, 0),
                          targets = random_words(20 * n.batch, n.target - 1, n.vocabulary, 1);
    for (int64_t i = 0; i < sources.count(); ++i) writer.add(sources.row(i), targets.row(i));
    const data::EncodedPairs pairs = writer.finish();
    const data::Batches batches(pairs, {.tokens = n.batch * n.source, .sentences = n.batch});
    std::vector<data::BatchRows> plan = batches.epoch(0);
    const auto model = make_model(n);
    train::Trainer trainer(
        *model,
        {[&](int64_t) { return static_cast<int64_t>(plan.size()); },
         [&](int64_t, int64_t i) { return batches.batch(plan[static_cast<size_t>(i)]); }},
        [](const models::Model&) { return train::Validation{}; },
        {.steps = 1000, .schedule = "constant", .validate_every = 1000}, folder.path());
    Turns turns(n);
    train::Log log(folder.path());
    const std::array<train::Watcher*, 2> watchers{&log, &turns};
    trainer.run(watchers);
    return turns.percent();
  };
  return row;
}

/// Answers of the right length, each as likely as `score` says of it.
void check_answers(const models::Model& model, const data::Source& source,
                   const std::vector<std::vector<decode::Hypothesis>>& answers) {
  std::vector<std::vector<int32_t>> said;
  for (const auto& best : answers) {
    require(best.size() == 1 && best[0].tokens.size() == kWordsOut, "bench: expected one answer of ", kWordsOut,
            " words, got ", best.size(), " of ", best.empty() ? 0 : best[0].tokens.size());
    said.push_back(best[0].tokens);
  }
  const std::vector<decode::Hypothesis> scored = decode::score(model, {source, data::Sequences(said)});
  for (size_t s = 0; s < said.size(); ++s) {
    double sum = 0;  // without the end, which the search was not allowed to predict
    for (size_t t = 0; t < kWordsOut; ++t) sum += scored[s].token_log_probabilities[t];
    require_near("the likelihood of an answer", answers[s][0].log_probability, sum, 1e-4);
  }
}

Row decoding_row(const Network& n, int64_t batch, int64_t beam) {
  const bool transformer = n.cell.empty();
  Row row{.name = "decode/" + n.name + (beam == 1 ? " greedy B" : " beam" + std::to_string(beam) + " B") +
                  std::to_string(batch),
          .unit = Unit::tokens,
          .work = static_cast<double>(batch * kWordsOut)};
  if (transformer) {
    row.others = {{kCTranslate2, batch > 1 ? 2.0 : beam > 1 ? 1.5 : 1.2}};
  } else {
    row.peer = 5.0;
  }
  row.prepare = [n, batch, beam]() -> std::function<void()> {
    const std::shared_ptr<const models::Model> model = make_model(n);
    const data::Sequences source = random_words(batch, kWordsIn, n.vocabulary, 2);
    const decode::SearchOptions options{.beam = beam, .min_length = kWordsOut, .max_length = kWordsOut};
    check_answers(*model, source, decode::search(*model, source, options));
    return [=] { decode::search(*model, source, options); };
  };
  return row;
}

}  // namespace

std::vector<Row> model_rows() {
  std::vector<Row> rows;
  for (const Network& n : trained_networks()) rows.push_back(step_row(n));
  rows.push_back(captioner_row());
  for (const Network& n : trained_networks()) rows.push_back(loop_row(n));
  for (const Network& n : trained_networks()) rows.push_back(memory_row(n.name));
  return rows;
}

std::vector<Row> decoding_rows() {
  const Network transformer{"transformer", 0, kDecoderVocabulary, 0, 0, "", ""};
  const Network recurrent{"recurrent", 0, kDecoderVocabulary, 0, 0, "gru", "additive"};
  std::vector<Row> rows;
  for (const Network& n : {transformer, recurrent}) {
    for (const int64_t beam : {1, 5}) {
      for (const int64_t batch : {1, 32}) rows.push_back(decoding_row(n, batch, beam));
    }
  }
  return rows;
}

Row memory_row(const std::string& network) {
  Row row{.name = "memory/" + network, .unit = Unit::mebibytes, .peer = 1.0};
  row.value = [name = row.name] {
    const Finished said = run_command(shell_word(this_program()) + " bench --training-peak " + shell_word(name));
    require(said.succeeded && said.lines.size() == 1, "bench: the process that trains for ", name, " failed");
    return std::stod(said.lines[0]);
  };
  return row;
}

double training_peak(const std::string& row) {
  const std::string name = row.starts_with("memory/") ? row.substr(7) : "";
  std::optional<Training> training = reader_training(name);
  if (std::optional<Training> copying = copying_training(name)) training.emplace(*std::move(copying));
  if (std::optional<Training> speech = speech_training(name)) training.emplace(*std::move(speech));
  for (const Network& n : trained_networks()) {
    if (name == n.name) training.emplace(training_of(n));
  }
  if (!training) throw Error("bench: no row is called " + row);
  for (int i = 0; i < 3; ++i) training->step();
  const double peak = peak_mebibytes();
  require(std::isfinite(training->loss()), "bench: the loss of ", name, " must be a number");
  return peak;
}

}  // namespace attend::bench
