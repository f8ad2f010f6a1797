// Published networks as encoders: their grids, one path against the other, what is trained, and which files they take.
#include "attend/models/pretrained_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/models/image_classifier.h"
#include "attend/models/source_images.h"
#include "attend/models/zoo.h"
#include "attend/train/optimiser.h"
#include "tests/models/small.h"
#include "tests/support/folder.h"
#include "tests/support/image_weights.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using test::formula_weights;
using test::message_of;

constexpr int64_t kNarrow = 16;

ImageEncoderOptions published_options(const std::string& kind) {
  ImageEncoderOptions options{.kind = kind};
  options.narrow = kNarrow;
  return options;
}

std::unique_ptr<Encoder> published_encoder(const ImageEncoderOptions& options) {
  Random random(3);
  return make_encoder(options, random);
}

Tensor photos(const Shape& shape) { return test::formula_tensor("images", shape); }

TEST(PretrainedEncoder, HasTheGridOfItsStage) {
  for (const ImageNetworkRow& row : image_networks()) {
    const std::string kind(row.name);
    for (const auto& [height, width] : {std::pair{33, 47}, {5, 1}}) {
      for (const int64_t stage : {0, 2}) {
        ImageEncoderOptions options = published_options(kind);
        options.stage = stage;
        const Encoded encoded =
            (*published_encoder(options))(data::Source::of_images(photos({1, 3, height, width})), nullptr);
        const GridSize grid = grid_size(options, height, width);
        EXPECT_EQ(encoded.grid.height, grid.height) << kind << stage;
        EXPECT_EQ(encoded.grid.width, grid.width) << kind << stage;
        EXPECT_EQ(encoded.states.dim(1), grid.cells());
      }
    }
    EXPECT_EQ(grid_size(published_options(kind), 224, 224).height, 7) << kind;
  }
  ImageEncoderOptions options = published_options("efficientnet-lite0");
  options.stage = 5;
  EXPECT_EQ(grid_size(options, 112, 112).height, 7);
  options.kind = "resnet50", options.stage = 3;
  EXPECT_EQ(grid_size(options, 112, 112).height, 7);
}

TEST(PretrainedEncoder, GivesTheSameOpByOp) {
  for (const ImageNetworkRow& row : image_networks()) {
    const auto encoder = published_encoder(published_options(std::string(row.name)));
    for (const int64_t count : {1, 5}) {
      const data::Source source = data::Source::of_images(photos({count, 3, 45, 38}));
      const Tensor fused = (*encoder)(source, nullptr).states.value();
      const SourceImages seen(SourceImages::Look::pixels);  // gradients of pixels need every op
      Tape tape;
      const Var composed = (*encoder)(source, nullptr).states;
      ASSERT_TRUE(composed.tracked());
      const real scale = *std::ranges::max_element(fused);
      for (size_t i = 0; i < fused.size(); ++i) {
        ASSERT_NEAR(fused.data()[i], composed.value().data()[i], 10 * kTolerance * std::max<double>(1, scale))
            << row.name;
      }
    }
  }
}

TEST(PretrainedEncoder, ReadsItsOwnGridsInPlaceOfImages) {
  const auto encoder = published_encoder(published_options("resnet18"));
  const Tensor images = photos({2, 3, 40, 40}), grids = fixed_grids(*encoder, images);
  const Encoded of_images = (*encoder)(data::Source::of_images(images), nullptr);
  const Encoded of_grids = (*encoder)(data::Source::of_images(grids), nullptr);
  EXPECT_TRUE(std::ranges::equal(of_images.states.value(), of_grids.states.value()));
  EXPECT_NE(message_of([&] {
              (*encoder)(data::Source::of_images(photos({2, 5, 40, 40})), nullptr);
            }).find("[B,3,H,W]"),
            std::string::npos);
}

TEST(PretrainedEncoder, ForgetsWhatItPackedWhenItsWeightsChange) {
  const auto encoder = published_encoder(published_options("efficientnet-lite0"));
  const Tensor images = photos({1, 3, 40, 40}), before = fixed_grids(*encoder, images);
  for (nn::NamedParam& p : nn::parameters(*encoder)) {
    if (p.name == "_blocks.15._project_conv.bias") p.var.value().data()[0] += 1;
  }
  const Tensor after = fixed_grids(*encoder, images);
  EXPECT_NEAR(after.data()[0], before.data()[0] + 1, 1e-4);
}

TEST(PretrainedEncoder, TrainsItsLastStagesAlone) {
  for (const char* kind : {"resnet50", "efficientnet-lite0"}) {
    Random random(1);
    ImageClassifierOptions options;
    options.encoder = published_options(kind), options.encoder.train_stages = 2, options.labels = 2;
    ImageClassifier model(options, random);
    const auto adam = train::make_optimiser("adam", {}, nn::parameters(model));
    for (const nn::NamedParam& p : adam->parameters()) {
      EXPECT_EQ(p.name.find("layer1"), std::string::npos);
      EXPECT_EQ(p.name.find("_blocks.9."), std::string::npos);
    }
    const data::Batch batch{data::Source::of_images(photos({4, 3, 40, 40})), rows({{0}, {1}, {0}, {1}})};
    double first = 0, last = 0;
    for (int i = 0; i < 30; ++i) {
      Tape tape;
      const Var loss = model.loss(batch);
      last = static_cast<double>(loss.item());
      if (i == 0) first = last;
      tape.backward(loss);
      adam->step(0.003, 1);
      adam->clear_gradients();
    }
    EXPECT_LT(last, first / 2) << kind;
    EXPECT_NEAR(loss_of(model, batch), last, 0.2 * first) << kind;  // fused, with the weights of now
  }
}

