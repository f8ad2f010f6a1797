// What a network reads: parts by name, and the letters of its words.
#include <gtest/gtest.h>

#include <vector>

#include "attend/data/batch.h"
#include "attend/data/batches.h"
#include "attend/data/encoded.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using Row = std::vector<int32_t>;
using SpelledWords = std::vector<Row>;

TEST(Source, OfATextIsOnePart) {
  const Source source = Sequences({{4, 5, 6}, {7}});
  EXPECT_EQ(source.count(), 2);
  EXPECT_EQ(source.lengths(), (Row{3, 1}));
  EXPECT_EQ(source.text().row(0), (Row{4, 5, 6}));
  EXPECT_EQ(source.find(Source::kText), &source.parts()[0]);
  EXPECT_EQ(source.find(Source::kImage), nullptr);
  EXPECT_EQ(source.letters(), nullptr);
  EXPECT_FALSE(source.pixels().defined());
}

TEST(Source, OfImagesHasOnePlaceEach) {
  const Source source = Source::of_images(Tensor::zeros({2, 1, 3, 3}));
  EXPECT_EQ(source.count(), 2);
  EXPECT_EQ(source.lengths(), (Row{1, 1}));
  EXPECT_EQ(source.pixels().shape(), Shape({2, 1, 3, 3}));
  EXPECT_EQ(message_of([&] { (void)source.text(); }), "Source: expected text, got an image");
  EXPECT_EQ(message_of([] {
              Source::of_images(Tensor::zeros({2, 3}));
            }),
            "Source: expected images [B,C,H,W], got [2, 3]");
}

TEST(Source, OfFramesHasAPlaceForEachFrame) {
  const Source source = Source::of_frames(Tensor::full({2, 5, 3}, 2), {5, 2});
  EXPECT_EQ(source.count(), 2);
  EXPECT_EQ(source.lengths(), (Row{5, 2}));
  EXPECT_EQ(source.frames().shape(), Shape({2, 5, 3}));
  EXPECT_FALSE(source.pixels().defined());
  ASSERT_NE(source.find(Source::kSound), nullptr);
  EXPECT_EQ(source.find(Source::kSound)->ids.lengths, (Row{5, 2}));
  EXPECT_FALSE(Source::of_images(Tensor::zeros({2, 1, 3, 3})).frames().defined());
  EXPECT_FALSE(Source(Sequences({{4}, {5}})).frames().defined());
  EXPECT_EQ(message_of([&] { (void)source.text(); }), "Source: expected text, got sound");
  EXPECT_EQ(message_of([] {
              Source::of_frames(Tensor::zeros({2, 5, 3}), {5, 6});
            }),
            "Source: expected at most 5 frames in part sound, got 6");
  EXPECT_EQ(message_of([] {
              Source::of_frames(Tensor::zeros({2, 5, 3}), {5});
            }),
            "Source: expected frames [B,T,F] and a length for each example in part sound, got 1 lengths");
  EXPECT_EQ(message_of([] {
              Source::of_frames(Tensor::zeros({2, 5}), {5, 5});
            }),
            "Source: expected frames [B,T,F] and a length for each example in part sound, got 2 lengths");
  Source both = Sequences({{4, 5}, {6}});
  both.add("sound", Tensor::zeros({2, 7, 3}), {7, 1});
  EXPECT_EQ(both.lengths(), (Row{2, 1})) << "those of the first part";
  EXPECT_EQ(both.find("sound")->ids.lengths, (Row{7, 1}));
  EXPECT_FALSE(both.frames().defined()) << "of the first part alone";
}

