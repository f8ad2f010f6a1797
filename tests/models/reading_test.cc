// It learns: answers that follow a word of the question, in half a minute on two cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/zoo.h"
#include "attend/train/optimiser.h"
#include "tests/models/small.h"

namespace attend::models {
namespace {

constexpr int32_t kReadWords = 40;

/// The answer: the words between the two that the question names.
data::Batch found_between(size_t count, Random& random) {
  std::vector<std::vector<int32_t>> documents, questions, spans;
  for (size_t b = 0; b < count; ++b) {
    std::vector<int32_t> words(kReadWords - data::kFirstWord);
    for (size_t i = 0; i < words.size(); ++i) words[i] = data::kFirstWord + static_cast<int32_t>(i);
    for (size_t i = words.size() - 1; i > 0; --i) std::swap(words[i], words[random.below(i + 1)]);
    words.resize(8 + random.below(12));
    const auto first = static_cast<int32_t>(random.below(words.size() - 3));
    const auto last = first + 2 + static_cast<int32_t>(random.below(std::min<uint64_t>(3, words.size() - static_cast<uint64_t>(first) - 2)));
    questions.push_back({words[static_cast<size_t>(first)], words[static_cast<size_t>(last)]});
    spans.push_back({first + 1, last - 1});
    documents.push_back(std::move(words));
  }
  data::Batch batch{{}, rows(spans)};
  batch.source.add("document", rows(documents)).add("question", rows(questions));
  return batch;
}

class ReadingSlow : public testing::TestWithParam<const char*> {};

TEST_P(ReadingSlow, FindsWhatStandsBetween) {
  Random random(1), data(2);
  const auto model = make_model("reader",
                                {{"encoder.vocabulary", std::to_string(kReadWords)},
                                 {"encoder.kind", GetParam()},
                                 {"encoder.size", "32"},
                                 {"encoder.hidden", "64"},
                                 {"modelling.hidden", "64"},
                                 {"modelling.kind", GetParam()},
                                 {"modelling.layers", "1"}},
                                random);
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(*model));
  const bool recurrent = std::string_view(GetParam()) == "recurrent";
  // A Transformer that starts at its full rate may settle for nine spans in ten, depending on the processor's rounding.
  const double rate = recurrent ? 4e-3 : 6e-3, warmup = 50, steps = recurrent ? 300 : 700;
  for (Training training{Random(3)}; training.update < steps; ++training.update) {
    Tape tape;
    tape.backward(model->loss(found_between(64, data), &training));
    const double done = static_cast<double>(training.update);
    adam->step(rate * std::min(1.0, (done + 1) / warmup) * (1 - done / steps),
               train::clip_scale(train::gradient_norm(adam->parameters()), 1.0));
    adam->clear_gradients();
  }
  const data::Batch test = found_between(300, data);
  const auto found = decode::search(*model, test.source, {});
  int right = 0;
  for (size_t b = 0; b < found.size(); ++b) right += found[b][0].tokens == test.target.row(static_cast<int64_t>(b));
  std::printf("reader, %s: %.1f %% of the spans exactly\n", GetParam(), right / 3.0);
  EXPECT_GE(right, 291);
}
INSTANTIATE_TEST_SUITE_P(Encoders, ReadingSlow, testing::Values("recurrent", "transformer"));

}  // namespace
}  // namespace attend::models
