// The reader: its spans are those of a search over all of them, whether they are asked for at once or place by place.
#include "attend/models/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/decode/search.h"
#include "attend/models/source_words.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

using Texts = std::vector<std::vector<int32_t>>;

const Texts kDocuments{{4, 5, 6, 7, 8, 9}, {9, 4}, {6}}, kQuestions{{5, 10}, {10, 10, 4}, {7}};

std::unique_ptr<Model> small_reader(const Settings& more = {}) {
  Random random(5);
  auto model = make_model("reader",
                          Settings{{"encoder.vocabulary", "11"}, {"encoder.size", "5"}, {"modelling.layers", "1"}} + more,
                          random);
  for (const nn::NamedParam& p : nn::parameters(*model)) {  // far from uniform
    Var var = p.var;
    for (real& x : var.value().values()) x *= 3;
  }
  return model;
}

data::Source asked(const Texts& documents, const Texts& questions) {
  data::Source source;
  source.add("document", rows(documents)).add("question", data::Sequences(questions));
  return source;
}

struct ScoredSpan {
  std::vector<int32_t> place;
  double log_probability;
};

/// ln p of every span of source b, by decode::score, best first; up to `longest` words.
std::vector<ScoredSpan> all_spans(const Model& model, size_t b, int32_t longest, bool none) {
  const auto length = static_cast<int32_t>(kDocuments[b].size());
  std::vector<ScoredSpan> all;
  const auto add = [&](int32_t s, int32_t e) {
    const data::Batch batch{asked({kDocuments[b]}, {kQuestions[b]}), rows({{s, e}})};
    all.push_back({{s, e}, decode::score(model, batch)[0].log_probability});
  };
  for (int32_t s = 0; s < length; ++s) {
    for (int32_t e = s; e < std::min(length, s + longest); ++e) add(s, e);
  }
  if (none) add(length, length);
  std::ranges::stable_sort(all, std::greater<>(), &ScoredSpan::log_probability);
  return all;
}

TEST(Reader, TheNBestSpansAreTheBestOfAll) {
  for (const char* spans : {"joint", "apart"}) {
    for (const bool none : {false, true}) {
      for (const int32_t longest : {1, 2, 15}) {
        SCOPED_TRACE(std::string(spans) + (none ? ", or none, " : ", ") + std::to_string(longest));
        const auto model = small_reader({{"spans", spans},
                                         {"no_answer", none ? "true" : "false"},
                                         {"longest_answer", std::to_string(longest)}});
        const auto found = decode::search(*model, asked(kDocuments, kQuestions), {.beam = 7, .n_best = 7});
        for (size_t b = 0; b < found.size(); ++b) {
          std::vector<ScoredSpan> all = all_spans(*model, b, longest, none);
          const auto length = static_cast<int32_t>(kDocuments[b].size());
          const auto slot = std::ranges::find(all, std::vector<int32_t>{length, length}, &ScoredSpan::place);
          if (slot - all.begin() > 6 && slot != all.end()) std::swap(all[6], *slot);  // it is always among them
          ASSERT_EQ(found[b].size(), std::min<size_t>(7, all.size()));
          for (size_t i = 0; i < found[b].size(); ++i) {
            EXPECT_EQ(found[b][i].tokens, all[i].place) << "source " << b << ", span " << i;
            EXPECT_NEAR(found[b][i].log_probability, all[i].log_probability, 20 * kTolerance);
            // Raw scores differ from ln p by the same constant for all spans of a source.
            EXPECT_NEAR(found[b][i].raw - found[b][i].log_probability, found[b][0].raw - found[b][0].log_probability,
                        50 * kTolerance);
          }
        }
      }
    }
  }
}

TEST(Reader, JointlyAllSpansHaveProbabilityOne) {
  for (const bool none : {false, true}) {
    const auto model = small_reader({{"no_answer", none ? "true" : "false"}});
    for (size_t b = 0; b < kDocuments.size(); ++b) {
      double sum = 0;
      for (const ScoredSpan& span : all_spans(*model, b, 15, none)) sum += std::exp(span.log_probability);
      EXPECT_NEAR(sum, 1, 20 * kTolerance);
    }
  }
}

