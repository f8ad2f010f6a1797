#include "attend/data/sound_sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tests/data/sound_files.h"
#include "tests/support/message.h"

namespace attend::data {
namespace {

using test::message_of;
using test::says;
using test::tone;

TEST(SoundSequences, JoinSoundsWithPauses) {
  const std::vector<Sound> sounds = {{8000, std::vector<float>(800, 0.5F)}, {8000, std::vector<float>(400, -0.5F)}};
  const JoinOptions options{.least_pause = 0.1, .most_pause = 0.2};
  const JoinedSound joined = joined_sounds(sounds, options, Random(3));
  EXPECT_EQ(joined.sound.rate, 8000);
  ASSERT_EQ(joined.places.size(), 2u);
  double last = 0;
  const float values[] = {0.5F, -0.5F};
  for (size_t k = 0; k < 2; ++k) {
    const auto [label, begin, end] = joined.places[k];
    EXPECT_GE(begin - last, 0.1 - 1e-4);
    EXPECT_LE(begin - last, 0.2 + 1e-4);
    const auto from = static_cast<size_t>(begin * 8000 + 0.5), to = static_cast<size_t>(end * 8000 + 0.5);
    ASSERT_EQ(to - from, sounds[k].samples.size());
    for (size_t i = from; i < to; ++i) ASSERT_EQ(joined.sound.samples[i], values[k]);
    EXPECT_EQ(joined.sound.samples[from - 1], 0);
    EXPECT_EQ(joined.sound.samples[to], 0);
    last = end;
  }
  EXPECT_GE(joined.sound.seconds() - last, 0.1 - 1e-4);
  EXPECT_EQ(joined_sounds(sounds, options, Random(3)).sound.samples, joined.sound.samples);
  EXPECT_NE(joined_sounds(sounds, options, Random(4)).sound.samples.size(), joined.sound.samples.size());
}

TEST(SoundSequences, MatchTheRates) {
  const std::vector<Sound> sounds = {{8000, tone(8000, 440, 8000)}, {16000, tone(16000, 440, 16000)}};
  const JoinedSound joined = joined_sounds(sounds, {.least_pause = 0, .most_pause = 0}, Random(1), 16000);
  ASSERT_EQ(joined.sound.samples.size(), 32000u);
  for (size_t i = 200; i < 15800; ++i) ASSERT_NEAR(joined.sound.samples[i], joined.sound.samples[16000 + i], 1e-3);
  EXPECT_EQ(joined_sounds(sounds, {}, Random(1)).sound.rate, 8000);
  EXPECT_TRUE(says(message_of([] { joined_sounds({}, {}, Random(1)); }), "expected at least one sound"));
}

TEST(SoundSequences, ArePlannedByTheirIndex) {
  std::vector<std::string> groups;
  for (int i = 0; i < 60; ++i) groups.push_back(i < 40 ? "ann" : "bob");
  const SoundSequences sequences(groups, {.least = 2, .most = 5}, 7);
  std::map<size_t, int> lengths;
  std::set<std::vector<size_t>> different;
  int ann = 0;
  for (int64_t i = 0; i < 2000; ++i) {
    const SequencePlan plan = sequences.plan(i);
    EXPECT_EQ(plan.members, sequences.plan(i).members);
    ++lengths[plan.members.size()];
    different.insert(plan.members);
    const bool first = plan.members[0] < 40;
    ann += first;
    EXPECT_TRUE(std::ranges::all_of(plan.members, [&](size_t m) { return (m < 40) == first; }));
  }
  EXPECT_EQ(lengths.size(), 4u);
  for (const auto& [length, count] : lengths) EXPECT_NEAR(count, 500, 80) << length;
  EXPECT_NEAR(ann, 1333, 80) << "as many as the group has sounds";
  EXPECT_GT(different.size(), 1800u);
  EXPECT_NE(SoundSequences(groups, {.least = 2, .most = 5}, 8).plan(0).members, sequences.plan(0).members);
  const SoundSequences mixed(groups, {.least = 20, .most = 20, .same_group = false}, 7);
  const SequencePlan plan = mixed.plan(0);
  EXPECT_GT(std::ranges::count_if(plan.members, [](size_t m) { return m >= 40; }), 0);
  EXPECT_GT(std::ranges::count_if(plan.members, [](size_t m) { return m < 40; }), 0);
}

TEST(SoundSequences, RefuseOptionsThatDoNotFitTogether) {
  EXPECT_TRUE(says(message_of([] { check_join({.least = 3, .most = 2}); }), "most: expected at least least, 3, got 2"));
  EXPECT_TRUE(
      says(message_of([] { check_join({.least_pause = 1, .most_pause = 0.5}); }), "most_pause: expected at least"));
  EXPECT_TRUE(says(message_of([] { check_join({.least = 0}); }), "least: expected"));
  EXPECT_TRUE(says(message_of([] { SoundSequences({}, {}, 1); }), "expected at least one sound"));
}

}  // namespace
}  // namespace attend::data
