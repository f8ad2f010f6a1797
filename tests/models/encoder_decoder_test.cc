// Any encoder under any decoder: gradients, what observers see, several answers to one source, and that the presets are
// combinations like any other; and the options that the exact networks of the lectures need.
#include "attend/models/encoder_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attend/attention/observe.h"
#include "attend/autograd/ops.h"
#include "attend/decode/search.h"
#include "attend/models/captioner.h"
#include "attend/models/encoder_decoder_options.h"
#include "attend/models/image_networks.h"
#include "attend/models/recurrent.h"
#include "attend/models/transformer.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/logits_gradient.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using test::message_of;

constexpr int64_t kPairWords = 9;

const Settings kText{{"source_vocabulary", "9"}, {"encoder.longest", "8"}};
const Settings kImages{
    {"encoder.channels", "2"}, {"encoder.height", "8"}, {"encoder.width", "8"}, {"encoder.stages", "4,6"}};
/// A published network as narrow as it gets, with all of its stages trained.
Settings published(const ImageNetworkRow& row) {
  return {{"encoder.channels", "3"},
          {"encoder.narrow", "64"},
          {"encoder.train_stages", std::to_string(row.grid_stage + 1)}};
}
const Settings kSmall{{"target_vocabulary", "9"}, {"encoder.size", "6"},        {"encoder.heads", "2"},
                      {"encoder.hidden", "7"},    {"decoder.size", "6"},        {"decoder.heads", "2"},
                      {"decoder.hidden", "7"},    {"encoder.layers", "2"},      {"decoder.layers", "2"},
                      {"decoder.embedding", "5"}, {"encoder.reduce", "average"}};

std::unique_ptr<EncoderDecoder> made_pair(const Settings& settings, uint64_t seed = 5) {
  Random random(seed);
  EncoderDecoderOptions options;
  set_options("model", options, kSmall + settings);
  return std::make_unique<EncoderDecoder>(parts_of(options, random));
}

Tensor pair_images(int64_t count, int64_t channels = 2) {
  Random random(11);
  Tensor images({count, channels, 8, 8});
  for (real& x : images.values()) x = static_cast<real>(random.uniform());
  return images;
}

data::Source three_sources(const Settings& settings) {
  if (settings.contains("source_vocabulary")) return rows({{4, 5, 6, 7}, {8, 4}, {6}});
  return data::Source::of_images(pair_images(3, std::stoll(settings.at("encoder.channels"))));
}

const std::vector<std::vector<int32_t>> kAnswers{{4, 5, 6}, {7, 8}, {6}, {5, 5, 4, 8}, {8, 6}};

/// Every encoder with each kind of source that it reads.
std::vector<std::pair<std::string, Settings>> sources() {
  std::vector<std::pair<std::string, Settings>> all;
  for (const EncoderRow& row : encoders()) {
    const Settings kind{{"encoder.kind", std::string(row.name)}};
    if (row.of_text) all.emplace_back(std::string(row.name) + " of text", kText + kind);
    const ImageNetworkRow* network = find_image_network(row.name);
    const Settings more = network ? published(*network) : Settings{};
    if (row.of_images) all.emplace_back(std::string(row.name) + " of images", kImages + more + kind);
  }
  return all;
}

std::vector<std::pair<std::string, Settings>> combinations() {
  std::vector<std::pair<std::string, Settings>> all;
  for (const auto& [name, source] : sources()) {
    for (const DecoderRow& row : decoders()) {
      all.emplace_back(name + ", " + std::string(row.name), source + Settings{{"decoder.kind", std::string(row.name)}});
    }
  }
  return all;
}

/// Biases of 0 over inputs of 0, as narrow networks have them, put units exactly on the kink of relu, which has no slope.
void draw_biases(EncoderDecoder& model) {
  Random random(17);
  for (nn::NamedParam& p : nn::parameters(model)) {
    if (!p.name.ends_with("bias")) continue;
    for (real& x : p.var.value().values()) x = static_cast<real>(0.3 * random.normal());
  }
}

