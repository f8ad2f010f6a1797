// Models side by side: groups by length, examples to look at, curves from a log.
#include "attend/tasks/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/tasks/task.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using train::length_groups;
using train::LengthGroup;
using train::score_by_length;

std::vector<std::string> texts_of_groups(const std::vector<LengthGroup>& groups) {
  std::vector<std::string> all;
  for (const LengthGroup& group : groups) all.push_back(group.text());
  return all;
}

std::vector<int64_t> lengths(std::initializer_list<std::pair<int64_t, int>> counts) {
  std::vector<int64_t> all;
  for (const auto& [length, count] : counts) all.insert(all.end(), static_cast<size_t>(count), length);
  return all;
}

TEST(LengthGroups, HaveRoundBoundsAndEnoughSentences) {
  const std::vector<int64_t> all = lengths({{4, 20}, {9, 50}, {12, 60}, {17, 40}, {24, 30}, {33, 3}});
  const std::vector<LengthGroup> groups = length_groups(all, 10);
  EXPECT_EQ(texts_of_groups(groups), (std::vector<std::string>{"4–10", "11–15", "16–20", "21+"}));
  int64_t sum = 0;
  for (const LengthGroup& group : groups) {
    EXPECT_GE(group.count, 10);
    EXPECT_EQ(group.count, std::ranges::count_if(all, [&](int64_t n) { return group.has(n); }));
    sum += group.count;
  }
  EXPECT_EQ(sum, static_cast<int64_t>(all.size()));
}

TEST(LengthGroups, OfShortSentencesHaveFinerBounds) {
  const std::vector<LengthGroup> groups =
      length_groups(lengths({{3, 20}, {4, 30}, {5, 30}, {6, 30}, {7, 30}, {8, 10}}), 10);
  EXPECT_GE(groups.size(), 3u);
  for (const LengthGroup& group : groups) EXPECT_GE(group.count, 10);
}

TEST(LengthGroups, AreOneWhereThereIsNothingToTellApart) {
  EXPECT_TRUE(length_groups({}, 10).empty());
  EXPECT_EQ(texts_of_groups(length_groups(lengths({{7, 3}}), 10)), std::vector<std::string>{"7+"});
  EXPECT_EQ(length_groups(lengths({{1, 2}, {40, 2}}), 10).at(0).count, 4);
}

TEST(LengthGroups, EverySentenceIsInOneOfThem) {
  for (int64_t least : {1, 5, 1000}) {
    std::vector<int64_t> all(300);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(1 + (i * i) % 47);
    for (const int64_t n : all) {
      const std::vector<LengthGroup> groups = length_groups(all, least);
      EXPECT_EQ(std::ranges::count_if(groups, [&](const LengthGroup& group) { return group.has(n); }), 1) << n;
    }
  }
}

const train::ScoreRow& main_score(std::string_view task) { return train::score_named(task_named(task).scores[0]); }

TEST(MainScore, IsExactMatchWhereAnAnswerIsOneWord) {
  EXPECT_EQ(main_score("translate").name, "bleu");
  EXPECT_EQ(main_score("reverse").name, "exact");
  EXPECT_EQ(main_score("dates").name, "exact");
  EXPECT_EQ(main_score("reverse").score({{"cba", "x"}, {{"cba"}, {"y"}}}), 50);
}

TEST(ScoreByLength, IsTheScoreOfEachGroupsSentences) {
  const train::Judged judged{{"one two three four", "nothing of it all"}, {{"one two three four"}, {"five six seven eight"}}};
  const std::vector<int64_t> words = source_lengths(examples_of(test::typed({"a", "a b"})), false);
  EXPECT_EQ(words, (std::vector<int64_t>{1, 2}));
  const std::vector<LengthGroup> groups{{1, 1, 1}, {2, 2, 1}, {3, {}, 0}};
  const std::vector<double> scores = score_by_length(main_score("translate"), judged, words, groups);
  EXPECT_NEAR(scores.at(0), 100, 1e-6);
  EXPECT_LT(scores.at(1), 10);
  EXPECT_TRUE(std::isnan(scores.at(2)));
  EXPECT_EQ(score_by_length(main_score("reverse"), judged, words, groups).at(1), 0);
  EXPECT_EQ(test::message_of([&] { score_by_length(main_score("reverse"), {}, words, groups); }),
            "score_by_length: expected 2 outputs, got 0");
}

TEST(SourceLengths, AreWordsOrLettersOfTexts) {
  EXPECT_EQ(source_lengths(examples_of(test::typed({"  größe  des  hauses ", ""})), false),
            (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(source_lengths(examples_of(test::typed({"größe"})), true), (std::vector<int64_t>{5}));
  EXPECT_TRUE(source_lengths(examples_of({test::image_example(data::Image(4, 4, 1))}), false).empty());
}

TEST(ExamplesToShow, AreTextsOfDifferentLengthsThatAreNotTooLong) {
  std::vector<std::string> lines;
  for (int words = 0; words < 40; ++words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += "w ";
    lines.push_back(text);
  }
  EXPECT_EQ(examples_to_show(examples_of(test::typed(lines))), (std::vector<size_t>{3, 9, 14}));
  EXPECT_TRUE(examples_to_show({}).empty());
  lines.resize(3);
  EXPECT_EQ(examples_to_show(examples_of(test::typed(lines))).size(), 2u) << "an empty one is not shown";
}

TEST(ExamplesToShow, AreImagesAsTheyCome) {
  std::vector<Example> images;
  for (int i = 0; i < 6; ++i) images.push_back(test::image_example(data::Image(4, 4, 1)));
  EXPECT_EQ(examples_to_show(examples_of(images)), (std::vector<size_t>{1, 3, 5}));
}

TEST(Curve, IsReadFromTheLogOfARun) {
  const test::TestFolder folder;
  folder.file("log.jsonl",
              "{\"step\":10,\"loss\":3.0,\"seconds\":60}\n"
              "{\"step\":10,\"valid_loss\":2.5,\"bleu\":1.5,\"exact\":7}\n"
              "{\"step\":20,\"loss\":2.0,\"seconds\":120}\n"
              "{\"step\":20,\"valid_loss\":2.0}\n"
              "{\"step\":20,\"valid_loss\":1.9,\"bleu\":9}\n"
              "{\"step\":30,\"valid_l");
  const Curve curve = read_curve(folder.path(), main_score("translate"));
  EXPECT_EQ(curve.steps, (std::vector<double>{10, 20})) << "the mean of weights is no step of its own";
  EXPECT_EQ(curve.minutes, (std::vector<double>{1, 2}));
  EXPECT_EQ(curve.loss, (std::vector<double>{2.5, 2}));
  EXPECT_EQ(curve.score.at(0), 1.5);
  EXPECT_TRUE(std::isnan(curve.score.at(1)));
  EXPECT_EQ(read_curve(folder.path(), main_score("dates")).score.at(0), 7);
  EXPECT_TRUE(read_curve(folder.path() / "none", main_score("dates")).steps.empty());
}

}  // namespace
}  // namespace attend::tasks
