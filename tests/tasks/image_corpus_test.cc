// Validation images that are found again, wherever they came from, and nothing else; captions that are drawn.
#include "attend/tasks/image_corpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "attend/base/error.h"
#include "attend/data/image_file.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

data::Image filled(uint8_t value) {
  data::Image image(6, 6, 1);
  std::ranges::fill(image.pixels, value);
  return image;
}

std::vector<std::string> names_of(const std::vector<Example>& examples) {
  std::vector<std::string> names;
  for (const Example& one : examples) names.push_back(one.name);
  return names;
}

const data::Image& image_of(const Example& example) { return std::get<data::Image>(example.inputs.at(0)); }

TEST(FoundAgain, ImagesOfABuiltInCorpusByNumberAndName) {
  const TaskConfig config({{"task", "glimpse", ""}, {"size", "28", ""}, {"channels", "1", ""}, {"train.seed", "3", ""}});
  const auto found = find_images(config, {{5, "digit 5"}, {2, ""}, {4, "digit 9"}, {5000, "digit 5000"}});
  EXPECT_EQ(names_of(found), (std::vector<std::string>{"digit 5", "digit 2"})) << "of another name, or too far";
  EXPECT_EQ(image_of(found[0]).pixels, image_of(read_corpus(config).valid.at(5)).pixels);
}

TEST(FoundAgain, FilesOfAFolderByNameAndNothingOutsideOfIt) {
  const test::TestFolder folder;
  const fs::path images = folder.path() / "images";
  fs::create_directories(images / "cat");
  data::write_png(images / "one.png", filled(10));
  data::write_png(images / "cat/two.png", filled(20));
  data::write_png(folder.path() / "secret.png", filled(30));
  fs::create_symlink(folder.path() / "secret.png", images / "link.png");
  const TaskConfig captioned({{"task", "caption", ""},
                              {"images", images.string(), ""},
                              {"captions", "captions.txt", ""},
                              {"size", "8", ""},
                              {"channels", "3", ""}});
  const auto found = find_images(captioned, {{0, "one.png"},
                                             {1, "../secret.png"},
                                             {2, (folder.path() / "secret.png").string()},
                                             {3, "link.png"},
                                             {4, "gone.png"},
                                             {5, ""},
                                             {6, "cat"}});
  ASSERT_EQ(names_of(found), std::vector<std::string>{"one.png"});
  EXPECT_EQ(image_of(found[0]).height, 8) << "as the network sees it";
  EXPECT_EQ(image_of(found[0]).channels, 3);
  const TaskConfig labelled(
      {{"task", "glimpse", ""}, {"images", images.string(), ""}, {"size", "6", ""}, {"channels", "1", ""}});
  const std::string two = (images / "cat/two.png").string();
  EXPECT_EQ(names_of(find_images(labelled,
                                 {{0, two}, {1, (images / "cat/../../secret.png").string()}, {2, "two.png"}})),
            std::vector<std::string>{two});
}

/// One image of each label, all of its own grey.
void folder_of_labels(const fs::path& folder, const std::vector<std::pair<std::string, uint8_t>>& labels) {
  for (const auto& [label, grey] : labels) {
    fs::create_directories(folder / label);
    data::write_png(folder / label / "x.png", filled(grey));
  }
}

