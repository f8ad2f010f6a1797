// Small tasks that networks learn from generated pairs, a loop that trains them, and how often they are right.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "attend/train/optimiser.h"

namespace attend::test {

struct Pair {
  std::vector<int32_t> source, target;
};
/// Draws a pair whose source has that length.
using Task = std::function<Pair(size_t length, Random& random)>;

/// Words kFirstWord … kFirstWord + kinds − 1.
inline std::vector<int32_t> random_words(size_t length, int32_t kinds, Random& random) {
  std::vector<int32_t> words;
  for (size_t i = 0; i < length; ++i) {
    words.push_back(data::kFirstWord + static_cast<int32_t>(random.below(static_cast<uint64_t>(kinds))));
  }
  return words;
}

inline Task copy_task(int32_t kinds) {
  return [kinds](size_t length, Random& random) {
    Pair p;
    p.source = p.target = random_words(length, kinds, random);
    return p;
  };
}

inline Task reverse_task(int32_t kinds) {
  return [kinds](size_t length, Random& random) {
    Pair p;
    p.source = random_words(length, kinds, random);
    p.target.assign(p.source.rbegin(), p.source.rend());
    return p;
  };
}

struct Lesson {
  size_t shortest = 1, longest = 20;
  int64_t steps = 1000, batch = 64;
  double rate = 3e-3;
  double clip = 1;
  /// The first share of the steps draws lengths from a range that grows to the whole.
  double growing = 0;
};

inline data::Batch draw(const Task& task, size_t shortest, size_t longest, int64_t count, Random& random) {
  std::vector<std::vector<int32_t>> sources, targets;
  for (int64_t b = 0; b < count; ++b) {
    Pair p = task(shortest + random.below(longest - shortest + 1), random);
    sources.push_back(std::move(p.source));
    targets.push_back(std::move(p.target));
  }
  return {data::Sequences(sources), data::Sequences(targets)};
}

/// Adam with a rate that falls linearly to a twentieth. Says how long it took.
inline void teach(models::Model& model, const Task& task, const Lesson& lesson, const char* name = "") {
  const auto start = std::chrono::steady_clock::now();
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(model));
  models::Training training{Random(11).named("training"), 0};
  Random examples = Random(12).named("examples");
  double loss = 0;
  for (; training.update < lesson.steps; ++training.update) {
    const double done = static_cast<double>(training.update) / static_cast<double>(lesson.steps);
    const double share = lesson.growing > 0 ? std::min(1.0, 0.2 + 0.8 * done / lesson.growing) : 1.0;
    const size_t longest =
        std::max(lesson.shortest, static_cast<size_t>(std::lround(share * static_cast<double>(lesson.longest))));
    Tape tape;
    const Var objective = model.loss(draw(task, lesson.shortest, longest, lesson.batch, examples), &training);
    tape.backward(objective);
    loss = static_cast<double>(objective.item());
    adam->step(lesson.rate * (1 - 0.95 * done),
               train::clip_scale(train::gradient_norm(adam->parameters()), lesson.clip));
    adam->clear_gradients();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%s: %lld steps in %.1f s, last loss %.4f\n", name, static_cast<long long>(lesson.steps), took.count(),
              loss);
  std::fflush(stdout);
}

/// Share of answers that are right from the first token to the last, by source length, on pairs never drawn in training.
inline std::map<size_t, double> exact_by_length(const models::Model& model, const Task& task, size_t shortest,
                                                size_t longest, int64_t each,
                                                const decode::SearchOptions& options = {}) {
  Random random = Random(13).named("held out");
  std::map<size_t, double> right;
  for (size_t length = shortest; length <= longest; ++length) {
    const data::Batch batch = draw(task, length, length, each, random);
    const auto found = decode::search(model, batch.source, options);
    int64_t count = 0;
    for (int64_t b = 0; b < each; ++b) {
      const auto& answers = found[static_cast<size_t>(b)];
      count += !answers.empty() && answers[0].tokens == batch.target.row(b) ? 1 : 0;
    }
    right[length] = static_cast<double>(count) / static_cast<double>(each);
  }
  return right;
}

inline double mean_of(const std::map<size_t, double>& by_length) {
  double sum = 0;
  for (const auto& [length, share] : by_length) sum += share;
  return by_length.empty() ? 0 : sum / static_cast<double>(by_length.size());
}

inline void print_by_length(const char* name, const std::map<size_t, double>& by_length) {
  std::printf("%-24s", name);
  for (const auto& [length, share] : by_length) std::printf(" %zu:%3.0f", length, 100 * share);
  std::printf("   mean %.1f %%\n", 100 * mean_of(by_length));
  std::fflush(stdout);
}

}  // namespace attend::test