TEST(EncoderDecoder, HasTheRightGradientInEveryCombination) {
  ASSERT_EQ(combinations().size(), 2 * (5 + 3 + 8));
  for (const auto& [name, settings] : combinations()) {
    // Dozens of layers with kinks, which the steps of a check in single precision leap over.
    if (sizeof(real) == 4 && find_image_network(settings.at("encoder.kind"))) continue;
    const auto model = made_pair(settings);
    if (find_image_network(settings.at("encoder.kind"))) draw_biases(*model);
    data::Batch batch{three_sources(settings), rows(kAnswers)};
    batch.source_of = {0, 2, 2, 1, 0};
    test::expect_right_gradient(
        *model, [&] { return model->logits(batch); }, name);
  }
}

TEST(EncoderDecoder, HasTheRightGradientHoweverTheDecoderReads) {
  for (const char* query : {"before", "after"}) {
    for (const ReadoutRow& readout : readouts()) {
      const auto model = made_pair(kText + Settings{{"decoder.query", query},
                                                    {"decoder.readout", std::string(readout.name)},
                                                    {"decoder.start", "last"},
                                                    {"decoder.asks", "state_word"},
                                                    {"decoder.gate", "true"}});
      data::Batch batch{three_sources(kText), rows(kAnswers)};
      batch.source_of = {0, 2, 2, 1, 0};
      test::expect_right_gradient(
          *model, [&] { return model->logits(batch); }, query + std::string(readout.name));
    }
  }
}

/// Three sources with none, one and two words outside the vocabulary, and answers that say them.
data::Batch copying_batch() {
  data::Source source{rows({{4, 5, 6, 7}, {1, 4}, {6, 1, 1, 5, 1}})};
  source.add_copies(rows({{4, 5, 6, 7}, {9, 4}, {6, 9, 10, 5, 9}}));
  return {source, rows({{4, 5, 6}, {9, 8}, {10}, {9, 5, 10, 8}, {8, 6}}), {}, {0, 1, 2, 2, 0}};
}

TEST(Copying, HasTheRightGradientInEachDecoder) {
  const data::Batch batch = copying_batch();
  for (const DecoderRow& decoder : decoders()) {
    for (const char* query : {"before", "after"}) {
      if (decoder.name != "recurrent" && query == std::string("after")) continue;
      const auto model = made_pair(kText + Settings{{"decoder.kind", std::string(decoder.name)},
                                                    {"decoder.query", query},
                                                    {"decoder.copy", "true"},
                                                    {"attention.coverage", "true"}});
      test::expect_right_gradient(
          *model, [&] { return model->loss(batch); }, std::string(decoder.name) + " " + query);
    }
  }
}

TEST(Copying, GivesEveryWordOfTheSourceAndTheVocabularyOneProbability) {
  for (const DecoderRow& decoder : decoders()) {
    const auto model = made_pair(kText + Settings{{"decoder.kind", std::string(decoder.name)}, {"decoder.copy", "true"}});
    const data::Batch batch = copying_batch();
    const auto state = model->begin(batch.source);
    const Tensor scores = model->next(*state, std::vector<int32_t>(3, data::kBegin));
    ASSERT_EQ(scores.shape(), (Shape{3, kPairWords + 2}));
    for (int64_t b = 0; b < 3; ++b) {
      double sum = 0;
      for (int64_t w = 0; w < kPairWords + 2; ++w) {
        const double score = static_cast<double>(scores.data()[b * (kPairWords + 2) + w]);
        EXPECT_EQ(std::isfinite(score), w < kPairWords + b) << "source " << b << " has " << b << " words of its own";
        sum += std::exp(score);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
    }
    // What was copied is read as an unknown word.
    const Tensor after = model->next(*state, std::vector<int32_t>{4, 9, 10});
    const auto again = model->begin(batch.source);
    (void)model->next(*again, std::vector<int32_t>(3, data::kBegin));
    const Tensor unknown = model->next(*again, std::vector<int32_t>{4, data::kUnknown, data::kUnknown});
    for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after.data()[i], unknown.data()[i]);
  }
}

