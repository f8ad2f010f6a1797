#include "attend/data/captions.h"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::TestFolder;
using Texts = std::vector<std::string>;

std::vector<CaptionedImage> captions_of(std::string_view text) {
  return read_captions(LineReader(std::as_bytes(std::span(text)), "x"));
}

std::string captions_refusal(std::string_view text) {
  return message_of([&] { captions_of(text); });
}

TEST(Captions, AreGatheredByImage) {
  const auto images = captions_of("b.jpg#0\tA dog .\na.jpg#0\tA cat\n\nb.jpg#1\t two\tdogs \r\n");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].name, "b.jpg");
  EXPECT_EQ(images[0].captions, (Texts{"A dog .", "two\tdogs"}));
  EXPECT_EQ(images[1].name, "a.jpg");
}

TEST(Captions, MayGoWithoutANumber) {
  EXPECT_EQ(captions_of("a#b.jpg\tx\n")[0].name, "a#b.jpg");
  EXPECT_EQ(captions_of("a#b.jpg#12\tx\n")[0].name, "a#b.jpg");
  EXPECT_EQ(captions_of("a.jpg#\tx\n")[0].name, "a.jpg#");
}

TEST(Captions, ComeInJsonLines) {
  const auto images = captions_of(
      "{\"image\": \"a.png\", \"captions\": [\"one\", \"tw\\u00f6\"], \"id\": 7}\n{\"caption\": \"three\", \"image\": "
      "\"b/c.png\"}\n{\"image\": \"a.png\", \"caption\": \"four\"}\n");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].captions, (Texts{"one", "twö", "four"}));
  EXPECT_EQ(images[1].name, "b/c.png");
}

TEST(Captions, AreRefusedByLineWhereTheyAreNone) {
  EXPECT_EQ(captions_refusal(""), "x: expected captions, got none");
  EXPECT_EQ(captions_refusal("a.jpg#0\tfine\nno tab\n"), "x:2: expected name#k<tab>caption, got a line without a tab");
  EXPECT_EQ(captions_refusal("a.jpg#0\t \n"), "x:1: expected a caption of \"a.jpg\", got an empty one");
  for (const char* name : {"", "/etc/passwd", "../a.jpg", "b/../../a.jpg"}) {
    EXPECT_TRUE(says(captions_refusal(std::string(name) + "#0\tx"), "x:1: expected the name of an image")) << name;
  }
  for (const char* line : {"{", "{}", "{\"image\": 7, \"caption\": \"x\"}", "{\"image\": \"a\"}",
                           "{\"image\": \"a\", \"captions\": []}", "{\"image\": \"a\", \"captions\": \"x\"}",
                           "{\"image\": \"a\", \"captions\": [1]}", "{\"image\": \"a\\u0000b\", \"caption\": \"x\"}",
                           "{\"image\": \"a\", \"caption\": \"\"}", "{\"image\": \"a\", \"caption\": \"\\u0000\"}",
                           "{\"image\": \"a\", \"caption\": \"x\", \"more\": [[[[1]]]]}"}) {
    EXPECT_TRUE(says(captions_refusal(line), "x:1: ")) << line << " → " << captions_refusal(line);
  }
  const std::string deep = "{\"image\": " + std::string(1 << 20, '[');
  EXPECT_TRUE(says(captions_refusal(deep), "x:1: "));
}

class CaptionFolder : public testing::Test {
 protected:
  CaptionFolder() {
    std::filesystem::create_directory(folder_.path() / "images");
    for (const char* name : {"a.jpg", "b.jpg", "c.npy"}) folder_.file(std::string("images/") + name, "…");
    folder_.file("captions.txt", "a.jpg#0\tone\nb.jpg#0\ttwo\nc.jpg#0\tthree\n");
  }
  CaptionFiles files(const std::string& names = "") const {
    return {folder_.path() / "captions.txt", folder_.path() / "images",
            names.empty() ? std::filesystem::path() : folder_.file("names.txt", names)};
  }

  TestFolder folder_;
  Broken skip_{OnBroken::kSkip}, refuse_{OnBroken::kRefuse};
};

TEST_F(CaptionFolder, FindsEveryImageOrItsFeatures) {
  const auto examples = captioned_images(files(), refuse_);
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[1].file.filename(), "b.jpg");
  EXPECT_EQ(examples[1].image.captions, Texts{"two"});
  EXPECT_EQ(examples[2].file.filename(), "c.npy");
}

TEST_F(CaptionFolder, TakesThoseOfAList) {
  const auto examples = captioned_images(files("b.jpg\n\na.jpg\n"), refuse_);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].image.name, "b.jpg");
  EXPECT_EQ(examples[1].image.captions, Texts{"one"});
  EXPECT_TRUE(
      says(message_of([&] { captioned_images(files("a.jpg\na.jpg\n"), skip_); }), "names.txt:2: expected each image once"));
}

TEST_F(CaptionFolder, NamesWhatHasOnlyOneOfBoth) {
  folder_.file("captions.txt", "a.jpg#0\tone\nlost.jpg#0\tx\nlost.jpg#1\ty\n");
  EXPECT_EQ(captioned_images(files(), skip_).size(), 1u);
  EXPECT_EQ(skip_.summary(), "1 captions without an image: lost.jpg; 2 images without captions: b.jpg, c.npy");
  const std::string message = message_of([&] { captioned_images(files(), refuse_); });
  EXPECT_TRUE(says(message, "1 captions without an image: lost.jpg; 2 images without captions: b.jpg, c.npy"))
      << message;
}

TEST_F(CaptionFolder, MayHoldOtherFilesAndFolders) {
  std::filesystem::create_directory(folder_.path() / "images/more");
  folder_.file("images/captions.txt", "a.jpg#0\tone\nmore/b.jpg#0\ttwo\nc.jpg#0\tthree\n");
  folder_.file("images/more/b.jpg", "…");
  const CaptionFiles beside{folder_.path() / "images/captions.txt", folder_.path() / "images", {}};
  EXPECT_EQ(captioned_images(beside, skip_).size(), 3u);
  EXPECT_EQ(skip_.summary(), "1 images without captions: b.jpg") << "another one than more/b.jpg";
}

TEST_F(CaptionFolder, NamesWhatAListHasAndTheFolderHasNot) {
  folder_.file("captions.txt", "a.jpg#0\tone\nlost.jpg#0\tx\n");
  EXPECT_EQ(captioned_images(files("a.jpg\nlost.jpg\nb.jpg\nnowhere.jpg\n"), skip_).size(), 1u);
  EXPECT_EQ(skip_.summary(),
            "1 captions without an image: lost.jpg; 1 images without captions: b.jpg; 1 names without image and "
            "captions: nowhere.jpg");
  Broken again(OnBroken::kSkip);
  EXPECT_TRUE(says(message_of([&] { captioned_images(files("b.jpg\n"), again); }), "at least one image with captions"));
}

}  // namespace
}  // namespace attend::data
