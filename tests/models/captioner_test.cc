// The captioner: what its attention gives, its gate, its penalty, REINFORCE, several captions of one image, features that
// another network has made, gradients.
#include "attend/models/captioner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "attend/attention/observe.h"
#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/logits_gradient.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using test::message_of;

constexpr int64_t kCaptionWords = 9, kGridCells = 4;

CaptionerOptions small_captioner() {
  CaptionerOptions options;
  options.target_vocabulary = kCaptionWords;
  options.encoder = {.channels = 2, .height = 8, .width = 8, .stages = "4,6"};
  options.embedding = 5, options.hidden = 7;
  return options;
}

Captioner made_captioner(const CaptionerOptions& options) {
  Random random(5);
  return Captioner(options, random);
}

Tensor captioner_images(int64_t count, const Shape& one = {2, 8, 8}) {
  Random random(11);
  Tensor images({count, one[0], one[1], one[2]});
  for (real& x : images.values()) x = static_cast<real>(random.uniform());
  return images;
}

const std::vector<std::vector<int32_t>> kCaptions{{4, 5, 6}, {7, 8}, {6}, {5, 5, 4, 8}, {8, 6}};

data::Batch captioned(int64_t count) {
  return {data::Source::of_images(captioner_images(count)),
          data::Sequences(std::vector(kCaptions.begin(), kCaptions.begin() + count))};
}

Var parameter(Model& model, const std::string& name) {
  for (const nn::NamedParam& p : nn::parameters(model)) {
    if (p.name == name) return p.var;
  }
  ADD_FAILURE() << "no parameter " << name;
  return {};
}

/// The parameters that both have, from one to the other.
void copy_parameters(Model& from, Model& to) {
  std::map<std::string, Tensor> values;
  for (const nn::NamedParam& p : nn::parameters(from)) values[p.name] = p.var.value();
  for (const nn::NamedParam& p : nn::parameters(to)) {
    const auto found = values.find(p.name);
    if (found == values.end()) continue;
    Var target = p.var;
    std::copy(found->second.begin(), found->second.end(), target.value().data());
  }
}

/// Weights of all steps, [N,1,1,cells] each.
struct Weights : Sink {
  std::vector<Tensor> steps;
  std::string site;
  void observe(const Observation& seen) override {
    steps.push_back(seen.weights.clone());
    site = seen.site;
  }
};

TEST(Captioner, TellsOfEachWordWhichCellsItLookedAt) {
  for (const char* align : {"softmax", "sample", "argmax"}) {
    CaptionerOptions options = small_captioner();
    options.attention.align = align;
    const Captioner model = made_captioner(options);
    Weights weights;
    {
      const Observing observing(weights);
      decode::score(model, captioned(1));
    }
    EXPECT_EQ(weights.site, "decoder.memory");
    ASSERT_EQ(weights.steps.size(), kCaptions[0].size() + 1) << "the end looks, too";
    for (const Tensor& one : weights.steps) {
      ASSERT_EQ(one.shape(), (Shape{1, 1, 1, kGridCells}));
      double sum = 0, largest = 0;
      for (const real w : one.values())
        sum += static_cast<double>(w), largest = std::max(largest, static_cast<double>(w));
      EXPECT_NEAR(sum, 1, kTolerance) << align;
      if (std::string(align) == "softmax") {
        EXPECT_LT(largest, 0.99) << align;
      } else {
        EXPECT_EQ(largest, 1) << align;
      }
    }
  }
}

/// The weights of each step of a caption, under teacher forcing.
std::vector<Tensor> weights_of(const Captioner& model, const std::vector<int32_t>& caption) {
  Weights weights;
  const Observing observing(weights);
  decode::score(model, {data::Source::of_images(captioner_images(1)), data::Sequences({caption})});
  return weights.steps;
}

