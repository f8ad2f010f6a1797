// The networks of the zoo give the numbers that they have always given: the first losses of a training, the loss after it and
// the logits of an answer, for option sets that reach every part of them. A change that means to alter no result must pass;
// one that does rewrites the file:
//
//   ATTEND_WRITE_NUMBERS=tests/golden/networks.txt build/tests/models_tests --gtest_filter='Numbers.*'
//
// The last column is a hash of every bit (parameters by name and order, losses, logits, answers). It depends on the
// instruction set and is not tested; `diff` of two such files, written on one machine, shows whether a change kept every bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <map>
#include <sstream>

#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "attend/train/optimiser.h"
#include "tests/models/small.h"

namespace attend::models {
namespace {

struct OptionSet {
  std::string name, model;
  Settings settings;
  double own_words = 0;
  std::vector<int32_t> source_of = {};  // of five targets
};

void add_recurrent(std::vector<OptionSet>& all) {
  const Settings base{{"source_vocabulary", "13"}, {"target_vocabulary", "11"}, {"embedding", "6"}, {"hidden", "8"},
                      {"dropout", "0.2"},          {"label_smoothing", "0.1"}};
  const auto add = [&](const std::string& name, const Settings& more, double own_words = 0) {
    all.push_back({"recurrent, " + name, "recurrent", base + more, own_words});
  };
  add("as it comes", {});
  add("lstm, dot, one way, own words", {{"cell", "lstm"}, {"attention.score", "dot"}, {"bidirectional", "false"}}, 0.4);
  add("dot, both ways", {{"attention.score", "scaled_dot"}});
  add("query after", {{"decoder.query", "after"}, {"attention.score", "general"}});
  add("query after, feeding, two layers",
      {{"decoder.query", "after"}, {"decoder.feeding", "true"}, {"layers", "2"}, {"cell", "lstm"}});
  for (const char* input : {"every_step", "first_step", "initial_state", "bridge", "reread"}) {
    add(input, {{"decoder.input", input}, {"cell", "lstm"}, {"layers", "2"}});
  }
  add("initial_state, gru, one way", {{"decoder.input", "initial_state"}, {"bidirectional", "false"}});
  add("coverage and penalties",
      {{"attention.coverage", "true"}, {"coverage_penalty", "0.3"}, {"doubly_stochastic", "0.2"}, {"layers", "2"}});
  add("penalties, query after", {{"decoder.query", "after"}, {"coverage_penalty", "0.3"}});
  add("drawn, learned baseline",
      {{"attention.align", "sample"}, {"reinforce.baseline", "learned"}, {"reinforce.entropy", "0.01"}});
  add("drawn, query after, heads", {{"attention.align", "sample"},
                                    {"decoder.query", "after"},
                                    {"attention.heads", "2"},
                                    {"attention.score", "scaled_dot"}});
  add("local_p, rnn", {{"attention.window", "local_p"}, {"attention.width", "2"}, {"cell", "rnn"}});
}

void add_transformers(std::vector<OptionSet>& all) {
  const Settings base{
      {"source_vocabulary", "11"}, {"target_vocabulary", "11"}, {"size", "8"},     {"heads", "2"},    {"hidden", "12"},
      {"encoder_layers", "2"},     {"decoder_layers", "2"},     {"longest", "24"}, {"dropout", "0.2"}};
  for (const std::string model : {"transformer", "language_model"}) {
    const auto add = [&](const std::string& name, const Settings& more, double own_words = 0) {
      all.push_back({model + ", " + name, model, base + more, model == "transformer" ? own_words : 0});
    };
    add("as it comes", {});
    add("post, learned positions, gelu, tied, own words",
        {{"norm", "post"}, {"positions", "learned"}, {"activation", "gelu"}, {"tied", "all"}}, 0.4);
    add("additive, window, tied output", {{"score", "additive"}, {"window", "2"}, {"tied", "output"}});
  }
}

void add_images(std::vector<OptionSet>& all) {
  const Settings image{
      {"encoder.channels", "3"}, {"encoder.height", "8"}, {"encoder.width", "8"}, {"encoder.stages", "6,8"}};
  const Settings decoder{{"target_vocabulary", "11"}, {"embedding", "6"}, {"hidden", "10"}, {"dropout", "0.2"}};
  const std::vector<int32_t> in_order{0, 0, 1, 1, 2}, mixed{2, 0, 2, 1, 2};
  const auto says = [&](const std::string& name, const Settings& more, double own_words = 0,
                        const std::vector<int32_t>& source_of = {}) {
    all.push_back({"captioner, " + name, "captioner", image + decoder + more, own_words, source_of});
  };
  says("as it comes", {{"encoder.dropout", "0.1"}, {"label_smoothing", "0.1"}});
  says("several captions", {{"doubly_stochastic", "0.3"}}, 0, mixed);
  says("state_word, gru, several captions, own words", {{"query", "state_word"}, {"cell", "gru"}}, 0.4, in_order);
  says("no gate, no deep output, dot", {{"gate", "false"}, {"deep_output", "false"}, {"attention.score", "dot"}});
  says("mean", {{"read", "mean"}});
  says("mean of a dense encoder, gru, several captions", {{"read", "mean"}, {"cell", "gru"}, {"encoder.kind", "dense"}},
       0, mixed);
  says("drawn, several captions", {{"attention.align", "sample"}, {"reinforce.baseline", "learned"}}, 0, mixed);
  says("coverage, positions, norm",
       {{"attention.coverage", "true"}, {"encoder.positions", "learned"}, {"encoder.norm", "group"}}, 0, in_order);
  says("features", {{"encoder.kind", "none"}});
  const auto labels = [&](const std::string& name, const Settings& more) {
    all.push_back({"image_classifier, " + name, "image_classifier",
                   image + Settings{{"labels", "11"}, {"dropout", "0.2"}, {"label_smoothing", "0.1"}} + more});
  };
  labels("mean", {{"encoder.reduce", "stride"}, {"encoder.convolutions", "2"}, {"encoder.residual", "true"}});
  labels("all", {{"pooling", "all"}, {"encoder.norm", "instance"}});
  labels("dense", {{"encoder.kind", "dense"}, {"encoder.dropout", "0.2"}});
  all.push_back({"autoencoder", "autoencoder", image + Settings{{"encoder.kind", "dense"}, {"code", "6"}}});
  all.push_back({"autoencoder, convolutional", "autoencoder",
                 image + Settings{{"encoder.kind", "convolutional"}, {"code", "6"}, {"loss", "squared"}}});
  all.push_back({"glimpse",
                 "glimpse",
                 {{"labels", "11"},
                  {"channels", "3"},
                  {"glimpses", "3"},
                  {"patch", "4"},
                  {"what", "8"},
                  {"where", "8"},
                  {"glimpse", "12"},
                  {"hidden", "12"}}});
}

void add_labellers(std::vector<OptionSet>& all) {
  for (const std::string kind : {"recurrent", "transformer", "intra"}) {
    const Settings base{{"encoder.kind", kind}, {"encoder.vocabulary", "13"}, {"encoder.size", "8"},
                        {"encoder.heads", "2"}, {"encoder.hidden", "12"},     {"encoder.layers", "2"},
                        {"labels", "11"},       {"encoder.dropout", "0.2"}};
    all.push_back({"classifier, " + kind, "classifier", base});
    all.push_back({"classifier, pooled, " + kind, "classifier", base + Settings{{"pooling", "attention"}}});
    all.push_back({"tagger, " + kind, "tagger", base});
    all.push_back({"ctc, " + kind, "ctc", base});
  }
}

std::vector<OptionSet> option_sets() {
  std::vector<OptionSet> all;
  add_recurrent(all);
  add_transformers(all);
  add_images(all);
  add_labellers(all);
  return all;
}

constexpr int64_t kNumberWords = 11;

std::vector<std::vector<int32_t>> number_words(std::span<const size_t> lengths, Random random) {
  std::vector<std::vector<int32_t>> rows;
  for (const size_t length : lengths) {
    auto& row = rows.emplace_back();
    for (size_t i = 0; i < length; ++i) {
      row.push_back(data::kFirstWord + static_cast<int32_t>(random.below(kNumberWords - data::kFirstWord)));
    }
  }
  return rows;
}

Tensor number_images(int64_t count) {
  Random random(17);
  Tensor images({count, 3, 8, 8});
  for (real& x : images.values()) x = static_cast<real>(random.below(2));
  return images;
}

data::Batch batch_for(const OptionSet& set) {
  const std::array<size_t, 5> lengths{5, 2, 7, 4, 1}, answers{3, 6, 2, 1, 4}, labels{1, 1, 1, 1, 1},
      shorter{2, 1, 3, 2, 1};
  const ModelRow& row = model_row(set.model);
  const bool label = set.model.ends_with("classifier") || set.model == "glimpse" || set.model == "autoencoder";
  data::Batch batch;
  if (row.reads == Reads::images) {
    const int32_t most = set.source_of.empty() ? 4 : *std::ranges::max_element(set.source_of);
    batch.source = data::Source::of_images(number_images(most + 1));
  } else {
    batch.source = data::Sequences(number_words(lengths, Random(11)));
  }
  batch.target = data::Sequences(number_words(label                   ? labels
                                              : set.model == "tagger" ? lengths
                                              : set.model == "ctc"    ? shorter
                                                                      : answers,
                                              Random(12)));
  batch.source_of = set.source_of;
  return batch;
}

/// FNV-1a over bits.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
  }
  void add(std::span<const real> values) {
    for (const real x : values) number(std::bit_cast<std::array<unsigned char, sizeof(real)>>(x));
  }
  void add(double x) { number(std::bit_cast<std::array<unsigned char, sizeof(double)>>(x)); }
  void add(std::span<const int32_t> ids) {
    for (const int32_t id : ids) number(std::bit_cast<std::array<unsigned char, sizeof(int32_t)>>(id));
  }
  std::string text() const {
    std::ostringstream out;
    out << std::hex << std::setw(16) << std::setfill('0') << hash_;
    return out.str();
  }

