// The likeliest path of a labelling, against all paths.
#include "attend/decode/ctc_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attend/base/random.h"
#include "tests/support/message.h"

namespace attend::decode {
namespace {

Tensor drawn(int64_t frames, int64_t labels, uint64_t seed) {
  Tensor logits({frames, labels});
  Random random(seed);
  for (size_t i = 0; i < logits.size(); ++i) logits.data()[i] = static_cast<real>(random.normal());
  return logits;
}

/// What a path says: repetitions collapsed, blanks (0) removed, and the frames of each label.
std::vector<LabelFrames> frames_of(const std::vector<int32_t>& path, std::vector<int32_t>& said) {
  std::vector<LabelFrames> frames;
  said.clear();
  for (size_t t = 0; t < path.size(); ++t) {
    if (path[t] == 0) continue;
    const auto at = static_cast<int64_t>(t);
    if (t > 0 && path[t] == path[t - 1]) {
      frames.back().end = at + 1;
    } else {
      said.push_back(path[t]), frames.push_back({at, at + 1});
    }
  }
  return frames;
}

/// The best of all labels^frames paths that say `labels`.
std::vector<LabelFrames> best_of_all(const Tensor& logits, const std::vector<int32_t>& labels) {
  const int64_t frames = logits.dim(0), count = logits.dim(1);
  std::vector<int32_t> path(static_cast<size_t>(frames)), said;
  std::vector<LabelFrames> best;
  double most = -1e30;
  int64_t all = 1;
  for (int64_t t = 0; t < frames; ++t) all *= count;
  for (int64_t number = 0; number < all; ++number) {
    double score = 0;
    int64_t rest = number;
    for (int64_t t = 0; t < frames; ++t, rest /= count) {
      path[static_cast<size_t>(t)] = static_cast<int32_t>(rest % count);
      score += static_cast<double>(logits.data()[t * count + rest % count]);
    }
    const std::vector<LabelFrames> found = frames_of(path, said);
    if (said == labels && score > most) most = score, best = found;
  }
  return best;
}

TEST(CtcAlignment, IsTheLikeliestOfAllPaths) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Tensor logits = drawn(6, 4, seed);
    for (const std::vector<int32_t>& labels :
         {std::vector<int32_t>{1}, {1, 2}, {1, 1}, {3, 1, 3}, {2, 2, 2}, {1, 2, 3, 1, 2, 3}}) {
      EXPECT_EQ(ctc_alignment(logits, labels), best_of_all(logits, labels)) << "seed " << seed;
    }
  }
}

TEST(CtcAlignment, OfNothingIsNothing) { EXPECT_TRUE(ctc_alignment(drawn(3, 4, 1), {}).empty()); }

TEST(CtcAlignment, RefusesWhatCannotBeSaid) {
  const auto message = [](const std::vector<int32_t>& labels) {
    return test::message_of([&] { ctc_alignment(drawn(3, 4, 1), labels); });
  };
  EXPECT_EQ(message({1, 1, 2}), "ctc_alignment: expected at least 4 frames, got 3");
  EXPECT_EQ(message({0}), "ctc_alignment: expected labels below 4 other than the blank, got 0");
  EXPECT_EQ(message({4}), "ctc_alignment: expected labels below 4 other than the blank, got 4");
}

}  // namespace
}  // namespace attend::decode