TEST(Source, HasPartsByTheirNames) {
  Source source;
  EXPECT_TRUE(source.empty());
  EXPECT_EQ(message_of([&] { (void)source.text(); }), "Source: expected text, got nothing");
  source.add("document", Sequences({{4, 5}, {6}})).add("question", Sequences({{7}, {8, 9, 10}}));
  source.add("picture", Tensor::zeros({2, 3, 4, 4}));
  EXPECT_EQ(source.text().row(0), (Row{4, 5})) << "the first part is what answers attend to";
  EXPECT_EQ(source.lengths(), (Row{2, 1}));
  ASSERT_NE(source.find("question"), nullptr);
  EXPECT_EQ(source.find("question")->ids.row(1), (Row{8, 9, 10}));
  ASSERT_NE(source.find("picture"), nullptr);
  EXPECT_TRUE(source.find("picture")->values.defined());
  EXPECT_EQ(source.find("answer"), nullptr);
  EXPECT_FALSE(source.pixels().defined()) << "of the first part alone";
}

TEST(Source, RefusesPartsOfOtherNumbersOfExamples) {
  Source source = Sequences({{4}, {5}});
  EXPECT_EQ(message_of([&] { source.add("question", Sequences(SpelledWords{{4}})); }),
            "Source: expected 2 examples in part question, got 1");
  EXPECT_EQ(message_of([&] {
              source.add("picture", Tensor::zeros({3, 1, 2, 2}));
            }),
            "Source: expected 2 examples in part picture, got [3, 1, 2, 2]");
  EXPECT_EQ(source.parts().size(), 1u) << "what was refused is not there";
}

TEST(Letters, SpellTheWordsOfTheFirstPart) {
  const std::vector<SpelledWords> spelled{{{1, 2}, {}, {3}}, {{4, 5, 6}}};
  const Sequences rows = letter_rows(spelled, 3);
  EXPECT_EQ(rows.count(), 6) << "three words each, also where there are fewer";
  EXPECT_EQ(rows.row(0), (Row{1, 2}));
  EXPECT_EQ(rows.row(1), Row());
  EXPECT_EQ(rows.row(2), (Row{3}));
  EXPECT_EQ(rows.row(3), (Row{4, 5, 6}));
  EXPECT_EQ(rows.row(4), Row());
  Source source;
  source.add("document", Sequences({{4, 5, 6}, {7}})).add_letters(rows);
  ASSERT_NE(source.letters(), nullptr);
  EXPECT_EQ(source.letters()->row(3), (Row{4, 5, 6}));
  EXPECT_NE(source.find("document.letters"), nullptr);
}

TEST(Letters, OfOtherNumbersOfWordsAreRefused) {
  Source source = Sequences({{4, 5, 6}, {7}});
  EXPECT_EQ(message_of([&] {
              source.add_letters(Sequences({{1}, {2}, {3}, {4}}));
            }),
            "Source: expected the letters of 2 × 3 words, got 4 rows");
  EXPECT_EQ(message_of([] {
              Source::of_images(Tensor::zeros({1, 1, 2, 2})).add_letters(Sequences(SpelledWords{{1}}));
            }),
            "Source: expected text, got an image");
}

TEST(Letters, SpellTheWordsOfFurtherParts) {
  Source source;
  source.add("document", Sequences({{4, 5, 6}, {7}})).add("question", Sequences({{8}, {9, 4}}));
  const std::vector<SpelledWords> spelled{{{1, 2}}, {{3}, {4}}};
  source.add_letters(letter_rows(spelled, 2), "question");
  EXPECT_EQ(source.letters(), nullptr) << "of the first part";
  ASSERT_NE(source.letters("question"), nullptr);
  EXPECT_EQ(source.letters("question")->row(3), (Row{4}));
  EXPECT_EQ(message_of([&] { source.add_letters(Sequences(SpelledWords{{1}}), "answer"); }),
            "Source: expected letters of a text that it has, got answer");
}

/// A document, the letters of its words, and a question.
Source of_three_parts(const Row& document, const SpelledWords& spelled, const Row& question) {
  Source source;
  source.add("document", Sequences(std::vector<Row>{document}));
  source.add_letters(letter_rows(std::vector<SpelledWords>{spelled}, source.text().longest()));
  return source.add("question", Sequences(std::vector<Row>{question}));
}