TEST(Captioner, AWordTellsWhereToLookNextWhereItIsAsked) {
  for (const char* query : {"state", "state_word"}) {
    CaptionerOptions options = small_captioner();
    options.query = query;
    const Captioner model = made_captioner(options);
    const std::vector<Tensor> one = weights_of(model, {4, 5}), other = weights_of(model, {8, 5});
    const auto same = [&](size_t step) { return std::ranges::equal(one.at(step).values(), other.at(step).values()); };
    EXPECT_TRUE(same(0)) << query << ": nothing has been said";
    EXPECT_EQ(same(1), options.query == "state") << query << ": right after the word";
    EXPECT_FALSE(same(2)) << query << ": the state has read it";
  }
}

TEST(Captioner, AnOpenGateIsNoneAndAClosedOneReadsNothing) {
  CaptionerOptions options = small_captioner();
  Captioner gated = made_captioner(options);
  options.gate = false;
  Captioner plain = made_captioner(options);
  copy_parameters(gated, plain);
  const data::Batch batch = captioned(3);
  EXPECT_GT(std::abs(loss_of(gated, batch) - loss_of(plain, batch)), 100 * kTolerance);
  parameter(gated, "gate.weight").value().fill(0);
  parameter(gated, "gate.bias").value().fill(60);
  EXPECT_NEAR(loss_of(gated, batch), loss_of(plain, batch), kTolerance);
  parameter(gated, "gate.bias").value().fill(-60);
  for (const char* name : {"decoder.context_weight", "context_output.weight"}) parameter(plain, name).value().fill(0);
  EXPECT_NEAR(loss_of(gated, batch), loss_of(plain, batch), kTolerance);
}

TEST(Captioner, PaysForCellsThatAreNotReadOnce) {
  CaptionerOptions options = small_captioner();
  const Captioner plain = made_captioner(options);
  options.doubly_stochastic = 0.3;
  const Captioner pays = made_captioner(options);
  const data::Batch batch = captioned(3);
  double penalty = 0, words = 0;
  for (int64_t b = 0; b < 3; ++b) {
    const data::Batch alone{data::Source::of_images(batch.source.pixels().rows(b, b + 1)),
                            data::Sequences({kCaptions[static_cast<size_t>(b)]})};
    Weights weights;
    const Observing observing(weights);
    decode::score(plain, alone);
    for (int64_t i = 0; i < kGridCells; ++i) {
      double read = 0;
      for (const Tensor& step : weights.steps) read += static_cast<double>(step.data()[i]);
      penalty += (1 - read) * (1 - read);
    }
    words += static_cast<double>(weights.steps.size());  // the end too
  }
  Training training{Random(1)};
  EXPECT_NEAR(static_cast<double>(pays.loss(batch, &training).item()) - loss_of(plain, batch), 0.3 * penalty / words,
              10 * kTolerance);
  EXPECT_NEAR(loss_of(pays, batch), loss_of(plain, batch), kTolerance) << "the penalty is for training";
}

/// The same with every image repeated for each of its captions.
data::Batch repeated(const data::Batch& batch) {
  data::Batch all;
  all.source = data::Source::of_images(take_rows(batch.source.pixels(), batch.source_of).value());
  all.target = batch.target;
  return all;
}

std::vector<std::pair<std::string, Tensor>> gradients(Captioner& model, const data::Batch& batch) {
  Training training{Random(1)};
  Tape tape;
  tape.backward(model.loss(batch, &training));
  std::vector<std::pair<std::string, Tensor>> all;
  for (nn::NamedParam& p : nn::parameters(model)) {
    if (p.var.gradient().defined()) all.emplace_back(p.name, p.var.gradient().clone());
    p.var.clear_gradient();
  }
  return all;
}

class SharedImages : public testing::TestWithParam<std::vector<int32_t>> {};

