// Readers: training steps of networks that find answers in documents; random words and random parameters.
#include "attend/models/reader.h"

#include <memory>
#include <optional>

#include "bench/inputs.h"
#include "bench/process.h"
#include "bench/row.h"
#include "bench/training.h"

namespace attend::bench {
namespace {

constexpr int64_t kDocuments = 32, kDocument = 150, kQuestion = 15, kReaderVocabulary = 8000;
constexpr const char* kReader = "reader d128 B32 V8000";

models::ReaderOptions reader_options() {
  models::ReaderOptions o;
  o.encoder.vocabulary = kReaderVocabulary;
  o.encoder.size = 128;
  o.encoder.dropout = o.dropout = 0.2;
  return o;
}

double reader_flop() {
  const double H = 128, D = 2 * H, places = kDocuments * kDocument, asked = kDocuments * kQuestion;
  const double encoder = lstm_flop(places + asked, H, H), met = places * kQuestion * 4 * D + places * 4 * D;
  const double modelling = lstm_flop(places, 4 * D, H) + 2 * lstm_flop(places, D, H);
  return 3 * (encoder + met + modelling + places * 2 * 2 * (5 * D));
}

Training reading() {
  Random random(1), places(2, 2);
  data::Batch batch;
  batch.source.add("document", random_words(kDocuments, kDocument, kReaderVocabulary, 0));
  batch.source.add("question", random_words(kDocuments, kQuestion, kReaderVocabulary, 1));
  std::vector<std::vector<int32_t>> spans;
  for (int64_t b = 0; b < kDocuments; ++b) {
    const auto first = static_cast<int32_t>(places.below(kDocument - 3));
    spans.push_back({first, first + static_cast<int32_t>(places.below(3))});
  }
  batch.target = data::Sequences(spans);
  return {std::make_unique<models::Reader>(reader_options(), random), std::move(batch)};
}

Row reader_row() {
  Row row{.name = std::string("step/") + kReader, .work = reader_flop(), .peer = 1.5, .others = {{kCompiled, 1.5}},
          .least_runs = 6};
  row.prepare = [name = row.name] {
    return checked_step(name, std::make_shared<Training>(reading()), 5);
  };
  return row;
}

}  // namespace

std::vector<Row> reader_rows() { return {reader_row(), memory_row(kReader)}; }

std::optional<Training> reader_training(const std::string& name) {
  if (name != kReader) return {};
  return reading();
}

}  // namespace attend::bench
