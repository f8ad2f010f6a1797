// Saliency and Jacobian against finite differences, occlusion against what it says, rollout by hand.
#include "attend/explain/methods.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "attend/attention/observe.h"
#include "attend/decode/search.h"
#include "attend/explain/evidence.h"
#include "attend/explain/recorder.h"
#include "attend/models/zoo.h"
#include "attend/nn/layer.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

using test::message_of;

struct Network {
  std::string name, model;
  Settings settings;
};
void PrintTo(const Network& network, std::ostream* out) { *out << network.name; }

std::vector<Network> networks() {
  const Settings recurrent{{"embedding", "4"}, {"hidden", "5"}};
  // gelu: a difference across the corner of a relu is no derivative
  const Settings transformer{{"size", "8"},           {"heads", "2"},   {"hidden", "12"},      {"encoder_layers", "2"},
                             {"decoder_layers", "2"}, {"dropout", "0"}, {"activation", "gelu"}};
  Settings fixed = recurrent, lstm = recurrent, reread = recurrent;
  fixed["decoder.input"] = "initial_state", lstm["cell"] = "lstm", reread["decoder.input"] = "reread";
  return {{"additive", "recurrent", recurrent},
          {"no_attention", "recurrent", fixed},
          {"lstm", "recurrent", lstm},
          {"reread", "recurrent", reread},
          {"transformer", "transformer", transformer},
          {"language_model", "language_model", transformer}};
}

class MethodsOf : public testing::TestWithParam<Network> {
 protected:
  MethodsOf() {
    Settings settings = GetParam().settings;
    settings["source_vocabulary"] = settings["target_vocabulary"] = "11";
    Random random(7);
    model_ = models::make_model(GetParam().model, settings, random);
  }

  Answered answered(const std::vector<int32_t>& source, const std::vector<int32_t>& target) const {
    Recorder recorder;
    const Observing observing(recorder);
    const auto scored = decode::score(*model_, {data::Sequences({source}), data::Sequences({target})}, &recorder)[0];
    return {*model_, source, target, recorder.sites(0, scored.node, static_cast<int64_t>(source.size())),
            scored.token_log_probabilities};
  }

  /// The table that source words are looked up in.
  Var words() const {
    for (const nn::NamedParam& p : nn::parameters(*model_)) {
      if (p.name.find("source_words") != p.name.npos || p.name == "encoder.words.table" || p.name == "words.table") {
        return p.var;
      }
    }
    ADD_FAILURE() << "no source words";
    return {};
  }

  double log_probability(const std::vector<int32_t>& source, std::vector<int32_t> target, size_t step) const {
    return decode::score(*model_, {data::Sequences({source}), data::Sequences({target})})[0]
        .token_log_probabilities[step];
  }

  std::unique_ptr<models::Model> model_;
};

// Every word occurs once on both sides, so that a row of the table is one place of the source.
const std::vector<int32_t> kSource{4, 6, 9, 5}, kTarget{7, 8, 10};

TEST_P(MethodsOf, SaliencyIsTheDerivativeAlongTheWord) {
  const Answered a = answered(kSource, kTarget);
  const Tensor map = method_named("saliency").map(a, {});
  ASSERT_EQ(map.shape(), Shape({4, 4}));
  Var table = words();
  const int64_t width = table.dim(1);
  const double step = sizeof(real) == 8 ? 1e-5 : 3e-3, tolerance = sizeof(real) == 8 ? 1e-7 : 3e-3;
  double largest = 0;
  for (size_t s = 0; s < kSource.size(); ++s) {
    real* row = table.value().data() + kSource[s] * width;
    const std::vector<real> kept(row, row + width);
    const auto at = [&](double scale, size_t t) {
      for (int64_t d = 0; d < width; ++d)
        row[d] = static_cast<real>((1 + scale) * static_cast<double>(kept[static_cast<size_t>(d)]));
      table.value();  // a new version
      return log_probability(kSource, kTarget, t);
    };
    for (size_t t = 0; t < 4; ++t) {
      const double slope = (at(step, t) - at(-step, t)) / (2 * step);
      EXPECT_NEAR(map.data()[t * 4 + s], slope, tolerance) << "word " << s << ", step " << t;
      largest = std::max(largest, std::abs(slope));
    }
    std::copy(kept.begin(), kept.end(), row);
    table.value();
  }
  EXPECT_GT(largest, 1e-3) << "or the check would hold for nothing";
}