TEST_P(SharedImages, AreAsGoodAsRepeatedOnes) {
  for (const auto& [score, window, coverage, query] : {std::tuple{"additive", "none", false, "state"},
                                                       {"additive", "none", false, "state_word"},
                                                       {"general", "none", false, "state"},
                                                       {"convolution", "none", false, "state"},
                                                       {"additive", "local_m", false, "state"},
                                                       {"additive", "none", true, "state_word"}}) {
    CaptionerOptions options = small_captioner();
    options.query = query;
    options.attention.score = score, options.attention.window = window, options.attention.coverage = coverage;
    options.attention.width = 1;
    options.doubly_stochastic = 0.2;
    Captioner model = made_captioner(options);
    data::Batch batch = captioned(5);
    batch.source = data::Source::of_images(captioner_images(3));
    batch.source_of = GetParam();
    const data::Batch all = repeated(batch);
    EXPECT_NEAR(loss_of(model, batch), loss_of(model, all), kTolerance) << score << window << coverage;
    const auto shared = gradients(model, batch), apart = gradients(model, all);
    ASSERT_EQ(shared.size(), apart.size());
    for (size_t i = 0; i < shared.size(); ++i) {
      for (size_t j = 0; j < shared[i].second.size(); ++j) {
        EXPECT_NEAR(shared[i].second.data()[j], apart[i].second.data()[j], 20 * kTolerance) << shared[i].first;
      }
    }
    const auto scored = decode::score(model, batch), alone = decode::score(model, all);
    for (size_t n = 0; n < scored.size(); ++n) {
      EXPECT_NEAR(scored[n].log_probability, alone[n].log_probability, 10 * kTolerance) << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Captioner, SharedImages,
                         testing::Values(std::vector<int32_t>{0, 0, 1, 1, 2}, std::vector<int32_t>{2, 0, 2, 1, 2},
                                         std::vector<int32_t>{1, 1, 1, 1, 1}));

TEST(Captioner, InOrderAndInEqualNumbersNothingIsMoved) {
  Captioner model = made_captioner(small_captioner());
  data::Batch batch = captioned(4);
  batch.source = data::Source::of_images(captioner_images(2));
  batch.source_of = {0, 0, 1, 1};
  EXPECT_NEAR(loss_of(model, batch), loss_of(model, repeated(batch)), kTolerance);
}

TEST(Captioner, SaysTheSameOfFeaturesThatWereMadeBefore) {
  CaptionerOptions options = small_captioner();
  Captioner whole = made_captioner(options);
  const data::Batch batch = captioned(3);
  Random random(9);
  const auto encoder = make_encoder(options.encoder, random);
  for (const nn::NamedParam& p : nn::parameters(*encoder)) {
    Var target = p.var;
    const Tensor source = parameter(whole, "encoder." + p.name).value();
    std::copy(source.begin(), source.end(), target.value().data());
  }
  const Var grid = (*encoder)(batch.source, nullptr).states;
  options.encoder = {.kind = "none", .channels = 6};
  Captioner given = made_captioner(options);
  copy_parameters(whole, given);
  const data::Batch features{data::Source::of_images(transpose(grid, 1, 2).value().reshape({3, 6, 2, 2})),
                             batch.target};
  EXPECT_NEAR(loss_of(given, features), loss_of(whole, batch), kTolerance);
}

TEST(Captioner, LearnsFromItsChoicesByReinforce) {
  CaptionerOptions options = small_captioner();
  options.attention.align = "sample";
  Captioner model = made_captioner(options);
  const data::Batch batch = captioned(4);
  const auto gradient_of_score = [&] {
    double sum = 0;
    for (const auto& [name, gradient] : gradients(model, batch)) {
      if (!name.starts_with("attention")) continue;
      for (const real g : gradient.values()) sum += std::abs(static_cast<double>(g));
    }
    return sum;
  };
  EXPECT_GT(gradient_of_score(), 0) << "no other way leads to it";
  const real* averages = parameter(model, "reinforce.averages").value().data();
  EXPECT_LT(averages[0], 0) << "the reward is a log-probability";
  EXPECT_EQ(averages[2], 1);
  // One cell leaves no choice: nothing is drawn, and the loss is that of the soft one.
  options.encoder.stages = "4,4,6";
  Captioner drawn = made_captioner(options);
  options.attention.align = "softmax";
  Captioner soft = made_captioner(options);
  copy_parameters(drawn, soft);
  Training training{Random(1)};
  EXPECT_NEAR(static_cast<double>(drawn.loss(batch, &training).item()), loss_of(soft, batch), kTolerance);
}

TEST(Captioner, OnlyANetworkMadeForSamplingSamples) {
  CaptionerOptions options = small_captioner();
  Captioner soft = made_captioner(options);
  EXPECT_THROW(soft.set_align("sample"), Error);
  soft.set_align("argmax");
  Training training{Random(2)};
  EXPECT_THROW(soft.loss(captioned(2), &training), Error);
  options.read = "mean";
  Captioner none = made_captioner(options);
  EXPECT_THROW(none.set_align("argmax"), Error);
}

TEST(Captioner, ReadsItsOwnWordsWhereAsked) {
  const Captioner model = made_captioner(small_captioner());
  const data::Batch batch = captioned(3);
  Training none{Random(1)}, all{Random(1)};
  all.own_words = 1;
  EXPECT_NEAR(static_cast<double>(model.loss(batch, &none).item()), loss_of(model, batch), kTolerance);
  EXPECT_GT(std::abs(static_cast<double>(model.loss(batch, &all).item()) - loss_of(model, batch)), 100 * kTolerance);
}

TEST(Captioner, HasTheRightGradient) {
  for (const char* norm : {"none", "group"}) {
    CaptionerOptions options = small_captioner();
    options.query = std::string(norm) == "none" ? "state" : "state_word";
    options.encoder.norm = norm, options.encoder.positions = "learned", options.encoder.reduce = "average";
    options.encoder.convolutions = 2, options.encoder.residual = true;
    Captioner model = made_captioner(options);
    data::Batch batch = captioned(4);
    batch.source = data::Source::of_images(captioner_images(2));
    batch.source_of = {0, 1, 1, 0};
    test::expect_right_gradient(
        model, [&] { return model.logits(batch); }, norm);
  }
}

TEST(Captioner, RefusesWhatItCannotRead) {
  const Captioner model = made_captioner(small_captioner());
  const data::Sequences words(std::vector<std::vector<int32_t>>{{4, 5}});
  EXPECT_NE(message_of([&] { model.begin(words); }).find("expected images, got words"), std::string::npos);
  EXPECT_NE(message_of([&] {
              model.begin(data::Source::of_images(captioner_images(1, {3, 8, 8})));
            }).find("expected images [B,2,8,8], got [1, 3, 8, 8]"),
            std::string::npos);
  data::Batch batch = captioned(3);
  batch.source_of = {0, 1, 3};
  EXPECT_NE(message_of([&] { model.loss(batch, nullptr); }).find("source_of needs sources within 0 … 2, got 3"),
            std::string::npos);
  batch.source_of = {0, 1};
  EXPECT_NE(
      message_of([&] { model.loss(batch, nullptr); }).find("source_of needs one source for each of 3 targets, got 2"),
      std::string::npos);
  CaptionerOptions options = small_captioner();
  options.encoder.kind = "dense";
  EXPECT_NE(message_of([&] { made_captioner(options); }).find("encoder.kind dense has none"), std::string::npos);
  options = small_captioner();
  options.read = "atention";
  EXPECT_NE(message_of([&] { made_captioner(options); }).find("the nearest is \"attention\""), std::string::npos);
  options = small_captioner();
  options.query = "words";
  EXPECT_NE(message_of([&] { made_captioner(options); }).find("state_word"), std::string::npos);
}

TEST(Batch, NetworksWithoutADecoderRefuseSeveralTargetsOfOneSource) {
  Random random(1);
  const auto model =
      make_model("tagger", {{"encoder.vocabulary", "9"}, {"encoder.size", "4"}, {"labels", "9"}}, random);
  data::Batch batch{data::Sequences(std::vector<std::vector<int32_t>>{{4, 5}}),
                    data::Sequences(std::vector<std::vector<int32_t>>{{4, 5}, {5, 4}})};
  batch.source_of = {0, 0};
  EXPECT_NE(message_of([&] { model->loss(batch); }).find("several targets of one"), std::string::npos);
}

}  // namespace
}  // namespace attend::models
