// Every network of the zoo, in every variant that its options offer: it trains, is saved and loaded, decodes; step by step
// equals teacher forcing; a padded batch equals each sentence alone.
#include "attend/models/zoo.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "attend/attention/align.h"
#include "attend/attention/score.h"
#include "attend/attention/window.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/kernels/gemm.h"
#include "attend/models/encoder_decoder_options.h"
#include "attend/models/glimpse.h"
#include "attend/models/image_encoder.h"
#include "attend/models/image_networks.h"
#include "attend/models/recurrent.h"
#include "attend/models/state_layers.h"
#include "attend/models/transformer.h"
#include "attend/train/optimiser.h"
#include "tests/models/small.h"

namespace attend::models {
namespace {

enum class Answer { free, same_length, label, shorter, heard, span, none };  // heard: a word for each place at most

struct Variant {
  std::string name;
  std::string model;
  Settings settings;
  Answer answer = Answer::free;
  bool trains = true;  // else: used with what another align has learnt
  bool asks = false;   // reads a document and a question
};

constexpr int64_t kWords = 11;

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

void add_glimpse_variants(std::vector<Variant>& all) {
  const Settings glimpse{{"labels", std::to_string(kWords)},
                         {"glimpses", "3"},
                         {"patch", "4"},
                         {"what", "8"},
                         {"where", "8"},
                         {"glimpse", "12"},
                         {"hidden", "12"}};
  const auto looks = [&](const std::string& name, const Settings& settings, bool trains = true) {
    all.push_back({"glimpse " + name, "glimpse", glimpse + settings, Answer::label, trains});
  };
  for (const CoreRow& core : cores()) looks(std::string(core.name), {{"core", std::string(core.name)}});
  for (const PolicyRow& policy : policies()) looks(std::string(policy.name), {{"policy", std::string(policy.name)}});
  for (const PolicyRow& first : first_looks())
    looks("first " + std::string(first.name), {{"first", std::string(first.name)}});
  for (const RewardRow& reward : rewards()) looks(std::string(reward.name), {{"reward", std::string(reward.name)}});
  for (const AlignRow& align : aligns()) {
    looks("tiles " + std::string(align.name), {{"policy", "tiles"}, {"attention.align", std::string(align.name)}},
          align.trains);
  }
  looks("scales, learned width, copies",
        {{"scales", "2"}, {"learned_width", "true"}, {"copies", "3"}, {"copies_in_use", "2"}});
}

/// Published networks as narrow as they get; one with each kind of block, as decoders know no more of them than of other encoders.
const Settings kNarrowPublished{{"encoder.narrow", "64"}, {"encoder.train_stages", "1"}};
bool is_example_of_published(std::string_view name) {
  return name == "resnet18" || name == "resnet50" || name == "efficientnet-lite0";
}

void add_image_variants(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings image{
      {"encoder.channels", "3"}, {"encoder.height", "8"}, {"encoder.width", "8"}, {"encoder.stages", "6,8"}};
  const Settings decoder{{"target_vocabulary", words}, {"embedding", "6"}, {"hidden", "10"}};
  const auto add = [&](const std::string& name, const std::string& model, const Settings& settings, Answer answer,
                       bool trains = true) {
    all.push_back({model + " " + name, model, settings, answer, trains});
  };
  for (const EncoderRow& encoder : encoders()) {
    if (!encoder.of_images) continue;
    const Settings kind = image + Settings{{"encoder.kind", std::string(encoder.name)}};
    const std::string name(encoder.name);
    if (find_image_network(name)) {
      if (is_example_of_published(name)) add(name, "captioner", kind + decoder + kNarrowPublished, Answer::free);
      continue;
    }
    add(name + " mean", "captioner", kind + decoder + Settings{{"read", "mean"}}, Answer::free);
    add(name, "image_classifier", kind + Settings{{"labels", words}}, Answer::label);
    add(name + " all", "image_classifier", kind + Settings{{"labels", words}, {"pooling", "all"}}, Answer::label);
    add(name, "autoencoder", kind + Settings{{"code", "6"}, {"decoder", "32"}}, Answer::none);
    add(name + " variational", "autoencoder",
        kind + Settings{{"code", "6"}, {"decoder", "32"}, {"variational", "true"}, {"divergence", "0.1"}},
        Answer::none);
    if (encoder.grid) {
      add(name, "captioner", kind + decoder, Answer::free);
      add(name + " positions", "captioner", kind + decoder + Settings{{"encoder.positions", "learned"}}, Answer::free);
    }
  }
  for (const auto& [option, values] :
       std::vector<std::pair<std::string, std::vector<std::string>>>{{"encoder.reduce", {"max", "average", "stride"}},
                                                                     {"encoder.norm", {"group", "instance"}},
                                                                     {"encoder.reduce_last", {"false"}},
                                                                     {"cell", {"rnn", "gru"}},
                                                                     {"query", {"state_word"}},
                                                                     {"gate", {"false"}},
                                                                     {"deep_output", {"false"}},
                                                                     {"doubly_stochastic", {"0.5"}},
                                                                     {"attention.coverage", {"true"}}}) {
    for (const std::string& value : values) {
      add(option + " " + value, "captioner", image + decoder + Settings{{option, value}}, Answer::free);
    }
  }
  add("residual", "captioner", image + decoder + Settings{{"encoder.residual", "true"}, {"encoder.convolutions", "2"}},
      Answer::free);
  const Settings widths = image + decoder +
                          Settings{{"attention.longest", "4"},
                                   {"attention.width", "2"},
                                   {"attention.query_projection", "linear"},
                                   {"attention.key_projection", "linear"}};
  for (const ScoreRow& score : scores()) {
    add("score " + std::string(score.name), "captioner",
        widths + Settings{{"attention.score", std::string(score.name)}}, Answer::free);
  }
  for (const WindowRow& window : windows()) {
    add("window " + std::string(window.name), "captioner",
        widths + Settings{{"attention.window", std::string(window.name)}}, Answer::free);
  }
  for (const AlignRow& align : aligns()) {
    add("align " + std::string(align.name), "captioner",
        widths + Settings{{"attention.align", std::string(align.name)}}, Answer::free, align.trains);
  }
  for (const BaselineRow& baseline : baselines()) {
    add("sample " + std::string(baseline.name), "captioner",
        image + decoder +
            Settings{{"attention.align", "sample"},
                     {"reinforce.baseline", std::string(baseline.name)},
                     {"reinforce.entropy", "0.01"}},
        Answer::free);
  }
}

/// Any encoder under any decoder, and what no preset reaches.
void add_combinations(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings text{{"source_vocabulary", words}, {"encoder.longest", "8"}};
  const Settings image{
      {"encoder.channels", "3"}, {"encoder.height", "8"}, {"encoder.width", "8"}, {"encoder.stages", "6,8"}};
  const Settings base{{"target_vocabulary", words}, {"encoder.size", "8"},        {"encoder.heads", "2"},
                      {"encoder.hidden", "12"},     {"encoder.layers", "2"},      {"decoder.size", "8"},
                      {"decoder.heads", "2"},       {"decoder.hidden", "12"},     {"decoder.layers", "2"},
                      {"decoder.embedding", "6"},   {"encoder.directions", "add"}};
  const auto add = [&](const std::string& name, const Settings& settings, bool trains = true) {
    all.push_back({"encoder_decoder " + name, "encoder_decoder", base + settings, Answer::free, trains});
  };
  for (const EncoderRow& encoder : encoders()) {
    for (const auto& [reads, source] : {std::pair{"text", text}, {"images", image}}) {
      if (!(source.contains("source_vocabulary") ? encoder.of_text != nullptr : encoder.of_images != nullptr)) continue;
      const Settings from = source + Settings{{"encoder.kind", std::string(encoder.name)}};
      const std::string name = std::string(encoder.name) + " of " + reads + ", ";
      if (find_image_network(encoder.name)) {
        if (is_example_of_published(encoder.name)) add(name + "attention", from + kNarrowPublished);
        continue;
      }
      add(name + "transformer", from + Settings{{"decoder.kind", "transformer"}});
      for (const DecoderInputRow& input : decoder_inputs()) {
        // The states of a convolutional or a dense encoder are 8 wide by their stages; cells that are given have 3 channels.
        const bool fits = input.start != "last" || !(encoder.of_text && source.contains("encoder.channels"));
        if (fits) add(name + std::string(input.name), from + Settings{{"decoder.input", std::string(input.name)}});
      }
    }
  }
  for (const char* query : {"before", "after"}) {
    for (const ReadoutRow& readout : readouts()) {
      add("query " + std::string(query) + " readout " + std::string(readout.name),
          text + Settings{{"decoder.query", query}, {"decoder.readout", std::string(readout.name)}});
    }
    for (const StartRow& start : starts()) {
      add("query " + std::string(query) + " start " + std::string(start.name),
          text + Settings{{"decoder.query", query}, {"decoder.start", std::string(start.name)}});
    }
    add("query " + std::string(query) + " gate, word asks",
        text + Settings{{"decoder.query", query}, {"decoder.gate", "true"}, {"decoder.asks", "state_word"}});
    add("query " + std::string(query) + " gate, word asks, drawn", text + Settings{{"decoder.query", query},
                                                                                   {"decoder.gate", "true"},
                                                                                   {"decoder.asks", "state_word"},
                                                                                   {"attention.align", "sample"},
                                                                                   {"reinforce.baseline", "learned"}});
  }
  add("transformer, all tied", text + Settings{{"encoder.kind", "transformer"},
                                               {"decoder.kind", "transformer"},
                                               {"decoder.tied", "all"},
                                               {"encoder.blocks.norm", "post"},
                                               {"decoder.blocks.norm", "post"}});
  add("transformer, no positions", text + Settings{{"encoder.kind", "transformer"},
                                                   {"decoder.kind", "transformer"},
                                                   {"encoder.positions", "none"},
                                                   {"decoder.positions", "none"}});
  add("transformer, learned positions", text + Settings{{"encoder.kind", "transformer"},
                                                        {"decoder.kind", "transformer"},
                                                        {"encoder.positions", "learned"},
                                                        {"decoder.positions", "learned"},
                                                        {"decoder.longest", "9"}});
  for (const char* positions : {"sinusoidal", "learned"}) {
    add("words with positions " + std::string(positions),
        text + Settings{{"encoder.kind", "none"}, {"encoder.positions", positions}});
  }
  add("both ways side by side", text + Settings{{"encoder.directions", "concat"}});
  add("dot", text + Settings{{"attention.score", "dot"}});
}

/// Words of the source may be copied; each source has its own number of words outside the vocabulary.
void add_copying_variants(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings vocabularies{{"source_vocabulary", words}, {"target_vocabulary", words}};
  const Settings recurrent = vocabularies + Settings{{"embedding", "6"}, {"hidden", "8"}, {"decoder.copy", "true"}};
  const auto add = [&](const std::string& name, const std::string& model, const Settings& settings,
                       bool trains = true) {
    all.push_back({model + " copy " + name, model, settings, Answer::free, trains});
  };
  for (const std::string query : {"before", "after"}) {
    const Settings base = recurrent + Settings{{"decoder.query", query}};
    add(query, "recurrent", base);
    add(query + " coverage", "recurrent",
        base + Settings{{"attention.coverage", "true"}, {"coverage_penalty", "0.5"}, {"attention.dropout", "0.2"}});
    add(query + " heads, lstm, two layers", "recurrent",
        base +
            Settings{{"attention.heads", "2"}, {"attention.score", "scaled_dot"}, {"cell", "lstm"}, {"layers", "2"}});
    add(query + " drawn", "recurrent", base + Settings{{"attention.align", "sample"}});
    add(query + " sparsemax", "recurrent", base + Settings{{"attention.align", "sparsemax"}});
  }
  add("feeding", "recurrent", recurrent + Settings{{"decoder.query", "after"}, {"decoder.feeding", "true"}});
  const Settings transformer =
      vocabularies + Settings{{"size", "8"},           {"heads", "2"},          {"hidden", "12"},
                              {"encoder_layers", "2"}, {"decoder_layers", "2"}, {"label_smoothing", "0"},
                              {"dropout", "0"},        {"copy", "true"}};
  add("pre", "transformer", transformer);
  add("post, tied", "transformer", transformer + Settings{{"norm", "post"}, {"tied", "all"}});
  for (const DecoderRow& decoder : decoders()) {
    for (const char* encoder : {"recurrent", "transformer"}) {
      add(std::string(encoder) + " " + std::string(decoder.name), "encoder_decoder",
          vocabularies + Settings{{"encoder.kind", encoder},
                                  {"encoder.size", "8"},
                                  {"encoder.heads", "2"},
                                  {"encoder.hidden", "12"},
                                  {"decoder.kind", std::string(decoder.name)},
                                  {"decoder.size", "8"},
                                  {"decoder.heads", "2"},
                                  {"decoder.hidden", "12"},
                                  {"decoder.readout", "deep"},
                                  {"decoder.copy", "true"}});
    }
  }
}

/// Attention is told where to look.
void add_told_variants(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings told{{"source_vocabulary", words}, {"target_vocabulary", words}, {"decoder.oracle", "true"}};
  const auto add = [&](const std::string& name, const std::string& model, const Settings& settings) {
    all.push_back({model + " told " + name, model, told + settings, Answer::free, true});
  };
  for (const std::string query : {"before", "after"}) {
    const Settings base{{"embedding", "6"}, {"hidden", "8"}, {"decoder.query", query}};
    add(query, "recurrent", base);
    add(query + " heads, dropout", "recurrent",
        base + Settings{{"attention.heads", "2"}, {"attention.score", "scaled_dot"}, {"attention.dropout", "0.2"}});
    add(query + " coverage", "recurrent", base + Settings{{"attention.coverage", "true"}, {"coverage_penalty", "0.5"}});
  }
  add("feeding", "recurrent",
      {{"embedding", "6"}, {"hidden", "8"}, {"decoder.query", "after"}, {"decoder.feeding", "true"}});
  add("of a transformer", "encoder_decoder",
      {{"encoder.kind", "transformer"},
       {"encoder.size", "8"},
       {"encoder.heads", "2"},
       {"encoder.hidden", "12"},
       {"decoder.size", "8"}});
}

/// Networks that read a document and a question.
void add_readers(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings reader{{"encoder.vocabulary", words}, {"encoder.size", "6"},      {"encoder.heads", "2"},
                        {"encoder.hidden", "12"},      {"modelling.heads", "2"},   {"modelling.hidden", "12"},
                        {"modelling.layers", "1"},     {"attention.longest", "8"}, {"attention.width", "2"}};
  const auto reads = [&](const std::string& name, const Settings& settings, bool trains = true) {
    all.push_back({"reader " + name, "reader", reader + settings, Answer::span, trains, true});
  };
  for (const EncoderRow& encoder : encoders()) {
    if (encoder.of_text) reads(std::string(encoder.name), {{"encoder.kind", std::string(encoder.name)}});
  }
  for (const LetterRow& letters : letter_readers()) {
    if (letters.name == "none") continue;
    reads("letters " + std::string(letters.name), {{"encoder.letters.kind", std::string(letters.name)},
                                                   {"encoder.letters.vocabulary", words},
                                                   {"encoder.letters.size", "2"},
                                                   {"encoder.letters.filters", "3"}});
  }
  for (const ScoreRow& score : scores()) {
    if (score.previous) continue;  // only a recurrent decoder has a step before
    reads("score " + std::string(score.name), {{"attention.score", std::string(score.name)}});
  }
  for (const StateLayerRow& layers : state_layers()) {
    reads("modelling " + std::string(layers.name),
          {{"modelling.kind", std::string(layers.name)}, {"modelling.layers", "2"}, {"modelling.size", "8"}});
  }
  reads("heads", {{"attention.heads", "2"}, {"attention.score", "scaled_dot"}});
  reads("no match", {{"match", "false"}});
  reads("self-matching", {{"self_matching", "true"}});
  reads("apart", {{"spans", "apart"}});
  for (const char* spans : {"joint", "apart"}) {
    reads(std::string("no answer, ") + spans, {{"spans", spans}, {"no_answer", "true"}});
  }
  reads("short answers", {{"longest_answer", "2"}});
  const Settings memory{{"source_vocabulary", words}, {"labels", words}, {"size", "6"}, {"noise", "0"}};
  const auto remembers = [&](const std::string& name, const Settings& settings) {
    all.push_back({"memory " + name, "memory", memory + settings, Answer::label, true, true});
  };
  remembers("own question", {{"own_question", "true"}});
  for (const char* tying : {"adjacent", "layerwise"}) {
    for (const char* hops : {"1", "3"}) {
      remembers(std::string(tying) + ", hops " + hops, {{"tying", tying}, {"hops", hops}});
    }
  }
  remembers("bag of words", {{"words", "bag"}});
  remembers("few cells", {{"cells", "2"}});
  remembers("noise", {{"noise", "0.3"}});
  remembers("noise among filled cells", {{"noise", "0.3"}, {"filled", "true"}, {"cells", "4"}});
  remembers("positions", {{"positions", "7"}});
  remembers("tied output", {{"tied_output", "true"}});
  remembers("tied output of words", {{"tied_output", "true"}, {"label_words", "-1,5,4,-1,6,7,-1,8,9,10,4"}});
  remembers("linear start", {{"linear_start", "20"}});
  // All texts as one, under any decoder.
  const Settings joined{{"source_vocabulary", words}, {"target_vocabulary", words}, {"texts", "2"}};
  const Settings transformer{
      {"size", "8"},           {"heads", "2"},   {"hidden", "12"},         {"encoder_layers", "1"},
      {"decoder_layers", "1"}, {"dropout", "0"}, {"label_smoothing", "0"}, {"longest", "24"}};
  const auto answers = [&](const std::string& name, const std::string& model, const Settings& settings) {
    all.push_back({name + " of two texts", model, joined + settings, Answer::free, true, true});
  };
  answers("recurrent", "recurrent", {{"embedding", "6"}, {"hidden", "8"}});
  answers("transformer", "transformer", transformer);
  answers("transformer, tied,", "transformer", transformer + Settings{{"tied", "all"}});
  answers("language_model", "language_model", transformer);
  for (const EncoderRow& encoder : encoders()) {
    if (!encoder.of_text) continue;
    answers("encoder_decoder " + std::string(encoder.name), "encoder_decoder",
            {{"encoder.kind", std::string(encoder.name)},
             {"encoder.size", "8"},
             {"encoder.heads", "2"},
             {"encoder.hidden", "12"},
             {"decoder.size", "8"},
             {"decoder.start", "zeros"}});
  }
}

/// Networks that read frames of sound.
void add_listeners(std::vector<Variant>& all) {
  const std::string words = std::to_string(kWords);
  const Settings frames{{"encoder.features", "5"}, {"encoder.size", "8"},   {"encoder.heads", "2"},
                        {"encoder.hidden", "12"},  {"encoder.layers", "1"}, {"encoder.front_filters", "3"}};
  const Settings decoder{{"target_vocabulary", words},
                         {"decoder.size", "8"},
                         {"decoder.embedding", "6"},
                         {"decoder.heads", "2"},
                         {"decoder.hidden", "12"}};
  const auto add = [&](const std::string& name, const std::string& model, const Settings& settings, Answer answer) {
    all.push_back({model + " hears " + name, model, frames + settings, answer});
  };
  for (const EncoderRow& encoder : encoders()) {
    if (!encoder.of_sound) continue;
    const std::string name(encoder.name);
    const Settings kind{{"encoder.kind", name}}, alone = kind + Settings{{"encoder.pyramid", "0"}};
    for (const FrontRow& front : fronts()) {
      const Settings with = kind + Settings{{"encoder.front", std::string(front.name)}};
      const std::string both = name + ", front " + std::string(front.name);
      add(both, "ctc", with + Settings{{"labels", words}}, Answer::shorter);
      add(both, "joint", with + decoder, Answer::heard);
      add(both, "classifier", with + Settings{{"labels", words}}, Answer::label);
    }
    for (const char* output : {"softmax", "crf"}) {
      add(name + ", " + output, "tagger", alone + Settings{{"labels", words}, {"output", output}}, Answer::same_length);
    }
    for (const DecoderRow& row : decoders()) {
      add(name + " under " + std::string(row.name), "encoder_decoder",
          kind + decoder + Settings{{"decoder.kind", std::string(row.name)}}, Answer::free);
    }
  }
  const Settings listener = decoder + Settings{{"encoder.kind", "listener"}};
  const auto joint = [&](const std::string& name, const Settings& settings) {
    add(name, "joint", listener + settings, Answer::heard);
  };
  joint("one way", {{"encoder.bidirectional", "false"}, {"encoder.pyramid", "1"}});
  joint("added directions, two layers, lstm",
        {{"encoder.directions", "add"}, {"encoder.layers", "2"}, {"encoder.cell", "lstm"}});
  joint("under transformer", {{"decoder.kind", "transformer"}});
  joint("ctc alone in use", {{"decode_ctc_weight", "1"}});
  joint("attention alone in use", {{"decode_ctc_weight", "0"}, {"ctc_weight", "0.2"}});
  for (const std::string query : {"before", "after"}) {
    const Settings base{{"decoder.query", query}, {"attention.width", "1"}};
    joint("query " + query + ", location", base + Settings{{"attention.score", "location_aware"}});
    joint("query " + query + ", location and median, two heads",
          base + Settings{
                     {"attention.score", "location_aware"}, {"attention.window", "median"}, {"attention.heads", "2"}});
  }
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const std::string words = std::to_string(kWords);
  const Settings recurrent{
      {"source_vocabulary", words}, {"target_vocabulary", words}, {"embedding", "6"}, {"hidden", "8"}};
  const auto add = [&](const std::string& name, const std::string& model, const Settings& settings,
                       Answer answer = Answer::free, bool trains = true) {
    all.push_back({name, model, settings, answer, trains});
  };
  for (const DecoderInputRow& input : decoder_inputs()) {
    for (const char* cell : {"rnn", "gru", "lstm"}) {
      add("recurrent " + std::string(input.name) + " " + cell, "recurrent",
          recurrent + Settings{{"decoder.input", std::string(input.name)}, {"cell", cell}});
    }
    add("recurrent " + std::string(input.name) + " two layers, one way", "recurrent",
        recurrent + Settings{{"decoder.input", std::string(input.name)}, {"layers", "2"}, {"bidirectional", "false"}});
  }
  const Settings widths{{"attention.longest", "8"},
                        {"attention.width", "2"},
                        {"attention.query_projection", "linear"},
                        {"attention.key_projection", "linear"}};
  for (const std::string query : {"before", "after"}) {
    const Settings base = recurrent + widths + Settings{{"decoder.query", query}};
    for (const ScoreRow& score : scores()) {
      add("recurrent " + query + " score " + std::string(score.name), "recurrent",
          base + Settings{{"attention.score", std::string(score.name)}});
    }
    for (const WindowRow& window : windows()) {
      add("recurrent " + query + " window " + std::string(window.name), "recurrent",
          base + Settings{{"attention.window", std::string(window.name)}});
    }
    for (const AlignRow& align : aligns()) {
      add("recurrent " + query + " align " + std::string(align.name), "recurrent",
          base + Settings{{"attention.align", std::string(align.name)}}, Answer::free, align.trains);
    }
    add("recurrent " + query + " coverage", "recurrent",
        base + Settings{{"attention.coverage", "true"}, {"coverage_penalty", "0.5"}, {"doubly_stochastic", "0.1"}});
    add("recurrent " + query + " coverage of another score", "recurrent",
        base + Settings{{"attention.coverage", "true"}, {"attention.score", "general"}});
    add("recurrent " + query + " heads", "recurrent",
        base + Settings{{"attention.heads", "2"}, {"attention.score", "scaled_dot"}});
  }
  add("recurrent feeding", "recurrent", recurrent + Settings{{"decoder.query", "after"}, {"decoder.feeding", "true"}});
  for (const BaselineRow& baseline : baselines()) {
    add("recurrent sample " + std::string(baseline.name), "recurrent",
        recurrent + Settings{{"attention.align", "sample"},
                             {"reinforce.baseline", std::string(baseline.name)},
                             {"reinforce.entropy", "0.01"},
                             {"reinforce.normalise", "true"}});
  }
  const Settings transformer{{"source_vocabulary", words},
                             {"target_vocabulary", words},
                             {"size", "8"},
                             {"heads", "2"},
                             {"hidden", "12"},
                             {"encoder_layers", "2"},
                             {"decoder_layers", "2"},
                             {"longest", "24"},
                             {"dropout", "0"},
                             {"label_smoothing", "0"}};
  for (const char* model : {"transformer", "language_model"}) {
    for (const char* norm : {"pre", "post", "none"}) {
      add(std::string(model) + " " + norm, model, transformer + Settings{{"norm", norm}});
      add(std::string(model) + " " + norm + " without residuals", model,
          transformer + Settings{{"norm", norm}, {"residual", "false"}});
    }
    add(std::string(model) + " learned positions, gelu, tied", model,
        transformer + Settings{{"positions", "learned"}, {"activation", "gelu"}, {"tied", "all"}});
    add(std::string(model) + " window", model, transformer + Settings{{"window", "2"}});
    for (const ScoreRow& score : scores()) {
      if (score.previous) continue;
      add(std::string(model) + " score " + std::string(score.name), model,
          transformer + Settings{{"score", std::string(score.name)}});
    }
  }
  add_copying_variants(all);
  add_told_variants(all);
  for (const EncoderRow& encoder : encoders()) {
    if (!encoder.of_text) continue;
    const Settings base{{"encoder.kind", std::string(encoder.name)},
                        {"encoder.vocabulary", words},
                        {"encoder.size", "8"},
                        {"encoder.heads", "2"},
                        {"encoder.hidden", "12"},
                        {"encoder.layers", "2"},
                        {"labels", words}};
    for (const LetterRow& letters : letter_readers()) {
      if (letters.name == "none") continue;
      add("tagger " + std::string(encoder.name) + " letters " + std::string(letters.name), "tagger",
          base + Settings{{"encoder.letters.kind", std::string(letters.name)},
                          {"encoder.letters.vocabulary", words},
                          {"encoder.letters.size", "2"},
                          {"encoder.letters.filters", "3"},
                          {"encoder.word_dropout", "0.3"}},
          Answer::same_length);
    }
    for (const char* pooling : {"last", "mean", "max", "attention"}) {
      add("classifier " + std::string(encoder.name) + " " + pooling, "classifier",
          base + Settings{{"pooling", pooling}}, Answer::label);
    }
    add("tagger " + std::string(encoder.name), "tagger", base, Answer::same_length);
    add("tagger " + std::string(encoder.name) + " crf", "tagger", base + Settings{{"output", "crf"}},
        Answer::same_length);
    add("ctc " + std::string(encoder.name), "ctc", base, Answer::shorter);
    add("ctc " + std::string(encoder.name) + " upsampled", "ctc", base + Settings{{"upsample", "3"}}, Answer::shorter);
  }
  add_combinations(all);
  add_readers(all);
  add_image_variants(all);
  add_glimpse_variants(all);
  add_listeners(all);
  return all;
}

std::vector<int32_t> random_words(size_t length, Random& random) {
  std::vector<int32_t> words;
  for (size_t i = 0; i < length; ++i) {
    words.push_back(data::kFirstWord + static_cast<int32_t>(random.below(kWords - data::kFirstWord)));
  }
  return words;
}

data::Sequences one(const std::vector<int32_t>& row) {
  return data::Sequences(std::vector<std::vector<int32_t>>(1, row));
}

/// Sentences of different lengths, images, or sounds, with answers of the variant's kind.
struct Pairs {
  std::vector<std::vector<int32_t>> source, target, question = {};
  Tensor images = {}, frames = {};
  std::vector<int32_t> lengths = {};  // of the sounds
  bool letters = false, copies = false, told = false;

