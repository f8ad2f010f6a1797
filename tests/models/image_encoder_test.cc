// Encoders of images, and the two networks that stand on them alone: the classifier and the autoencoder.
#include "attend/models/image_encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/autoencoder.h"
#include "attend/models/image_classifier.h"
#include "attend/train/optimiser.h"
#include "tests/models/small.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using test::message_of;

Tensor encoder_images(const Shape& shape) {
  Random random(11);
  Tensor images(shape);
  for (real& x : images.values()) x = static_cast<real>(random.uniform());
  return images;
}

std::unique_ptr<Encoder> made_encoder(const ImageEncoderOptions& options) {
  Random random(3);
  return make_encoder(options, random);
}

Encoded read(const ImageEncoderOptions& options, const Tensor& images) {
  return (*made_encoder(options))(data::Source::of_images(images), nullptr);
}

TEST(ImageEncoder, GivesTheGridThatItsSizeSays) {
  for (const char* reduce : {"max", "average", "stride"}) {
    for (const bool last : {true, false}) {
      const ImageEncoderOptions options{.channels = 2, .stages = "3,5", .reduce = reduce, .reduce_last = last};
      const Encoded encoded = read(options, encoder_images({2, 2, 10, 13}));
      const GridSize size = grid_size(options, 10, 13);
      EXPECT_EQ(encoded.states.shape(), (Shape{2, size.cells(), 5})) << reduce << last;
      EXPECT_EQ(encoded.grid.height, size.height) << reduce << last;
      EXPECT_EQ(encoded.grid.width, size.width) << reduce << last;
      EXPECT_EQ(encoded.summary.shape(), (Shape{2, 5}));
    }
  }
  EXPECT_EQ(grid_size({.stages = "8,8,8,8"}, 112, 112).height, 7);
  EXPECT_EQ(grid_size({.stages = "8,8,8,8", .reduce_last = false}, 112, 112).height, 14);
  EXPECT_EQ(grid_size({.kind = "dense"}, 8, 8).cells(), 0);
}

TEST(ImageEncoder, CellsStandRowByRow) {
  const ImageEncoderOptions options{.kind = "none", .channels = 2};
  const Tensor given = encoder_images({1, 2, 3, 4});
  const Encoded encoded = read(options, given);
  for (int64_t d = 0; d < 2; ++d) {
    double mean = 0;
    for (int64_t cell = 0; cell < 12; ++cell) {
      EXPECT_EQ(encoded.states.value().data()[cell * 2 + d], given.data()[d * 12 + cell]);
      mean += static_cast<double>(given.data()[d * 12 + cell]) / 12;
    }
    EXPECT_NEAR(encoded.summary.value().data()[d], mean, kTolerance);
  }
}

TEST(ImageEncoder, PositionsTellEqualCellsApart) {
  ImageEncoderOptions options{.kind = "none", .channels = 2, .height = 2, .width = 2};
  const Tensor flat = Tensor::full({1, 2, 2, 2}, 1);
  const Tensor alike = read(options, flat).states.value();
  EXPECT_EQ(alike.data()[0], alike.data()[2]);
  options.positions = "learned";
  const Tensor cells = read(options, flat).states.value();
  EXPECT_NE(cells.data()[0], cells.data()[2]);
}

TEST(ImageEncoder, ADenseOneHasASinglePlace) {
  const Encoded encoded =
      read({.kind = "dense", .channels = 1, .height = 4, .width = 4, .stages = "6,5"}, encoder_images({3, 1, 4, 4}));
  EXPECT_EQ(encoded.states.shape(), (Shape{3, 1, 5}));
  EXPECT_EQ(encoded.grid.cells(), 0);
  EXPECT_TRUE(std::ranges::equal(encoded.states.value(), encoded.summary.value()));
}

TEST(ImageEncoder, RefusesWhatMakesNoGrid) {
  EXPECT_NE(
      message_of([] { made_encoder({.kind = "intra"}); }).find("intra does not read images; choose one of none, conv"),
      std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.kind = "convolution"}); }).find("nearest is \"convolutional\""),
            std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.stages = "8,,8"}); }).find("widths of 1 to"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.stages = "8,-1"}); }).find("widths of 1 to"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.stages = ""}); }).find("widths of 1 to"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.kernel = 4}); }).find("odd number"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.norm = "batch"}); }).find("norm"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.positions = "learned"}); }).find("set height and width"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.kind = "dense"}); }).find("set height and width"), std::string::npos);
  EXPECT_NE(message_of([] { made_encoder({.height = 8, .width = 8, .positions = "learned"}); }).find("halved 4 times"),
            std::string::npos);
}

