#include "attend/data/image_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/data/big_endian.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::TestFolder;

std::string idx_images(uint32_t count) {
  std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(2) + big_endian(2);
  for (uint32_t i = 0; i < count; ++i) bytes += std::string(4, static_cast<char>(i));
  return bytes;
}

std::string idx_labels(uint32_t count, uint32_t classes = 10) {
  std::string bytes = big_endian(0x801) + big_endian(count);
  for (uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i % classes);
  return bytes;
}

Image one_colour(uint8_t red, uint8_t green, uint8_t blue) {
  Image image(3, 5, 3);
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    image.pixels[i] = red, image.pixels[i + 1] = green, image.pixels[i + 2] = blue;
  }
  return image;
}

TEST(ImageSet, OfAnIdxPairPutsBothTogether) {
  const TestFolder folder;
  const auto images = folder.file("images", idx_images(3));
  const auto set = read_idx_pair(images, folder.file("labels", idx_labels(3)));
  EXPECT_EQ(set->size(), 3);
  EXPECT_EQ(set->labels(), (std::vector<std::string>{"0", "1", "2"})) << "as many as there are";
  EXPECT_EQ(set->at(2).label, 2);
  EXPECT_EQ(set->at(2).image.at(1, 1), 2);
  EXPECT_EQ(set->at(2).name, "images:2");
  EXPECT_EQ(set->at(4).label, 1) << "the next epoch";
  EXPECT_TRUE(says(message_of([&] { read_idx_pair(images, folder.file("labels", idx_labels(2))); }),
                   "a label for each of the 3 images"));
}

TEST(ImageSet, OfAnIdxPairKeepsToLabelsThatAreKnown) {
  const TestFolder folder;
  const auto images = folder.file("images", idx_images(3)), labels = folder.file("labels", idx_labels(3));
  const std::vector<std::string> four{"a", "b", "c", "d"};
  EXPECT_EQ(read_idx_pair(images, labels, four)->labels(), four);
  EXPECT_TRUE(says(message_of([&] { read_idx_pair(images, labels, {"a", "b"}); }), "expected a label below 2, got 2"));
  EXPECT_EQ(read_idx_unlabelled(images)->at(2).label, 0);
  EXPECT_EQ(read_idx_unlabelled(images)->at(2).image.at(1, 1), 2);
}

TEST(ImageSet, OfMnistHoldsOutTheLastForValidation) {
  const TestFolder folder;
  folder.file("train-images-idx3-ubyte", idx_images(12000));
  folder.file("train-labels-idx1-ubyte", idx_labels(12000));
  folder.file("t10k-images-idx3-ubyte", idx_images(20));
  folder.file("t10k-labels-idx1-ubyte", idx_labels(20));
  const ImageCorpus corpus = read_mnist(folder.path());
  EXPECT_EQ(corpus.train->size(), 7000);
  EXPECT_EQ(corpus.valid->size(), 5000);
  EXPECT_EQ(corpus.test->size(), 20);
  EXPECT_EQ(corpus.valid->at(3).name, "train-images-idx3-ubyte:7003");
  const ImageCorpus scenes = scenes_over(corpus, {.size = 8, .pieces = 1, .piece = 1}, 1);
  EXPECT_EQ(scenes.test->size(), 20);
  EXPECT_EQ(scenes.test->at(13).label, 3);
  EXPECT_EQ(scenes.test->at(13).image.height, 8);
  folder.file("train-images-idx3-ubyte", idx_images(100));
  folder.file("train-labels-idx1-ubyte", idx_labels(100));
  EXPECT_TRUE(says(message_of([&] { read_mnist(folder.path()); }), "expected more than 10000 training images"));
}

class ImageFolder : public testing::Test {
 protected:
  ImageFolder() {
    for (const char* label : {"sky", "grass"}) std::filesystem::create_directory(folder_.path() / label);
    write_png(folder_.path() / "sky/b.png", one_colour(0, 0, 255));
    write_png(folder_.path() / "sky/a.PNG", one_colour(10, 20, 250));
    write_png(folder_.path() / "grass/c.png", one_colour(0, 255, 0));
    folder_.file("grass/readme.txt", "no image");
    folder_.file("loose.png", "not in a sub-folder");
  }

  TestFolder folder_;
  Broken refuse_{OnBroken::kRefuse}, skip_{OnBroken::kSkip};
};

TEST_F(ImageFolder, HasALabelPerSubFolder) {
  const auto set = read_folder(folder_.path(), {.height = 4, .width = 6}, refuse_);
  EXPECT_EQ(set->labels(), (std::vector<std::string>{"grass", "sky"}));
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->at(0).label, 0);
  EXPECT_EQ(set->at(1).label, 1);
  EXPECT_TRUE(set->at(1).name.ends_with("sky/a.PNG"));
  EXPECT_EQ(set->at(1).image.height, 4);
  EXPECT_EQ(set->at(1).image.width, 6);
  EXPECT_EQ(set->at(1).image.at(3, 5, 2), 250);
  EXPECT_EQ(read_folder(folder_.path(), {.height = 2, .width = 2, .channels = 1}, refuse_)->at(0).image.at(0, 0), 150);
}