TEST(Copying, SharesAreOneForWordsThatCanOnlyBeCopied) {
  for (const DecoderRow& decoder : decoders()) {
    const auto model = made_pair(kText + Settings{{"decoder.kind", std::string(decoder.name)}, {"decoder.copy", "true"}});
    const std::vector<std::vector<double>> shares = model->copied_shares(copying_batch());
    ASSERT_EQ(shares.size(), kAnswers.size());
    EXPECT_EQ(shares[1].size(), 3u) << "two words and the end";
    EXPECT_NEAR(shares[1][0], 1, 1e-6);
    EXPECT_EQ(shares[1][1], 0) << "not in the source";
    EXPECT_EQ(shares[1][2], 0) << "the end";
    EXPECT_GT(shares[0][0], 0);
    EXPECT_LT(shares[0][0], 1);
  }
  EXPECT_TRUE(made_pair(kText)->copied_shares({rows({{4}}), rows({{4}})}).empty());
}

TEST(Copying, IsRefusedWhereItCannotBe) {
  EXPECT_EQ(message_of([] { made_pair(kText + Settings{{"decoder.copy", "true"}, {"decoder.input", "bridge"}}); }),
            "decoder.copy: words are copied from where attention looks, which needs decoder.input attention, got bridge");
  EXPECT_NE(message_of([] { made_pair(kText + Settings{{"decoder.copy", "true"}, {"attention.window", "local_p"},
                                                       {"attention.width", "2"}}); }),
            "");
  EXPECT_NE(message_of([] { made_pair(kText + Settings{{"decoder.copy", "true"}, {"label_smoothing", "0.1"}}); })
                .find("label_smoothing: expected 0 where words are copied"),
            std::string::npos);
  const auto model = made_pair(kText + Settings{{"decoder.copy", "true"}});
  EXPECT_EQ(message_of([&] { model->loss({rows({{4}}), rows({{4}})}); }),
            "copy: expected what copying each place of the source says (Source::add_copies), got nothing");
}

struct Seen : Sink {
  std::vector<Tensor> weights;
  void observe(const Observation& seen) override {
    if (seen.site == "decoder.memory") weights.push_back(seen.weights.clone());
  }
};

TEST(EncoderDecoder, ShowsWhereEachWordLooksInEveryCombination) {
  for (const auto& [name, settings] : combinations()) {
    SCOPED_TRACE(name);
    const auto model = made_pair(settings);
    EXPECT_TRUE(model->attends());
    const bool text = settings.contains("source_vocabulary");
    const data::Source source =
        text ? data::Source(rows({{4, 5, 6, 7}}))
             : data::Source::of_images(pair_images(1, std::stoll(settings.at("encoder.channels"))));
    const std::string kind = settings.at("encoder.kind");
    const bool single = kind == "dense" || find_image_network(kind);  // a place of these is 16 pixels wide
    const int64_t places = text ? 4 : single ? 1 : kind == "none" ? 64 : 4;
    const bool transformer = settings.at("decoder.kind") == "transformer";
    Seen seen;
    {
      const Observing observing(seen);
      decode::score(*model, {source, rows({{4, 5}})});
    }
    ASSERT_EQ(seen.weights.size(), transformer ? 6u : 3u) << "two words and the end, in each layer that attends";
    for (const Tensor& one : seen.weights) {
      ASSERT_EQ(one.shape(), (Shape{1, transformer ? 2 : 1, 1, places}));
      EXPECT_NEAR(std::accumulate(one.begin(), one.end(), 0.0), transformer ? 2 : 1, 1e-4);
    }
  }
}

/// The same with every source repeated for each of its answers.
data::Batch repeated_sources(const data::Batch& batch) {
  data::Batch all;
  all.target = batch.target;
  if (batch.source.pixels().defined()) {
    all.source = data::Source::of_images(take_rows(batch.source.pixels(), batch.source_of).value());
    return all;
  }
  std::vector<std::vector<int32_t>> sources;
  for (const int32_t source : batch.source_of) sources.push_back(batch.source.text().row(source));
  all.source = rows(sources);
  return all;
}