/// Steps of Adam; the last loss.
double taught_on(Model& model, const data::Batch& batch, int steps, double rate) {
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(model));
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    Training training{Random(static_cast<uint64_t>(i))};
    Tape tape;
    const Var loss = model.loss(batch, &training);
    last = static_cast<double>(loss.item());
    tape.backward(loss);
    adam->step(rate, 1);
    adam->clear_gradients();
  }
  return last;
}

/// A bright bar, upright or lying, somewhere: 0 or 1.
data::Batch bars(int64_t count, Random random) {
  Tensor images = Tensor::zeros({count, 1, 12, 12});
  std::vector<std::vector<int32_t>> labels;
  for (int64_t b = 0; b < count; ++b) {
    const int64_t lying = static_cast<int64_t>(random.below(2)), y = static_cast<int64_t>(random.below(7)),
                  x = static_cast<int64_t>(random.below(7));
    for (int64_t i = 0; i < 5; ++i) {
      images.data()[b * 144 + (y + (lying ? 2 : i)) * 12 + x + (lying ? i : 2)] = 1;
    }
    labels.push_back({static_cast<int32_t>(lying)});
  }
  return {data::Source::of_images(images), data::Sequences(labels)};
}

TEST(ImageClassifier, LearnsWhichWayABarLies) {
  for (const char* kind : {"dense", "convolutional"}) {
    Random random(1);
    ImageClassifierOptions options;
    options.encoder = {.kind = kind, .channels = 1, .height = 12, .width = 12, .stages = "16,16"};
    options.labels = 2;
    ImageClassifier model(options, random);
    const bool dense = std::string(kind) == "dense";
    taught_on(model, bars(256, Random(1)), dense ? 150 : 60, 0.01);
    const data::Batch test = bars(100, Random(2));
    const auto answers = decode::search(model, test.source, {});
    int right = 0;
    for (int64_t b = 0; b < 100; ++b) {
      const auto& tokens = answers[static_cast<size_t>(b)][0].tokens;
      right += tokens.size() == 1 && tokens[0] == test.target.row(b)[0] ? 1 : 0;
    }
    EXPECT_GE(right, dense ? 85 : 97) << kind;
  }
}

TEST(ImageClassifier, RefusesTwoLabelsAndLabelsThatAreNone) {
  Random random(1);
  ImageClassifierOptions options;
  options.encoder = {.kind = "dense", .channels = 1, .height = 12, .width = 12, .stages = "4"};
  options.labels = 2;
  const ImageClassifier model(options, random);
  data::Batch batch = bars(2, Random(1));
  batch.target = data::Sequences(std::vector<std::vector<int32_t>>{{0, 1}, {1, 1}});
  EXPECT_NE(message_of([&] { model.loss(batch, nullptr); }).find("one label for each source"), std::string::npos);
  batch.target = data::Sequences(std::vector<std::vector<int32_t>>{{2}, {1}});
  EXPECT_THROW(model.loss(batch, nullptr), Error);
}

AutoencoderOptions small_autoencoder(const std::string& loss) {
  AutoencoderOptions options;
  options.encoder = {.kind = "dense", .channels = 1, .height = 12, .width = 12, .stages = "32"};
  options.code = 3, options.decoder = "32", options.loss = loss;
  return options;
}

TEST(Autoencoder, PaysForEachPixel) {
  const data::Batch batch = bars(3, Random(4));
  for (const char* loss : {"cross_entropy", "squared"}) {
    Random random(1);
    const Autoencoder model(small_autoencoder(loss), random);
    const Tensor made = model.reconstruct(batch.source.pixels());
    ASSERT_EQ(made.shape(), batch.source.pixels().shape());
    double sum = 0;
    for (size_t i = 0; i < made.size(); ++i) {
      const double x = batch.source.pixels().data()[i], y = made.data()[i];
      sum += std::string(loss) == "squared" ? (x - y) * (x - y) : -x * std::log(y) - (1 - x) * std::log(1 - y);
    }
    EXPECT_NEAR(static_cast<double>(model.loss(batch, nullptr).item()), sum / static_cast<double>(made.size()), 1e-5)
        << loss;
  }
}