TEST(Reader, WhatIsDrawnIsASpan) {
  const auto model = small_reader({{"no_answer", "true"}});
  const auto drawn = decode::search(*model, asked(kDocuments, kQuestions), {.n_best = 50, .sample = true});
  for (size_t b = 0; b < drawn.size(); ++b) {
    const auto length = static_cast<int32_t>(kDocuments[b].size());
    for (const decode::Hypothesis& one : drawn[b]) {
      ASSERT_EQ(one.tokens.size(), 2u);
      EXPECT_LE(one.tokens[0], one.tokens[1]);
      EXPECT_TRUE(one.tokens[1] < length || one.tokens[0] == length);
    }
  }
}

TEST(Reader, ABeamAfterAGivenStartFindsOnlySpans) {
  const auto model = small_reader();
  const auto found =
      decode::search(*model, asked({kDocuments[1]}, {kQuestions[1]}), {.beam = 5, .n_best = 5}, {{1}});
  ASSERT_EQ(found[0].size(), 1u) << "only the last word follows";
  EXPECT_EQ(found[0][0].tokens, (std::vector<int32_t>{1, 1}));
}

TEST(Reader, TheLossOfOnePlaceIsThatOfItsPointer) {
  for (const char* spans : {"joint", "apart"}) {
    const auto model = small_reader({{"spans", spans}});
    data::Batch batch{asked({kDocuments[0]}, {kQuestions[0]}), rows({{1, 3}})};
    const auto scored = decode::score(*model, batch)[0].token_log_probabilities;
    for (int32_t place = 0; place < 2; ++place) {
      batch.only = {place};
      EXPECT_NEAR(loss_of(*model, batch), -scored[static_cast<size_t>(place)], 10 * kTolerance) << spans;
    }
  }
}

/// Keeps the weights of each site.
struct Sites : Sink {
  std::map<std::string, std::vector<Observation>> all;
  std::vector<std::vector<int32_t>> lengths;
  void observe(const Observation& o) override { all[std::string(o.site)].push_back(o); }
};

TEST(Reader, TellsWhereItsPointersPointAndWhatItAsked) {
  for (const char* encoder : {"recurrent", "transformer"}) {
    const auto model = small_reader(
        {{"encoder.kind", encoder}, {"encoder.size", "8"}, {"no_answer", "true"}, {"self_matching", "true"}});
    Sites sites;
    std::vector<std::vector<decode::Hypothesis>> found;
    {
      const Observing observing(sites);
      found = decode::search(*model, asked(kDocuments, kQuestions), {});
    }
    ASSERT_EQ(sites.all["reader.question"].size(), 1u);
    EXPECT_EQ(sites.all["reader.question"][0].purpose, Purpose::question);
    EXPECT_EQ(sites.all["reader.question"][0].weights.shape(), (Shape{3, 1, 6, 3}));
    EXPECT_EQ(sites.all["reader.document"].at(0).weights.shape(), (Shape{3, 1, 1, 6}));
    EXPECT_EQ(sites.all["reader.self"].at(0).weights.shape(), (Shape{3, 1, 6, 6}));
    EXPECT_EQ(sites.all["encoder.self"].size(), std::string_view(encoder) == "transformer" ? 1u : 0u)
        << "that of the document alone";
    const auto& pointers = sites.all["reader.pointer"];
    ASSERT_EQ(pointers.size(), 2u);
    for (size_t step = 0; step < 2; ++step) {
      EXPECT_EQ(pointers[step].purpose, Purpose::source);
      EXPECT_EQ(pointers[step].step, static_cast<int64_t>(step));
      ASSERT_EQ(pointers[step].weights.shape(), (Shape{3, 1, 1, 6})) << "no column for no answer";
      for (size_t b = 0; b < 3; ++b) {
        const int32_t chosen = found[b][0].tokens[step];
        if (chosen == static_cast<int32_t>(kDocuments[b].size())) continue;
        EXPECT_NEAR(std::log(pointers[step].weights.data()[b * 6 + static_cast<size_t>(chosen)]),
                    found[b][0].token_log_probabilities[step], 50 * kTolerance);
      }
    }
  }
}

