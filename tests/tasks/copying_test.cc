// Copying in a task: words outside the vocabulary have ids of their own, which become those words again wherever they are
// shown, searched for, forced, aligned and explained.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "attend/explain/methods.h"
#include "attend/tasks/explanation.h"
#include "attend/tasks/model.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;

SettingList copying(const std::string& network, const SettingList& more = {}) {
  const bool recurrent = network == "recurrent";
  SettingList settings{{"task", "summarise", ""},
                       {"tsv", "none", "", true},
                       {"tokeniser.min_count", "1", ""},
                       {"model.name", network, ""},
                       {"model.hidden", "12", ""},
                       {recurrent ? "model.embedding" : "model.size", "8", ""},
                       {recurrent ? "model.decoder.copy" : "model.copy", "true", ""},
                       {"search.max_length", "6", ""}};
  if (!recurrent) settings.push_back({"model.label_smoothing", "0", ""});
  if (!recurrent) settings.push_back({"model.heads", "2", ""});
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TaskModel made_to_copy(const std::string& network, const SettingList& more = {}) {
  return test::untrained(copying(network, more), test::text_corpus("the mayor of a town resigns today", "mayor resigns"));
}

const TaskModel& pointing() {
  static const TaskModel model = made_to_copy("recurrent");
  return model;
}

constexpr const char* kNews = "Alma , the mayor of Brem and Alma";

TEST(Copies, WordsOutsideTheVocabularyHaveIdsOfTheirOwn) {
  const Ready ready = pointing().ready(test::text_example(kNews));
  const auto V = static_cast<int32_t>(pointing().model().vocabulary());
  const data::Source source = pointing().source(std::array{&ready});
  ASSERT_NE(source.copies(), nullptr);
  const std::vector<int32_t> copies = source.copies()->row(0), read = source.text().row(0);
  EXPECT_EQ(copies[0], V) << "Alma";
  EXPECT_EQ(copies[1], V + 1) << "the comma";
  EXPECT_EQ(copies[2], read[2]) << "a word of the vocabulary";
  EXPECT_EQ(copies[5], V + 2) << "Brem";
  EXPECT_EQ(copies[7], V) << "Alma again";
  const std::vector<int32_t> right = pointing().output().encode(std::string("mayor Brem visits Alma"), ready);
  EXPECT_EQ(right, (std::vector<int32_t>{read[3], V + 2, data::kUnknown, V})) << "visits stands nowhere";
  EXPECT_EQ(pointing().output().written(right, ready), "mayor Brem ⁇ Alma");
  EXPECT_EQ(pointing().output().piece_of(V + 2, ready), "Brem");
  const explain::TraceSide side = pointing().output().side(right, ready);
  EXPECT_EQ(side.words, (std::vector<std::string>{"mayor", "Brem", "⁇", "Alma"}));
  EXPECT_EQ(side.tokens[1], "Brem");
  EXPECT_EQ(side.unknown, std::vector<int32_t>{2}) << "what was copied is known";
}

TEST(Copies, AreSpelledAsTheVocabularyIs) {
  const TaskModel lower = made_to_copy("recurrent", {{"tokeniser.lowercase", "true", ""}});
  const Ready ready = lower.ready(test::text_example("Brem BREM"));
  const auto V = static_cast<int32_t>(lower.model().vocabulary());
  EXPECT_EQ(lower.source(std::array{&ready}).copies()->row(0), (std::vector<int32_t>{V, V}));
  EXPECT_EQ(lower.output().encode(std::string("BREM"), ready), std::vector<int32_t>{V});
  EXPECT_EQ(lower.output().written(std::vector<int32_t>{V}, ready), "brem");
}

TEST(Copies, OfTwoVocabulariesAreThoseOfTheAnswers) {
  const TaskModel apart = made_to_copy("recurrent", {{"tokeniser.joint", "false", ""}});
  const Ready ready = apart.ready(test::text_example("the mayor resigns"));
  const auto V = static_cast<int32_t>(apart.model().vocabulary());
  const std::vector<int32_t> copies = apart.source(std::array{&ready}).copies()->row(0);
  EXPECT_EQ(copies[0], V) << "answers have no such word";
  EXPECT_EQ(apart.output().written(copies, ready), "the mayor resigns");
}

TEST(Copies, OfCharactersNeedOneVocabulary) {
  EXPECT_NE(message_of([] {
              TaskConfig(copying("recurrent", {{"tokeniser.kind", "bpe", ""}, {"tokeniser.joint", "false", ""},
                                               {"valid_tsv", "none", "", true}})).check();
            }).find("tokeniser.kind: a network that copies (copy) needs words or punctuated"),
            std::string::npos);
  const TaskModel letters = made_to_copy("recurrent", {{"tokeniser.kind", "characters", ""}});
  const Ready ready = letters.ready(test::text_example("mayor Zoe"));
  const std::vector<int32_t> copies = letters.source(std::array{&ready}).copies()->row(0);
  EXPECT_EQ(letters.output().written(copies, ready), "mayor Zoe") << "an unknown letter is copied, too";
}

TEST(Copies, AreRefusedWhereAnswersAreNotWordsOfAText) {
  EXPECT_NE(message_of([] {
              TaskConfig({{"task", "parse", ""}, {"model.decoder.copy", "true", ""}}).check();
            }).find("only words of a text can be copied"),
            std::string::npos);
}

TEST(Copies, AreSearchedForForcedAndAligned) {
  for (const char* network : {"recurrent", "transformer"}) {
    const TaskModel model = made_to_copy(network);
    AnswerOptions options{.search = model.config().options.search, .align = true};
    options.search.beam = 3, options.search.n_best = 2;
    const std::vector<std::string> prefixes{"Brem", "Alma resigns"};
    options.prefixes = prefixes;
    const auto answers = model.answer(test::typed({kNews, "Alma resigns today"}), options);
    EXPECT_TRUE(answers[0][0].text.starts_with("Brem")) << answers[0][0].text;
    EXPECT_TRUE(answers[1][0].text.starts_with("Alma resigns")) << answers[1][0].text;
    for (const auto& found : answers) {
      EXPECT_EQ(found.size(), 2u);
      EXPECT_EQ(found[0].text.find("⁇"), std::string::npos) << "search.no_unknown";
      EXPECT_EQ(found[0].weights.dim(0), static_cast<int64_t>(found[0].target.size()));
    }
    // No word twice, copied ones included: at most as many as there are.
    AnswerOptions once{.search = {.min_length = 4, .max_length = 20, .no_repeat_ngram = 1}};
    const auto V = static_cast<int32_t>(model.model().vocabulary());
    const std::vector<int32_t> said = model.answer(test::typed({"Alma Alma Brem"}), once)[0][0].tokens;
    for (size_t i = 0; i < said.size(); ++i) {
      EXPECT_LT(said[i], V + 2) << "two words of its own";
      EXPECT_EQ(std::count(said.begin(), said.end(), said[i]), 1) << said[i];
    }
  }
}

TEST(Copies, AreExplainedByEveryMethod) {
  for (const char* network : {"recurrent", "transformer"}) {
    const TaskModel model = made_to_copy(network);
    for (const explain::MethodRow& method : explain::methods()) {
      ExplainOptions options;
      options.search = model.config().options.search;
      options.method = method.name, options.target = "Brem resigns", options.evidence = method.name == "attention";
      const explain::Trace trace = explain_text(model, test::text_example(kNews), options);
      EXPECT_EQ(trace.target.words, (std::vector<std::string>{"Brem", "resigns"})) << method.name;
      EXPECT_EQ(trace.target.tokens[0], "Brem");
      ASSERT_EQ(trace.copied.size(), 3u) << "two words and the end";
      EXPECT_NEAR(trace.copied[0], 1, 1e-6);
      EXPECT_EQ(trace.copied[1], 0) << "not in the text";
      for (const real x : trace.maps.at(0).tokens) EXPECT_TRUE(std::isfinite(x)) << method.name;
      for (const explain::TraceEvidence& one : trace.evidence) EXPECT_TRUE(std::isfinite(one.after)) << one.change;
    }
  }
}

TEST(Copies, ComeBackFromAFolder) {
  const test::TestFolder folder;
  test::save_untrained(folder.path() / "m", copying("recurrent"),
                       test::text_corpus("the mayor of a town resigns today", "mayor resigns"));
  const TaskModel loaded = TaskModel::load(folder.path() / "m");
  const AnswerOptions options{.search = loaded.config().options.search};
  EXPECT_EQ(loaded.answer(test::typed({kNews}), options)[0][0].text,
            pointing().answer(test::typed({kNews}), options)[0][0].text);
}

}  // namespace
}  // namespace attend::tasks
