#include "attend/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::TestFolder;

/// Lengths as captions have them: log-normal around 13 tokens, the target of a length near its source's.
EncodedPairs made_up(int64_t count) {
  const TestFolder folder;
  EncodedPairsWriter writer(folder.path());
  Random random(3);
  for (int64_t i = 0; i < count; ++i) {
    const double source = std::exp(std::log(13.0) + 0.33 * random.normal()),
                 target = source * std::exp(0.2 * random.normal());
    const auto length = [](double x) { return static_cast<size_t>(std::clamp(x, 1.0, 90.0)); };
    writer.add(std::vector<int32_t>(length(source), 4 + static_cast<int32_t>(i)),
               std::vector<int32_t>(length(target), 5 + static_cast<int32_t>(i)));
  }
  return writer.finish();
}

struct Cost {
  int64_t tokens = 0, padded = 0;
};

Cost cost(const EncodedPairs& pairs, const BatchRows& rows) {
  Cost cost;
  int64_t source = 0, target = 0;
  for (const uint32_t row : rows) {
    cost.tokens += pairs.source_length(row) + pairs.target_length(row);
    source = std::max(source, pairs.source_length(row));
    target = std::max(target, pairs.target_length(row));
  }
  cost.padded = (source + target) * static_cast<int64_t>(rows.size());
  return cost;
}

int64_t budget(const EncodedPairs& pairs, const BatchRows& rows) {
  int64_t longest = 0;
  for (const uint32_t row : rows) longest = std::max({longest, pairs.source_length(row), pairs.target_length(row)});
  return longest * static_cast<int64_t>(rows.size());
}

TEST(Batches, HoldEachPairOnce) {
  const EncodedPairs pairs = made_up(5000);
  for (const int64_t number : {0, 1, 77}) {
    std::vector<uint32_t> all;
    for (const BatchRows& rows : Batches(pairs, {.tokens = 700}).epoch(number)) {
      all.insert(all.end(), rows.begin(), rows.end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), 5000u);
    for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(all[i], i);
  }
}

TEST(Batches, KeepToTheBudget) {
  const EncodedPairs pairs = made_up(3000);
  for (const BatchRows& rows : Batches(pairs, {.tokens = 500}).epoch(0)) EXPECT_LE(budget(pairs, rows), 500);
  for (const BatchRows& rows : Batches(pairs, {.tokens = 100'000, .sentences = 7}).epoch(0)) EXPECT_LE(rows.size(), 7u);
  for (const BatchRows& rows : Batches(pairs, {.tokens = 20}).epoch(0)) {
    EXPECT_TRUE(rows.size() == 1 || budget(pairs, rows) <= 20);
  }
}

TEST(Batches, AreDecidedBySeedAndEpoch) {
  const EncodedPairs pairs = made_up(2000);
  const Batches first(pairs, {}), again(pairs, {}), other(pairs, {.seed = 2});
  EXPECT_EQ(first.epoch(3), again.epoch(3));
  EXPECT_NE(first.epoch(3), first.epoch(4));
  EXPECT_NE(first.epoch(3), other.epoch(3));
}

TEST(Batches, DifferInContentFromEpochToEpoch) {
  const EncodedPairs pairs = made_up(5000);
  const auto contents = [&](int64_t number) {
    std::vector<BatchRows> batches = Batches(pairs, {.tokens = 1000}).epoch(number);
    for (BatchRows& rows : batches) std::sort(rows.begin(), rows.end());
    std::sort(batches.begin(), batches.end());
    return batches;
  };
  const std::vector<BatchRows> one = contents(0), two = contents(1);
  std::vector<BatchRows> same;
  std::set_intersection(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(same));
  EXPECT_LT(same.size(), one.size() / 10);
}

TEST(Batches, AreNotInOrderOfLength) {
  const EncodedPairs pairs = made_up(5000);
  size_t falls = 0;
  int64_t before = 0;
  const std::vector<BatchRows> batches = Batches(pairs, {.tokens = 500}).epoch(0);
  for (const BatchRows& rows : batches) {
    const int64_t longest = budget(pairs, rows) / static_cast<int64_t>(rows.size());
    falls += longest < before;
    before = longest;
  }
  EXPECT_GT(falls, batches.size() / 4);
}

TEST(Batches, WasteLittleOnPadding) {
  const EncodedPairs pairs = made_up(29000);
  Cost all;
  for (const BatchRows& rows : Batches(pairs, {}).epoch(0)) {
    const Cost one = cost(pairs, rows);
    all.tokens += one.tokens;
    all.padded += one.padded;
  }
  const double waste = 1 - static_cast<double>(all.tokens) / static_cast<double>(all.padded);
  RecordProperty("waste", std::to_string(waste));
  EXPECT_LT(waste, 0.1);
}

TEST(Batches, HoldTheIdsOfTheirRows) {
  const EncodedPairs pairs = made_up(10);
  const std::vector<uint32_t> rows = {7, 2};
  const Batch batch = Batches(pairs, {}).batch(rows);
  EXPECT_EQ(batch.source.text().row(0).front(), 4 + 7);
  EXPECT_EQ(batch.target.row(1).front(), 5 + 2);
  EXPECT_EQ(batch.target.lengths[1], pairs.target_length(2));
}

TEST(Batches, RefuseWhatIsNone) {
  EXPECT_NE(message_of([] { Batches(EncodedPairs(), {}); }), "");
  const EncodedPairs pairs = made_up(1);
  EXPECT_EQ(message_of([&] { Batches(pairs, {.tokens = 0}); }), "tokens: expected 1 to 268435456, got 0");
}

}  // namespace
}  // namespace attend::data