TEST(Parts, OfEverySourceAreStored) {
  const test::TestFolder folder;
  EncodedPairsWriter writer(folder.path(), {.longest = 3});
  const std::vector<SpelledWords> spelled{{{7, 8}, {9}}, {{}, {5}, {}}, {{6}}};
  EXPECT_TRUE(writer.add(of_three_parts({4, 5}, spelled[0], {4, 4, 4, 4}), Row{6}));
  EXPECT_FALSE(writer.add(of_three_parts({4, 4, 4, 4}, SpelledWords(4, Row{1}), {5}), Row{6})) << "too long";
  EXPECT_TRUE(writer.add(of_three_parts({4, 5, 6}, spelled[1], {}), Row{7, 8}));
  EXPECT_TRUE(writer.add(of_three_parts({9}, spelled[2], {5}), Row{4}));
  EXPECT_EQ(message_of([&] {
              writer.add(Row{4, 5}, Row{6});
            }),
            "EncodedPairsWriter: expected the parts document, document.letters, question of every source, got text");
  EXPECT_EQ(message_of([&] {
              writer.add(Source(Sequences({{4}, {5}})), Row{6});
            }),
            "EncodedPairsWriter: expected the source of one example, got those of 2");
  EXPECT_EQ(message_of([&] {
              writer.add(Source::of_images(Tensor::zeros({1, 1, 2, 2})), Row{6});
            }),
            "EncodedPairsWriter: expected ids, got numbers in part image");
  const EncodedPairs pairs = writer.finish();
  EXPECT_EQ(pairs.parts(), (std::vector<std::string>{"document", "document.letters", "question"}));
  ASSERT_EQ(pairs.size(), 3);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(pairs.letters(i, 1), spelled[static_cast<size_t>(i)]) << i;
  EXPECT_EQ(pairs.source_length(1), 3);
  EXPECT_EQ(Row(pairs.source(0, 2).begin(), pairs.source(0, 2).end()), (Row{4, 4, 4, 4}));
  EXPECT_TRUE(pairs.source(1, 2).empty());
  EXPECT_EQ(Row(pairs.target(1).begin(), pairs.target(1).end()), (Row{7, 8}));
}

TEST(Parts, ComeWithTheBatchesOfSuchPairs) {
  const test::TestFolder folder;
  EncodedPairsWriter writer(folder.path()), plain(folder.path());
  writer.add(of_three_parts({4, 5}, {{7, 8}, {9}}, {6}), Row{6});
  writer.add(of_three_parts({4}, {{3, 2, 1}}, {7, 8, 9}), Row{6});
  plain.add(Row{4, 5}, Row{6});
  const Batches batches(writer.finish(), {.tokens = 100});
  const Batch batch = batches.batch(BatchRows{0, 1});
  ASSERT_EQ(batch.source.parts().size(), 3u);
  EXPECT_EQ(batch.source.parts()[0].name, "document");
  ASSERT_NE(batch.source.letters(), nullptr);
  ASSERT_EQ(batch.source.letters()->count(), 4);
  EXPECT_EQ(batch.source.letters()->row(0), (Row{7, 8}));
  EXPECT_EQ(batch.source.letters()->row(2), (Row{3, 2, 1}));
  EXPECT_EQ(batch.source.letters()->row(3), Row()) << "beyond its words";
  EXPECT_EQ(batch.source.find("question")->ids.row(0), (Row{6}));
  EXPECT_EQ(batch.source.find("question")->ids.row(1), (Row{7, 8, 9}));
  const EncodedPairs without = plain.finish();
  EXPECT_EQ(without.parts(), std::vector<std::string>{"text"});
  EXPECT_EQ(Batches(without, {.tokens = 100}).batch(BatchRows{0}).source.letters(), nullptr);
}

}  // namespace
}  // namespace attend::data