 private:
  void number(const auto& bytes) {
    for (const unsigned char b : bytes) byte(b);
  }
  void byte(unsigned char b) { hash_ = (hash_ ^ b) * 1099511628211u; }
  uint64_t hash_ = 14695981039346656037u;
};

struct Numbers {
  std::vector<double> values;
  std::string bits;
};

void train(Model& model, const data::Batch& batch, const OptionSet& set, Numbers& numbers) {
  Training training{Random(5), 0, set.own_words};
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(model));
  for (; training.update < 3; ++training.update) {
    Tape tape;
    const Var loss = model.loss(batch, &training);
    numbers.values.push_back(static_cast<double>(loss.item()));
    tape.backward(loss);
    adam->step(0.01, train::clip_scale(train::gradient_norm(adam->parameters()), 0.5));
    adam->clear_gradients();
  }
  numbers.values.push_back(static_cast<double>(model.loss(batch).item()));
}

/// Logits after kBegin and after one word, and what a beam finds.
void answer(const Model& model, const data::Source& source, Numbers& numbers, Hash& hash) {
  const auto state = model.begin(source);
  std::vector<int32_t> last(static_cast<size_t>(source.count()), data::kBegin);
  const Tensor first = model.next(*state, last);
  hash.add(first.values());
  for (int64_t v = 0; v < 3; ++v) numbers.values.push_back(static_cast<double>(first.data()[v + 4]));
  if (model.answer_length(9) == -1) {
    last.assign(last.size(), data::kFirstWord);
    const std::vector<int32_t> turned{1, 0, 1};
    state->take(turned);
    last.resize(turned.size());
    const Tensor second = model.next(*state, last);
    hash.add(second.values());
    for (int64_t v = 0; v < 2; ++v) numbers.values.push_back(static_cast<double>(second.data()[v + 4]));
  }
  for (const auto& found : decode::search(model, source, {.beam = 3, .n_best = 2, .max_length = 5})) {
    for (const decode::Hypothesis& one : found) {
      hash.add(one.tokens);
      hash.add(one.log_probability);
    }
  }
}