  size_t count() const { return target.size(); }
  data::Source sources() const {
    if (frames.defined()) return data::Source::of_frames(frames, lengths);
    return images.defined() ? data::Source::of_images(images) : read(source, question);
  }
  data::Source source_alone(size_t b) const {
    const int64_t row = static_cast<int64_t>(b);
    if (images.defined()) return data::Source::of_images(images.rows(row, row + 1));
    if (frames.defined()) {
      const int32_t length = lengths[b];
      return data::Source::of_frames(frames[row].rows(0, length).reshape({1, length, frames.dim(2)}), {length});
    }
    return question.empty() ? read({source[b]}, {}) : read({source[b]}, {question[b]});
  }
  /// Texts, or documents and questions.
  data::Source read(const std::vector<std::vector<int32_t>>& texts,
                    const std::vector<std::vector<int32_t>>& questions) const {
    data::Source all;
    add_text(all, std::string(questions.empty() ? "text" : "document"), texts);
    if (copies) all.add_copies(data::Sequences(texts));
    if (told) all.add_given(links_of(texts));
    if (questions.empty()) return all;
    add_text(all, "question", questions);
    std::vector<std::vector<int32_t>> sentences;  // of two words each
    for (const auto& text : texts) {
      sentences.emplace_back();
      for (size_t t = 0; t < text.size(); ++t) sentences.back().push_back(static_cast<int32_t>(t / 2));
    }
    return all.add("document.sentence", data::Sequences(sentences));
  }
  /// Where the tokens of an answer look, the second one at two places; the third and those after the fourth at nothing.
  static data::Sequences links_of(const std::vector<std::vector<int32_t>>& texts) {
    std::vector<std::vector<int32_t>> links;
    for (const auto& text : texts) {
      const auto last = static_cast<int32_t>(text.size()) - 1;
      links.push_back({last, 0, 0, 1, last, 1});
      if (last > 2) links.back().insert(links.back().end(), {2, 3});
    }
    return data::Sequences(links);
  }
  /// Where a network looks inside words, each is spelled by its own number and those below it. Words from kWords on, which
  /// can be copied, are unknown to the network.
  void add_text(data::Source& all, const std::string& name, const std::vector<std::vector<int32_t>>& texts) const {
    std::vector<std::vector<int32_t>> known = texts;
    for (auto& text : known) {
      for (int32_t& word : text) word = word < kWords ? word : data::kUnknown;
    }
    const data::Sequences words(known);
    all.add(name, words);
    if (!letters) return;
    std::vector<std::vector<std::vector<int32_t>>> spelled;
    for (const auto& text : texts) {
      spelled.emplace_back();
      for (const int32_t word : text) {
        spelled.back().emplace_back();
        for (int32_t letter = word; letter >= data::kFirstWord; --letter) spelled.back().back().push_back(letter);
      }
    }
    all.add_letters(data::letter_rows(spelled, words.longest()), name);
  }
  data::Batch batch() const { return {sources(), data::Sequences(target)}; }
  data::Batch alone(size_t b) const { return {source_alone(b), one(target[b])}; }
};

/// Black and white, so that an autoencoder can come close.
Tensor random_images(int64_t count, const Settings& settings, Random& random) {
  const auto extent = [&](const char* name, int64_t otherwise) {
    const auto found = settings.find(name);
    return found == settings.end() ? otherwise : std::stoll(found->second);
  };
  Tensor images({count, extent("encoder.channels", 1), extent("encoder.height", 10), extent("encoder.width", 9)});
  for (real& x : images.values()) x = static_cast<real>(random.below(2));
  return images;
}

/// Sounds that a network with these settings hears as so many places each. What is beyond the end of one is not heard.
void add_frames(Pairs& pairs, const std::vector<size_t>& places, const Settings& settings, Random& random) {
  const bool front = settings.contains("encoder.front") && settings.at("encoder.front") != "none";
  const bool pyramid = settings.at("encoder.kind") == "listener";
  const int64_t layers = settings.contains("encoder.pyramid") ? std::stoll(settings.at("encoder.pyramid")) : 2;
  const int64_t stride = (front ? 4 : 1) << (pyramid ? layers : 0);
  for (const size_t count : places) {
    const int64_t less = static_cast<int64_t>(random.below(static_cast<uint64_t>(stride)));
    pairs.lengths.push_back(static_cast<int32_t>(static_cast<int64_t>(count) * stride - less));
  }
  pairs.frames = Tensor({static_cast<int64_t>(places.size()), *std::ranges::max_element(pairs.lengths),
                         std::stoll(settings.at("encoder.features"))});
  for (real& x : pairs.frames.values()) x = static_cast<real>(random.normal());
}

Pairs pairs_for(const Variant& variant, Random random) {
  Pairs pairs;
  pairs.letters = variant.settings.contains("encoder.letters.kind");
  pairs.copies = variant.settings.contains("decoder.copy") || variant.settings.contains("copy");
  pairs.told = variant.settings.contains("decoder.oracle");
  const Reads reads = model_row(variant.model).reads_of(variant.settings);
  const bool reads_images =
      reads == Reads::images || (can_read(reads, Reads::images) && !variant.settings.contains("source_vocabulary"));
  const bool reads_words = !reads_images && reads != Reads::sound;
  const std::vector<size_t> lengths{5, 2, 7, 4, 1};
  for (const size_t length : lengths) {
    if (reads_words) pairs.source.push_back(random_words(length, random));
    // Every third word of a source is outside the vocabulary, and what is said begins with the first of them.
    int32_t unknown = kWords;
    for (size_t i = 0; pairs.copies && i < length; i += 3) pairs.source.back()[i] = unknown++;
    if (variant.asks) pairs.question.push_back(random_words(1 + random.below(4), random));
    switch (variant.answer) {
      case Answer::free: pairs.target.push_back(random_words(1 + random.below(6), random)); break;
      case Answer::same_length: pairs.target.push_back(random_words(length, random)); break;
      case Answer::none:
      case Answer::label: pairs.target.push_back(random_words(1, random)); break;
      case Answer::span: {
        const auto last = static_cast<int32_t>(random.below(length));
        pairs.target.push_back({static_cast<int32_t>(random.below(static_cast<uint64_t>(last) + 1)), last});
        continue;
      }
      case Answer::shorter:
      case Answer::heard: pairs.target.push_back(random_words((length + 1) / 2, random)); break;
    }
    auto& target = pairs.target.back();
    if (pairs.copies) target[0] = pairs.source.back()[0];
    // CTC needs a frame between equal labels.
    for (size_t i = 1; i < target.size(); ++i) {
      if (target[i] == target[i - 1]) target[i] = target[i] + 1 < kWords ? target[i] + 1 : data::kFirstWord;
    }
  }
  if (reads_images) pairs.images = random_images(static_cast<int64_t>(pairs.count()), variant.settings, random);
  if (reads == Reads::sound) add_frames(pairs, lengths, variant.settings, random);
  return pairs;
}

/// −Σ ln p and how many predictions that is, by decode::score.
struct Likelihood {
  double nats = 0;
  size_t count = 0;
};
Likelihood by_steps(const Model& model, const data::Batch& batch) {
  Likelihood total;
  for (const decode::Hypothesis& one : decode::score(model, batch)) {
    total.nats -= one.log_probability;
    total.count += one.token_log_probabilities.size();
  }
  return total;
}

class ZooTest : public testing::TestWithParam<Variant> {
 protected:
  Random random_ = Random(7).named(GetParam().name);
  std::unique_ptr<Model> model_ = make_model(GetParam().model, GetParam().settings, random_);
  Pairs pairs_ = pairs_for(GetParam(), Random(3));
  int64_t differing_ = 0;

