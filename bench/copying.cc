// The pointer–generator: training steps of a network that copies; random words and random parameters.
#include <array>
#include <memory>
#include <optional>

#include "attend/models/recurrent.h"
#include "bench/inputs.h"
#include "bench/process.h"
#include "bench/row.h"
#include "bench/training.h"

namespace attend::bench {
namespace {

// News of 60 words, every sixth of them outside the vocabulary, and headlines of 11, every third of them copied.
constexpr int64_t kNews = 32, kTextWords = 60, kHeadlineWords = 11, kCopyVocabulary = 8000, kOutside = 6, kCopied = 3;
constexpr const char* kPointerGenerator = "pointer-generator gru B32 V8000";

models::RecurrentModelOptions copying_options() {
  models::RecurrentModelOptions o;
  o.source_vocabulary = o.target_vocabulary = kCopyVocabulary;
  o.embedding = 128;
  o.decoder = {.query = "after", .feeding = true, .copy = true};
  return o;
}

double copying_flop() {
  const models::RecurrentModelOptions o = copying_options();
  const double B = kNews, S = kTextWords, T = kHeadlineWords + 1, V = kCopyVocabulary,
               E = static_cast<double>(o.embedding), H = static_cast<double>(o.hidden);
  const double encoder = 2 * S * 2 * 3 * H * (E + H), keys = S * 4 * H * H;
  const double step = 2 * 3 * H * (E + 2 * H) + 2 * H * H + 4 * S * H + 2 * 3 * H * H + 2 * (3 * H + E);
  return 3 * B * (encoder + keys + T * (step + 2 * H * V));
}

Training copying() {
  Random random(1);
  data::Sequences said = random_words(kNews, kTextWords, kCopyVocabulary, 0), read = said;
  data::Sequences headlines = random_words(kNews, kHeadlineWords, kCopyVocabulary, 1);
  for (int64_t b = 0; b < kNews; ++b) {
    for (int64_t s = 0; s < kTextWords; s += kOutside) {
      const auto at = static_cast<size_t>(b * kTextWords + s);
      said.ids.values[at] = static_cast<int32_t>(kCopyVocabulary + s / kOutside);
      read.ids.values[at] = data::kUnknown;
    }
    for (int64_t t = 0; t < kHeadlineWords; t += kCopied) {
      headlines.ids.values[static_cast<size_t>(b * kHeadlineWords + t)] =
          said.ids.values[static_cast<size_t>(b * kTextWords + 5 * t)];
    }
  }
  data::Batch batch{data::Source(read), headlines};
  batch.source.add_copies(said);
  return {std::make_unique<models::RecurrentModel>(copying_options(), random), std::move(batch)};
}

/// The probabilities of all words, those outside the vocabulary too, sum to one.
void check_mixture() {
  Random random(1);
  const models::RecurrentModel model(copying_options(), random);
  const std::vector<std::vector<int32_t>> read{{5, data::kUnknown, 6, data::kUnknown}};
  data::Source source{data::Sequences(read)};
  source.add_copies(data::Sequences({{5, kCopyVocabulary, 6, kCopyVocabulary + 1}}));
  const auto state = model.begin(source);
  const Tensor scores = model.next(*state, std::array{data::kBegin});
  double sum = 0;
  for (const real x : scores) sum += std::exp(static_cast<double>(x));
  require(scores.dim(1) == kCopyVocabulary + 2, "bench: expected scores of ", kCopyVocabulary + 2, " words, got ",
          scores.shape());
  require_near("the probability of all words", sum, 1, 1e-4);
}

Row copying_row() {
  Row row{.name = std::string("step/") + kPointerGenerator,
          .work = copying_flop(),
          .peer = 1.5,
          .others = {{kCompiled, 1.5}},
          .least_runs = 6};
  row.prepare = [name = row.name] {
    check_mixture();
    return checked_step(name, std::make_shared<Training>(copying()));
  };
  return row;
}

}  // namespace

std::vector<Row> copying_rows() { return {copying_row(), memory_row(kPointerGenerator)}; }

std::optional<Training> copying_training(const std::string& name) {
  if (name != kPointerGenerator) return {};
  return copying();
}

}  // namespace attend::bench