TEST(EncoderDecoder, AnswersToOneSourceAreAsGoodAsRepeatedSources) {
  const std::vector<Settings> decoders{{{"decoder.kind", "transformer"}},
                                       {{"decoder.kind", "transformer"}, {"decoder.blocks.score", "convolution"}},
                                       {},
                                       {{"attention.window", "local_m"}, {"attention.width", "1"}},
                                       {{"attention.coverage", "true"}},
                                       {{"decoder.query", "after"}, {"decoder.gate", "true"}},
                                       {{"decoder.query", "after"}, {"decoder.feeding", "true"}},
                                       {{"decoder.input", "initial_state"}},
                                       {{"decoder.input", "every_step"}},
                                       {{"decoder.input", "reread"}}};
  for (const Settings& source : {kText, kImages + Settings{{"encoder.kind", "convolutional"}}}) {
    for (const Settings& decoder : decoders) {
      const auto model = made_pair(source + decoder);
      for (const std::vector<int32_t>& source_of :
           {std::vector<int32_t>{0, 0, 1, 1, 2}, {2, 0, 2, 1, 2}, {1, 1, 1, 1, 1}}) {
        data::Batch batch{three_sources(source), rows(kAnswers)};
        batch.source_of = source_of;
        const std::string what = decoder.empty() ? "as it comes" : decoder.begin()->first + decoder.begin()->second;
        EXPECT_NEAR(loss_of(*model, batch), loss_of(*model, repeated_sources(batch)), kTolerance) << what;
      }
    }
  }
}

/// The loss of a network whose parameters, in the order of the other's, are the other's.
double loss_with(Model& from, Model& to, const std::vector<std::pair<std::string, std::string>>& names,
                 const data::Batch& batch) {
  std::map<std::string, Tensor> values;
  for (const nn::NamedParam& p : nn::parameters(from)) values[p.name] = p.var.value();
  for (const nn::NamedParam& p : nn::parameters(to)) {
    std::string name = p.name;
    for (const auto& [theirs, ours] : names) {
      if (!p.name.starts_with(theirs)) continue;
      name = ours + p.name.substr(theirs.size());
      break;
    }
    const auto found = values.find(name);
    EXPECT_NE(found, values.end()) << p.name << ", as " << name;
    if (found == values.end()) return 0;
    EXPECT_EQ(found->second.shape(), p.var.shape()) << p.name;
    Var target = p.var;
    std::copy(found->second.begin(), found->second.end(), target.value().data());
    values.erase(found);
  }
  EXPECT_TRUE(values.empty()) << "no place for " << values.begin()->first;
  return loss_of(to, batch);
}

TEST(EncoderDecoder, PresetsAreCombinations) {
  Random random(2);
  const data::Batch text{three_sources(kText), rows({{4, 5, 6}, {7, 8}, {6}})};
  RecurrentModel recurrent(
      {.source_vocabulary = 9, .target_vocabulary = 9, .embedding = 6, .hidden = 6, .layers = 2, .cell = "lstm"},
      random);
  const auto words = made_pair(kText + Settings{{"decoder.embedding", "6"}});
  EXPECT_EQ(loss_with(recurrent, *words,
                      {{"encoder.words.", "source_words."},
                       {"encoder.layers.", "encoder."},
                       {"decoder.words.", "target_words."},
                       {"decoder.cell.", "decoder."},
                       {"decoder.", ""}},
                      text),
            loss_of(recurrent, text));

  Transformer transformer({.source_vocabulary = 9,
                           .target_vocabulary = 9,
                           .size = 6,
                           .heads = 2,
                           .hidden = 7,
                           .encoder_layers = 2,
                           .decoder_layers = 2},
                          random);
  const auto blocks = made_pair(kText + Settings{{"encoder.kind", "transformer"}, {"decoder.kind", "transformer"}});
  EXPECT_EQ(loss_with(transformer, *blocks, {}, text), loss_of(transformer, text));

  CaptionerOptions options;
  options.target_vocabulary = 9, options.embedding = 5, options.hidden = 6;
  options.encoder = {.channels = 2, .height = 8, .width = 8, .stages = "4,6", .reduce = "average"};
  Captioner captioner(options, random);
  const data::Batch images{three_sources(kImages), text.target};
  const auto cells = made_pair(kImages + Settings{{"encoder.kind", "convolutional"},
                                                  {"decoder.layers", "1"},
                                                  {"decoder.start", "bridge_cells"},
                                                  {"decoder.gate", "true"},
                                                  {"decoder.readout", "deep"}});
  EXPECT_EQ(loss_with(captioner, *cells,
                      {{"encoder.", "encoder."},
                       {"decoder.words.", "words."},
                       {"decoder.cell.", "decoder."},
                       {"decoder.bridge.", "initial."},
                       {"decoder.", ""}},
                      images),
            loss_of(captioner, images));
}