TEST(PretrainedEncoder, RefusesWhatDoesNotFit) {
  const auto refusal = [](const ImageEncoderOptions& options) {
    return message_of([&] { published_encoder(options); });
  };
  ImageEncoderOptions options = published_options("resnet18");
  options.stage = 5;
  EXPECT_NE(refusal(options).find("expected a stage of resnet18, 1 to 4, got 5"), std::string::npos);
  options.stage = 2, options.train_stages = 4;
  EXPECT_NE(refusal(options).find("at most the 3 stages"), std::string::npos);
  options.train_stages = 0, options.channels = 1;
  EXPECT_NE(refusal(options).find("red, green and blue, got 1"), std::string::npos);
}

class PretrainedFile : public testing::Test {
 protected:
  std::string refusal(const std::vector<NamedTensor>& tensors, bool front_alone = true) const {
    const std::filesystem::path path = folder_.path() / "w.safetensors";
    write_safetensors(path, tensors);
    const auto options = published_options("resnet18");
    const std::string early = message_of([&] { check_pretrained(options, path); });
    const std::string whole = message_of([&] { read_pretrained(options, path); });
    if (front_alone) {
      EXPECT_EQ(early, whole);
    } else {
      EXPECT_EQ(early, "");
    }
    return whole;
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  std::vector<NamedTensor> whole_ = formula_weights("resnet18", kNarrow);
  test::TestFolder folder_;
};

TEST_F(PretrainedFile, IsTakenWithAndWithoutItsClassifier) {
  EXPECT_EQ(refusal(whole_), "");
  whole_.push_back({"fc.weight", Tensor::zeros({10, 32})});
  whole_.push_back({"fc.bias", Tensor::zeros({10})});
  whole_.push_back({"bn1.num_batches_tracked", Tensor::zeros({1})});
  EXPECT_EQ(refusal(whole_), "");
}

TEST_F(PretrainedFile, OfAnotherNetworkIsRefusedByItsName) {
  write_safetensors(folder_.path() / "other", formula_weights("resnet50", kNarrow));
  const ImageEncoderOptions options = published_options("resnet18");
  EXPECT_TRUE(has(message_of([&] { check_pretrained(options, folder_.path() / "other"); }),
                  "expected the weights of resnet18, got those of resnet50"));
  EXPECT_TRUE(has(refusal({{"linear.weight", Tensor::zeros({2, 2})}}), "it has others instead: linear.weight"));
}

TEST_F(PretrainedFile, LackingATensorOrWithOneTooManyIsRefusedByItsName) {
  std::vector<NamedTensor> less = whole_, more = whole_;
  std::erase_if(less, [](const NamedTensor& one) { return one.name == "layer2.0.downsample.1.running_var"; });
  EXPECT_TRUE(has(refusal(less), "missing: layer2.0.downsample.1.running_var"));
  more.push_back({"layer5.0.conv1.weight", Tensor::zeros({2, 2})});
  EXPECT_TRUE(has(refusal(more), "which has no tensors layer5.0.conv1.weight"));
}

TEST_F(PretrainedFile, OfWrongShapesIsRefusedByItsName) {
  whole_[0].tensor = Tensor::zeros({8, 3, 5, 5});
  EXPECT_TRUE(has(refusal(whole_), "expected conv1.weight of shape [8, 3, 7, 7] for resnet18, got [8, 3, 5, 5]"));
}

TEST_F(PretrainedFile, WithNumbersThatAreNoneIsRefusedByItsName) {
  for (const real wrong : {std::numeric_limits<real>::quiet_NaN(), std::numeric_limits<real>::infinity()}) {
    std::vector<NamedTensor> tensors = formula_weights("resnet18", kNarrow);
    tensors[7].tensor.data()[3] = wrong;
    EXPECT_TRUE(has(refusal(tensors, false), tensors[7].name)) << refusal(tensors, false);
  }
  for (NamedTensor& one : whole_) {
    if (one.name == "layer1.0.bn1.running_var") one.tensor.data()[2] = -1;
  }
  EXPECT_TRUE(has(refusal(whole_, false), "variances of at least 0 in layer1.0.bn1.running_var, got -1 at [2]"));
}

TEST_F(PretrainedFile, IsNeededNoMoreOnceAModelIsSaved) {
  const std::filesystem::path weights = folder_.path() / "w.safetensors", saved = folder_.path() / "saved";
  write_safetensors(weights, whole_);
  ImageClassifierOptions options;
  options.encoder = published_options("resnet18"), options.encoder.weights = weights.string(), options.labels = 2;
  Random random(1);
  ImageClassifier model(options, random);
  EXPECT_EQ(take_pretrained(model, options.encoder, weights), 40);
  const data::Batch batch{data::Source::of_images(photos({2, 3, 40, 40})), rows({{0}, {1}})};
  const double loss = loss_of(model, batch);
  save_weights(model, saved);
  std::filesystem::remove(weights);
  Random other(2);
  ImageClassifier again(options, other);
  load_weights(again, saved);
  EXPECT_NEAR(loss_of(again, batch), loss, sizeof(real) == 4 ? 0 : 1e-6) << "files have 32 bits";
}

}  // namespace
}  // namespace attend::models
