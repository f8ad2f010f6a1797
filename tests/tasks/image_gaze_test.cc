// Attention on what a word speaks of: the cells that its box touches, and no others.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/tasks/explanation.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;

/// Images of 16 × 16, 4 × 4 cells of 4 pixels.
TaskModel gazing_captioner(const std::string& read = "attention") {
  return test::untrained({{"task", "caption", ""},
                          {"size", "16", ""},
                          {"channels", "1", ""},
                          {"images", "of its own", ""},
                          {"tokeniser.min_count", "1", ""},
                          {"model.encoder.stages", "4,8", ""},
                          {"model.hidden", "16", ""},
                          {"model.embedding", "8", ""},
                          {"model.read", read, ""}},
                         test::image_corpus(16, {"a red square"}));
}

/// Of "a red square" the word "red" speaks of the box.
Examples one_with(const data::Box& box) {
  data::Image image(16, 16, 1);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(13 * i % 251);
  Example example = test::image_example(image, {"a red square"});
  example.spoken = {{}, box, {}};
  return examples_of({example});
}

TEST(ImageGaze, IsTheWeightOfTheCellsThatTheBoxTouches) {
  const TaskModel model = gazing_captioner();
  const Examples examples = one_with({3, 8, 2, 4});  // rows 0 and 1, column 2
  const auto seen = std::get<explain::ImageLook>(explain(model, examples.at(0), {.target = "a red square"}));
  const Tensor red = std::get<explain::CaptionLook>(seen.seen).weights[1];
  const explain::Gaze found = gaze(model, examples);
  EXPECT_EQ(found.words, 1);
  EXPECT_NEAR(found.on_object(), 100 * static_cast<double>(red.data()[2] + red.data()[6]), 1e-4);
  EXPECT_NEAR(found.by_chance(), 100 * 2.0 / 16, 1e-9);
}

TEST(ImageGaze, CountsCellsByTheirPixels) {
  const TaskModel model = gazing_captioner();
  EXPECT_NEAR(gaze(model, one_with({4, 8, 4, 4})).by_chance(), 100 / 16.0, 1e-9) << "exactly one cell";
  EXPECT_NEAR(gaze(model, one_with({5, 9, 1, 1})).by_chance(), 100 / 16.0, 1e-9) << "within one";
  EXPECT_NEAR(gaze(model, one_with({4, 8, 5, 4})).by_chance(), 200 / 16.0, 1e-9) << "one row more";
  const explain::Gaze all = gaze(model, one_with({0, 0, 16, 16}));
  EXPECT_NEAR(all.on_object(), 100, 1e-3);
  EXPECT_NEAR(all.by_chance(), 100, 1e-9);
}

TEST(ImageGaze, IsThereWhereWordsAttendAndTheirObjectsAreKnown) {
  EXPECT_TRUE(has_gaze(gazing_captioner(), one_with({0, 0, 1, 1})));
  EXPECT_FALSE(has_gaze(gazing_captioner("mean"), one_with({0, 0, 1, 1})));
  EXPECT_FALSE(has_gaze(gazing_captioner(), examples_of({test::image_example(data::Image(16, 16, 1), {"a"})})));
  EXPECT_NE(message_of([] { gaze(gazing_captioner(), one_with({})); }).find("got none"), std::string::npos);
}

TEST(ImageGaze, BuiltInScenesKnowTheObjectOfEachWord) {
  const TaskConfig config({{"task", "caption", ""}});
  for (const Examples& part : {read_corpus(config).train, read_test(config, {})}) {
    const Example one = part.at(0);
    const auto words = 1 + std::ranges::count(one.right[0], ' ');
    EXPECT_EQ(static_cast<int64_t>(one.spoken.size()), words);
    EXPECT_TRUE(std::ranges::any_of(one.spoken, [](const data::Box& box) { return box.height > 0; }));
  }
}

}  // namespace
}  // namespace attend::tasks