TEST(Autoencoder, PaysForCodesThatAreUnlikeTheStandardNormal) {
  const data::Batch batch = bars(3, Random(4));
  AutoencoderOptions options = small_autoencoder("cross_entropy");
  options.variational = true, options.divergence = 0;
  Random random(1), same(1);
  const Autoencoder free(options, random);
  options.divergence = 2;
  Autoencoder paid(options, same);
  // μ = 0.3 and ln σ² = −0.4 for whatever image.
  for (const nn::NamedParam& p : nn::parameters(paid)) {
    Var parameter = p.var;
    if (p.name == "bottleneck.weight") parameter.value().fill(0);
    if (p.name != "bottleneck.bias") continue;
    ASSERT_EQ(parameter.shape(), (Shape{6}));
    for (int64_t i = 0; i < 6; ++i) parameter.value().data()[i] = i < 3 ? real(0.3) : real(-0.4);
  }
  const Tensor made = paid.reconstruct(batch.source.pixels());
  double sum = 0;
  for (size_t i = 0; i < made.size(); ++i) {
    const double x = batch.source.pixels().data()[i], y = made.data()[i];
    sum -= x * std::log(y) + (1 - x) * std::log(1 - y);
  }
  const double divergence = 0.5 * 3 * (0.09 + std::exp(-0.4) - 1 + 0.4);
  EXPECT_NEAR(static_cast<double>(paid.loss(batch, nullptr).item()),
              sum / static_cast<double>(made.size()) + 2 * divergence / (12 * 12), 1e-5);
  EXPECT_EQ(free.code(batch.source.pixels()).shape(), (Shape{3, 3}));
}

TEST(Autoencoder, DrawsItsCodesInTrainingAlone) {
  const data::Batch batch = bars(3, Random(4));
  AutoencoderOptions options = small_autoencoder("squared");
  options.variational = true;
  Random random(1);
  const Autoencoder model(options, random);
  const auto loss = [&](Training* training) { return model.loss(batch, training).item(); };
  Training first{.random = Random(1)}, again{.random = Random(1)}, other{.random = Random(2)};
  const real drawn = loss(&first);
  EXPECT_EQ(drawn, loss(&again));
  EXPECT_NE(drawn, loss(&other));
  EXPECT_NE(drawn, loss(nullptr));
  EXPECT_EQ(loss(nullptr), loss(nullptr));
}

TEST(Autoencoder, LearnsToSayAnImageInAFewNumbers) {
  Random random(1);
  Autoencoder model(small_autoencoder("cross_entropy"), random);
  const data::Batch batch = bars(16, Random(4));
  const double before = static_cast<double>(model.loss(batch, nullptr).item());
  EXPECT_LT(taught_on(model, batch, 400, 0.01), 0.25 * 0.15);  // a blank page costs 0.15 nats a pixel
  EXPECT_GT(before, 0.5);
  EXPECT_EQ(model.code(batch.source.pixels()).shape(), (Shape{16, 3}));
  const Tensor codes = model.code(batch.source.pixels()), made = model.decode(codes);
  EXPECT_EQ(made.data()[5], model.reconstruct(batch.source.pixels()).data()[5]);
}

TEST(Autoencoder, SaysThatItHasNoWords) {
  Random random(1);
  const Autoencoder model(small_autoencoder("squared"), random);
  EXPECT_NE(message_of([&] { model.begin(bars(1, Random(1)).source); }).find("reconstruct"), std::string::npos);
  EXPECT_NE(message_of([&] { model.decode(Tensor::zeros({2, 4})); }).find("codes [B,3]"), std::string::npos);
}

TEST(Autoencoder, NoLogitOverflows) {
  Random random(1);
  Autoencoder model(small_autoencoder("cross_entropy"), random);
  for (const nn::NamedParam& p : nn::parameters(model)) {
    if (p.name != "decoder.1.bias") continue;
    Var bias = p.var;
    bias.value().fill(500);
  }
  const double loss = static_cast<double>(model.loss(bars(2, Random(1)), nullptr).item());
  EXPECT_TRUE(std::isfinite(loss));
  EXPECT_GT(loss, 400);
}

}  // namespace
}  // namespace attend::models
