// Words with their letters: against plain loops, in batches and alone, with gradients for every parameter.
#include "attend/models/source_embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/autograd/ops.h"
#include "attend/autograd/tape.h"
#include "attend/nn/recurrent.h"
#include "tests/support/array.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using test::kDouble;
constexpr double kEmbeddingTolerance = kDouble ? 1e-12 : 1e-5;

using Letters = std::vector<std::vector<std::vector<int32_t>>>;

/// Sentences of 3, 1 and 2 words; the last word of all has no letters, and two words are the same.
const std::vector<std::vector<int32_t>> kTexts{{4, 5, 6}, {5}, {7, 1}};
const Letters kSpelled{{{4, 5, 6, 7}, {8}, {6, 6}}, {{8}}, {{5, 4, 8}, {}}};

data::Source source_of(const std::vector<std::vector<int32_t>>& texts, const Letters& letters) {
  data::Source source = data::Sequences(texts);
  source.add_letters(data::letter_rows(letters, source.text().longest()));
  return source;
}

SourceEmbeddingOptions options(const std::string& kind) {
  return {.vocabulary = 9, .size = 4, .letters = {.kind = kind, .vocabulary = 10, .size = 3, .filters = 5, .width = 3}};
}

TEST(SourceEmbedding, WithoutLettersItIsTheTable) {
  Random first(3), second(3);
  SourceEmbedding words(options("none"), first);
  nn::Embedding table(9, 4, second);
  EXPECT_EQ(first.below(1 << 30), second.below(1 << 30)) << "as many random numbers were drawn";
  const auto all = nn::parameters(words);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "table");
  EXPECT_EQ(words.size(), 4);
  const data::Source source = data::Sequences(kTexts);
  for (const bool by_time : {false, true}) {
    const Tensor got = words(source, nullptr, by_time).value();
    const Tensor expected = table(by_time ? source.text().by_time() : source.text().ids).value();
    ASSERT_EQ(got.shape(), expected.shape());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
  }
}

class LettersOf : public testing::TestWithParam<const char*> {
 protected:
  Random random_{5};
  SourceEmbedding words_{options(GetParam()), random_};
};

TEST_P(LettersOf, ByTimeIsTheTranspose) {
  const data::Source source = source_of(kTexts, kSpelled);
  const Tensor by_sentence = transpose(words_(source, nullptr, false), 0, 1).value();
  const Tensor by_time = words_(source, nullptr, true).value();
  ASSERT_EQ(by_sentence.shape(), by_time.shape());
  EXPECT_TRUE(std::equal(by_time.begin(), by_time.end(), by_sentence.begin()));
  EXPECT_EQ(by_time.dim(2), words_.size());
}

TEST_P(LettersOf, APaddedBatchEqualsEachSentenceAlone) {
  const Tensor together = words_(source_of(kTexts, kSpelled), nullptr, false).value();
  for (size_t b = 0; b < kTexts.size(); ++b) {
    const Tensor alone = words_(source_of({kTexts[b]}, {kSpelled[b]}), nullptr, false).value();
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(alone.data()[i], together[static_cast<int64_t>(b)].data()[i], kEmbeddingTolerance) << b << " " << i;
    }
  }
}

TEST_P(LettersOf, WhatHasNoLettersHasZeros) {
  const Tensor x = words_(source_of(kTexts, kSpelled), nullptr, false).value();
  const auto letters_at = [&](int64_t b, int64_t t) {
    const real* from = x.data() + (b * 3 + t) * words_.size();
    return std::vector<real>(from + 4, from + words_.size());
  };
  const std::vector<real> zeros(static_cast<size_t>(words_.size()) - 4, 0);
  EXPECT_EQ(letters_at(2, 1), zeros) << "a word without letters";
  EXPECT_EQ(letters_at(1, 2), zeros) << "padding";
  EXPECT_NE(letters_at(0, 1), zeros);
  EXPECT_EQ(letters_at(0, 1), letters_at(1, 0)) << "the same letters";
  const Tensor none = words_(source_of({{4}}, {{{}}}), nullptr, false).value();
  for (int64_t i = 4; i < words_.size(); ++i) EXPECT_EQ(none.data()[i], 0);
}

