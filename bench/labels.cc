// Networks that label what they read: a tag for each word, a label for each text; random words and random parameters.
#include <memory>

#include "attend/models/classifier.h"
#include "attend/models/tagger.h"
#include "bench/inputs.h"
#include "bench/row.h"
#include "bench/training.h"

namespace attend::bench {
namespace {

constexpr int64_t kWords = 24, kVocabulary = 8000;
constexpr int64_t kSentences = 32, kTags = 45, kLetters = 100, kLongestWord = 12;
constexpr int64_t kTexts = 64, kLabels = 6;

/// 1 to kLongestWord letters for each word, the same wherever it stands.
data::Sequences spelled(const data::Sequences& text) {
  std::vector<std::vector<int32_t>> words;
  for (const int32_t word : text.ids.values) {
    Random random(4, static_cast<uint64_t>(word));
    std::vector<int32_t>& letters = words.emplace_back(1 + random.below(kLongestWord));
    for (int32_t& letter : letters) {
      letter = data::kFirstWord + static_cast<int32_t>(random.below(kLetters - data::kFirstWord));
    }
  }
  return data::Sequences(words);
}

/// `count` × `length` labels below `labels`.
data::Sequences random_labels(int64_t count, int64_t length, int64_t labels) {
  Random random(2, 1);
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(count), std::vector<int32_t>(static_cast<size_t>(length)));
  for (auto& row : rows) {
    for (int32_t& label : row) label = static_cast<int32_t>(random.below(labels));
  }
  return data::Sequences(rows);
}

models::TaggerOptions tagger_options(const std::string& output) {
  models::TaggerOptions o;
  o.encoder.vocabulary = kVocabulary;
  o.encoder.size = 128;
  o.encoder.letters.kind = "convolution";
  o.encoder.letters.vocabulary = kLetters;
  o.labels = kTags;
  o.output = output;
  return o;
}

double tagger_flop(const models::TaggerOptions& o) {
  const models::LetterOptions& l = o.encoder.letters;
  const double words = kSentences * kWords, H = static_cast<double>(o.encoder.size),
               filters = static_cast<double>(l.filters), window = static_cast<double>(l.width * l.size);
  const double letters = words * kLongestWord * 2 * window * filters;
  return 3 * (letters + lstm_flop(words, H + filters, H) + words * 2 * 2 * H * kTags);
}

Training tagging(const std::string& output) {
  Random random(1);
  auto model = std::make_unique<models::Tagger>(tagger_options(output), random);
  const data::Sequences text = random_words(kSentences, kWords, kVocabulary, 0);
  return {std::move(model), {data::Source(text).add_letters(spelled(text)), random_labels(kSentences, kWords, kTags)}};
}

Row tagger_row(const std::string& output) {
  Row row{.name = "step/tagger " + output + " B32 V8000",
          .work = tagger_flop(tagger_options(output)),
          .percent = 60,
          .peer = 1.5,
          .others = {{kCompiled, 1.5}},
          .least_runs = 6};
  row.prepare = [output, name = row.name] {
    const auto training = std::make_shared<Training>(tagging(output));
    // Where all transitions score 0, as at the beginning, a field is a softmax at each place.
    if (output == "crf") require_near("the loss of a field", training->loss(), tagging("softmax").loss(), 1e-5);
    return checked_step(name, training);
  };
  return row;
}

models::ClassifierOptions classifier_options(const std::string& encoder, int64_t size) {
  models::ClassifierOptions o;
  o.encoder.kind = encoder;
  o.encoder.size = size;
  o.encoder.vocabulary = kVocabulary;
  o.labels = kLabels;
  o.pooling = "attention";
  if (encoder == "transformer") {
    o.encoder.layers = 2;
    o.encoder.dropout = 0.1;
  }
  return o;
}

double classifier_flop(const models::ClassifierOptions& o) {
  const double words = kTexts * kWords, H = static_cast<double>(o.encoder.size), F = static_cast<double>(o.encoder.hidden),
               layers = static_cast<double>(o.encoder.layers);
  const bool recurrent = o.encoder.kind == "recurrent";
  const double encoder = recurrent ? lstm_flop(words, H, H) : words * layers * (8 * H * H + 4 * H * F + 4 * kWords * H);
  const double D = recurrent ? 2 * H : H, pooling = words * (2 * D * D + 2 * D);
  return 3 * (encoder + pooling + kTexts * 2 * D * kLabels);
}

Row classifier_row(const std::string& name, const models::ClassifierOptions& options) {
  Row row{.name = "step/classifier " + name + " B64 V8000",
          .work = classifier_flop(options),
          .percent = 60,
          .peer = 1.5,
          .others = {{kCompiled, 1.5}},
          .least_runs = 6};
  row.prepare = [options, name = row.name] {
    Random random(1);
    auto model = std::make_unique<models::Classifier>(options, random);
    const data::Batch batch{random_words(kTexts, kWords, kVocabulary, 0), random_labels(kTexts, 1, kLabels)};
    // Ten: with six labels the first steps of a Transformer overshoot.
    return checked_step(name, std::make_shared<Training>(std::move(model), batch), 10);
  };
  return row;
}

}  // namespace

std::vector<Row> label_rows() {
  return {tagger_row("crf"), tagger_row("softmax"), classifier_row("lstm d128", classifier_options("recurrent", 128)),
          classifier_row("lstm d256", classifier_options("recurrent", 256)),
          classifier_row("transformer 2 d256", classifier_options("transformer", 256))};
}

}  // namespace attend::bench
