// Features of images that are computed once: found again by content, computed again where a file is broken, and trained on.
#include "attend/tasks/image_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "attend/data/image_file.h"
#include "attend/data/npy.h"
#include "attend/models/pretrained_encoder.h"
#include "attend/tasks/training.h"
#include "tests/support/folder.h"
#include "tests/support/image_weights.h"
#include "tests/support/message.h"
#include "tests/support/stop_at.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

class FeatureRun : public testing::Test {
 protected:
  FeatureRun() {
    fs::create_directory(folder_.path() / "photos");
    std::string captions;
    Random random(1);
    for (int i = 0; i < 12; ++i) {
      data::Image image(20, 20, 3);
      for (uint8_t& value : image.pixels) value = static_cast<uint8_t>(random.below(100) + (i % 2 == 0 ? 0 : 150));
      const std::string name = std::to_string(i) + ".png";
      data::write_png(folder_.path() / "photos" / name, image);
      captions += name + "#0\t" + (i % 2 == 0 ? "a dark photo" : "a light photo") + "\n";
    }
    folder_.file("captions.txt", captions);
    write_safetensors(weights(), test::formula_weights("efficientnet-lite0", 32));
  }

  fs::path weights() const { return folder_.path() / "w.safetensors"; }
  SettingList settings(const SettingList& more = {}) const {
    SettingList all{{"task", "caption", ""},
                    {"images", (folder_.path() / "photos").string(), ""},
                    {"captions", (folder_.path() / "captions.txt").string(), ""},
                    {"held_out", "0.25", ""},
                    {"model.encoder.kind", "efficientnet-lite0", ""},
                    {"model.encoder.narrow", "32", ""},
                    {"model.encoder.weights", weights().string(), ""},
                    {"model.embedding", "8", ""},
                    {"model.hidden", "16", ""},
                    {"batch.images", "4", ""},
                    {"train.steps", "60", ""},
                    {"train.rate", "0.02", ""},
                    {"train.validate_every", "30", ""}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::unique_ptr<TaskTraining> begin(const SettingList& more = {}, bool resume = false) const {
    return std::make_unique<TaskTraining>(TaskConfig(settings(more)), folder_.path() / "model", resume,
                                          [](const std::string&) {});
  }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "model.features")) all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
  }

  test::TestFolder folder_;
};

TEST_F(FeatureRun, LearnsFromFeaturesAndAnswersImages) {
  std::vector<Example> features;
  {
    const auto run = begin();
    EXPECT_NE(run->summary().find("12 of 12 images were encoded"), std::string::npos) << run->summary();
    for (int64_t i = 0; i < run->valid().count; ++i) features.push_back(run->valid().at(i));
    test::run(*run);
  }
  EXPECT_EQ(kept().size(), 12u);
  fs::remove(weights());
  fs::remove_all(folder_.path() / "model.features");
  const TaskModel model = TaskModel::load(folder_.path() / "model");
  ASSERT_EQ(features.size(), 3u);
  for (const Example& one : features) {
    ASSERT_TRUE(std::holds_alternative<Tensor>(one.inputs.at(0)));
    const Example photo{.inputs = {read_image_value((folder_.path() / "photos" / one.name).string())}, .name = one.name};
    const Answer of_features = model.answer(std::span(&one, 1), {}).at(0).at(0);
    const Answer of_photo = model.answer(std::span(&photo, 1), {}).at(0).at(0);
    EXPECT_EQ(of_photo.text, of_features.text);
    EXPECT_NEAR(of_photo.log_probability, of_features.log_probability, 1e-4);
  }
}

TEST_F(FeatureRun, FindsFeaturesAgainAndReplacesBrokenOnes) {
  begin();
  std::vector<fs::path> files = kept();
  ASSERT_EQ(files.size(), 12u);
  const std::string whole = folder_.bytes("model.features/" + files[0].filename().string());
  folder_.file("model.features/" + files[0].filename().string(), whole.substr(0, whole.size() - 5));
  folder_.file("model.features/" + files[1].filename().string(), "none");
  folder_.file("model.features/" + files[2].filename().string(), data::encode_npy(Tensor::zeros({1, 1, 1})));
  std::string wrong = whole;
  wrong.replace(wrong.size() - 4, 4, "\xFF\xFF\xFF\x7F");  // not a number
  folder_.file("model.features/" + files[3].filename().string(), wrong);
  fs::remove_all(folder_.path() / "model");
  const auto run = begin();
  EXPECT_NE(run->summary().find("4 of 12 images were encoded"), std::string::npos) << run->summary();
  EXPECT_EQ(folder_.bytes("model.features/" + files[0].filename().string()), whole);
}

TEST_F(FeatureRun, HasOthersForOtherWeightsStagesAndSizes) {
  begin({{"train.steps", "1", ""}});
  for (const auto& [option, value] : {std::pair{"model.encoder.stage", "3"}, {"size", "24"}}) {
    fs::remove_all(folder_.path() / "model");
    const auto run = begin({{option, value, ""}});
    EXPECT_NE(run->summary().find("12 of 12 images were encoded"), std::string::npos) << option;
  }
  std::vector<NamedTensor> others = test::formula_weights("efficientnet-lite0", 32);
  others[0].tensor.data()[0] += 1;
  write_safetensors(weights(), others);
  fs::remove_all(folder_.path() / "model");
  EXPECT_NE(begin()->summary().find("12 of 12 images were encoded"), std::string::npos);
  EXPECT_EQ(kept().size(), 48u);
}

TEST_F(FeatureRun, GoesOnWithTheWeightsThatItHas) {
  test::run(*begin(), 30);
  fs::remove(weights());
  const auto run = begin({}, true);
  EXPECT_NE(run->summary().find("0 of 12 images were encoded"), std::string::npos) << run->summary();
  EXPECT_EQ(run->trainer().step(), 30);
}

TEST_F(FeatureRun, KeepsThemWhereItIsToldOrNowhere) {
  begin({{"cache", (folder_.path() / "mine").string(), ""}});
  EXPECT_TRUE(fs::exists(folder_.path() / "mine"));
  fs::remove_all(folder_.path() / "model");
  const auto run = begin({{"cache", "no", ""}});
  EXPECT_TRUE(std::holds_alternative<data::Image>(run->valid().at(0).inputs.at(0)));
  EXPECT_FALSE(fs::exists(folder_.path() / "model.features"));
}

TEST_F(FeatureRun, RefusesBeforeAnythingIsRead) {
  const auto refusal = [&](const SettingList& more) { return test::message_of([&] { begin(more); }); };
  EXPECT_NE(refusal({{"model.encoder.weights", "", ""}}).find("give the file of its weights"), std::string::npos);
  EXPECT_NE(refusal({{"model.encoder.kind", "resnet18", ""}}).find("expected the weights of resnet18"),
            std::string::npos);
  EXPECT_NE(refusal({{"model.encoder.narrow", "16", ""}}).find("of shape"), std::string::npos);
  EXPECT_NE(refusal({{"model.encoder.kind", "convolutional", ""}}).find("only published networks"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_.path() / "model"));
}

}  // namespace
}  // namespace attend::tasks
