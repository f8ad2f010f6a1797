// Validation images that are found again, wherever they came from, and nothing else; captions that are drawn.
#include "attend/tasks/image_corpus.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "attend/base/error.h"
#include "attend/data/image_file.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

data::Image filled(uint8_t value) {
  data::Image image(6, 6, 1);
  std::ranges::fill(image.pixels, value);
  return image;
}

std::vector<std::string> names_of(const std::vector<ImageExample>& examples) {
  std::vector<std::string> names;
  for (const ImageExample& one : examples) names.push_back(one.name);
  return names;
}

TEST(FoundAgain, ImagesOfABuiltInCorpusByNumberAndName) {
  const ImageData data{.corpus = "digits", .size = 28, .channels = 1};
  const auto found =
      found_again(data, ImageAnswers::label, 3, {{5, "digit 5"}, {2, ""}, {4, "digit 9"}, {5000, "digit 5000"}});
  EXPECT_EQ(names_of(found), (std::vector<std::string>{"digit 5", "digit 2"})) << "of another name, or too far";
  EXPECT_EQ(found[0].image.pixels, read_image_corpus(data, ImageAnswers::label, 3).valid.at(5).image.pixels);
}

TEST(FoundAgain, FilesOfAFolderByNameAndNothingOutsideOfIt) {
  const test::TestFolder folder;
  const fs::path images = folder.path() / "images";
  fs::create_directories(images / "cat");
  data::write_png(images / "one.png", filled(10));
  data::write_png(images / "cat/two.png", filled(20));
  data::write_png(folder.path() / "secret.png", filled(30));
  fs::create_symlink(folder.path() / "secret.png", images / "link.png");
  const ImageData data{.images = images.string(), .captions = "captions.txt", .size = 8, .channels = 3};
  const auto found = found_again(data, ImageAnswers::caption, 1,
                                 {{0, "one.png"},
                                  {1, "../secret.png"},
                                  {2, (folder.path() / "secret.png").string()},
                                  {3, "link.png"},
                                  {4, "gone.png"},
                                  {5, ""},
                                  {6, "cat"}});
  ASSERT_EQ(names_of(found), std::vector<std::string>{"one.png"});
  EXPECT_EQ(found[0].image.height, 8) << "as the network sees it";
  EXPECT_EQ(found[0].image.channels, 3);
  const ImageData labelled{.images = images.string(), .size = 6, .channels = 1};
  const std::string two = (images / "cat/two.png").string();
  EXPECT_EQ(names_of(found_again(labelled, ImageAnswers::label, 1,
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
  ImageData data;
  data.images = folder.path() / "train", data.valid_images = folder.path() / "valid";
  data.size = 6, data.channels = 1;
  const ImageCorpus corpus = read_image_corpus(data, ImageAnswers::label, 1);
  ASSERT_EQ(corpus.valid.count, 2);
  for (int64_t i = 0; i < 2; ++i) {
    const ImageExample one = corpus.valid.at(i);
    EXPECT_EQ(one.label, one.image.pixels[0] / 10 - 1) << "as in training";
  }
  data.images = folder.path() / "valid";
  EXPECT_EQ(read_image_test(data, ImageAnswers::label, 1, corpus.labels).at(1).label, 2);
  data.images = folder.path() / "other";
  EXPECT_THROW(read_image_test(data, ImageAnswers::label, 1, corpus.labels), Error);
}

TEST(ImageFolders, NeedNoLabelsWhereImagesAreTheAnswer) {
  const test::TestFolder folder;
  for (const uint8_t grey : {10, 20, 30})
    data::write_png(folder.path() / (std::to_string(grey) + ".png"), filled(grey));
  ImageData data;
  data.images = folder.path(), data.held_out = 0.4, data.size = 6;
  const ImageCorpus corpus = read_image_corpus(data, ImageAnswers::image, 1);
  EXPECT_EQ(corpus.train.count + corpus.valid.count, 3);
  EXPECT_TRUE(corpus.labels.empty());
  EXPECT_THROW(read_image_corpus(data, ImageAnswers::label, 1), Error);
}

class Captioned : public testing::Test {
 protected:
  Captioned() {
    std::string lines;
    for (const char* name : {"a.png", "b.png", "c.png", "d.png"}) {
      data::write_png(folder_.path() / name, filled(50));
      lines += std::string(name) + "#0\tgrey\n";
    }
    data_.images = folder_.path(), data_.captions = folder_.file("captions.txt", lines);
    data_.valid_names = folder_.file("valid.txt", "b.png\nd.png\n");
  }
  test::TestFolder folder_;
  ImageData data_;
};

TEST_F(Captioned, ImagesToValidateWithAreNotTrainedOn) {
  const ImageCorpus corpus = read_image_corpus(data_, ImageAnswers::caption, 1);
  ASSERT_EQ(corpus.train.count, 2);
  EXPECT_EQ(corpus.train.at(0).name, "a.png");
  EXPECT_EQ(corpus.train.at(1).name, "c.png");
  EXPECT_EQ(corpus.valid.count, 2);
}

TEST_F(Captioned, ListsOfBothHaveNoneInCommon) {
  data_.names = folder_.file("train.txt", "a.png\nb.png\n");
  EXPECT_TRUE(test::message_of([&] {
                read_image_corpus(data_, ImageAnswers::caption, 1);
              }).find("got 1 of both, such as b.png") != std::string::npos);
  data_.names = folder_.file("train.txt", "a.png\nc.png\n");
  EXPECT_EQ(read_image_corpus(data_, ImageAnswers::caption, 1).train.count, 2);
}

TEST(KeepCaptions, DrawsSomeOfThemWithoutRepeating) {
  const std::vector<std::string> all{"a", "b", "c", "d"};
  std::map<std::string, int> kept;
  Random random(1, 0);
  for (int i = 0; i < 400; ++i) {
    ImageExample example{.captions = all, .spoken = std::vector<data::Box>(1)};
    keep_captions(example, 2, random);
    ASSERT_EQ(example.captions.size(), 2u);
    EXPECT_NE(example.captions[0], example.captions[1]);
    EXPECT_TRUE(example.spoken.empty()) << "is of the first of all";
    for (const std::string& caption : example.captions) ++kept[caption];
  }
  for (const std::string& caption : all) EXPECT_NEAR(kept[caption], 200, 50) << caption;
  for (const int64_t most : {0, 4, 9}) {
    ImageExample example{.captions = all, .spoken = std::vector<data::Box>(1)};
    keep_captions(example, most, random);
    EXPECT_EQ(example.captions, all) << most;
    EXPECT_EQ(example.spoken.size(), 1u);
  }
}

}  // namespace
}  // namespace attend::tasks