Numbers numbers_of(const OptionSet& set) {
  Random random = Random(7).named(set.name);
  const auto model = make_model(set.model, set.settings, random);
  const data::Batch batch = batch_for(set);
  Numbers numbers;
  Hash hash;
  const auto add_parameters = [&] {
    for (const nn::NamedParam& p : nn::parameters(*model)) {
      hash.add(p.name);
      hash.add(p.var.value().values());
    }
  };
  add_parameters();
  train(*model, batch, set, numbers);
  for (const double loss : numbers.values) hash.add(loss);
  add_parameters();
  if (model_row(set.model).answers != Answers::image) answer(*model, batch.source, numbers, hash);
  numbers.bits = hash.text();
  return numbers;
}

void write_numbers(const std::string& path) {
  std::ofstream file(path);
  file << std::setprecision(9);
  for (const OptionSet& set : option_sets()) {
    const Numbers numbers = numbers_of(set);
    file << set.name << ":";
    for (const double x : numbers.values) file << ' ' << x;
    file << " #" << numbers.bits << '\n';
  }
}

std::map<std::string, std::vector<double>> read_numbers() {
  std::ifstream file(std::string(ATTEND_SOURCE_DIR) + "/tests/golden/networks.txt");
  std::map<std::string, std::vector<double>> all;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    std::istringstream text(line.substr(colon + 1, line.find('#') - colon - 1));
    auto& values = all[line.substr(0, colon)];
    for (double x = 0; text >> x;) values.push_back(x);
  }
  return all;
}

TEST(Numbers, AreTheSameAsEver) {
  if (const char* path = std::getenv("ATTEND_WRITE_NUMBERS")) {
    write_numbers(path);
    GTEST_SKIP() << "written to " << path;
  }
  const auto expected = read_numbers();
  const std::vector<OptionSet> sets = option_sets();
  EXPECT_EQ(expected.size(), sets.size());
  for (const OptionSet& set : sets) {
    SCOPED_TRACE(set.name);
    const auto found = expected.find(set.name);
    ASSERT_NE(found, expected.end());
    const Numbers numbers = numbers_of(set);
    ASSERT_EQ(numbers.values.size(), found->second.size());
    for (size_t i = 0; i < numbers.values.size(); ++i) {
      const double x = found->second[i];
      EXPECT_NEAR(numbers.values[i], x, 2e-4 * std::max(1.0, std::abs(x))) << "number " << i;
    }
  }
}

}  // namespace
}  // namespace attend::models