TEST(ImageFolders, AreReadByTheNamesOfTheLabelsThatWereLearned) {
  const test::TestFolder folder;
  folder_of_labels(folder.path() / "train", {{"a", 10}, {"b", 20}, {"c", 30}});
  folder_of_labels(folder.path() / "valid", {{"b", 20}, {"c", 30}});
  folder_of_labels(folder.path() / "other", {{"b", 20}, {"d", 40}});
  const TaskConfig config({{"task", "glimpse", ""},
                           {"images", (folder.path() / "train").string(), ""},
                           {"valid_images", (folder.path() / "valid").string(), ""},
                           {"size", "6", ""},
                           {"channels", "1", ""}});
  const Corpus corpus = read_corpus(config);
  EXPECT_EQ(corpus.labels, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(corpus.valid.count, 2);
  const auto right = [](const Example& one) { return std::string(1, static_cast<char>('a' + image_of(one).pixels[0] / 10 - 1)); };
  for (int64_t i = 0; i < 2; ++i) {
    const Example one = corpus.valid.at(i);
    EXPECT_EQ(one.right, std::vector{right(one)}) << "as in training";
    EXPECT_EQ(corpus.valid.right(i), one.right) << "without reading the image";
  }
  TestFiles files;
  files.images.images = folder.path() / "valid";
  EXPECT_EQ(read_test(config, files, corpus.labels).at(1).right, std::vector<std::string>{"c"});
  files.images.images = folder.path() / "other";
  EXPECT_THROW(read_test(config, files, corpus.labels), Error);
}

TEST(ImageFolders, NeedNoLabelsWhereImagesAreTheAnswer) {
  const test::TestFolder folder;
  for (const uint8_t grey : {10, 20, 30})
    data::write_png(folder.path() / (std::to_string(grey) + ".png"), filled(grey));
  const auto read = [&](const char* task) {
    return read_corpus(TaskConfig(
        {{"task", task, ""}, {"images", folder.path().string(), ""}, {"held_out", "0.4", ""}, {"size", "6", ""}}));
  };
  const Corpus corpus = read("autoencode");
  EXPECT_EQ(corpus.train.count + corpus.valid.count, 3);
  EXPECT_TRUE(corpus.labels.empty());
  EXPECT_THROW(read("glimpse"), Error);
}

class Captioned : public testing::Test {
 protected:
  Captioned() {
    std::string lines;
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"}) {
      data::write_png(folder_.path() / name, filled(50));
      lines += std::string(name) + "#0\tgrey\n";
    }
    settings_ = {{"task", "caption", ""},
                 {"images", folder_.path().string(), ""},
                 {"captions", folder_.file("captions.txt", lines).string(), ""},
                 {"valid_names", folder_.file("valid.txt", "b.png\nd.png\n").string(), ""}};
  }
  Corpus read(const std::string& names = "") const {
    SettingList settings = settings_;
    if (!names.empty()) settings.push_back({"names", folder_.file("train.txt", names).string(), ""});
    return read_corpus(TaskConfig(settings));
  }

  test::TestFolder folder_;
  SettingList settings_;
};

TEST_F(Captioned, ImagesToValidateWithAreNotTrainedOn) {
  const Corpus corpus = read();
  ASSERT_EQ(corpus.train.count, 2);
  EXPECT_EQ(corpus.train.at(0).name, "a.png");
  EXPECT_EQ(corpus.train.at(1).name, "c.png");
  EXPECT_EQ(corpus.valid.count, 2);
}

TEST_F(Captioned, ListsOfBothHaveNoneInCommon) {
  const std::string message = test::message_of([&] { read("a.png\nb.png\n"); });
  EXPECT_NE(message.find("got 1 that are in both, such as b.png"), std::string::npos) << message;
  EXPECT_EQ(read("a.png\nc.png\n").train.count, 2);
}

TEST(KeepSome, DrawsSomeOfTheRightAnswersWithoutRepeating) {
  const std::vector<std::string> all{"a", "b", "c", "d"};
  const auto kept = [&](int64_t most, Random& random) {
    Example example = test::image_example(filled(1), all);
    example.spoken.resize(1);
    keep_some(example, most, random);
    return example;
  };
  std::map<std::string, int> counts;
  Random random(1, 0);
  for (int i = 0; i < 400; ++i) {
    const Example example = kept(2, random);
    ASSERT_EQ(example.right.size(), 2u);
    EXPECT_NE(example.right[0], example.right[1]);
    EXPECT_TRUE(example.spoken.empty()) << "is of the first of all";
    for (const std::string& one : example.right) ++counts[one];
  }
  for (const std::string& one : all) EXPECT_NEAR(counts[one], 200, 50) << one;
  for (const int64_t most : {0, 4, 9}) {
    const Example example = kept(most, random);
    EXPECT_EQ(example.right, all) << most;
    EXPECT_EQ(example.spoken.size(), 1u);
  }
}

}  // namespace
}  // namespace attend::tasks
