// What classifiers, taggers and CTC do in training alone, and what they do with lengths.
#include <gtest/gtest.h>

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/ctc_model.h"
#include "attend/models/zoo.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

constexpr double kLabelTolerance = sizeof(real) == 8 ? 1e-9 : 2e-5;

std::unique_ptr<Model> made_labeller(const std::string& name, const Settings& more) {
  Settings settings{{"encoder.vocabulary", "11"}, {"encoder.size", "8"}, {"labels", "7"}};
  for (const auto& [key, value] : more) settings[key] = value;
  Random random(3);
  return make_model(name, settings, random);
}

const std::vector<std::vector<int32_t>> kLabelSources{{4, 5, 6}, {8}}, kLabels{{4}, {6}}, kTags{{4, 5, 6}, {5}};

double trained_loss(const Model& model, const data::Batch& batch, uint64_t seed = 1) {
  Training training{Random(seed)};
  const TapePause pause;
  return static_cast<double>(model.loss(batch, &training).item());
}

TEST(Labels, DropoutAndSmoothingAreForTrainingAlone) {
  const data::Batch labelled{data::Sequences(kLabelSources), data::Sequences(kLabels)},
      tagged{data::Sequences(kLabelSources), data::Sequences(kTags)};
  for (const auto& [name, option, batch] :
       {std::tuple{"classifier", "dropout", &labelled}, std::tuple{"classifier", "label_smoothing", &labelled},
        std::tuple{"classifier", "encoder.word_dropout", &labelled}, std::tuple{"tagger", "dropout", &tagged}}) {
    SCOPED_TRACE(std::string(name) + " " + option);
    const auto plain = made_labeller(name, {}), with = made_labeller(name, {{option, "0.6"}});
    EXPECT_EQ(with->loss(*batch).item(), plain->loss(*batch).item());
    EXPECT_NE(trained_loss(*with, *batch), trained_loss(*plain, *batch));
    EXPECT_EQ(trained_loss(*plain, *batch), static_cast<double>(plain->loss(*batch).item()))
        << "the default drops nothing";
  }
}

TEST(Labels, SmoothingIsThatOfCrossEntropy) {
  const data::Batch batch{data::Sequences(kLabelSources), data::Sequences(kLabels)};
  const auto model = made_labeller("classifier", {{"label_smoothing", "0.3"}});
  const auto state = model->begin(batch.source);
  const Tensor all = model->next(*state, std::vector<int32_t>(2, data::kBegin));
  EXPECT_NEAR(trained_loss(*model, batch), cross_entropy(all, Ids({2}, {4, 6}), {.smoothing = real(0.3)}).item(),
              kLabelTolerance);
}

TEST(Labels, MeanPoolingIsTheMeanOfTheStates) {
  const data::Batch batch{data::Sequences(kLabelSources), data::Sequences(kLabels)};
  const auto loss = [&](const std::string& encoder, const std::string& pooling) {
    return made_labeller("classifier", {{"encoder.kind", encoder}, {"pooling", pooling}})->loss(batch).item();
  };
  for (const char* encoder : {"none", "transformer"})
    EXPECT_EQ(loss(encoder, "mean"), loss(encoder, "last")) << encoder;
  EXPECT_NE(loss("recurrent", "mean"), loss("recurrent", "last")) << "whose summary is its last state";
}

TEST(Labels, AnAnswerMayBeLongerThanItsUpsampledInput) {
  const std::vector<std::vector<int32_t>> source{{4, 5}}, target{{4, 5, 6, 4, 5}};
  const data::Batch batch{data::Sequences(source), data::Sequences(target)};
  const auto model = made_labeller("ctc", {{"upsample", "3"}});
  EXPECT_EQ(dynamic_cast<const CtcModel&>(*model).frames(batch.source).shape(), (Shape{1, 6, 7}));
  const double loss = model->loss(batch).item();
  EXPECT_TRUE(std::isfinite(loss));
  EXPECT_NEAR(-decode::score(*model, batch)[0].log_probability, loss, 50 * kLabelTolerance);
}

TEST(Labels, FramesOfOnePlaceDiffer) {
  const auto model = made_labeller("ctc", {{"upsample", "2"}});
  const std::vector<std::vector<int32_t>> source{{4}};
  const Tensor frames = dynamic_cast<const CtcModel&>(*model).frames(data::Sequences(source));
  EXPECT_NE(frames.data()[0], frames.data()[7]);
}

TEST(Labels, TargetsThatDoNotFitAreLeftOutOfTheMean) {
  const auto model = made_labeller("ctc", {});
  const data::Batch both{data::Sequences(kLabelSources), data::Sequences({{4, 5}, {4, 5}})},
      first{data::Sequences({kLabelSources[0]}), data::Sequences({{4, 5}})},
      second{data::Sequences({kLabelSources[1]}), data::Sequences({{4, 5}})};
  EXPECT_NEAR(model->loss(both).item(), model->loss(first).item(), kLabelTolerance);
  Tape tape;
  const Var none = model->loss(second);
  EXPECT_EQ(none.item(), 0);
  tape.backward(none);
  for (const nn::NamedParam& p : nn::parameters(*model)) {
    if (!p.var.gradient().defined()) continue;
    for (const real g : p.var.gradient().values()) EXPECT_EQ(g, 0) << p.name;
  }
}

TEST(Labels, BadOptionsAreRefused) {
  const auto says = [](const std::string& name, const Settings& settings, const char* part) {
    const std::string message = test::message_of([&] { (void)made_labeller(name, settings); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says("classifier", {{"pooling", "meen"}}, "nearest is \"mean\"");
  says("classifier", {{"label_smoothing", "1"}}, "label_smoothing: expected at least 0 and less than 1, got 1");
  says("classifier", {{"dropout", "1"}}, "at least 0 and less than 1");
  says("ctc", {{"upsample", "0"}}, "upsample: expected 1 to 1024, got 0");
  says("ctc", {{"labels", "3"}}, "more labels than the reserved ones");
}

}  // namespace
}  // namespace attend::models