TEST_P(MethodsOf, JacobianIsTheNormOfTheDerivatives) {
  const Answered a = answered(kSource, kTarget);
  const Tensor map = method_named("jacobian").map(a, {});
  Var table = words();
  const int64_t width = table.dim(1);
  const double step = sizeof(real) == 8 ? 1e-5 : 3e-3, tolerance = sizeof(real) == 8 ? 1e-7 : 1e-2;
  const size_t t = 1;
  Recorder recorder;
  const auto scored = decode::score(*model_, {data::Sequences({kSource}), data::Sequences({kTarget})}, &recorder)[0];
  std::vector<int32_t> outputs = recorder.continuations(0, recorder.chain(scored.node)[t - 1]);
  std::erase(outputs, kTarget[t]);
  outputs.resize(3);
  outputs.push_back(kTarget[t]);
  for (size_t s = 0; s < kSource.size(); ++s) {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d) {
      const auto at = [&](double by, int32_t word) {
        real& x = table.value().data()[kSource[s] * width + d];
        const real kept = x;
        x = static_cast<real>(static_cast<double>(x) + by);
        std::vector<int32_t> target(kTarget.begin(), kTarget.begin() + static_cast<std::ptrdiff_t>(t));
        if (word != data::kEnd) target.push_back(word);
        const double p = log_probability(kSource, target, t);
        table.value().data()[kSource[s] * width + d] = kept;
        return p;
      };
      for (const int32_t word : outputs) {
        if (word == data::kPad || word == data::kBegin) continue;
        const double slope = (at(step, word) - at(-step, word)) / (2 * step);
        sum += slope * slope;
      }
    }
    EXPECT_NEAR(map.data()[t * 4 + s], std::sqrt(sum), tolerance * std::max(1.0, std::sqrt(sum))) << "word " << s;
    EXPECT_GT(sum, 0);
  }
}

TEST_P(MethodsOf, OcclusionIsWhatIsLostWithoutAWord) {
  const Answered a = answered(kSource, kTarget);
  const Tensor map = method_named("occlusion").map(a, {});
  const std::vector<int32_t> shorter{4, 9, 5};  // without the second
  for (size_t t = 0; t < 4; ++t) {
    EXPECT_NEAR(map.data()[t * 4 + 1], log_probability(kSource, kTarget, t) - log_probability(shorter, kTarget, t),
                1e-5);
  }
}

TEST_P(MethodsOf, GradientsTouchNoParameter) {
  const Answered a = answered(kSource, kTarget);
  (void)method_named("saliency").map(a, {});
  for (const nn::NamedParam& p : nn::parameters(*model_)) EXPECT_FALSE(p.var.gradient().defined()) << p.name;
}

