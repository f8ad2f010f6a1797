// How much memory a search takes is estimated, and refused where there is not that much.
#include <gtest/gtest.h>

#include "attend/base/random.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "tests/support/message.h"

namespace attend::decode {
namespace {

using test::message_of;
using test::says;

std::unique_ptr<models::Model> made_for_memory(const char* name) {
  Random random(1);
  const Settings sizes{{"source_vocabulary", "50"}, {"target_vocabulary", "1000"}, {"hidden", "16"}};
  return models::make_model(name, sizes, random);
}

TEST(SearchMemory, GrowsWithHypothesesTextsAndLength) {
  const auto transformer = made_for_memory("transformer"), recurrent = made_for_memory("recurrent");
  const size_t one = search_bytes(*transformer, {.beam = 4}, 1, 20);
  EXPECT_GE(one, 4 * 1000 * sizeof(real));
  EXPECT_EQ(search_bytes(*transformer, {.beam = 4}, 8, 20), 8 * one);
  EXPECT_GE(search_bytes(*transformer, {.beam = 400}, 1, 20), 100 * one);
  EXPECT_GT(search_bytes(*transformer, {.beam = 4}, 1, 2000), 2 * one);
  EXPECT_GT(search_bytes(*transformer, {.beam = 4}, 1, 2000), search_bytes(*recurrent, {.beam = 4}, 1, 2000))
      << "a Transformer keeps a key and a value of each token";
  EXPECT_EQ(search_bytes(*transformer, {.beam = 4, .n_best = 9, .sample = true}, 1, 20),
            9 * search_bytes(*transformer, {.beam = 4, .n_best = 1, .sample = true}, 1, 20));
}

TEST(SearchMemory, TooMuchIsRefusedWithTheEstimate) {
  const auto model = made_for_memory("recurrent");
  const SearchOptions wide{.beam = 10'000};
  const std::string said = message_of([&] { check_memory(*model, wide, 64, 50, size_t{1} << 30); });
  const char* begins = "beam: expected a search that fits into the 1.0 GiB of memory at hand, got one of about ";
  EXPECT_TRUE(said.starts_with(begins)) << said;
  EXPECT_TRUE(says(said, "GiB (64 texts × 10000 hypotheses of up to 50 tokens, from 1000 words each)")) << said;
  EXPECT_EQ(message_of([&] { check_memory(*model, wide, 64, 50, size_t{1} << 50); }), "");
  EXPECT_TRUE(message_of([&] {
                check_memory(*model, {.n_best = 10'000, .sample = true}, 64, 50, size_t{1} << 20);
              }).starts_with("n_best: "));
}

TEST(SearchMemory, TheBeamGrowsToTheAnswersThatAreAskedFor) {
  SearchOptions options{.beam = 2, .n_best = 5};
  widen(options);
  EXPECT_EQ(options.beam, 5);
  SearchOptions drawn{.beam = 2, .n_best = 5, .sample = true};
  widen(drawn);
  EXPECT_EQ(drawn.beam, 2) << "drawn answers keep no beam";
}

}  // namespace
}  // namespace attend::decode
