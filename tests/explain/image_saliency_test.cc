// Input gradients against differences, Grad-CAM against its formula on a tiny network.
#include "attend/explain/image_saliency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/models/captioner.h"
#include "attend/models/image_classifier.h"
#include "attend/models/source_images.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

using test::message_of;

Tensor random_images(const Shape& shape) {
  Random random(11);
  Tensor images(shape);
  for (real& x : images.values()) x = static_cast<real>(random.uniform());
  return images;
}

models::ImageClassifier classifier(const std::string& kind) {
  models::ImageClassifierOptions options;
  options.encoder = {.kind = kind, .channels = 2, .height = 6, .width = 4, .stages = kind == "none" ? "1" : "5"};
  options.labels = 3;
  Random random(2);
  return models::ImageClassifier(options, random);
}

/// logits[b, classes[b]] of image b after a step in its pixel i.
double moved(const models::ImageClassifier& model, const Tensor& images, int64_t b, size_t i, int32_t label,
             double step) {
  Tensor changed = images.clone();
  changed.data()[static_cast<size_t>(b) * (images.size() / static_cast<size_t>(images.dim(0))) + i] +=
      static_cast<real>(step);
  return static_cast<double>(
      model.logits(data::Source::of_images(changed)).value().data()[b * model.vocabulary() + label]);
}

TEST(ImageSaliency, IsTheSlopeInEveryPixel) {
  const std::vector<int32_t> classes{2, 0};
  for (const char* kind : {"convolutional", "dense", "none"}) {
    const models::ImageClassifier model = classifier(kind);
    const Tensor images = random_images({2, 2, 6, 4});
    const Seen seen = image_saliency(model, images, classes);
    ASSERT_EQ(seen.input_gradient.shape(), images.shape());
    EXPECT_EQ(seen.cam.defined(), std::string(kind) != "dense");
    const size_t pixels = images.size() / 2;
    double largest = 0;
    int corners = 0;
    for (int64_t b = 0; b < 2; ++b) {
      for (size_t i = 0; i < pixels; ++i) {
        const double step = sizeof(real) == 8 ? 1e-6 : 1e-2;
        const int32_t label = classes[static_cast<size_t>(b)];
        const double numeric =
            (moved(model, images, b, i, label, step) - moved(model, images, b, i, label, -step)) / (2 * step);
        const double slope = static_cast<double>(seen.input_gradient.data()[static_cast<size_t>(b) * pixels + i]);
        largest = std::max(largest, std::abs(slope));
        // A relu or a maximum may turn within the step.
        corners += std::abs(slope - numeric) > (sizeof(real) == 8 ? 1e-6 : 2e-3) ? 1 : 0;
      }
    }
    EXPECT_GT(largest, 0.01) << kind;
    EXPECT_LE(corners, sizeof(real) == 8 ? 0 : 6) << kind;
  }
}

TEST(ImageSaliency, GradCamIsTheWeightedSumOfTheChannels) {
  // The cells' mean and a linear layer: ∂s/∂A_d is W[label,d]/cells everywhere, and so is its mean.
  models::ImageClassifier model = classifier("none");
  const Tensor images = random_images({1, 2, 6, 4});
  Tensor weight;
  for (const nn::NamedParam& p : nn::parameters(model)) {
    if (p.name == "output.weight") weight = p.var.value();
  }
  const std::vector<int32_t> classes{1};
  const Seen seen = image_saliency(model, images, classes);
  ASSERT_EQ(seen.cam.shape(), (Shape{1, 6, 4}));
  bool positive = false;
  for (int64_t i = 0; i < 24; ++i) {
    double sum = 0;
    for (int64_t d = 0; d < 2; ++d) {
      sum += static_cast<double>(weight.data()[1 * 2 + d]) / 24 * static_cast<double>(images.data()[d * 24 + i]);
    }
    EXPECT_NEAR(seen.cam.data()[i], std::max(sum, 0.0), 1e-6);
    positive |= sum > 0;
  }
  EXPECT_TRUE(positive);
}