TEST_F(ImageFolder, TakesTheNumbersOfLabelsThatAreKnown) {
  const FolderOptions options{.height = 2, .width = 2, .known = {"sky", "earth", "grass"}};
  const auto set = read_folder(folder_.path(), options, refuse_);
  EXPECT_EQ(set->labels(), options.known);
  EXPECT_EQ(set->at(0).label, 2) << "grass, though it is the first sub-folder";
  EXPECT_EQ(set->at(1).label, 0);
  const FolderOptions lacking{.height = 2, .width = 2, .known = {"sky", "earth"}};
  const std::string message = message_of([&] { read_folder(folder_.path(), lacking, refuse_); });
  EXPECT_TRUE(says(message, "one of sky, earth, got \"grass\"")) << message;
}

TEST_F(ImageFolder, WithoutImagesIsNoLabel) {
  std::filesystem::create_directory(folder_.path() / "notes");
  folder_.file("notes/readme.txt", "no image");
  EXPECT_EQ(read_folder(folder_.path(), {}, refuse_)->labels(), (std::vector<std::string>{"grass", "sky"}));
}

TEST_F(ImageFolder, GivesAllItsImagesWhereNoLabelsAreWanted) {
  write_png(folder_.path() / "loose.png", one_colour(9, 9, 9));
  const auto set = read_folder(folder_.path(), {.height = 2, .width = 2, .labelled = false}, refuse_);
  ASSERT_EQ(set->size(), 4);
  EXPECT_EQ(set->at(0).image.at(0, 0), 9) << "those of the folder itself come first";
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(set->at(i).label, 0);
  EXPECT_EQ(read_folder(folder_.path() / "sky", {.labelled = false}, refuse_)->size(), 2);
}

TEST_F(ImageFolder, SkipsOrRefusesWhatIsBroken) {
  folder_.file("sky/bad.jpg", "no JPEG");
  const std::string message = message_of([&] { read_folder(folder_.path(), {}, refuse_); });
  EXPECT_TRUE(says(message, "sky/bad.jpg: expected a PNG or JPEG image")) << message;
  EXPECT_EQ(read_folder(folder_.path(), {}, skip_)->size(), 3);
  EXPECT_EQ(skip_.count(), 1);
  EXPECT_TRUE(says(skip_.summary(), "1 images that cannot be read: ")) << skip_.summary();
  EXPECT_TRUE(says(skip_.summary(), "sky/bad.jpg")) << skip_.summary();
}

TEST_F(ImageFolder, RefusesWhatItCannotHold) {
  const auto refusal = [&](const std::filesystem::path& path, const FolderOptions& options) {
    return message_of([&] { read_folder(path, options, skip_); });
  };
  EXPECT_TRUE(
      says(refusal(folder_.path(), {.most_bytes = 1000}), "expected at most 1000 bytes, got 3 images of 12288"));
  EXPECT_TRUE(says(refusal(folder_.path() / "sky", {}), "expected a sub-folder for each of two labels or more"));
  EXPECT_TRUE(says(refusal(folder_.path() / "none", {}), "No such file"));
  EXPECT_TRUE(says(refusal(folder_.path(), {.channels = 2}), "with 1 or 3 channels"));
}

TEST(ImageCorpora, AreAMenu) {
  for (const ImageCorpusRow& row : image_corpora()) EXPECT_FALSE(row.summary.empty()) << row.name;
  EXPECT_TRUE(says(message_of([] { make_image_corpus("clutterd", 1); }), "the nearest is \"cluttered\""));
}

TEST(ImageCorpora, BeginAgainOrGoOn) {
  const ImageCorpus digits = make_image_corpus("digits", 1);
  EXPECT_EQ(digits.train->size(), 50'000);
  EXPECT_EQ(digits.test->at(3).image.pixels, digits.test->at(3 + digits.test->size()).image.pixels);
  EXPECT_NE(digits.test->at(3).image.pixels, digits.valid->at(3).image.pixels);
  const StoredImages few = *stored(DrawnDigits(6, 1));
  const SceneImages fixed(few, {}, 1, false), fresh(few, {}, 1, true);
  EXPECT_EQ(fixed.at(2).image.pixels, fixed.at(8).image.pixels);
  EXPECT_EQ(fixed.at(2).image.pixels, fresh.at(2).image.pixels);
  EXPECT_NE(fresh.at(2).image.pixels, fresh.at(8).image.pixels);
  EXPECT_EQ(fresh.at(2).label, fresh.at(8).label);
  EXPECT_EQ(fresh.at(2).image.height, 60);
}

TEST(Broken, CountsByKindAndKeepsTheFirstNames) {
  Broken broken(on_broken_named("skip"));
  EXPECT_EQ(broken.summary(), "");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) broken.add("images without captions", name);
  broken.add("captions without an image", "x");
  EXPECT_EQ(broken.count(), 8);
  EXPECT_EQ(broken.summary(), "7 images without captions: a, b, c, d, e, …; 1 captions without an image: x");
  broken.settle("here");
  Broken refused(on_broken_named("refuse"));
  refused.settle("here");
  refused.add("captions without an image", "x");
  EXPECT_TRUE(says(message_of([&] { refused.settle("here"); }), "here: expected all files whole"));
  EXPECT_TRUE(says(message_of([] { on_broken_named("skipp"); }), "the nearest is \"skip\""));
}

}  // namespace
}  // namespace attend::data
