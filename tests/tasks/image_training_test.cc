// A run on images: what it reads, holds out and learns; saved and loaded, resumed and refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/tasks/training.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/stop_at.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::run;
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
  TaskConfig config(const SettingList& more = {}) const {
    SettingList settings{
        {"task", "glimpse", ""},           {"images", images_.string(), ""}, {"labels", labels_.string(), ""},
        {"held_out", "0.1", ""},           {"model.patch", "4", ""},         {"model.glimpses", "3", ""},
        {"model.hidden", "32", ""},        {"batch.images", "24", ""},       {"train.steps", "12", ""},
        {"train.validate_every", "6", ""}, {"train.rate", "0.01", ""},       {"train.best_by", "accuracy", ""}};
    settings.insert(settings.end(), more.begin(), more.end());
    return TaskConfig(settings);
  }
  std::unique_ptr<TaskTraining> begin(const std::string& name, const SettingList& more = {},
                                       bool resume = false) const {
    return std::make_unique<TaskTraining>(config(more), folder_.path() / name, resume, [](const std::string&) {});
  }
  std::string refused(const SettingList& more) const {
    return message_of([&] { begin("refused", more); });
  }
  std::string weights(const std::string& name) const { return folder_.bytes(name + "/weights.safetensors"); }

  TestFolder folder_;
  std::filesystem::path images_ = folder_.file("images", corner_images());
  std::filesystem::path labels_ = folder_.file("labels", corner_labels());
};

Example corner(int64_t which) {
  data::Image image(kSide, kSide, 1);
  for (int64_t y = 0; y < kSide / 2; ++y) {
    for (int64_t x = 0; x < kSide / 2; ++x) image.at(y + which / 2 * (kSide / 2), x + which % 2 * (kSide / 2)) = 220;
  }
  return test::image_example(image);
}

TEST_F(ImageRun, LearnsIsSavedAndLoaded) {
  const auto training = begin("model", {{"train.steps", "150", ""}, {"train.validate_every", "50", ""}});
  EXPECT_EQ(training->examples(), 216);
  run(*training);
  const TaskModel loaded = TaskModel::load(folder_.path() / "model");
  EXPECT_EQ(loaded.output().labels(), (std::vector<std::string>{"0", "1", "2", "3"}));
  std::vector<Example> images;
  for (int64_t i = 0; i < 4; ++i) images.push_back(corner(i));
  const auto answers = loaded.answer(images, {.search = {.n_best = 4}});
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i].at(0).text, std::to_string(i));
    ASSERT_EQ(answers[i].size(), 4u);
    double sum = 0;
    for (const Answer& one : answers[i]) sum += one.score;
    EXPECT_NEAR(sum, 1, 1e-5) << "probabilities";
    EXPECT_GE(answers[i][0].score, answers[i][1].score) << "best first";
  }
  TestFiles files;
  files.images.images = images_, files.images.labels = labels_;
  const Scored scored = evaluate(loaded, read_test(config(), files, loaded.output().labels()), {});
  EXPECT_EQ(scored.examples, kImageCount);
  EXPECT_GT(scored.scores(loaded.row()).at("accuracy"), 95);
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
    TaskTraining training(TaskConfig(asked), folder_.path() / kind, false, [](const std::string&) {});
    run(training);
    const Example image = corner(2);
    EXPECT_EQ(training.model().answer(std::span(&image, 1), {}).at(0).at(0).text, "2") << kind;
  }
}

TEST_F(ImageRun, RefusesWhatDoesNotFit) {
  EXPECT_NE(refused({{"labels", images_.string(), ""}}).find("labels"), std::string::npos);
  EXPECT_NE(refused({{"images", "/nowhere/images.gz", ""}}).find("images: there is no file \"/nowhere/images.gz\""),
            std::string::npos);
  EXPECT_NE(refused({{"train.best_by", "bleu4", ""}}).find("train.best_by"), std::string::npos);
  EXPECT_NE(refused({{"batch.images", "0", ""}}).find("batch.images"), std::string::npos);
  EXPECT_NE(refused({{"batch.captions", "-1", ""}}).find("batch.captions"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "refused")) << "nothing was begun";
}

/// Untrained, it says something; told that this is right in capitals, it is right to the last word.
TEST(ImageScores, CaptionsAreComparedInTheLettersThatTheModelHas) {
  const TaskModel model = test::untrained({{"task", "caption", ""},
                                           {"size", "16", ""},
                                           {"channels", "1", ""},
                                           {"images", "of its own", ""},
                                           {"tokeniser.lowercase", "true", ""},
                                           {"tokeniser.min_count", "1", ""},
                                           {"model.encoder.stages", "4,8", ""},
                                           {"model.hidden", "16", ""},
                                           {"model.embedding", "8", ""}},
                                          test::image_corpus(16, {"a red square stands here"}));
  Example example = test::image_example(data::Image(16, 16, 1));
  const AnswerOptions how{.search = {.beam = 1, .min_length = 4, .max_length = 6}};
  std::string said = model.answer(std::span(&example, 1), how).at(0).at(0).text;
  for (char& c : said) c = static_cast<char>(std::toupper(c));
  example.right = {"something else", said};
  const Examples examples = examples_of({example});
  const Scored scored = evaluate(model, examples, {.answer = how});
  const std::map<std::string, double> scores = scored.scores(model.row());
  EXPECT_EQ(scores.at("exact"), 100);
  EXPECT_NEAR(scores.at("bleu4"), 100, 1e-9);
  EXPECT_EQ(scored.judged.references().at(0), "something else");
  const std::string signature = train::report_of(model.row().scores, scored.judged, {})["bleu_signature"];
  EXPECT_NE(signature.find("nrefs:2"), std::string::npos) << signature;
  const auto given = [&](const std::string& answer) {
    return evaluate_answer(model, examples, answer).scores(model.row()).at("exact");
  };
  EXPECT_EQ(given("Something ELSE"), 100);
  EXPECT_EQ(given("nothing"), 0);
}

}  // namespace
}  // namespace attend::tasks