  bool answers() const { return model_row(GetParam().model).answers != Answers::image; }

  /// The part of the loss that is a likelihood: penalties are for training.
  double likelihood_loss(const data::Batch& batch) {
    Settings plain = GetParam().settings;
    for (const char* penalty : {"coverage_penalty", "doubly_stochastic"}) plain.erase(penalty);
    Random random = Random(7).named(GetParam().name);
    const auto same = make_model(GetParam().model, plain, random);
    const auto from = nn::parameters(*model_), to = nn::parameters(*same);
    for (size_t i = 0; i < to.size(); ++i) {
      Var target = to[i].var;
      std::copy(from[i].var.value().begin(), from[i].var.value().end(), target.value().data());
    }
    return static_cast<double>(same->loss(batch).item());
  }
};

TEST_P(ZooTest, StepByStepEqualsTeacherForcing) {
  if (!answers()) {
    EXPECT_THROW(model_->begin(pairs_.sources()), Error);
    return;
  }
  const data::Batch batch = pairs_.batch();
  const Likelihood steps = by_steps(*model_, batch);
  const double count =
      GetParam().answer == Answer::shorter ? static_cast<double>(pairs_.count()) : static_cast<double>(steps.count);
  EXPECT_NEAR(likelihood_loss(batch), steps.nats / count, kTolerance * (1 + std::abs(steps.nats / count)));
}

TEST_P(ZooTest, APaddedBatchEqualsEachSentenceAlone) {
  double alone = 0, predictions = 0;
  for (size_t b = 0; b < pairs_.count(); ++b) {
    const double count = GetParam().answer == Answer::shorter ? 1
                         : GetParam().answer == Answer::free || GetParam().answer == Answer::heard
                             ? static_cast<double>(pairs_.target[b].size() + 1)
                             : static_cast<double>(pairs_.target[b].size());
    alone += count * likelihood_loss(pairs_.alone(b));
    predictions += count;
  }
  const double together = likelihood_loss(pairs_.batch());
  EXPECT_NEAR(together, alone / predictions, kTolerance * (1 + std::abs(together)));

  if (!answers()) return;
  const auto batched = decode::search(*model_, pairs_.batch().source, {.max_length = 6});
  for (size_t b = 0; b < pairs_.count(); ++b) {
    const auto lone = decode::search(*model_, pairs_.alone(b).source, {.max_length = 6});
    EXPECT_EQ(batched[b][0].tokens, lone[0][0].tokens) << "sentence " << b;
    EXPECT_NEAR(batched[b][0].log_probability, lone[0][0].log_probability, 20 * kTolerance) << "sentence " << b;
  }
}

TEST_P(ZooTest, ABeamIsNoWorseThanItself) {
  if (!answers()) GTEST_SKIP() << "it has no words to say";
  // Hypotheses change places and drop out: what a beam says of its answers must be what stepping through them says.
  const auto found = decode::search(*model_, pairs_.batch().source, {.beam = 3, .n_best = 3, .max_length = 5});
  for (size_t b = 0; b < found.size(); ++b) {
    for (const decode::Hypothesis& answer : found[b]) {
      if (!answer.ended) continue;
      const data::Batch given{pairs_.source_alone(b), one(answer.tokens)};
      EXPECT_NEAR(decode::score(*model_, given)[0].log_probability, answer.log_probability, 20 * kTolerance)
          << "sentence " << b;
    }
  }
}

/// The states of sources, begun apart.
struct Begun {
  std::unique_ptr<State> state;
  std::vector<size_t> sources;  // of its rows
};

/// Asks for `said` after the last words of each of these sources, row by row.
Tensor asked(const Model& model, Begun& one, std::vector<std::vector<int32_t>>& said) {
  std::vector<int32_t> last;
  for (const size_t source : one.sources) last.push_back(said[source].empty() ? data::kBegin : said[source].back());
  return model.next(*one.state, last);
}

TEST_P(ZooTest, JoinedStatesEqualEachAlone) {
  if (!answers()) GTEST_SKIP() << "it has no words to say";
  const TapePause pause;
  const kernels::SteadyRows steady;
  // Two sources together, then, a step later each, two more; after the third step some rows leave and change places.
  Begun all{model_->begin(pairs_.source_alone(0)), {0}};
  std::vector<Begun> alone;
  std::vector<std::vector<int32_t>> said(pairs_.count());
  Random random(11);
  alone.push_back({model_->begin(pairs_.source_alone(0)), {0}});
  const auto step = [&] {
    const Tensor together = asked(*model_, all, said);
    for (size_t n = 0; n < all.sources.size(); ++n) {
      const Tensor own = asked(*model_, alone[all.sources[n]], said);
      for (int64_t v = 0; v < own.dim(1); ++v) {
        const real a = together.data()[static_cast<int64_t>(n) * together.dim(1) + v], b = own.data()[v];
        ASSERT_TRUE(a == b || std::abs(a - b) <= kTolerance * (1 + std::abs(b)))
            << a << " in company, " << b << " alone, row " << n << " of source " << all.sources[n] << ", word " << v;
        differing_ += a != b;
      }
      said[all.sources[n]].push_back(data::kFirstWord + static_cast<int32_t>(random.below(kWords - data::kFirstWord)));
    }
  };
  ASSERT_NO_FATAL_FAILURE(step());
  for (const size_t b : {size_t{2}, size_t{1}, size_t{3}}) {
    const auto more = model_->begin(pairs_.source_alone(b));
    if (!all.state->join(*more)) GTEST_SKIP() << "its states are computed apart";
    all.sources.push_back(b);
    while (alone.size() <= b) {
      alone.push_back({model_->begin(pairs_.source_alone(alone.size())), {alone.size()}});
    }
    ASSERT_NO_FATAL_FAILURE(step());
  }
  all.state->take(std::array<int32_t, 3>{3, 0, 2});
  all.sources = {all.sources[3], all.sources[0], all.sources[2]};
  ASSERT_NO_FATAL_FAILURE(step());
  Begun last{model_->begin(pairs_.source_alone(4)), {4}};
  while (alone.size() <= 4) alone.push_back({model_->begin(pairs_.source_alone(4)), {4}});
  ASSERT_TRUE(all.state->join(*last.state));
  all.sources.push_back(4);
  ASSERT_NO_FATAL_FAILURE(step());
  ASSERT_NO_FATAL_FAILURE(step());
#ifndef ATTEND_REAL64
  EXPECT_EQ(differing_, 0) << "rows of a product are steady, whoever else is computed";
#endif
}

TEST_P(ZooTest, TrainsAndIsTheSameAfterSavingAndLoading) {
  const data::Batch batch = pairs_.batch();
  if (GetParam().trains) {
    Training training{Random(5), 0};
    const auto adam = train::make_optimiser("adam", {}, nn::parameters(*model_));
    const double before = likelihood_loss(batch);
    for (; training.update < 60; ++training.update) {
      Tape tape;
      const Var loss = model_->loss(batch, &training);
      ASSERT_TRUE(std::isfinite(loss.item()));
      tape.backward(loss);
      adam->step(0.02, train::clip_scale(train::gradient_norm(adam->parameters()), 1.0));
      adam->clear_gradients();
    }
    EXPECT_LT(likelihood_loss(batch), 0.8 * before);
  } else {
    Tape tape;
    Training training{Random(5), 0};
    EXPECT_THROW(model_->loss(batch, &training), Error);
  }
  const auto path = std::filesystem::path(testing::TempDir()) / ("zoo_" + std::to_string(::getpid()) + ".safetensors");
  save_weights(*model_, path);
  Random other(99);
  const auto loaded = make_model(GetParam().model, GetParam().settings, other);
  EXPECT_NE(loaded->loss(batch).item(), model_->loss(batch).item());
  load_weights(*loaded, path);
  std::filesystem::remove(path);
#ifdef ATTEND_REAL64  // files hold floats
  EXPECT_NEAR(loaded->loss(batch).item(), model_->loss(batch).item(), 1e-5);
#else
  EXPECT_EQ(loaded->loss(batch).item(), model_->loss(batch).item());
#endif
}

std::string test_name(const testing::TestParamInfo<Variant>& info) {
  std::string name;
  for (const char c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooTest, testing::ValuesIn(variants()), test_name);

TEST(Zoo, EveryRowHasAVariant) {
  const std::vector<Variant> all = variants();
  for (const ModelRow& row : zoo()) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Variant& v) { return v.model == row.name; })) << row.name;
  }
}

