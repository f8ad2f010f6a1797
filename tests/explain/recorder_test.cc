// What a recorder says about an answer found by beam search is what the network does when given that answer: for every
// score, window and align, and every head and layer of the Transformer.
#include "attend/explain/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "attend/attention/align.h"
#include "attend/attention/score.h"
#include "attend/attention/window.h"
#include "attend/autograd/tape.h"
#include "attend/models/zoo.h"

namespace attend::explain {
namespace {

constexpr double kTolerance = sizeof(real) == 8 ? 1e-9 : 2e-5;

struct Variant {
  std::string name, model;
  Settings settings;
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

std::vector<Variant> variants() {
  std::vector<Variant> all;
  const Settings small{{"embedding", "6"}, {"hidden", "8"}, {"attention.longest", "12"}, {"attention.width", "2"}};
  const auto add = [&](const std::string& name, const Settings& more, const std::string& model = "recurrent",
                       const Settings& base = {}) {
    Settings settings = base.empty() ? small : base;
    for (const auto& [key, value] : more) settings[key] = value;
    settings["source_vocabulary"] = settings["target_vocabulary"] = "11";
    all.push_back({name, model, settings});
  };
  const auto same_width = [](Settings settings) {  // dot products want it
    settings["attention.query_projection"] = settings["attention.key_projection"] = "linear";
    return settings;
  };
  for (const ScoreRow& row : scores())
    add(std::string(row.name), same_width({{"attention.score", std::string(row.name)}}));
  for (const WindowRow& row : windows()) {
    if (row.name != "causal") add(std::string(row.name), {{"attention.window", std::string(row.name)}});
    if (row.name != "causal") {
      add(std::string(row.name) + "_after", {{"attention.window", std::string(row.name)}, {"decoder.query", "after"}});
    }
  }
  for (const AlignRow& row : aligns())
    add("align_" + std::string(row.name), {{"attention.align", std::string(row.name)}});
  add("heads", same_width({{"attention.heads", "2"}, {"attention.size", "8"}, {"attention.score", "scaled_dot"}}));
  add("coverage", {{"attention.coverage", "true"}});
  add("no_attention", {{"decoder.input", "initial_state"}});
  const Settings transformer{{"size", "8"},           {"heads", "2"},          {"hidden", "12"},
                             {"encoder_layers", "2"}, {"decoder_layers", "2"}, {"dropout", "0"}};
  add("transformer", {}, "transformer", transformer);
  add("transformer_window", {{"window", "2"}}, "transformer", transformer);
  add("transformer_additive", {{"score", "additive"}}, "transformer", transformer);
  add("language_model", {}, "language_model", transformer);
  return all;
}

class RecorderOf : public testing::TestWithParam<Variant> {
 protected:
  std::unique_ptr<models::Model> model() const {
    Random random(3);
    return models::make_model(GetParam().model, GetParam().settings, random);
  }
};

const std::vector<std::vector<int32_t>> kSources{{4, 5, 6, 7, 10}, {8, 4, 9}, {6}};
const decode::SearchOptions kBeam{.beam = 4, .n_best = 4, .max_length = 7};

/// Everything observed when a target is given to a whole network at once: (site, layer) → [heads,Tq,Tk] in order.
class Observed : public Sink {
 public:
  void observe(const Observation& o) override {
    auto& rows = all[{std::string(o.site), o.layer}];
    const int64_t heads = o.weights.dim(1), queries = o.weights.dim(2), keys = o.weights.dim(3);
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t q = 0; q < queries; ++q) {
        const real* from = o.weights.data() + (h * queries + q) * keys;
        rows[{h, o.step + q}] = std::vector<real>(from, from + keys);
      }
    }
  }
  std::map<std::pair<std::string, int64_t>, std::map<std::pair<int64_t, int64_t>, std::vector<real>>> all;
};

TEST_P(RecorderOf, WeightsUnderBeamAreThoseOfTheAnswerGiven) {
  const auto network = model();
  Recorder recorder;
  std::vector<std::vector<decode::Hypothesis>> answers;
  {
    const Observing observing(recorder);
    answers = decode::search(*network, data::Sequences(kSources), kBeam, {}, &recorder);
  }
  for (size_t b = 0; b < kSources.size(); ++b) {
    for (const decode::Hypothesis& answer : answers[b]) {
      const auto sites = recorder.sites(static_cast<int32_t>(b), answer.node, static_cast<int64_t>(kSources[b].size()));
      Observed observed;
      {
        const TapePause pause;
        const Observing observing(observed);
        (void)network->loss({data::Sequences({kSources[b]}), data::Sequences({answer.tokens})});
      }
      if (GetParam().name == "no_attention") {
        EXPECT_TRUE(sites.empty());
        continue;
      }
      ASSERT_EQ(sites.size(), observed.all.size());
      const int64_t source = static_cast<int64_t>(kSources[b].size());
      for (const TraceSite& site : sites) {
        const auto& rows = observed.all.at({site.site, site.layer});
        // A decoder alone reads its source first.
        const int64_t shift = site.keys == "source+before" ? source : 0;
        ASSERT_EQ(site.weights.dim(0), site.heads);
        const int64_t queries = site.weights.dim(1), keys = site.weights.dim(2);
        EXPECT_EQ(queries,
                  site.queries == "source" ? source : static_cast<int64_t>(answer.token_log_probabilities.size()));
        for (int64_t h = 0; h < site.heads; ++h) {
          for (int64_t q = 0; q < queries; ++q) {
            const std::vector<real>& expected = rows.at({h, shift + q});
            for (int64_t k = 0; k < keys; ++k) {
              EXPECT_NEAR(site.weights.data()[(h * queries + q) * keys + k],
                          k < static_cast<int64_t>(expected.size()) ? expected[static_cast<size_t>(k)] : 0, kTolerance)
                  << site.site << " layer " << site.layer << " head " << h << " query " << q << " key " << k;
            }
          }
        }
      }
    }
  }
}

TEST_P(RecorderOf, AWatchedSearchSaysTheSame) {
  const auto network = model();
  for (const int64_t beam : {1, 2, 4}) {
    decode::SearchOptions options{.beam = beam, .n_best = beam, .max_length = 7};
    const auto alone = decode::search(*network, data::Sequences(kSources), options);
    Recorder recorder;
    const Observing observing(recorder);
    const auto watched = decode::search(*network, data::Sequences(kSources), options, {}, &recorder);
    for (size_t b = 0; b < kSources.size(); ++b) {
      ASSERT_EQ(alone[b].size(), watched[b].size());
      for (size_t k = 0; k < alone[b].size(); ++k) {
        EXPECT_EQ(alone[b][k].tokens, watched[b][k].tokens);
        EXPECT_EQ(alone[b][k].log_probability, watched[b][k].log_probability);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, RecorderOf, testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

std::unique_ptr<models::Model> small_network() {
  Random random(3);
  return models::make_model(
      "recurrent", {{"embedding", "6"}, {"hidden", "8"}, {"source_vocabulary", "11"}, {"target_vocabulary", "11"}},
      random);
}

TEST(Recorder, KeepsNoWeightsOfWhatBecameNoAnswer) {
  const auto network = small_network();
  struct Count : Sink {
    size_t numbers = 0;
    void observe(const Observation& o) override { numbers += o.weights.size(); }
  } observed;
  Recorder recorder;
  const Observing all(observed), observing(recorder);
  const std::vector<std::vector<int32_t>> source{{4, 5, 6, 7, 8, 9}};
  const auto answers =
      decode::search(*network, data::Sequences(source), {.beam = 8, .min_length = 40, .max_length = 40}, {}, &recorder);
  ASSERT_EQ(answers[0][0].tokens.size(), 40u);
  EXPECT_GE(recorder.numbers(), 6u * 40);
  EXPECT_LT(recorder.numbers(), observed.numbers / 3) << "of " << observed.numbers;
  EXPECT_EQ(recorder.sites(0, answers[0][0].node, 6)[0].weights.shape(), Shape({1, 40, 6}));
}

TEST(Recorder, RefusesToKeepMoreThanItMay) {
  const auto network = small_network();
  const auto searched = [&](size_t numbers) {
    Recorder recorder({}, {.numbers = numbers});
    const Observing observing(recorder);
    decode::search(*network, data::Sequences(kSources), {.min_length = 7, .max_length = 7}, {}, &recorder);
    return recorder.numbers();
  };
  const size_t all = searched(0);
  EXPECT_EQ(all, 7u * (5 + 3 + 1));
  EXPECT_EQ(searched(all), all);
  EXPECT_THROW(searched(all - 1), TooLarge);
}

TEST(Recorder, NamesAttentionsWhoseWeightsNobodyWants) {
  const auto network = small_network();
  Recorder recorder({}, {.weights = false});
  const Observing observing(recorder);
  const auto answers = decode::search(*network, data::Sequences(kSources), kBeam, {}, &recorder);
  const std::vector<TraceSite> sites = recorder.sites(0, answers[0][0].node, 5);
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].site, "decoder.memory");
  EXPECT_EQ(sites[0].keys, "source");
  EXPECT_FALSE(sites[0].weights.defined());
  EXPECT_EQ(recorder.numbers(), 0u);
}

/// A classifier that pools by attention; its encoder attends too where its kind does.
std::unique_ptr<models::Model> pooling_network(const std::string& encoder) {
  Random random(3);
  return models::make_model("classifier",
                            {{"encoder.kind", encoder},
                             {"encoder.vocabulary", "11"},
                             {"encoder.size", "8"},
                             {"encoder.heads", "2"},
                             {"encoder.hidden", "12"},
                             {"encoder.layers", "2"},
                             {"labels", "7"},
                             {"pooling", "attention"},
                             {"attention.score", "scaled_dot"},
                             {"attention.heads", "2"},
                             {"attention.key_projection", "linear"}},
                            random);
}

TEST(Recorder, WhatAClassifierPoolsIsWhatItsLabelLookedAt) {
  for (const std::string encoder : {"recurrent", "transformer", "intra"}) {
    SCOPED_TRACE(encoder);
    const auto network = pooling_network(encoder);
    Recorder recorder;
    std::vector<std::vector<decode::Hypothesis>> answers;
    {
      const Observing observing(recorder);
      answers = decode::search(*network, data::Sequences(kSources), {}, {}, &recorder);
    }
    for (size_t b = 0; b < kSources.size(); ++b) {
      const decode::Hypothesis& answer = answers[b][0];
      const auto S = static_cast<int64_t>(kSources[b].size());
      const auto sites = recorder.sites(static_cast<int32_t>(b), answer.node, S);
      Observed observed;
      {
        const TapePause pause;
        const Observing observing(observed);
        (void)network->loss({data::Sequences({kSources[b]}), data::Sequences({answer.tokens})});
      }
      const auto pooled = std::ranges::find(sites, Purpose::pooling, &TraceSite::purpose);
      ASSERT_NE(pooled, sites.end());
      EXPECT_EQ(pooled->site, "pooling");
      EXPECT_EQ(pooled->queries, "target");
      EXPECT_EQ(pooled->keys, "source");
      ASSERT_EQ(pooled->weights.shape(), (Shape{2, 1, S}));
      for (int64_t h = 0; h < 2; ++h) {
        const std::vector<real>& expected = observed.all.at({"pooling", 0}).at({h, 0});
        for (int64_t s = 0; s < S; ++s) {
          EXPECT_NEAR(pooled->weights.data()[h * S + s], expected[static_cast<size_t>(s)], kTolerance);
        }
      }
    }
  }
}

/// What was reported before the first step, of two sentences of which the second is shorter.
TEST(Recorder, QuestionsAndHopsKnowWhoAsksWhom) {
  Recorder recorder;
  const std::vector<int32_t> words{2, 1}, sentences{3, 2};
  const auto numbers = [](const Shape& shape) {
    Tensor t(shape);
    for (size_t i = 0; i < t.size(); ++i) t.data()[i] = static_cast<real>(i);
    return t;
  };
  recorder.observe({.site = "q", .purpose = Purpose::question, .weights = numbers({2, 1, 4, 2}), .key_lengths = words});
  for (const int64_t hop : {0, 1}) {
    recorder.observe({.site = "hop", .purpose = Purpose::hop, .layer = hop, .weights = numbers({2, 1, 1, 3}),
                      .key_lengths = sentences});
  }
  for (const int32_t b : {0, 1}) {
    recorder.predicted({b, b, b, -1, 7, -0.1, -0.1, decode::Predicted::Fate::ended});
    recorder.completed(b);
  }
  recorder.stepped();
  const std::vector<TraceSite> sites = recorder.sites(1, 1, 3);  // of four places, the last is padding
  ASSERT_EQ(sites.size(), 3u);
  EXPECT_EQ(sites[1].layer, 1);
  EXPECT_EQ(sites[0].queries + " " + sites[0].keys, "target sentences");
  ASSERT_EQ(sites[0].weights.shape(), (Shape{1, 1, 2}));
  EXPECT_EQ(sites[0].weights.data()[1], 4);
  EXPECT_EQ(sites[2].queries + " " + sites[2].keys, "source question");
  ASSERT_EQ(sites[2].weights.shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(sites[2].weights.data()[2], 12);
}

TEST(Recorder, AnEncoderThatTellsPlaceByPlaceIsOneSiteOfEachLayer) {
  const auto network = pooling_network("intra");
  Recorder recorder;
  const Observing observing(recorder);
  const auto answers = decode::search(*network, data::Sequences(kSources), {}, {}, &recorder);
  const auto sites = recorder.sites(1, answers[1][0].node, 3);  // shorter than the longest of its batch
  ASSERT_EQ(sites.size(), 3u);
  for (int64_t layer = 0; layer < 2; ++layer) {
    const TraceSite& site = sites[static_cast<size_t>(layer)];
    EXPECT_EQ(site.site, "encoder.past");
    EXPECT_EQ(site.purpose, Purpose::self);
    EXPECT_EQ(site.layer, layer);
    EXPECT_EQ(site.queries, "source");
    ASSERT_EQ(site.weights.shape(), (Shape{1, 3, 3}));
    for (int64_t t = 0; t < 3; ++t) {
      double sum = 0;
      for (int64_t k = 0; k < 3; ++k) sum += static_cast<double>(site.weights.data()[t * 3 + k]);
      EXPECT_NEAR(sum, t == 0 ? 0 : 1, kTolerance) << "the first place has no past";
      for (int64_t k = t; k < 3; ++k) EXPECT_EQ(site.weights.data()[t * 3 + k], 0);
    }
  }
}

TEST(Recorder, SitesSayWhatTheyAreFor) {
  Random random(3);
  const auto network = models::make_model("transformer",
                                          {{"size", "8"},
                                           {"heads", "2"},
                                           {"hidden", "12"},
                                           {"encoder_layers", "1"},
                                           {"decoder_layers", "1"},
                                           {"source_vocabulary", "11"},
                                           {"target_vocabulary", "11"}},
                                          random);
  Recorder recorder({}, {.weights = false});
  const Observing observing(recorder);
  const auto answers = decode::search(*network, data::Sequences(kSources), kBeam, {}, &recorder);
  std::map<std::string, Purpose> purposes;
  for (const TraceSite& site : recorder.sites(0, answers[0][0].node, 5)) purposes[site.site] = site.purpose;
  EXPECT_EQ(purposes, (std::map<std::string, Purpose>{{"encoder.self", Purpose::self},
                                                      {"decoder.self", Purpose::past},
                                                      {"decoder.memory", Purpose::source}}));
}

TEST(Recorder, TheTreeHasEveryAnswerAndItsProbabilities) {
  const auto network = small_network();
  Recorder recorder;
  const auto answers = decode::search(*network, data::Sequences(kSources), kBeam, {}, &recorder);
  for (int32_t b = 0; b < 3; ++b) {
    const std::vector<TraceNode> tree = recorder.tree(b);
    for (size_t n = 0; n < tree.size(); ++n) {
      ASSERT_LT(tree[n].parent, static_cast<int32_t>(n));
      const double before = tree[n].parent < 0 ? 0 : tree[static_cast<size_t>(tree[n].parent)].total;
      EXPECT_NEAR(tree[n].total, before + tree[n].log_probability, 1e-9);
      if (tree[n].parent >= 0) {
        EXPECT_EQ(tree[static_cast<size_t>(tree[n].parent)].fate, TraceNode::Fate::grown);
      }
    }
    for (const decode::Hypothesis& answer : answers[static_cast<size_t>(b)]) {
      const TraceNode& last = tree[static_cast<size_t>(recorder.place_of(answer.node))];
      EXPECT_NEAR(last.total, answer.log_probability, 1e-9);
      EXPECT_EQ(last.fate, answer.ended ? TraceNode::Fate::ended : TraceNode::Fate::cut);
    }
  }
}

TEST(Recorder, EachStepOfAnAnswerHasWhatWasNotSaid) {
  const auto network = small_network();
  Recorder recorder;
  const auto answer = decode::score(*network, {data::Sequences({{4, 5}}), data::Sequences({{6, 7}})}, &recorder)[0];
  const std::vector<int32_t> chain = recorder.chain(answer.node);
  ASSERT_EQ(chain.size(), 3u);
  for (size_t t = 0; t < 3; ++t) {
    const std::vector<int32_t> ids = recorder.continuations(0, t == 0 ? -1 : chain[t - 1]);
    EXPECT_GE(ids.size(), 4u);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size()) << "each once";
  }
  EXPECT_EQ(recorder.likeliest(0), (std::vector<int32_t>{6, 7}));
}

}  // namespace
}  // namespace attend::explain