int64_t parameters_of(Model& model, const std::string& part) {
  int64_t count = 0;
  for (const nn::NamedParam& p : nn::parameters(model)) {
    if (p.name.starts_with(part)) count += static_cast<int64_t>(p.var.size());
  }
  return count;
}

TEST(EncoderDecoder, DotAttentionHasNoParametersWhereWidthsAgree) {
  const Settings dot{{"attention.score", "dot"}};
  EXPECT_GT(parameters_of(*made_pair(kText + dot), "decoder.attention."), 0) << "both ways side by side are wider";
  const auto added = made_pair(kText + dot + Settings{{"encoder.directions", "add"}});
  EXPECT_EQ(parameters_of(*added, "decoder.attention."), 0);
  const auto wider = made_pair(kText + dot + Settings{{"decoder.size", "12"}});
  EXPECT_EQ(parameters_of(*wider, "decoder.attention."), 0);
  const auto one_way = made_pair(kText + dot + Settings{{"encoder.bidirectional", "false"}});
  EXPECT_EQ(parameters_of(*one_way, "decoder.attention."), 0);
  const auto words = made_pair(kText + dot + Settings{{"encoder.kind", "none"}});
  EXPECT_EQ(parameters_of(*words, "decoder.attention."), 0);
}

TEST(EncoderDecoder, DirectionsAreAddedPlaceByPlace) {
  EncoderOptions options{.vocabulary = 9, .size = 3, .layers = 2, .cell = "gru"};
  Random random(1), same(1);
  const auto side_by_side = make_encoder(options, random);
  options.directions = "add";
  const auto added = make_encoder(options, same);
  const data::Source source = three_sources(kText);
  const Encoded wide = (*side_by_side)(source, nullptr), narrow = (*added)(source, nullptr);
  ASSERT_EQ(wide.states.shape(), (Shape{3, 4, 6}));
  ASSERT_EQ(narrow.states.shape(), (Shape{3, 4, 3}));
  EXPECT_EQ(side_by_side->output_size(), 6);
  EXPECT_EQ(added->output_size(), 3);
  const auto check = [](const Tensor& both, const Tensor& sum) {
    for (int64_t i = 0; i < static_cast<int64_t>(sum.size()); ++i) {
      const int64_t at = i / 3 * 6 + i % 3;
      EXPECT_EQ(sum.data()[i], both.data()[at] + both.data()[at + 3]);
    }
  };
  check(wide.states.value(), narrow.states.value());
  check(wide.summary.value(), narrow.summary.value());
}

/// x·Wᵀ + b, W [out,in].
std::vector<double> linear_by_hand(const std::vector<double>& x, const Tensor& weight, const Tensor& bias = {}) {
  std::vector<double> y;
  for (int64_t o = 0; o < weight.dim(0); ++o) {
    double sum = bias.defined() ? static_cast<double>(bias.data()[o]) : 0;
    for (size_t i = 0; i < x.size(); ++i) sum += x[i] * static_cast<double>(weight[o].data()[i]);
    y.push_back(sum);
  }
  return y;
}

