// A run on images: what it reads, holds out and learns; saved and loaded, resumed and refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attend/tasks/image.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::TestFolder;

constexpr int64_t kImageCount = 240, kSide = 8;

std::string big_endian(uint32_t word) {
  return {static_cast<char>(word >> 24), static_cast<char>(word >> 16), static_cast<char>(word >> 8),
          static_cast<char>(word)};
}

/// A bright square in one of four corners: the corner is the label.
std::string corner_images() {
  std::string bytes = big_endian(0x803) + big_endian(kImageCount) + big_endian(kSide) + big_endian(kSide);
  for (int64_t i = 0; i < kImageCount; ++i) {
    for (int64_t y = 0; y < kSide; ++y) {
      for (int64_t x = 0; x < kSide; ++x) {
        const bool inside = y / (kSide / 2) == i % 4 / 2 && x / (kSide / 2) == i % 2;
        bytes += static_cast<char>(inside ? 200 + i % 50 : (x * y + i) % 20);
      }
    }
  }
  return bytes;
}

std::string corner_labels() {
  std::string bytes = big_endian(0x801) + big_endian(kImageCount);
  for (int64_t i = 0; i < kImageCount; ++i) bytes += static_cast<char>(i % 4);
  return bytes;
}

class ImageRun : public testing::Test {
 protected:
  ImageConfig config(const SettingList& more = {}) const {
    SettingList settings{
        {"task", "glimpse", ""},           {"images", images_.string(), ""}, {"labels", labels_.string(), ""},
        {"held_out", "0.1", ""},           {"model.patch", "4", ""},         {"model.glimpses", "3", ""},
        {"model.hidden", "32", ""},        {"batch.images", "24", ""},       {"train.steps", "12", ""},
        {"train.validate_every", "6", ""}, {"train.rate", "0.01", ""},       {"train.best_by", "accuracy", ""}};
    settings.insert(settings.end(), more.begin(), more.end());
    return ImageConfig(settings);
  }
  std::unique_ptr<ImageTraining> begin(const std::string& name, const SettingList& more = {},
                                       bool resume = false) const {
    return std::make_unique<ImageTraining>(config(more), folder_.path() / name, resume, [](const std::string&) {});
  }
  std::string refused(const SettingList& more) const {
    return message_of([&] { begin("refused", more); });
  }
  std::string weights(const std::string& name) const { return folder_.bytes(name + "/weights.safetensors"); }

  TestFolder folder_;
  std::filesystem::path images_ = folder_.file("images", corner_images());
  std::filesystem::path labels_ = folder_.file("labels", corner_labels());
};

struct StopAt : train::Watcher {
  explicit StopAt(int64_t step) : left(step) {}
  int64_t left;
  bool stop() override { return --left == 0; }
};

train::TrainResult run(ImageTraining& training, int64_t stop_at = 0) {
  StopAt stop(stop_at);
  train::Watcher* const watchers[] = {&stop};
  return training.trainer().run(watchers);
}

ImageExample corner(int64_t which) {
  data::Image image(kSide, kSide, 1);
  for (int64_t y = 0; y < kSide / 2; ++y) {
    for (int64_t x = 0; x < kSide / 2; ++x) image.at(y + which / 2 * (kSide / 2), x + which % 2 * (kSide / 2)) = 220;
  }
  return {.image = image};
}

TEST_F(ImageRun, LearnsIsSavedAndLoaded) {
  const auto training = begin("model", {{"train.steps", "150", ""}, {"train.validate_every", "50", ""}});
  EXPECT_EQ(training->examples(), 216);
  run(*training);
  const ImageModel loaded = ImageModel::load(folder_.path() / "model");
  EXPECT_EQ(loaded.labels(), (std::vector<std::string>{"0", "1", "2", "3"}));
  std::vector<ImageExample> images;
  for (int64_t i = 0; i < 4; ++i) images.push_back(corner(i));
  const auto answers = loaded.answer(images, {.n_best = 4});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].at(0).text, std::to_string(i));
    ASSERT_EQ(answers[i].size(), 4u);
    double sum = 0;
    for (const ImageAnswer& one : answers[i]) sum += one.score;
    EXPECT_NEAR(sum, 1, 1e-5) << "probabilities";
    EXPECT_GE(answers[i][0].score, answers[i][1].score) << "best first";
  }
  const ImageScores scores = evaluate(loaded, read_image_test(config().options.data, ImageAnswers::label, 1), {});
  EXPECT_EQ(scores.images, kImageCount);
  EXPECT_GT(scores.scores.at("accuracy"), 95);
}