TEST(ImageSaliency, AsksAboutTheLikeliestUnlessToldAndLeavesTheNetworkAlone) {
  models::ImageClassifier model = classifier("convolutional");
  const Tensor images = random_images({1, 2, 6, 4});
  const Seen first = image_saliency(model, images);
  const auto best =
      static_cast<int32_t>(std::max_element(first.logits.begin(), first.logits.end()) - first.logits.begin());
  const Seen same = image_saliency(model, images, std::span(&best, 1));
  const int32_t other = (best + 1) % 3;
  const Seen another = image_saliency(model, images, std::span(&other, 1));
  double difference = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(first.input_gradient.data()[i], same.input_gradient.data()[i]);
    difference += std::abs(first.input_gradient.data()[i] - another.input_gradient.data()[i]);
  }
  EXPECT_GT(difference, 0);
  for (const nn::NamedParam& p : nn::parameters(model)) EXPECT_FALSE(p.var.gradient().defined()) << p.name;
  EXPECT_EQ(first.cam.shape(), (Shape{1, 3, 2}));
}

TEST(ImageSaliency, WorksOnAWordOfACaption) {
  models::CaptionerOptions options;
  options.target_vocabulary = 7, options.embedding = 4, options.hidden = 5;
  options.encoder = {.channels = 2, .stages = "4"};
  Random random(3);
  const models::Captioner model(options, random);
  const data::Batch batch{data::Source::of_images(random_images({1, 2, 6, 6})),
                          data::Sequences(std::vector<std::vector<int32_t>>{{4, 5, 6}})};
  const std::vector<int32_t> word{5};
  const Seen seen = image_saliency([&] { return select(model.logits(batch), 1); }, word);
  EXPECT_EQ(seen.cam.shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(pixel_saliency(seen.input_gradient).shape(), (Shape{1, 6, 6}));
  double sum = 0;
  const Tensor map = pixel_saliency(seen.input_gradient);
  for (const real x : map.values()) sum += static_cast<double>(x);
  EXPECT_GT(sum, 0);
}

TEST(ImageJacobian, IsTheNormOfTheGradientsOfAllLikelyLabels) {
  const models::ImageClassifier model = classifier("convolutional");  // three labels: all of them
  const Tensor images = random_images({1, 2, 6, 4});
  const data::Source source = data::Source::of_images(images);
  const ImageLogits logits = [&] { return model.logits(source); };
  const std::vector<int32_t> one{1};
  const Tensor map = image_jacobian(logits, one);
  ASSERT_EQ(map.shape(), (Shape{1, 6, 4}));
  Tensor squares = Tensor::zeros({24});
  for (int32_t label = 0; label < 3; ++label) {
    const Tensor gradient = image_saliency([&] { return log_softmax(logits()); }, std::span(&label, 1)).input_gradient;
    for (size_t i = 0; i < 48; ++i) squares.data()[i % 24] += gradient.data()[i] * gradient.data()[i];
  }
  double sum = 0;
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_NEAR(map.data()[i], std::sqrt(squares.data()[i]), 1e-5);
    sum += static_cast<double>(map.data()[i]);
  }
  EXPECT_GT(sum, 0);
}

TEST(ImageSaliency, SumsTheChannelsOfAPixel) {
  const Tensor sums = pixel_saliency(Tensor::of({1, 2, 1, 3}, {1, -2, 3, -4, 5, -6}));
  EXPECT_EQ(sums.data()[0], 5);
  EXPECT_EQ(sums.data()[1], 7);
  EXPECT_EQ(sums.data()[2], 9);
}

TEST(ImageSaliency, RefusesWhatIsNoClassAndWhatShowsNoImage) {
  const models::ImageClassifier model = classifier("dense");
  const Tensor images = random_images({1, 2, 6, 4});
  const std::vector<int32_t> three{3}, two{0, 1}, zero{0};
  EXPECT_NE(message_of([&] { image_saliency(model, images, three); }).find("within 0 … 2"), std::string::npos);
  EXPECT_NE(message_of([&] { image_saliency(model, images, two); }).find("one class for each of 1"), std::string::npos);
  EXPECT_NE(message_of([&] {
              image_saliency([] { return Var(Tensor::zeros({1, 2})); }, zero);
            }).find("has shown none"),
            std::string::npos);
}

}  // namespace
}  // namespace attend::explain
