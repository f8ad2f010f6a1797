#include "attend/data/vectors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using Words = std::vector<std::string>;

WordVectors vectors_in(std::string_view text, const Words& words) {
  return read_vectors(LineReader(std::as_bytes(std::span(text)), "file"), words);
}

std::string vectors_refusal(std::string_view text, const Words& words = {"a", "b"}) {
  return message_of([&] { vectors_in(text, words); });
}

std::vector<real> values_of(const WordVectors& vectors) { return {vectors.values.begin(), vectors.values.end()}; }

TEST(WordVectorFiles, AreReadWithAndWithoutAHeader) {
  for (const char* header : {"", "3 2\n", "3 2 \r\n"}) {
    const WordVectors vectors =
        vectors_in(std::string(header) + "the 0.5 -1e1 \r\nof 3 4\na -0 1e-50\n", {"a", "x", "the"});
    EXPECT_EQ(vectors.width(), 2);
    EXPECT_EQ(values_of(vectors), (std::vector<real>{0, 0, 0, 0, 0.5, -10})) << header;
    EXPECT_EQ(vectors.found, (std::vector<bool>{true, false, true}));
    EXPECT_EQ(vectors.count, 2);
    EXPECT_EQ(vectors.lines, 3);
    EXPECT_EQ(vectors.repeated, 0);
  }
  EXPECT_EQ(vectors_in("the 1 2\n", {}).lines, 1);
}

TEST(WordVectorFiles, KeepTheFirstVectorOfAWord) {
  const WordVectors vectors = vectors_in("a 1 2\na 3 4\nz 5 6\nz 7 8\n", {"a"});
  EXPECT_EQ(values_of(vectors), (std::vector<real>{1, 2}));
  EXPECT_EQ(vectors.repeated, 1) << "of those asked for";
}

TEST(WordVectorFiles, MayHaveBlanksWithinWords) {
  const WordVectors vectors = vectors_in("a 1 2\n. . . 3 4\n", {". . .", "."});
  EXPECT_EQ(values_of(vectors), (std::vector<real>{3, 4, 0, 0}));
  EXPECT_EQ(vectors_refusal("a 1 2\nb 3 4 5\n"),
            "file:2: expected a word and 2 numbers, as in the first line, got 3 in \"b 3 4 5\"");
}

TEST(WordVectorFiles, ThatAreRaggedOrNotOfNumbersAreRefused) {
  EXPECT_EQ(vectors_refusal("a 1 2\nb 3\n"),
            "file:2: expected a word and 2 numbers, as in the first line, got 1 in \"b 3\"");
  EXPECT_EQ(vectors_refusal("1 3\nb 3\n"),
            "file:2: expected a word and 3 numbers, as the header says, got 1 in \"b 3\"");
  EXPECT_EQ(vectors_refusal("a 1 2\n\nb 1 2\n"),
            "file:2: expected a word and 2 numbers, as in the first line, got 0 in \"\"");
  for (const char* bad : {"x", "1,5", "nan", "inf", "1e999", "--1", "0x1"}) {
    EXPECT_EQ(vectors_refusal(std::string("a 1 ") + bad + "\n"),
              std::string("file:1: expected finite numbers after the word, got \"") + bad + "\" as number 2");
  }
  EXPECT_EQ(vectors_refusal("z 1 x\n"), "") << "only vectors that are kept are read as numbers";
  EXPECT_EQ(vectors_refusal("word\n"), "file:1: expected vectors of 1 to 10000 numbers, got 0");
  EXPECT_EQ(vectors_refusal("5 0\n"), "file:1: expected vectors of 1 to 10000 numbers, got 0");
  EXPECT_EQ(vectors_refusal("5 9999999999\n"), "file:1: expected vectors of 1 to 10000 numbers, got 9999999999");
  EXPECT_EQ(vectors_refusal(""), "file: expected lines \"word number number …\", got none");
  EXPECT_EQ(vectors_refusal("0 2\n"), "file: expected lines \"word number number …\", got none");
  EXPECT_EQ(vectors_refusal("3 2\na 1 2\n"),
            "file: expected 3 vectors, as the first line says, got 1; is the file cut short?");
  EXPECT_EQ(vectors_refusal("a 1\n", {"a", "b", "a"}), "read_vectors: expected distinct words, got \"a\" twice");
}

TEST(WordVectorFiles, AreFiles) {
  const test::TestFolder folder;
  EXPECT_EQ(values_of(read_vectors(folder.file("v", "a 1\n"), Words{"a"})), std::vector<real>{1});
}

}  // namespace
}  // namespace attend::data