std::string error_of(const std::string& model, const Settings& settings) {
  Random random(1);
  try {
    make_model(model, settings, random);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Zoo, OnlyARecurrentDecoderLooksAtTheStepBefore) {
  const Settings words{{"source_vocabulary", "9"}, {"target_vocabulary", "9"}, {"embedding", "4"}, {"hidden", "4"}};
  const std::string says = "looks at the weights of the step before";
  const Settings transformer{
      {"source_vocabulary", "9"}, {"target_vocabulary", "9"}, {"size", "4"}, {"heads", "1"}, {"hidden", "4"},
      {"score", "location_aware"}};
  EXPECT_NE(error_of("transformer", transformer).find(says), std::string::npos) << error_of("transformer", transformer);
  for (const auto& [option, name] : {std::pair{"attention.score", "location_aware"}, {"attention.window", "median"}}) {
    const Settings look{{option, name}, {"attention.width", "2"}};
    const Settings small = look + Settings{{"encoder.vocabulary", "9"}, {"encoder.size", "4"}};
    EXPECT_EQ(error_of("recurrent", words + look), "");
    EXPECT_NE(error_of("classifier", small + Settings{{"labels", "9"}, {"pooling", "attention"}})
                  .find(std::string(option) + ": " + name + " " + says),
              std::string::npos);
    EXPECT_NE(error_of("reader", small).find(says), std::string::npos);
    EXPECT_NE(error_of("glimpse", look + Settings{{"labels", "9"}, {"policy", "tiles"}}).find(says), std::string::npos);
  }
}

TEST(Zoo, WhatDoesNotFitSoundIsRefused) {
  const Settings hears{{"encoder.features", "5"}, {"encoder.size", "4"}, {"labels", "9"}};
  const auto says = [&](const std::string& model, const Settings& settings, const std::string& what) {
    EXPECT_NE(error_of(model, settings).find(what), std::string::npos) << error_of(model, settings);
  };
  says("ctc", hears + Settings{{"encoder.kind", "intra"}}, "sound");
  says("ctc", {{"encoder.kind", "listener"}, {"labels", "9"}}, "encoder.features: expected at least 1");
  says("tagger", hears + Settings{{"encoder.kind", "listener"}}, "expected an encoder with a place for each frame");
  says("tagger", hears + Settings{{"encoder.front", "convolutional"}},
       "expected an encoder with a place for each frame");
  says("ctc", hears + Settings{{"encoder.front", "convolutional"}, {"encoder.front_filters", "0"}}, "front_filters");
  for (const WindowRow& window : windows()) {
    const std::string error = error_of("joint", {{"encoder.features", "5"},
                                                 {"encoder.size", "4"},
                                                 {"decoder.size", "4"},
                                                 {"target_vocabulary", "9"},
                                                 {"attention.width", "2"},
                                                 {"attention.window", std::string(window.name)}});
    EXPECT_EQ(error.find("a sound has many more places than words") != std::string::npos, window.beside) << error;
  }
  says("joint", {{"encoder.features", "5"}, {"source_vocabulary", "9"}, {"target_vocabulary", "9"}},
       "encoder.features: expected 0 where words are read");
  says("joint", {{"encoder.features", "5"}, {"target_vocabulary", "9"}, {"decoder.copy", "true"}}, "CTC does not copy");
  Random random(1);
  const auto model = make_model("ctc", hears, random);
  const auto refuses = [&](const data::Source& source, const std::string& what) {
    try {
      model->begin(source);
      ADD_FAILURE() << "accepted; expected " << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refuses(data::Source::of_frames(Tensor::zeros({1, 3, 4}), {3}), "expected frames [B,T,5], got [1, 3, 4]");
  refuses(data::Source::of_frames(Tensor::zeros({2, 3, 5}), {3, 0}),
          "source 1 is empty; every source needs at least one frame");
  refuses(data::Sequences(std::vector<std::vector<int32_t>>{{5, 6}}), "expected sound, got words");
}

TEST(Zoo, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_NE(error_of("transfomer", {}).find("the nearest is \"transformer\""), std::string::npos);
  EXPECT_NE(error_of("recurrent", {{"attention.scor", "dot"}}).find("the nearest is \"attention.score\""),
            std::string::npos);
  const Settings words{{"source_vocabulary", "9"}, {"target_vocabulary", "9"}};
  EXPECT_NE(error_of("recurrent", words + Settings{{"attention.score", "addditive"}}).find("nearest is \"additive\""),
            std::string::npos);
  EXPECT_NE(error_of("recurrent", words + Settings{{"decoder.input", "atention"}}).find("nearest is \"attention\""),
            std::string::npos);
  EXPECT_NE(error_of("recurrent", words + Settings{{"decoder.feeding", "true"}}).find("decoder.query after"),
            std::string::npos);
  EXPECT_NE(error_of("recurrent", {}).find("source_vocabulary: expected at least 1"), std::string::npos);
  EXPECT_NE(error_of("transformer", words + Settings{{"norm", "peri"}}).find("nearest is \"pre\""), std::string::npos);
  EXPECT_NE(error_of("transformer", words + Settings{{"heads", "3"}}).find("heads: expected a divisor of size 256"),
            std::string::npos);
}

TEST(Zoo, OnlyANetworkMadeForSamplingSamples) {
  RecurrentModelOptions options{.source_vocabulary = 9, .target_vocabulary = 9, .embedding = 4, .hidden = 4};
  Random random(1);
  RecurrentModel soft(options, random);
  EXPECT_THROW(soft.set_align("sample"), Error);
  soft.set_align("argmax");  // the refusal changed nothing
  options.attention.align = "sample";
  RecurrentModel drawn(options, random);
  drawn.set_align("argmax");
  drawn.set_align("sample");
  Training training{.random = Random(2)};
  const std::vector<std::vector<int32_t>> words{{5, 6}};
  EXPECT_TRUE(drawn.loss({data::Sequences(words), data::Sequences(words)}, &training).defined());
}

TEST(Zoo, NoSourcesAreRefused) {
  for (const ModelRow& row : zoo()) {
    Settings settings;
    const Settings defaults = settings_of(row.options({}, ""));
    for (const char* name : {"source_vocabulary", "target_vocabulary", "labels", "encoder.vocabulary"}) {
      if (defaults.contains(name)) settings[name] = "9";
    }
    Random random(1);
    EXPECT_THROW(make_model(row.name, settings, random)->begin(data::Sequences()), Error) << row.name;
  }
}

TEST(Zoo, AFileOfAnotherNetworkIsRefusedAndChangesNothing) {
  const Settings words{{"source_vocabulary", "9"}, {"target_vocabulary", "9"}, {"embedding", "4"}, {"hidden", "4"}};
  Random first(1), second(2), third(3);
  const auto gru = make_model("recurrent", words, first);
  const auto wider = make_model("recurrent", words + Settings{{"hidden", "6"}}, second);
  const auto after = make_model("recurrent", words + Settings{{"decoder.query", "after"}}, third);
  const auto path =
      std::filesystem::path(testing::TempDir()) / ("other_" + std::to_string(::getpid()) + ".safetensors");
  save_weights(*gru, path);
  Pairs small;
  small.source = small.target = {{4, 5, 6}};
  for (Model* other : {wider.get(), after.get()}) {
    const real before = other->loss(small.batch()).item();
    EXPECT_THROW(load_weights(*other, path), Error);
    EXPECT_EQ(other->loss(small.batch()).item(), before);
  }
  const auto all = static_cast<int64_t>(nn::parameters(*gru).size()), taken = take_weights(*after, path);
  EXPECT_GT(taken, all / 2) << "what both have";
  EXPECT_LT(taken, all) << "not what they have not";
  std::filesystem::remove(path);
}

TEST(Zoo, EveryOptionIsExplained) {
  for (const ModelRow& row : zoo()) {
    const std::vector<OptionInfo> all = row.options({}, "model.");
    EXPECT_FALSE(all.empty()) << row.name;
    for (const OptionInfo& option : all) {
      EXPECT_TRUE(option.name.starts_with("model.")) << option.name;
      EXPECT_FALSE(option.help.empty()) << row.name << ": " << option.name;
    }
  }
}

TEST(Zoo, OptionsAreSetAndCheckedByName) {
  const ModelRow& row = model_row("recurrent");
  const auto all = row.options({{"model.hidden", "7", "x.yml:2"}}, "model.");
  EXPECT_EQ(settings_of(all, "model.").at("hidden"), "7");
  try {
    row.options({{"model.hiden", "7", "x.yml:2"}}, "model.");
    FAIL() << "it has no such option";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x.yml:2: there is no option \"model.hiden\"; the nearest is \"model.hidden\"");
  }
}

}  // namespace
}  // namespace attend::models
