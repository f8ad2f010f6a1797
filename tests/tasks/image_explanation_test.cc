// What models of images looked at: in the right places, as they answered, by the methods that they have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "attend/base/error.h"
#include "attend/data/resize.h"
#include "attend/explain/recorder.h"
#include "attend/tasks/explanation.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;

const std::vector<std::string> kLabels{"left", "right", "both"};

TaskModel model_of(const std::string& task, const SettingList& more, const Corpus& corpus) {
  SettingList settings{{"task", task, ""},
                       {"size", "16", ""},
                       {"channels", "1", ""},
                       {"images", "of its own", ""},
                       {"tokeniser.min_count", "1", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return test::untrained(settings, corpus);
}

TaskModel glimpse_model(const SettingList& more = {}) {
  SettingList settings{
      {"model.patch", "4", ""}, {"model.scales", "2", ""}, {"model.glimpses", "3", ""}, {"model.hidden", "16", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return model_of("glimpse", settings, test::image_corpus(16, {}, kLabels));
}

TaskModel classifier(const std::string& kind, const SettingList& more = {}) {
  SettingList settings{
      {"model.name", "image_classifier", ""}, {"model.encoder.kind", kind, ""}, {"model.encoder.stages", "4,8", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return model_of("glimpse", settings, test::image_corpus(16, {}, kLabels));
}

TaskModel captioner(const std::string& read = "attention", const std::string& align = "softmax") {
  return model_of("caption",
                  {{"model.encoder.stages", "4,8", ""},
                   {"model.hidden", "16", ""},
                   {"model.embedding", "8", ""},
                   {"model.read", read, ""},
                   {"model.attention.align", align, ""}},
                  test::image_corpus(16, {"a red square", "a blue square", "the red circle"}));
}

/// Bright from the upper left to the lower right, 16 × 16 or larger.
data::Image source_of(int64_t height = 16, int64_t width = 16) {
  data::Image image(height, width, 1);
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) image.at(y, x) = static_cast<uint8_t>((7 * y + 5 * x) % 251);
  }
  return image;
}

Answer answer_to(const TaskModel& model, const data::Image& image, const decode::SearchOptions& search = {}) {
  return model.answer(std::vector{test::image_example(image)}, {.search = search}).at(0).at(0);
}

explain::ImageLook look(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  return std::get<explain::ImageLook>(explain(model, example, options));
}
explain::ImageLook look(const TaskModel& model, const data::Image& image, const ExplainOptions& options = {}) {
  return look(model, test::image_example(image), options);
}

TEST(ImageExplanation, GlancesAreWhereTheNetworkLooked) {
  const TaskModel model = glimpse_model();
  const data::Image image = source_of();
  const explain::ImageLook seen = look(model, image);
  const auto& glimpses = std::get<explain::GlimpseLook>(seen.seen);
  ASSERT_EQ(glimpses.glances.size(), 3u);
  const explain::Glance& first = glimpses.glances[0];
  EXPECT_EQ(first.x, 8) << "it begins in the middle";
  EXPECT_EQ(first.y, 8);
  EXPECT_EQ(first.sides, (std::vector<int64_t>{4, 8}));
  ASSERT_EQ(first.patches.size(), 2u);
  EXPECT_EQ(first.patches[0].pixels, data::cropped(image, 6, 6, 4, 4).pixels);
  EXPECT_EQ(first.patches[1].height, 4) << "twice as wide, in as many numbers";
  EXPECT_FALSE(first.stop);
  for (const explain::Glance& glance : glimpses.glances) {
    double sum = 0;
    for (const double share : glance.probabilities) sum += share;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  const Answer answer = answer_to(model, image);
  EXPECT_EQ(glimpses.answer, answer.text);
  EXPECT_NEAR(glimpses.glances.back().probabilities[static_cast<size_t>(answer.tokens[0])], answer.score, 1e-5);
  EXPECT_EQ(seen.network, "glimpse");
  EXPECT_EQ(seen.image.pixels, image.pixels);
  explain::check_look("test", seen);
}

TEST(KeptSizes, EachImageIsAnsweredAsLargeAsItIs) {
  const TaskModel model = glimpse_model({{"keep_size", "true", ""}});
  const data::Image small = source_of(), large = source_of(40, 24);
  EXPECT_EQ(model.ready(test::image_example(large)).image.pixels, large.pixels);
  const std::vector<Example> mixed{test::image_example(large), test::image_example(small), test::image_example(large)};
  const auto together = model.answer(mixed, {});
  EXPECT_EQ(together[0][0].score, answer_to(model, large).score);
  EXPECT_EQ(together[1][0].score, answer_to(model, small).score);
  EXPECT_EQ(together[2][0].score, together[0][0].score);
  std::vector<Example> known = mixed;
  for (Example& one : known) one.right = {"left"};
  EXPECT_GT(evaluate(model, examples_of(known), {.loss = true}).loss, 0)
      << "images of two sizes, each in its own batch";
  const explain::ImageLook seen = look(model, large);
  EXPECT_EQ(seen.image.pixels, large.pixels);
  EXPECT_EQ(std::get<explain::GlimpseLook>(seen.seen).glances[0].y, 20);
}

TEST(KeptSizes, AreBoundedAndOnlyForNetworksThatTakeAnySize) {
  const TaskModel model = glimpse_model({{"keep_size", "true", ""}});
  data::Image huge;
  huge.height = huge.width = 20000, huge.channels = 1;  // refused before its pixels are touched
  for (const data::Image& image : {source_of(1, 1), source_of(7, 100), huge}) {
    const std::string message = message_of([&] { model.ready(test::image_example(image)); });
    EXPECT_TRUE(test::has(message, "expected 8 to 2048 pixels a side, got " + std::to_string(image.height))) << message;
  }
  const std::string dense = message_of([] { classifier("dense", {{"keep_size", "true", ""}}); });
  EXPECT_TRUE(test::has(dense, "no keep_size")) << dense;
  EXPECT_EQ(message_of([] {
              answer_to(classifier("convolutional", {{"keep_size", "true", ""}}), source_of(9, 30));
            }),
            "");
}

TEST(ImageExplanation, MapsOfAClassifier) {
  const TaskModel model = classifier("convolutional");
  const data::Image image = source_of(16, 40);
  const explain::ImageLook cam = look(model, image);
  const auto& cells = std::get<explain::SaliencyLook>(cam.seen);
  EXPECT_EQ(cells.method, "gradcam") << "auto";
  EXPECT_EQ(cells.map.shape(), (Shape{4, 4})) << "two stages halve 16 pixels twice";
  EXPECT_EQ(cam.image.width, 16) << "cropped, as the network sees it";
  EXPECT_EQ(cam.image.pixels, data::centre_cropped(image, 16, 16).pixels);
  EXPECT_EQ(cells.answer, answer_to(model, image).text);
  const auto three = [&](const std::string& target) {
    return std::get<explain::SaliencyLook>(
        look(model, image, {.method = "saliency", .target = target}).seen);
  };
  EXPECT_EQ(three("right").map.shape(), (Shape{16, 16}));
  EXPECT_EQ(three("right").answer, "right");
  EXPECT_NEAR(*three("left").probability + *three("right").probability + *three("both").probability, 1, 1e-5);
  const Tensor left = three("left").map, right = three("right").map;
  EXPECT_FALSE(std::ranges::equal(left, right));
  EXPECT_NE(message_of([&] { three("rigth"); }).find("right"), std::string::npos) << "the nearest";
  explain::check_look("test", cam);
}

std::vector<std::string> methods_of(const TaskModel& model) { return explainable(model).methods; }

TEST(ImageExplanation, AModelSaysWhatItCanBeAskedFor) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(methods_of(glimpse_model()), (Names{"glimpses", "saliency", "jacobian"}));
  EXPECT_EQ(methods_of(classifier("convolutional")), (Names{"gradcam", "saliency", "jacobian"}));
  EXPECT_EQ(methods_of(classifier("dense")), (Names{"saliency", "jacobian"}));
  EXPECT_EQ(methods_of(captioner()), (Names{"attention", "gradcam", "saliency", "jacobian"}));
  EXPECT_EQ(methods_of(captioner("mean")), (Names{"gradcam", "saliency", "jacobian"}));
}

TEST(ImageExplanation, ALookCanBeEndedAndBounded) {
  const TaskModel model = captioner();
  int steps = 0;
  const auto stop = [&] {
    if (++steps == 2) fail("enough");
  };
  const decode::SearchOptions search{.min_length = 5, .max_length = 6};
  EXPECT_EQ(message_of([&] { look(model, source_of(), {.search = search, .check = stop}); }), "enough");
  EXPECT_THROW(look(model, source_of(), {.search = search, .numbers = 3}), explain::TooLarge);
}

TEST(ImageExplanation, WithoutAGridThereIsSaliency) {
  const TaskModel model = classifier("dense");
  EXPECT_EQ(std::get<explain::SaliencyLook>(look(model, source_of()).seen).method, "saliency");
  EXPECT_NE(message_of([&] {
              look(model, source_of(), {.method = "gradcam"});
            }).find("expected a network with a grid"),
            std::string::npos);
}

TEST(ImageExplanation, WordsOfACaptionAndTheirWeights) {
  const TaskModel model = captioner();
  const data::Image image = source_of(64, 48);
  const explain::ImageLook seen = look(model, image, {.target = "a red circle"});
  const auto& caption = std::get<explain::CaptionLook>(seen.seen);
  EXPECT_EQ(caption.words, (std::vector<std::string>{"a", "red", "circle"}));
  EXPECT_EQ(caption.rows, 4);
  EXPECT_EQ(caption.columns, 4);
  EXPECT_FALSE(caption.hard);
  ASSERT_EQ(caption.weights.shape(), (Shape{3, 16}));
  for (int64_t word = 0; word < 3; ++word) {
    real sum = 0;
    for (const real weight : caption.weights[word]) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  for (const double log : caption.log_probabilities) EXPECT_LT(log, 0);
  EXPECT_EQ(seen.image.width, 48) << "as fine as the image is";
  EXPECT_EQ(seen.image.height, 48);
  explain::check_look("test", seen);
  const decode::SearchOptions search{.beam = 2, .max_length = 5};
  EXPECT_EQ(explain::answer_of(look(model, image, {.search = search})),
            answer_to(model, image, search).text);
}

TEST(ImageExplanation, TilesAreTheDistributionThatTheyWereChosenBy) {
  for (const char* align : {"sample", "softmax"}) {
    const TaskModel model =
        glimpse_model({{"model.policy", "tiles", ""}, {"model.scales", "1", ""}, {"model.attention.align", align, ""}});
    const auto seen = look(model, source_of());
    const auto& glimpses = std::get<explain::GlimpseLook>(seen.seen);
    EXPECT_EQ(glimpses.rows * glimpses.columns, 16);
    EXPECT_EQ(glimpses.side, 4);
    for (const explain::Glance& glance : glimpses.glances) {
      ASSERT_EQ(glance.tiles.size(), 16u);
      double sum = 0;
      for (const double share : glance.tiles) sum += share;
      EXPECT_GT(*std::ranges::min_element(glance.tiles), 0) << "none was impossible";
      EXPECT_NEAR(sum, 1, 1e-5);
      if (align == std::string("softmax")) {
        EXPECT_TRUE(glance.drawn.empty() && glance.patches.empty()) << "no square was read";
        continue;
      }
      const auto best = std::ranges::max_element(glance.tiles) - glance.tiles.begin();
      EXPECT_EQ(glance.drawn, std::vector<int64_t>{best}) << "outside training the likeliest is taken";
      EXPECT_EQ(glance.x, 4 * (best % 4) + 2);
      EXPECT_EQ(glance.patches.at(0).pixels, data::cropped(source_of(), best / 4 * 4, best % 4 * 4, 4, 4).pixels);
    }
  }
}

TEST(ImageExplanation, WordsOfACaptionAndWhatTheyDependedOn) {
  const TaskModel model = captioner();
  for (const auto& [method, side] : {std::pair("gradcam", 4), {"saliency", 16}, {"jacobian", 16}}) {
    const explain::ImageLook seen = look(model, source_of(), {.method = method, .target = "a red circle"});
    const auto& caption = std::get<explain::CaptionLook>(seen.seen);
    EXPECT_EQ(caption.method, method);
    EXPECT_NE(caption.label, "");
    ASSERT_EQ(caption.weights.shape(), (Shape{3, side * side})) << method;
    explain::check_look("test", seen);
    for (int64_t word = 0; word < 3; ++word) {
      const Tensor row = caption.weights[word];
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      EXPECT_TRUE(std::abs(sum - 1) < 1e-4 || (sum == 0 && method == std::string("gradcam"))) << method << ' ' << sum;
    }
  }
}

TEST(ImageExplanation, AGlimpseNetworkDependsOnWhatItSawAlone) {
  const TaskModel model = glimpse_model({{"model.policy", "centre", ""}, {"model.scales", "1", ""}});
  for (const char* method : {"saliency", "jacobian"}) {
    const auto map =
        std::get<explain::SaliencyLook>(look(model, source_of(), {.method = method, .target = "left"}).seen);
    EXPECT_EQ(map.answer, "left");
    ASSERT_EQ(map.map.shape(), (Shape{16, 16}));
    double inside = 0, outside = 0;
    for (int64_t y = 0; y < 16; ++y) {
      for (int64_t x = 0; x < 16; ++x) {
        const bool seen = y >= 6 && y < 10 && x >= 6 && x < 10;
        (seen ? inside : outside) += static_cast<double>(map.map.data()[y * 16 + x]);
      }
    }
    EXPECT_GT(inside, 0) << method;
    EXPECT_EQ(outside, 0) << method;
  }
}

TEST(ImageExplanation, HardAttentionIsOneCellPerWord) {
  const explain::ImageLook seen =
      look(captioner("attention", "argmax"), source_of(), {.target = "a red circle"});
  const auto& caption = std::get<explain::CaptionLook>(seen.seen);
  EXPECT_TRUE(caption.hard);
  for (const real weight : caption.weights) EXPECT_TRUE(weight == 0 || weight == 1);
}

TEST(ImageExplanation, WhatIsRightIsTold) {
  const Example labelled = test::image_example(source_of(), {"right"});
  EXPECT_EQ(std::get<explain::GlimpseLook>(look(glimpse_model(), labelled, {}).seen).right, "right");
  EXPECT_EQ(std::get<explain::SaliencyLook>(look(classifier("dense"), labelled, {}).seen).right, "right");
  const Example described = test::image_example(source_of(), {"a red square"}, "x.png");
  const explain::ImageLook seen = look(captioner(), described, {});
  EXPECT_EQ(std::get<explain::CaptionLook>(seen.seen).references, described.right);
  EXPECT_EQ(seen.name, "x.png");
  const Example features{.inputs = {Tensor::zeros({1, 16, 16})}};
  EXPECT_EQ(message_of([&] { look(captioner(), features, {}); }),
            "explain: expected an image to look at, got features alone");
}

TEST(ImageExplanation, WhatTheNetworkDoesNotHaveIsRefused) {
  EXPECT_EQ(message_of([] { look(glimpse_model(), source_of(), {.method = "attention"}); }),
            "explain: method: the network glimpse has glimpses, saliency, jacobian; got attention");
  EXPECT_EQ(message_of([] { look(captioner(), source_of(), {.method = "rollout"}); }),
            "explain: method: the network captioner has attention, gradcam, saliency, jacobian; got rollout");
  EXPECT_NE(message_of([] { look(captioner("mean"), source_of()); }).find("expected a captioner that attends"),
            std::string::npos);
  EXPECT_NE(message_of([] { look(captioner(), source_of(), {.target = ""}); }), "");
  EXPECT_NE(message_of([] { look(glimpse_model(), source_of(), {.target = "left"}); }), "");
}

}  // namespace
}  // namespace attend::tasks
