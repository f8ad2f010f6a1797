// A network that has learned to spell words backwards looks at the letters from the last to the first, and it is these that
// speak for what it says: attention and saliency lie on the anti-diagonal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "attend/tasks/explanation.h"
#include "attend/tasks/training.h"
#include "tests/support/folder.h"

namespace attend::tasks {
namespace {

constexpr size_t kWords = 50;

/// The share of what is above 0 that lies on the anti-diagonal, over all steps but the end.
double on_anti_diagonal(const explain::TraceMap& map) {
  const int64_t letters = map.tokens.dim(1), steps = std::min(letters, map.tokens.dim(0));
  double on = 0, all = 0;
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t s = 0; s < letters; ++s) {
      const double value = std::max(0.0, static_cast<double>(map.tokens.data()[t * letters + s]));
      all += value;
      if (s == letters - 1 - t) on += value;
    }
  }
  return on / all;
}

TEST(ReverseSlow, AttentionAndSaliencyLieOnTheAntiDiagonal) {
  const test::TestFolder folder;
  const TaskConfig config({{"task", "reverse", ""},
                           {"model.hidden", "48", ""},
                           {"model.dropout", "0.2", ""},
                           {"model.label_smoothing", "0.1", ""},
                           {"model.decoder.query", "after", ""},
                           {"model.decoder.feeding", "true", ""},
                           {"model.attention.score", "general", ""},
                           {"train.epochs", "6", ""}});
  TaskTraining training(config, folder.path() / "model", false, [](const std::string&) {});
  training.trainer().run({});
  const TaskModel model = TaskModel::load(folder.path() / "model");
  const Examples test = read_test(config, {});
  ASSERT_GE(test.count, static_cast<int64_t>(kWords));
  ExplainOptions options;
  options.search = config.options.search;
  double mass[2] = {0, 0};
  size_t exact = 0;
  for (size_t i = 0; i < kWords; ++i) {
    const Example word = test.at(static_cast<int64_t>(i));
    for (const int method : {0, 1}) {
      options.method = method == 0 ? "attention" : "saliency";
      const explain::Trace trace = explain_text(model, word.text(), options);
      mass[method] += on_anti_diagonal(trace.maps[0]) / kWords;
      exact += method == 0 && trace.target.text == word.right.at(0) ? 1 : 0;
    }
  }
  std::printf("%zu of %zu words right; on the anti-diagonal: attention %.1f %%, saliency %.1f %%\n", exact, kWords,
              100 * mass[0], 100 * mass[1]);
  EXPECT_GE(exact, kWords - 2);
  EXPECT_GE(mass[0], 0.95);
  EXPECT_GE(mass[1], 0.95);
}

}  // namespace
}  // namespace attend::tasks
