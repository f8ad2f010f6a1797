// What was seen of an image, to JSON and back.
#include "attend/explain/image_trace.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/looks.h"
#include "tests/support/message.h"

namespace attend::explain {
namespace {

void expect_rounded(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.data()[i], b.data()[i], 5.1e-4 * std::abs(a.data()[i])) << i;
}

ImageLook there_and_back(const ImageLook& look) {
  const ImageLook back = parse_look(look_json(look));
  EXPECT_EQ(back.image.pixels, look.image.pixels);
  EXPECT_EQ(back.image.width, look.image.width);
  EXPECT_EQ(back.image.channels, look.image.channels);
  EXPECT_EQ(back.model + back.task + back.network + back.name, look.model + look.task + look.network + look.name);
  EXPECT_EQ(back.parameters, look.parameters);
  EXPECT_EQ(look_json(back), look_json(look));
  return back;
}

TEST(ImageLook, ACaptionComesBack) {
  const ImageLook look = test::caption_look(), back = there_and_back(look);
  const auto& before = std::get<CaptionLook>(look.seen);
  const auto& after = std::get<CaptionLook>(back.seen);
  EXPECT_EQ(after.words, before.words);
  EXPECT_EQ(after.rows, 8);
  EXPECT_EQ(after.columns, 8);
  EXPECT_EQ(after.log_probabilities, before.log_probabilities);
  EXPECT_EQ(after.references, before.references);
  EXPECT_FALSE(after.hard);
  expect_rounded(before.weights, after.weights);
  EXPECT_TRUE(std::get<CaptionLook>(there_and_back(test::hard_caption_look()).seen).hard);
}

/// A network that has learned little may say nothing at all.
TEST(ImageLook, ACaptionWithoutWordsComesBack) {
  ImageLook look = test::caption_look();
  auto& caption = std::get<CaptionLook>(look.seen);
  caption.words.clear(), caption.log_probabilities.clear(), caption.weights = Tensor({0, 64});
  const ImageLook back = there_and_back(look);
  EXPECT_TRUE(std::get<CaptionLook>(back.seen).words.empty());
  EXPECT_EQ(steps_of(back), 0u);
  EXPECT_EQ(answer_of(back), "");
}

TEST(ImageLook, GlimpsesComeBack) {
  ImageLook look = test::glimpse_look();
  std::get<GlimpseLook>(look.seen).glances[1].stop = 0.25;
  const ImageLook back = there_and_back(look);
  const auto& before = std::get<GlimpseLook>(look.seen);
  const auto& after = std::get<GlimpseLook>(back.seen);
  ASSERT_EQ(after.glances.size(), 6u);
  EXPECT_EQ(after.labels, before.labels);
  EXPECT_EQ(after.answer, "7");
  EXPECT_EQ(after.right, "7");
  EXPECT_EQ(after.glances[1].x, 44);
  EXPECT_EQ(after.glances[1].y, 18);
  EXPECT_EQ(after.glances[1].sides, before.glances[1].sides);
  EXPECT_EQ(after.glances[1].patches[2].pixels, before.glances[1].patches[2].pixels);
  EXPECT_EQ(after.glances[1].stop, 0.25);
  EXPECT_FALSE(after.glances[0].stop);
  EXPECT_NEAR(after.glances[5].probabilities[7], before.glances[5].probabilities[7], 1e-4);
}

TEST(ImageLook, TilesComeBack) {
  const ImageLook look = test::tiles_look(true), back = there_and_back(look);
  const auto& after = std::get<GlimpseLook>(back.seen);
  EXPECT_EQ(after.rows, 3);
  EXPECT_EQ(after.columns, 3);
  EXPECT_EQ(after.side, 25);
  EXPECT_EQ(after.glances[1].tiles, std::get<GlimpseLook>(look.seen).glances[1].tiles);
  EXPECT_EQ(after.glances[2].drawn, std::vector<int64_t>{8});
  EXPECT_TRUE(std::get<GlimpseLook>(there_and_back(test::tiles_look(false)).seen).glances[0].drawn.empty());
}

TEST(ImageLook, TilesThatDoNotCoverTheImageAreRefused) {
  const auto refused = [](auto change) {
    ImageLook look = test::tiles_look(true);
    change(std::get<GlimpseLook>(look.seen));
    return test::message_of([&] { check_look("look", look); });
  };
  EXPECT_NE(refused([](GlimpseLook& g) { g.side = 19; }).find("tiles that cover 60 × 60"), std::string::npos);
  EXPECT_NE(refused([](GlimpseLook& g) { g.side = int64_t{1} << 62; }).find("tiles that cover"), std::string::npos);
  EXPECT_NE(refused([](GlimpseLook& g) { g.glances[0].tiles.pop_back(); }).find("expected 9 tiles, got 8"),
            std::string::npos);
  EXPECT_NE(refused([](GlimpseLook& g) { g.glances[0].drawn = {9}; }).find("drawn tiles below 9"), std::string::npos);
  EXPECT_NE(refused([](GlimpseLook& g) { g.glances[0].tiles[0] = -1; }).find("from 0 on"), std::string::npos);
}

TEST(ImageLook, WhatWordsDependedOnComesBack) {
  ImageLook look = test::caption_look();
  std::get<CaptionLook>(look.seen).method = "gradcam", std::get<CaptionLook>(look.seen).label = "Grad-CAM";
  const auto back = std::get<CaptionLook>(there_and_back(look).seen);
  EXPECT_EQ(back.method, "gradcam");
  EXPECT_EQ(back.label, "Grad-CAM");
}

TEST(ImageLook, AMapComesBack) {
  const ImageLook look = test::saliency_look(), back = there_and_back(look);
  const auto& before = std::get<SaliencyLook>(look.seen);
  const auto& after = std::get<SaliencyLook>(back.seen);
  expect_rounded(before.map, after.map);
  EXPECT_EQ(after.method + after.label + after.answer + after.right,
            before.method + before.label + before.answer + before.right);
  EXPECT_EQ(after.probability, 0.93);
}

TEST(ImageLook, HasAnAnswerAndSteps) {
  EXPECT_EQ(answer_of(test::caption_look()), "a red circle above a blue square");
  EXPECT_EQ(answer_of(test::glimpse_look()), "7");
  EXPECT_EQ(answer_of(test::cam_look()), "circle");
  EXPECT_EQ(steps_of(test::caption_look()), 7u);
  EXPECT_EQ(steps_of(test::glimpse_look()), 6u);
  EXPECT_EQ(steps_of(test::cam_look()), 1u);
  const Glance glance{.probabilities = {0.1, 0.5, 0.1, 0.3}};
  EXPECT_EQ(likeliest(glance, 3), (std::vector<size_t>{1, 3, 0}));
  EXPECT_EQ(likeliest(glance, 9).size(), 4u);
}

template <class Seen>
std::string refused(ImageLook look, void (*damage)(Seen&)) {
  damage(std::get<Seen>(look.seen));
  return test::message_of([&] { look_json(look); });
}

TEST(ImageLook, PartsThatDisagreeAreRefused) {
  EXPECT_EQ(refused<CaptionLook>(test::caption_look(), [](CaptionLook& caption) { caption.words.pop_back(); }),
            "look: expected weights [6, 64], got [7, 64]");
  EXPECT_EQ(refused<CaptionLook>(test::caption_look(), [](CaptionLook& caption) { caption.rows = 0; }),
            "look: expected a grid with no more cells than the image has pixels, got 0 × 8 over 64 × 64");
  EXPECT_EQ(
      refused<CaptionLook>(test::caption_look(), [](CaptionLook& caption) { caption.log_probabilities.pop_back(); }),
      "look: expected 7 log_probabilities, one per word, got 6");
  EXPECT_EQ(refused<CaptionLook>(
                test::caption_look(),
                [](CaptionLook& caption) { caption.weights.data()[3] = std::numeric_limits<real>::quiet_NaN(); }),
            "look: expected weights from 0 on, got others");
  EXPECT_EQ(refused<GlimpseLook>(test::glimpse_look(), [](GlimpseLook& glimpses) { glimpses.glances.clear(); }),
            "look: expected a glance, got none");
  EXPECT_EQ(refused<GlimpseLook>(test::glimpse_look(),
                                 [](GlimpseLook& glimpses) { glimpses.glances[2].probabilities.pop_back(); }),
            "look: expected 10 probabilities, one per label, got 9");
  EXPECT_EQ(
      refused<GlimpseLook>(test::glimpse_look(), [](GlimpseLook& glimpses) { glimpses.glances[2].patches.pop_back(); }),
      "look: expected 3 patches, one per scale, got 2");
  EXPECT_NE(refused<GlimpseLook>(test::glimpse_look(), [](GlimpseLook& glimpses) { glimpses.glances[0].sides[1] = 0; }),
            "");
  EXPECT_EQ(refused<SaliencyLook>(test::saliency_look(),
                                  [](SaliencyLook& saliency) {
                                    saliency.map = Tensor::zeros({61, 60});
                                  }),
            "look: expected a map no finer than the image, [60, 60], got [61, 60]");
  ImageLook look = test::cam_look();
  look.image.pixels.pop_back();
  EXPECT_EQ(test::message_of([&] { look_json(look); }),
            "look: expected an image with 1 or 3 channels, got 64 × 64 × 3 with 12287 numbers");
}

TEST(ImageLook, OtherJsonIsRefused) {
  EXPECT_EQ(test::message_of([] { parse_look("{}"); }), "look: expected \"format\": \"attend-look/1\"");
  EXPECT_TRUE(test::message_of([] { parse_look("[1, 2"); }).starts_with("trace: "));
  for (const ImageLook& look : {test::caption_look(), test::glimpse_look(), test::cam_look()}) {
    const nlohmann::json whole = nlohmann::json::parse(look_json(look));
    const std::string kind = whole.at("kind");
    for (const auto& [key, value] : whole.items()) {
      nlohmann::json without = whole;
      without.erase(key);
      EXPECT_NE(test::message_of([&] { parse_look(without.dump()); }), "") << kind << " without " << key;
    }
    for (const auto& [key, value] : whole.at(kind).items()) {
      nlohmann::json other = whole;
      other[kind][key] = nlohmann::json::object();
      EXPECT_NE(test::message_of([&] { parse_look(other.dump()); }), "") << kind << ": " << key;
    }
    nlohmann::json other = whole;
    other["image"]["png"] = "Zm9v";
    EXPECT_NE(test::message_of([&] { parse_look(other.dump()); }), "") << "an image that is none";
  }
}

}  // namespace
}  // namespace attend::explain