TEST_F(ImageRun, ResumedItTakesTheSameSteps) {
  const auto straight = begin("straight");
  run(*straight);
  {
    const auto stopped = begin("stopped");
    EXPECT_EQ(run(*stopped, 5).outcome, train::Outcome::interrupted);
  }
  const auto resumed = begin("stopped", {}, true);
  EXPECT_EQ(resumed->trainer().step(), 5);
  run(*resumed);
  EXPECT_EQ(resumed->trainer().step(), 12);
  if (sizeof(real) == 4) {  // checkpoints keep 32 bits
    EXPECT_EQ(weights("stopped"), weights("straight"));
  }
}

TEST_F(ImageRun, BaselinesTrainOnTheSameFiles) {
  for (const char* kind : {"dense", "convolutional"}) {
    const SettingList asked{{"task", "glimpse", ""},          {"images", images_.string(), ""},
                            {"labels", labels_.string(), ""}, {"model.name", "image_classifier", ""},
                            {"model.encoder.kind", kind, ""}, {"model.encoder.stages", "16", ""},
                            {"batch.images", "24", ""},       {"train.steps", "80", ""},
                            {"train.rate", "0.01", ""}};
    ImageTraining training(ImageConfig(asked), folder_.path() / kind, false, [](const std::string&) {});
    run(training);
    const ImageExample image = corner(2);
    EXPECT_EQ(training.model().answer(std::span(&image, 1), {}).at(0).at(0).text, "2") << kind;
  }
}

TEST_F(ImageRun, RefusesWhatDoesNotFit) {
  EXPECT_NE(refused({{"labels", images_.string(), ""}}).find("labels"), std::string::npos);
  EXPECT_NE(refused({{"images", "/nowhere/images.gz", ""}}).find("/nowhere/images.gz: an IDX file or a folder"),
            std::string::npos);
  EXPECT_NE(refused({{"train.best_by", "bleu4", ""}}).find("train.best_by"), std::string::npos);
  EXPECT_NE(refused({{"batch.images", "0", ""}}).find("batch.images"), std::string::npos);
  EXPECT_NE(refused({{"batch.captions", "-1", ""}}).find("batch.captions"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "refused")) << "nothing was begun";
}

/// Untrained, it says something; told that this is right in capitals, it is right to the last word.
TEST(ImageScoresTest, CaptionsAreComparedInTheLettersThatTheModelHas) {
  const auto next = [at = 0](std::string& line) mutable {
    line = "a red square stands here";
    return at++ == 0;
  };
  const data::TokeniserOptions words{.kind = "words", .lowercase = true};
  const ImageModel model(ImageConfig({{"task", "caption", ""},
                                      {"size", "16", ""},
                                      {"channels", "1", ""},
                                      {"images", "of its own", ""},
                                      {"tokeniser.lowercase", "true", ""},
                                      {"model.encoder.stages", "4,8", ""},
                                      {"model.hidden", "16", ""},
                                      {"model.embedding", "8", ""}}),
                         {}, data::train_tokeniser(words, next));
  ImageExample example{.image = data::Image(16, 16, 1)};
  const decode::SearchOptions search{.beam = 1, .min_length = 4, .max_length = 6};
  std::string said = model.answer(std::span(&example, 1), search).at(0).at(0).text;
  for (char& c : said) c = static_cast<char>(std::toupper(c));
  example.captions = {"something else", said};
  const ImageScores scores = evaluate(model, {1, [&](int64_t) { return example; }}, search);
  EXPECT_EQ(scores.scores.at("exact"), 100);
  EXPECT_NEAR(scores.scores.at("bleu4"), 100, 1e-9);
  EXPECT_EQ(scores.references.at(0), "something else");
  EXPECT_NE(scores.signature.find("nrefs:2"), std::string::npos) << scores.signature;
  const ImageScores given = evaluate_answer(model, {1, [&](int64_t) { return example; }}, "Something ELSE");
  EXPECT_EQ(given.scores.at("exact"), 100);
  EXPECT_EQ(evaluate_answer(model, {1, [&](int64_t) { return example; }}, "nothing").scores.at("exact"), 0);
}

}  // namespace
}  // namespace attend::tasks