// hₜ = tanh(W·xₜ + U·hₜ₋₁ + b), s₀ = h_T, sₜ = tanh(W'·yₜ₋₁ + U'·sₜ₋₁ + b'), p(yₜ) = softmax(V·sₜ + c).
TEST(EncoderDecoder, IsThePlainestOneWhereAsked) {
  const auto model = made_pair(kText + Settings{{"encoder.cell", "rnn"},
                                                {"encoder.layers", "1"},
                                                {"encoder.bidirectional", "false"},
                                                {"decoder.cell", "rnn"},
                                                {"decoder.layers", "1"},
                                                {"decoder.embedding", "0"},
                                                {"decoder.input", "initial_state"},
                                                {"decoder.readout", "state"}});
  std::map<std::string, Tensor> p;
  for (const nn::NamedParam& one : nn::parameters(*model)) p[one.name] = one.var.value();
  ASSERT_EQ(p.size(), 10u) << "words, three of a cell, on both sides; and the output's two";
  const auto update = [&](const std::string& cell, const std::string& input, const std::string& words, int32_t id,
                          const std::vector<double>& before) {
    std::vector<double> word;
    for (const real x : p.at(words)[id].values()) word.push_back(static_cast<double>(x));
    const std::vector<double> from_word = linear_by_hand(word, p.at(cell + input), p.at(cell + "bias"));
    std::vector<double> state = linear_by_hand(before, p.at(cell + "state_weight"));
    for (size_t i = 0; i < state.size(); ++i) state[i] = std::tanh(state[i] + from_word[i]);
    return state;
  };
  std::vector<double> state(6, 0);
  for (const int32_t id : {4, 7, 5}) {
    state = update("encoder.layers.0.forward.", "input_weight", "encoder.words.table", id, state);
  }
  const auto started = model->begin(rows({{4, 7, 5}}));
  for (const int32_t id : {data::kBegin, 6}) {
    state = update("decoder.cell.", "word_weight", "decoder.words.table", id, state);
    const std::vector<double> logits =
        linear_by_hand(state, p.at("decoder.output.weight"), p.at("decoder.output.bias"));
    const Tensor said = model->next(*started, std::span(&id, 1));
    for (size_t v = 0; v < logits.size(); ++v) EXPECT_NEAR(said.data()[v], logits[v], kTolerance) << v;
  }
}

TEST(EncoderDecoder, WithoutPositionsTheOrderOfTheSourceDoesNotMatter) {
  const data::Sequences answer = rows({{6, 5}});
  for (const char* decoder : {"transformer", "recurrent"}) {
    for (const char* kind : {"transformer", "none"}) {
      for (const char* positions : {"none", "sinusoidal", "learned"}) {
        const auto model = made_pair(
            kText + Settings{{"encoder.kind", kind}, {"encoder.positions", positions}, {"decoder.kind", decoder}});
        const double apart =
            std::abs(loss_of(*model, {rows({{4, 5, 6, 7}}), answer}) - loss_of(*model, {rows({{7, 5, 4, 6}}), answer}));
        if (std::string(positions) == "none") {
          EXPECT_LT(apart, kTolerance) << decoder << kind;
        } else {
          EXPECT_GT(apart, 10 * kTolerance) << decoder << kind << positions;
        }
      }
    }
  }
}