TEST_P(MethodsOf, EvidenceOfAHeadIsTheScoreWithoutIt) {
  const Answered a = answered(kSource, kTarget);
  const Tensor map = method_named("saliency").map(a, {});
  const std::vector<int32_t> word_of{0, 1, 1, 2};
  const std::vector<TraceEvidence> lines = evidence(a, map, word_of);
  ASSERT_GE(lines.size(), 2u);
  double before = 0;
  for (const double p : a.log_probabilities) before += p / 4;
  for (const TraceEvidence& line : lines) {
    EXPECT_NEAR(line.before, before, 1e-6);
    EXPECT_TRUE(std::isfinite(line.after));
  }
  const bool attends = GetParam().name == "additive" || GetParam().name == "lstm";
  if (attends) {
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_NE(lines[2].after, lines[2].before) << "equal weights change something";
  }
  if (GetParam().name == "transformer") {
    EXPECT_EQ(lines.size(), 4u + 3 * 2 * 2) << "3 sites × 2 layers × 2 heads";
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MethodsOf, testing::ValuesIn(networks()),
                         [](const auto& info) { return info.param.name; });

// One label for a text, by attention pooling: a word may be left out, and its weights may be changed.
TEST(MethodsOfAClassifier, APoolingHasAMapAndEvidence) {
  Random random(7);
  const auto model = models::make_model(
      "classifier", {{"encoder.vocabulary", "11"}, {"encoder.size", "6"}, {"labels", "5"}, {"pooling", "attention"}},
      random);
  const std::vector<int32_t> source{4, 6, 9}, label{2};
  Recorder recorder;
  std::optional<decode::Hypothesis> scored;
  {
    const Observing observing(recorder);
    scored = decode::score(*model, {data::Sequences({source}), data::Sequences({label})}, &recorder)[0];
  }
  const Answered a{*model, source, label, recorder.sites(0, scored->node, 3), scored->token_log_probabilities};
  const Tensor map = method_named("attention").map(a, {.site = "pooling"});
  ASSERT_EQ(map.shape(), (Shape{1, 3}));
  EXPECT_NEAR(map.data()[0] + map.data()[1] + map.data()[2], 1, 1e-5);
  const Tensor lost = method_named("occlusion").map(a, {});
  const std::vector<int32_t> shorter{4, 9};
  const auto without = decode::score(*model, {data::Sequences({shorter}), data::Sequences({label})})[0];
  EXPECT_NEAR(lost.data()[1], scored->log_probability - without.log_probability, 1e-5);
  const std::vector<int32_t> word_of{0, 1, 2};
  const std::vector<TraceEvidence> lines = evidence(a, map, word_of);
  ASSERT_EQ(lines.size(), 4u) << "two of words, two of weights";
  EXPECT_NE(lines[2].after, lines[2].before) << "equal weights change something";
}

// A word that is left out takes its letters with it.
TEST(MethodsOfAClassifier, LettersStayWithTheirWords) {
  Random random(7);
  const auto model = models::make_model("classifier",
                                        {{"encoder.vocabulary", "11"},
                                         {"encoder.size", "6"},
                                         {"encoder.letters.kind", "convolution"},
                                         {"encoder.letters.vocabulary", "9"},
                                         {"labels", "5"}},
                                        random);
  using Letters = std::vector<std::vector<int32_t>>;
  const std::vector<int32_t> label{2};
  const auto scored = [&](const std::vector<int32_t>& source, const Letters& letters) {
    data::Batch batch{data::Sequences({source}), data::Sequences({label})};
    batch.source.add_letters(data::letter_rows(std::vector<Letters>(1, letters), static_cast<int64_t>(source.size())));
    return decode::score(*model, batch)[0].log_probability;
  };
  const std::vector<int32_t> source{4, 6, 9};
  const Letters letters{{4, 5}, {6}, {7, 8, 4, 4}};
  const double before = scored(source, letters);
  const Answered a{.model = *model, .source = source, .target = label, .log_probabilities = {before}, .letters = letters};
  const Tensor lost = method_named("occlusion").map(a, {});
  EXPECT_NEAR(lost.data()[1], before - scored({4, 9}, {{4, 5}, {7, 8, 4, 4}}), 1e-5);
  EXPECT_GT(std::abs(method_named("saliency").map(a, {}).data()[2]), 1e-6);
  const std::vector<int32_t> word_of{0, 0, 0};
  EXPECT_TRUE(evidence(a, lost, word_of).empty()) << "one word, and no attention";
  const Answered fewer{.model = *model, .source = source, .target = label, .log_probabilities = {before}, .letters = {{4}}};
  EXPECT_NE(message_of([&] { (void)fewer.sources(); }).find("the letters of 3 words, got those of 1"), std::string::npos);
}

TEST(MethodsOfATagger, OcclusionIsRefused) {
  Random random(7);
  const auto model = models::make_model(
      "tagger", {{"encoder.vocabulary", "11"}, {"encoder.size", "6"}, {"labels", "5"}}, random);
  for (const std::vector<int32_t>& source : {std::vector<int32_t>{4}, std::vector<int32_t>{4, 5}}) {
    const Answered a{*model, source, source, {}, std::vector<double>(source.size(), -1)};
    EXPECT_NE(message_of([&] { (void)method_named("occlusion").map(a, {}); }).find("one label per source token"),
              std::string::npos);
  }
}

TraceSite site(Purpose purpose, int64_t layer, const Shape& shape, std::vector<real> weights) {
  Tensor t(shape);
  std::copy(weights.begin(), weights.end(), t.data());
  const bool self = purpose == Purpose::self, past = purpose == Purpose::past;
  return {.site = self ? "encoder.self" : past ? "decoder.self" : "decoder.memory",
          .purpose = purpose,
          .layer = layer,
          .heads = shape[0],
          .queries = self ? "source" : "target",
          .keys = past ? "before" : "source",
          .weights = t};
}

class ByHand : public testing::Test {
 protected:
  ByHand() {
    Random random(1);
    model_ = models::make_model("recurrent", {{"source_vocabulary", "11"}, {"target_vocabulary", "11"}}, random);
  }
  std::unique_ptr<models::Model> model_;
};

TEST_F(ByHand, RolloutGoesThroughEncoderAndDecoder) {
  const Answered a{*model_, {4, 5}, {6}, {}, {-1, -1}};
  Answered with = a;
  with.sites = {site(Purpose::self, 0, {1, 2, 2}, {0, 1, 1, 0}),
                site(Purpose::past, 0, {1, 2, 2}, {1, 0, 1, 0}),
                site(Purpose::source, 0, {1, 2, 2}, {1, 0, 0, 1})};
  // The encoder swaps half of each word; each step reads one word of it.
  const Tensor map = method_named("rollout").map(with, {});
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(map.data()[i], 0.5, 1e-6);
  with.sites[0] = site(Purpose::self, 0, {1, 2, 2}, {1, 0, 0, 1});
  const Tensor straight = method_named("rollout").map(with, {});
  EXPECT_NEAR(straight.data()[0], 1, 1e-6);
  EXPECT_NEAR(straight.data()[3], 1, 1e-6);
}

TEST_F(ByHand, RolloutOfAPoolingReadsWhatTheEncoderMixed) {
  Answered a{*model_, {4, 5}, {6}, {}, {-1}};
  a.sites = {site(Purpose::self, 0, {1, 2, 2}, {0, 1, 0, 1}), site(Purpose::pooling, 0, {1, 1, 2}, {0.25, 0.75})};
  // E = ½(I + W) = [½ ½; 0 1], of which the pooling takes a quarter and three.
  const Tensor map = method_named("rollout").map(a, {});
  EXPECT_NEAR(map.data()[0], 0.125, 1e-6);
  EXPECT_NEAR(map.data()[1], 0.875, 1e-6);
}

TEST_F(ByHand, HeadsAndLayersAreCombined) {
  Answered a{*model_, {4, 5}, {6}, {}, {-1, -1}};
  a.sites = {site(Purpose::source, 0, {2, 2, 2}, {1, 0, 0, 1, 0.5, 0.5, 0, 1}),
             site(Purpose::source, 1, {2, 2, 2}, {0, 1, 1, 0, 0.5, 0.5, 1, 0})};
  EXPECT_NEAR(attention_map(a, {}).data()[0], 0.5, 1e-6);
  EXPECT_NEAR(attention_map(a, {.layer = 0}).data()[0], 0.75, 1e-6);
  EXPECT_NEAR(attention_map(a, {.layer = 1, .head = 0}).data()[1], 1, 1e-6);
  EXPECT_NEAR(attention_map(a, {.combine = "max"}).data()[3], 1, 1e-6);
  EXPECT_EQ(part_label(a, {}), "mean of 2 layers × 2 heads");
  EXPECT_EQ(message_of([&] { attention_map(a, {.head = 2}); }),
            "attention: expected head 0 to 1, or -1 for all; got 2");
  EXPECT_EQ(
      message_of([&] { attention_map(a, {.layer = 5}); }),
      "attention: expected a layer of decoder.memory or -1 for all: 0 (2 heads), 1 (2 heads); got 5");
}

}  // namespace
}  // namespace attend::explain
