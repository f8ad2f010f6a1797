// A task that is added from outside the library (examples/task): a corpus, an output and a row, and all else works.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "examples/task/initials.h"
#include "tests/support/folder.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

int64_t words_in(const std::string& text) { return 1 + std::ranges::count(text, ' '); }

/// Trained once, for all tests of the suite.
class WorkedExample : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool once = (initials::add(), true);
    (void)once;
    folder_ = std::make_unique<test::TestFolder>();
    TaskTraining training(config(), model(), false, [](const std::string&) {});
    summary_ = training.summary();
    training.trainer().run({});
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static TaskConfig config() { return TaskConfig({{"task", "initials", ""}}); }
  static std::filesystem::path model() { return folder_->path() / "model"; }

  static inline std::unique_ptr<test::TestFolder> folder_;
  static inline std::string summary_;
};

TEST_F(WorkedExample, ItsNameAloneMeansItsCorpusAndItsDefaults) {
  EXPECT_EQ(config().options.corpus, "initials");
  EXPECT_EQ(config().model.name, "recurrent");
  EXPECT_EQ(config().options.tokeniser.kind, "words");
  EXPECT_NO_THROW(config().check());
  EXPECT_NE(summary_.find("2,000 pairs read; 2,000 kept"), std::string::npos) << summary_;
}

TEST_F(WorkedExample, ItsCorpusHoldsOutWhatIsNotTrainedOn) {
  const data::BuiltinCorpus corpus = data::make_builtin("initials", 1);
  std::set<std::string> sources;
  for (const auto* part : {&corpus.train, &corpus.valid, &corpus.test}) {
    for (const data::Example& one : *part) {
      EXPECT_TRUE(sources.insert(one.source).second) << one.source;
      EXPECT_EQ(words_in(one.source), words_in(one.target));
      EXPECT_EQ(words_in(one.source), static_cast<int64_t>(one.links.size()));
    }
  }
  EXPECT_EQ(sources.size(), 2200u);
}

TEST_F(WorkedExample, ItLearnsAndIsScored) {
  const TaskModel trained = TaskModel::load(model());
  EvaluateOptions how{.align = true};
  const Scored scored = evaluate(trained, read_test(trained.config(), {}), how);
  EXPECT_EQ(scored.examples, 100);
  EXPECT_GE(scored.scores(trained.row()).at("exact"), 95);
  EXPECT_LE(train::alignment_score(scored.links, scored.gold).error_rate, 0.2) << "each letter looks at its word";
}

TEST_F(WorkedExample, ItsAnswersHaveALetterForEachWordHoweverLittleItHasLearned) {
  const TaskModel untrained =
      test::untrained({{"task", "initials", ""}}, test::text_corpus("old cats sing", "o c s a b"));
  const std::vector<std::string> lines{"old cats sing", "old", "sing sing sing sing sing sing sing", ""};
  for (const decode::SearchOptions& search :
       {decode::SearchOptions{}, decode::SearchOptions{.beam = 4, .n_best = 2}, decode::SearchOptions{.sample = true}}) {
    const auto answers = untrained.answer(test::typed(lines), {.search = search});
    for (size_t i = 0; i < 3; ++i) {
      for (const Answer& one : answers[i]) EXPECT_EQ(words_in(one.text), words_in(lines[i])) << one.text;
      EXPECT_TRUE(answers[i][0].ended);
    }
    EXPECT_EQ(answers[3].at(0).text, "");
  }
}

TEST_F(WorkedExample, ItIsExplained) {
  const TaskModel trained = TaskModel::load(model());
  const Explainable known = explainable(trained);
  EXPECT_TRUE(known.attends());
  EXPECT_GE(known.methods.size(), 3u);
  const explain::Trace trace = explain_text(trained, "old cats sing", {});
  EXPECT_EQ(trace.task, "initials");
  EXPECT_EQ(trace.target.words, (std::vector<std::string>{"o", "c", "s"}));
  EXPECT_EQ(trace.maps.at(0).words.shape(), Shape({3, 3}));
  EXPECT_FALSE(explain::html_picture({trace}, {}).empty());
}

TEST_F(WorkedExample, ItIsCompared) {
  const TestSet test = test_set(config(), {});
  EXPECT_EQ(test.name, "held-out examples of the built-in corpus initials");
  const Measured measured = measure(model(), test, examples_to_show(test.examples));
  EXPECT_GE(measured.scores.at("exact"), 95);
  EXPECT_TRUE(measured.alignment.has_value());
  ASSERT_EQ(measured.shown.size(), 3u);
  for (const ShownAnswer& one : measured.shown) EXPECT_NE(one.picture.find("<svg"), std::string::npos);
}

TEST_F(WorkedExample, ItReadsFilesOfPairs) {
  const std::string tsv = folder_->file("own.tsv", "big dogs\tb d\nsmall birds sing\ts b s\nthe river\tt r\n").string();
  const TaskConfig own({{"task", "initials", ""}, {"tsv", tsv, "", true}, {"tokeniser.kind", "words", ""},
                        {"held_out", "0.4", ""}, {"model.hidden", "8", ""}, {"train.steps", "2", ""}});
  EXPECT_EQ(own.options.corpus, "");
  TaskTraining training(own, folder_->path() / "own", false, [](const std::string&) {});
  EXPECT_EQ(training.examples() + training.valid().count, 3);
  training.trainer().run({});
}

}  // namespace
}  // namespace attend::tasks