TEST(Reader, ItsSourceWordsAreThoseOfTheDocument) {
  const auto model = small_reader();
  const data::Batch batch{asked(kDocuments, kQuestions), rows({{1, 3}, {0, 0}, {0, 0}})};
  const SourceWords words;
  Tape tape;
  tape.backward(model->loss(batch));
  EXPECT_EQ(words.words().shape(), (Shape{3, 6, 5}));
  double all = 0;
  const Tensor gradient = words.gradient();
  for (const real g : gradient.values()) all += std::abs(static_cast<double>(g));
  EXPECT_GT(all, 0);
}

TEST(Reader, WordsThatTheQuestionHasAreMarked) {
  const auto marked = small_reader(), blind = small_reader({{"match", "false"}});
  const auto differs = [](const Model& model) {  // whether the question has the document's word 5, or another new one
    const data::Sequences span = rows({{0, 0}});
    Random random(1);
    const double with = loss_of(model, {asked({{4, 5, 6}}, {{5}}), span});
    // Words 5 and 10 made the same vector: only the mark can tell them apart.
    return with != loss_of(model, {asked({{4, 5, 6}}, {{10}}), span});
  };
  for (const auto* model : {marked.get(), blind.get()}) {
    Var table = model->word_table();
    std::copy_n(table.value().data() + 5 * table.dim(1), table.dim(1), table.value().data() + 10 * table.dim(1));
  }
  EXPECT_TRUE(differs(*marked));
  EXPECT_FALSE(differs(*blind));
}

TEST(Reader, UnknownWordsMatchByTheirLetters) {
  const Settings letters{{"encoder.letters.kind", "convolution"}, {"encoder.letters.vocabulary", "11"}};
  const auto by_letters = small_reader(letters), by_ids = small_reader();
  const auto read = [](const std::vector<int32_t>& spelling) {
    data::Source source = asked({{data::kUnknown, 5}}, {{data::kUnknown}});
    source.add_letters(rows({{4, 6}, {7}}), "document").add_letters(rows({spelling}), "question");
    return source;
  };
  // The marks of the document's words are the difference of interest: the same letters in another order are another word to it,
  // though the convolution's question may look alike.
  const auto marks = [](const Model& model, const data::Source& source) {
    const SourceWords words;
    const TapePause pause;
    (void)model.loss({source, rows({{0, 0}})});
    return words.words();
  };
  const Tensor same = marks(*by_letters, read({4, 6})), other = marks(*by_letters, read({6, 4}));
  EXPECT_FALSE(std::equal(same.begin(), same.end(), other.begin()));
  const Tensor unknown = marks(*by_ids, asked({{data::kUnknown, 5}}, {{data::kUnknown}})),
               known = marks(*by_ids, asked({{data::kUnknown, 5}}, {{6}}));
  EXPECT_TRUE(std::equal(unknown.begin(), unknown.end(), known.begin())) << "two unknown words need not be the same";
}

TEST(Reader, BadInputIsRefused) {
  const auto model = small_reader();
  const auto says = [&](const data::Source& source, const Texts& target, const char* part) {
    const std::string message = test::message_of([&] { (void)model->loss({source, data::Sequences(target)}); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(rows({{4, 5}}), {{0, 0}}, "got none called \"document\"");
  says(asked({{}}, {{5}}), {{0, 0}}, "document 0 is empty");
  says(asked({{4}}, {{}}), {{0, 0}}, "question 0 is empty");
  says(asked({{4, 5}}, {{5}}), {{0}}, "expected the first and the last place");
  says(asked({{4, 5}}, {{5}}), {{1, 0}}, "got 1 to 0");
  says(asked({{4, 5}}, {{5}}), {{0, 2}}, "within the 2 places");
  data::Source other;
  other.add("question", rows({{4}})).add("document", rows({{4}}));
  says(other, {{0, 0}}, "expected the document first");
  const std::string narrow = test::message_of([] {
    small_reader({{"attention.value_projection", "linear"}, {"attention.size", "4"}});
  });
  EXPECT_NE(narrow.find("expected contexts as wide as the states"), std::string::npos) << narrow;
}

}  // namespace
}  // namespace attend::models
