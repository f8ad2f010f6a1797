// One of several texts by itself, and several as one.
#include "attend/data/parts.h"

#include <gtest/gtest.h>

#include <vector>

#include "attend/data/utf8.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using PartRow = std::vector<int32_t>;
using PartRows = std::vector<PartRow>;

Source two_texts() {
  Source source;
  source.add("document", Sequences(PartRows{{4, 5, 6}, {7}})).add("document.sentence", Sequences(PartRows{{0, 0, 1}, {0}}));
  source.add("question", Sequences(PartRows{{8}, {9, 10}}));
  source.add_letters(Sequences(PartRows{{4}, {5, 5}, {6}, {7}, {}, {}}), "document");
  source.add_letters(Sequences(PartRows{{8, 8}, {}, {9}, {10}}), "question");
  return source;
}

TEST(Text, OnOneLineHasNoBreaksAndKeepsItsBlanks) {
  EXPECT_EQ(on_one_line("milk.\nJohn"), "milk. John");
  EXPECT_EQ(on_one_line("a \r\n\tb  c"), "a b  c");
  EXPECT_EQ(on_one_line("\n a"), " a");
  EXPECT_EQ(on_one_line(""), "");
  EXPECT_EQ(on_one_line("zwei\u00A0W\u00F6rter"), "zwei\u00A0W\u00F6rter");
}

TEST(Parts, OneByItselfHasWhatItContains) {
  const Source question = only(two_texts(), "question");
  ASSERT_EQ(question.parts().size(), 2u);
  EXPECT_EQ(question.lengths(), (PartRow{1, 2}));
  EXPECT_EQ(question.text().row(1), (PartRow{9, 10}));
  ASSERT_NE(question.letters(), nullptr);
  EXPECT_EQ(question.letters()->row(2), (PartRow{9}));
  const Source document = only(two_texts(), "document");
  EXPECT_NE(document.find("document.sentence"), nullptr);
  EXPECT_EQ(document.letters()->row(1), (PartRow{5, 5}));
  EXPECT_EQ(test::message_of([] { (void)only(two_texts(), "answer"); }),
            "Source: expected a part \"answer\", got none of that name");
}

TEST(Parts, JoinedTextsFollowEachOtherWithoutPadding) {
  const Source all = joined_texts(two_texts());
  EXPECT_EQ(all.lengths(), (PartRow{4, 3}));
  EXPECT_EQ(all.text().row(0), (PartRow{4, 5, 6, 8}));
  EXPECT_EQ(all.text().row(1), (PartRow{7, 9, 10}));
  ASSERT_NE(all.find("text.marks"), nullptr);
  EXPECT_EQ(all.find("text.marks")->ids.row(0), (PartRow{0, 0, 0, 1}));
  EXPECT_EQ(all.find("text.marks")->ids.row(1), (PartRow{0, 1, 1}));
  ASSERT_NE(all.letters(), nullptr);
  EXPECT_EQ(all.letters()->row(3), (PartRow{8, 8}));
  EXPECT_EQ(all.letters()->row(4 + 2), (PartRow{10}));
}

TEST(Parts, LettersOfSomeTextsAreLeftOut) {
  Source source;
  source.add("document", Sequences(PartRows{{4, 5}})).add("question", Sequences(PartRows{{8}}));
  source.add_letters(Sequences(PartRows{{4}, {5}}), "document");
  EXPECT_EQ(joined_texts(source).letters(), nullptr);
}

TEST(Parts, AnImageIsNoText) {
  EXPECT_EQ(test::message_of([] { (void)joined_texts(Source::of_images(Tensor::zeros({1, 1, 2, 2}))); }),
            "Source: expected text, got none");
  EXPECT_TRUE(only(Source::of_images(Tensor::zeros({1, 1, 2, 2})), "image").pixels().defined());
}

}  // namespace
}  // namespace attend::data