TEST_P(LettersOf, EveryParameterHasItsGradient) {
  const data::Source source = source_of(kTexts, kSpelled);
  Random random(9);
  const test::Array cotangent = test::random_array({3, 3, words_.size()}, random);
  const auto objective = [&] { return sum(multiply(words_(source, nullptr, false), to_tensor(cotangent))); };
  {
    Tape tape;
    tape.backward(objective());
  }
  const double step = kDouble ? 1e-5 : 2e-3;
  for (nn::NamedParam& p : nn::parameters(words_)) {
    ASSERT_TRUE(p.var.gradient().defined()) << p.name;
    const test::Array gradient = test::to_array(p.var.gradient()),
                      direction = test::random_array(p.var.shape(), random);
    const Tensor kept = p.var.value().clone();
    const auto at = [&](double scale) {
      for (size_t i = 0; i < kept.size(); ++i) {
        p.var.value().data()[i] = static_cast<real>(static_cast<double>(kept.data()[i]) + scale * direction.v[i]);
      }
      return static_cast<double>(objective().item());
    };
    const double slope = (at(step) - at(-step)) / (2 * step);
    std::copy(kept.begin(), kept.end(), p.var.value().data());
    double analytic = 0;
    for (size_t i = 0; i < gradient.size(); ++i) analytic += gradient.v[i] * direction.v[i];
    EXPECT_NEAR(analytic, slope, (kDouble ? 1e-7 : 1e-2) * std::max(1.0, std::abs(slope))) << p.name;
    EXPECT_GT(std::abs(slope), 1e-4) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, LettersOf, testing::Values("convolution", "recurrent"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LetterConvolution, IsTheMaximumOverAllWindows) {
  for (const int64_t width : {1, 2, 3, 5}) {
    SourceEmbeddingOptions o = options("convolution");
    o.letters.width = width;
    Random random(5);
    SourceEmbedding words(o, random);
    const auto all = nn::parameters(words);
    ASSERT_EQ(all[1].name, "letters.letters.table");
    ASSERT_EQ(all[2].name, "letters.filter.weight");
    const test::Array table = test::to_array(all[1].var.value()), weight = test::to_array(all[2].var.value()),
                      bias = test::to_array(all[3].var.value());
    const std::vector<int32_t> word{4, 9, 5, 5};
    const Tensor x = words(source_of({{4}}, {{word}}), nullptr, false).value();
    for (int64_t f = 0; f < 5; ++f) {
      double best = -1e300;
      for (int64_t i = 0; i < 4; ++i) {
        double sum = bias(f);
        for (int64_t k = 0; k < width; ++k) {
          const int64_t at = i + k - (width - 1) / 2;
          const int32_t letter = at >= 0 && at < 4 ? word[static_cast<size_t>(at)] : data::kPad;
          for (int64_t d = 0; d < 3; ++d) sum += weight(f, k * 3 + d) * table(letter, d);
        }
        best = std::max(best, sum);
      }
      EXPECT_NEAR(x.data()[4 + f], best, kEmbeddingTolerance) << "width " << width;
    }
  }
}

TEST(LetterStates, AreTheLastOfBothDirections) {
  Random random(5), same(5);
  const SourceEmbeddingOptions o = options("recurrent");
  SourceEmbedding words(o, random);
  nn::Embedding table(9, 4, same), letters(10, 3, same);
  const nn::Recurrent layer({.input = 3, .hidden = 3, .bidirectional = true}, same);
  const Tensor x = words(source_of({{4}}, {{{4, 9, 5}}}), nullptr, false).value();
  const auto last = layer(letters(Ids({3, 1}, {4, 9, 5}))).last;
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(x.data()[4 + i], last[0].h.value().data()[i], kEmbeddingTolerance);
    EXPECT_NEAR(x.data()[7 + i], last[1].h.value().data()[i], kEmbeddingTolerance);
  }
}

TEST(WordDropout, HidesWordsInTrainingAndNeverTheirLetters) {
  SourceEmbeddingOptions o = options("convolution");
  o.word_dropout = 0.25;
  Random random(5);
  const SourceEmbedding words(o, random);
  const int64_t T = 400;
  const data::Source source =
      source_of({std::vector<int32_t>(T, 6)}, {std::vector<std::vector<int32_t>>(T, std::vector<int32_t>{4, 5})});
  Training training{Random(8)};
  const Tensor hidden = words(source, &training, false).value(), whole = words(source, nullptr, false).value();
  int64_t unknown = 0;
  for (int64_t t = 0; t < T; ++t) {
    const real *x = hidden.data() + t * 9, *seen = whole.data() + t * 9;
    const real* row = words.table().value().data() + (x[0] == seen[0] ? 6 : data::kUnknown) * 4;
    EXPECT_TRUE(std::equal(x, x + 4, row)) << t;
    EXPECT_TRUE(std::equal(x + 4, x + 9, seen + 4)) << t;
    unknown += x[0] != seen[0];
  }
  EXPECT_NEAR(static_cast<double>(unknown) / T, 0.25, 0.07);
  const data::Source padded = data::Sequences({{6, 6}, {6}});
  SourceEmbeddingOptions bare = options("none");
  bare.word_dropout = 0.999;
  const Tensor x = SourceEmbedding(bare, random)(padded, &training, false).value();
  EXPECT_EQ(x.dim(1), 2);
  EXPECT_NE(x.data()[3 * 4], x.data()[0]) << "padding stays padding";
}

TEST(SourceEmbedding, RefusesWhatDoesNotFit) {
  Random random(1);
  const auto says = [&](const SourceEmbeddingOptions& o, const char* part) {
    const std::string message = test::message_of([&] { SourceEmbedding words(o, random); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(options("convolutions"), "nearest is \"convolution\"");
  SourceEmbeddingOptions o = options("none");
  o.word_dropout = 1;
  says(o, "word_dropout: expected a share in [0, 1), got 1");
  o = options("recurrent");
  o.letters.vocabulary = 0;
  says(o, "letters.vocabulary: expected at least 1, got 0");
  const SourceEmbedding words(options("recurrent"), random);
  EXPECT_NE(test::message_of([&] { (void)words(data::Sequences(kTexts), nullptr, false); }).find("Source::add_letters"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] { (void)words(Ids({1}, {4})); }).find("got words alone"), std::string::npos);
}

}  // namespace
}  // namespace attend::models