TEST(EncoderDecoder, TellsWhatItReads) {
  const ModelRow& row = model_row("encoder_decoder");
  EXPECT_EQ(row.reads, Reads::any);
  EXPECT_EQ(row.reads_of({}), Reads::words | Reads::sound);
  EXPECT_EQ(row.reads_of({{"encoder.kind", "intra"}}), Reads::words);
  EXPECT_EQ(row.reads_of({{"encoder.kind", "listener"}}), Reads::sound);
  EXPECT_EQ(row.reads_of({{"encoder.features", "80"}}), Reads::sound);
  EXPECT_EQ(row.reads_of({{"encoder.kind", "convolutional"}}), Reads::either);
  EXPECT_EQ(row.reads_of({{"encoder.kind", "dense"}}), Reads::images);
  EXPECT_EQ(row.reads_of({{"encoder.kind", "none"}}), Reads::either);
  EXPECT_EQ(model_row("captioner").reads_of({}), Reads::images);
  EXPECT_TRUE(can_read(Reads::either, Reads::words) && can_read(Reads::images, Reads::images));
  EXPECT_FALSE(can_read(Reads::images, Reads::words));
  EXPECT_EQ(model_row("ctc").reads, Reads::words | Reads::sound);
  EXPECT_EQ(model_row("ctc").reads_of({{"encoder.kind", "convolutional"}}), Reads::words);

  EXPECT_EQ(made_pair(kText)->longest_source(), 0);
  EXPECT_EQ(
      made_pair(kText + Settings{{"encoder.kind", "transformer"}, {"encoder.positions", "learned"}})->longest_source(),
      8);
  const Settings location{{"attention.score", "location"}, {"attention.longest", "6"}};
  EXPECT_EQ(made_pair(kText + location)->longest_source(), 6);
  EXPECT_EQ(made_pair(kText + location + Settings{{"encoder.kind", "none"}, {"encoder.positions", "learned"}})
                ->longest_source(),
            6);

  for (const auto& [name, settings] : sources()) {
    const Var table = made_pair(settings)->word_table();
    EXPECT_EQ(table.defined(), settings.contains("source_vocabulary")) << name;
    if (!table.defined()) continue;
    EXPECT_EQ(table.shape(), (Shape{kPairWords, 6})) << name;
  }
}

TEST(EncoderDecoder, RefusesWhatDoesNotFit) {
  const auto refusal = [](const Settings& settings) { return message_of([&] { made_pair(settings); }); };
  const auto says = [&](const Settings& settings, const std::string& part) {
    EXPECT_NE(refusal(settings).find(part), std::string::npos) << refusal(settings);
  };
  says(kText + Settings{{"decoder.kind", "transfomer"}}, "nearest is \"transformer\"");
  says(kText + Settings{{"encoder.kind", "recurent"}}, "nearest is \"recurrent\"");
  says(kText + Settings{{"decoder.readout", "stat"}}, "nearest is \"state\"");
  says(kText + Settings{{"decoder.start", "first"}}, "decoder.start");
  says(kText + Settings{{"decoder.input", "initial_state"}, {"decoder.size", "8"}}, "the same width, got 8");
  says(kText + Settings{{"decoder.input", "initial_state"}, {"decoder.layers", "1"}}, "as many layers, got 1");
  says(kText + Settings{{"decoder.kind", "transformer"}, {"decoder.tied", "all"}}, "encoder.kind transformer");
  says(kText + Settings{{"decoder.kind", "transformer"}, {"decoder.heads", "4"}},
       "heads: expected a divisor of size 6");
  says(kText + Settings{{"encoder.directions", "sum"}}, "directions");
  says(kImages + Settings{{"encoder.kind", "convolutional"}, {"encoder.positions", "sinusoidal"}}, "positions");
  says({{"encoder.kind", "intra"}}, "source_vocabulary: expected at least 1, got 0");
  const auto images = made_pair(kImages + Settings{{"encoder.kind", "none"}});
  EXPECT_NE(message_of([&] { images->begin(rows({{4}})); }).find("expected images, got words"), std::string::npos);
  const auto words = made_pair(kText);
  EXPECT_NE(message_of([&] { words->begin(rows({{4}, {}})); }).find("source 1 is empty"), std::string::npos);
  EXPECT_THROW(made_pair(kText + Settings{{"decoder.input", "bridge"}})->set_align("argmax"), Error);
}

TEST(EncoderDecoder, IsUsedWithAnotherAlign) {
  for (const char* decoder : {"recurrent", "transformer"}) {
    const auto model = made_pair(kText + Settings{{"decoder.kind", decoder}});
    const data::Batch batch{three_sources(kText), rows({{4, 5, 6}, {7, 8}, {6}})};
    const double soft = loss_of(*model, batch);
    model->set_align("argmax");
    EXPECT_GT(std::abs(loss_of(*model, batch) - soft), kTolerance) << decoder;
    Training training{Random(1)};
    Tape tape;
    EXPECT_THROW(model->loss(batch, &training), Error) << decoder;
    EXPECT_THROW(model->set_align("sample"), Error) << decoder;
  }
}

}  // namespace
}  // namespace attend::models
