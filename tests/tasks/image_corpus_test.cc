// Validation images that are found again, wherever they came from, and nothing else.
#include "attend/tasks/image_corpus.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "attend/data/image_file.h"
#include "tests/support/folder.h"

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

}  // namespace
}  // namespace attend::tasks
