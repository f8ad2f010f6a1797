// A run on text: what it reads, holds out and learns; saved and loaded, resumed and refused.
#include "attend/tasks/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attend/base/clock.h"
#include "attend/tasks/batch_plan.h"
#include "attend/train/chrf.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/stop_at.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::run;
using test::TestFolder;

constexpr int64_t kPairs = 200;

/// Every pair has a word of its own: what is held out cannot be in a vocabulary that was learned without it.
std::string corpus() {
  std::string text;
  for (int64_t i = 0; i < kPairs; ++i) {
    const std::string own = std::to_string(i);
    text += "s" + own + " a b\tt" + own + " A B\n";
  }
  return text;
}

class TextRun : public testing::Test {
 protected:
  TaskConfig config(const SettingList& more = {}) const {
    SettingList settings{{"tsv", tsv_.string(), "", true},  {"held_out", "0.1", ""},
                         {"tokeniser.kind", "words", ""},   {"model.name", "recurrent", ""},
                         {"model.embedding", "6", ""},      {"model.hidden", "8", ""},
                         {"batch.tokens", "100", ""},       {"train.steps", "12", ""},
                         {"train.validate_every", "6", ""}, {"train.rate", "0.01", ""}};
    settings.insert(settings.end(), more.begin(), more.end());
    return TaskConfig(settings);
  }
  TaskTraining begin(const std::string& name, const SettingList& more = {}, bool resume = false) const {
    return TaskTraining(config(more), folder_.path() / name, resume, [](const std::string&) {});
  }
  std::string refused(const SettingList& more) const {
    return message_of([&] { begin("refused", more); });
  }

  TestFolder folder_;
  std::filesystem::path tsv_ = folder_.file("pairs.tsv", corpus());
};

const data::Tokeniser& source_words(const TaskModel& model) { return *model.input().tokeniser(); }
const data::Tokeniser& target_words(const TaskModel& model) { return *model.output().words(); }

std::vector<std::string> answers(const TaskModel& model) {
  std::vector<std::string> all;
  const std::vector<Example> lines = test::typed({"s1 a b", "a", "", "b b a"});
  for (const auto& one : model.answer(lines, {.search = model.config().options.search})) all.push_back(one[0].text);
  return all;
}

TEST_F(TextRun, SavedAndLoadedItAnswersTheSame) {
  for (const char* joint : {"false", "true"}) {
    const std::string name = std::string("joint-") + joint;
    TaskTraining training = begin(name, {{"tokeniser.joint", joint, ""},
                                         {"train.steps", "40", ""},
                                         {"train.validate_every", "40", ""},
                                         {"train.rate", "0.05", ""}});
    EXPECT_NO_THROW(TaskModel::load(folder_.path() / name)) << "from the start there is a model to load";
    const train::TrainResult result = run(training);
    EXPECT_EQ(result.outcome, train::Outcome::finished);
    ASSERT_EQ(result.best_step, 40) << "so that the weights in memory are the ones on disk";
    const TaskModel loaded = TaskModel::load(folder_.path() / name);
    if (sizeof(real) == 4) {
      EXPECT_EQ(answers(loaded), answers(training.model()));
    }
    EXPECT_NE(answers(loaded)[0], "") << "it has learned something";
    EXPECT_EQ(source_words(loaded).size(), source_words(training.model()).size());
    EXPECT_EQ(&source_words(loaded) == &target_words(loaded), std::string(joint) == "true");
  }
}

TEST_F(TextRun, AJointVocabularyKnowsBothSides) {
  TaskTraining both = begin("both", {{"tokeniser.joint", "true", ""}}), apart = begin("apart");
  const auto known = [](const data::Tokeniser& tokeniser, const char* word) {
    return tokeniser.encode(word) != std::vector<int32_t>{data::kUnknown};
  };
  for (const char* word : {"a", "A"}) EXPECT_TRUE(known(source_words(both.model()), word)) << word;
  EXPECT_FALSE(known(source_words(apart.model()), "A"));
  EXPECT_FALSE(known(target_words(apart.model()), "a"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "both" / "target.words"));
}

TEST_F(TextRun, WhatIsHeldOutIsNotTrainedOn) {
  TaskTraining first = begin("first"), second = begin("second"), other = begin("other", {{"train.seed", "2", ""}});
  const auto sources = [](const TaskTraining& training) {
    std::set<std::string> all;
    for (int64_t i = 0; i < training.valid().count; ++i) all.insert(training.valid().at(i).text());
    return all;
  };
  EXPECT_EQ(sources(first), sources(second));
  EXPECT_NE(sources(first), sources(other));
  EXPECT_GT(first.valid().count, 5);
  EXPECT_LT(first.valid().count, 50);
  EXPECT_EQ(first.examples() + first.valid().count, kPairs);
  for (int64_t i = 0; i < first.valid().count; ++i) {
    const Example held = first.valid().at(i);
    EXPECT_EQ(source_words(first.model()).encode(held.text()).at(0), data::kUnknown) << held.text();
    EXPECT_EQ(target_words(first.model()).encode(held.right.at(0)).at(0), data::kUnknown) << held.right.at(0);
  }
  EXPECT_EQ(source_words(first.model()).size(), data::kFirstWord + 2 + first.examples())
      << "all others are in the vocabulary";
}

TEST_F(TextRun, ValidationFilesAreUsedInPlaceOfAShare) {
  const std::string valid = folder_.file("valid.tsv", "a b\tA B\nb\tB\n").string();
  TaskTraining training = begin("valid", {{"valid_tsv", valid, "", true}});
  ASSERT_EQ(training.valid().count, 2);
  EXPECT_EQ(training.valid().at(1).right.at(0), "B");
  EXPECT_EQ(training.examples(), kPairs);
}

TEST_F(TextRun, ResumedItTakesTheSameSteps) {
  TaskTraining straight = begin("straight");
  run(straight);
  {
    TaskTraining first = begin("stopped");
    EXPECT_EQ(run(first, 7).outcome, train::Outcome::interrupted);
  }
  TaskTraining rest = begin("stopped", {}, true);
  EXPECT_EQ(rest.trainer().step(), 7);
  EXPECT_EQ(run(rest).outcome, train::Outcome::finished);
  if (sizeof(real) == 4) {
    EXPECT_EQ(folder_.bytes("stopped/weights.safetensors"), folder_.bytes("straight/weights.safetensors"));
  }
  EXPECT_EQ(run(rest).step, 12) << "a finished run has nothing left to do";
}

const SettingList kCutAnew{{"tokeniser.kind", "bpe", ""}, {"batch.subwords.dropout", "0.3", ""}};

TEST_F(TextRun, CutAnewAndResumedItTakesTheSameSteps) {
  TaskTraining straight = begin("straight", kCutAnew);
  run(straight);
  {
    TaskTraining first = begin("stopped", kCutAnew);
    EXPECT_EQ(run(first, 7).outcome, train::Outcome::interrupted);
  }
  TaskTraining rest = begin("stopped", kCutAnew, true);
  run(rest);
  TaskTraining usual = begin("usual", {{"tokeniser.kind", "bpe", ""}});
  run(usual);
  if (sizeof(real) == 4) {
    const std::string cut = folder_.bytes("straight/weights.safetensors");
    EXPECT_EQ(folder_.bytes("stopped/weights.safetensors"), cut);
    EXPECT_NE(folder_.bytes("usual/weights.safetensors"), cut);
  }
}

/// All texts of an epoch: their tokens, and what these say.
struct EpochTexts {
  std::multiset<std::vector<int32_t>> source, target;
  std::multiset<std::string> said;
};

EpochTexts epoch_texts(const TaskModel& model, BatchPlan& plan, int64_t epoch) {
  EpochTexts all;
  for (int64_t i = 0; i < plan.count(epoch); ++i) {
    const data::Batch batch = plan.batch(epoch, i);
    for (int64_t b = 0; b < batch.target.count(); ++b) {
      all.source.insert(batch.source.text().row(b)), all.target.insert(batch.target.row(b));
      all.said.insert(source_words(model).decode(batch.source.text().row(b)) + "\t" +
                      target_words(model).decode(batch.target.row(b)));
    }
  }
  return all;
}

TEST_F(TextRun, EachEpochCutsTheSidesThatAreAskedFor) {
  for (const char* kind : {"bpe", "unigram"}) {
    for (const std::string sides : {"both", "source", "target"}) {
      const char* const option = std::string_view(kind) == "bpe" ? "batch.subwords.dropout" : "batch.subwords.alpha";
      TaskTraining training =
          begin(kind + sides, {{"tokeniser.kind", kind, ""}, {option, "0.3", ""}, {"batch.subwords.sides", sides, ""}});
      const auto stream = read_corpus(training.model().config());
      const auto plan = stored_batches(training.model(), *stream.stream, folder_.path());
      const EpochTexts first = epoch_texts(training.model(), *plan, 0), again = epoch_texts(training.model(), *plan, 0),
                       second = epoch_texts(training.model(), *plan, 1);
      EXPECT_EQ(first.source, again.source);
      EXPECT_EQ(first.target, again.target);
      EXPECT_EQ(first.said, second.said) << "the texts are the same";
      EXPECT_EQ(first.source == second.source, sides == "target") << kind << ", " << sides;
      EXPECT_EQ(first.target == second.target, sides == "source") << kind << ", " << sides;
    }
  }
}

TEST_F(TextRun, WhatWouldBeTooLongStaysAsItIs) {
  TaskTraining training = begin(
      "longest", {{"tokeniser.kind", "bpe", ""}, {"batch.subwords.dropout", "0.999", ""}, {"filter.longest", "7", ""}});
  const auto stream = read_corpus(training.model().config());
  const auto plan = stored_batches(training.model(), *stream.stream, folder_.path());
  size_t longest = 0;
  for (const auto& ids : epoch_texts(training.model(), *plan, 0).source) longest = std::max(longest, ids.size());
  EXPECT_EQ(longest, 7u) << "cut into letters, some have seven, and others would have more";
}

/// Entries of a file of JSON lines.
std::vector<nlohmann::json> entries(const std::string& lines) {
  std::vector<nlohmann::json> all;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

/// Remembers the file at each validation, and whether that was the best so far.
struct Versions : train::Watcher {
  explicit Versions(const TestFolder& folder) : folder(folder) {}
  const TestFolder& folder;
  std::vector<std::string> seen;
  std::vector<bool> bests;
  void validated(const train::StepReport&, const train::Validation&, bool best) override {
    seen.push_back(folder.bytes("kept/valid.jsonl")), bests.push_back(best);
  }
};

TEST_F(TextRun, TheSentencesOfTheBestWeightsAreKept) {
  TaskTraining training = begin("kept", {{"valid_sentences", "5", ""},
                                         {"train.steps", "90", ""},
                                         {"train.validate_every", "3", ""},
                                         {"train.schedule", "constant", ""},
                                         {"train.rate", "0.1", ""}});
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "kept" / "valid.jsonl"));
  Versions versions(folder_);
  train::Watcher* const watchers[] = {&versions};
  training.trainer().run(watchers);
  std::string last;
  ASSERT_NE(std::set(versions.bests.begin(), versions.bests.end()).size(), 1u) << "some were not the best";
  for (size_t i = 0; i < versions.seen.size(); ++i) {
    if (!versions.bests[i]) {
      EXPECT_EQ(versions.seen[i], last) << "validation " << i;
    }
    last = versions.seen[i];
  }
  const auto all = entries(last);
  ASSERT_EQ(all.size(), 5u);
  const TaskModel best = TaskModel::load(folder_.path() / "kept");
  for (size_t i = 0; i < all.size(); ++i) {
    const Example valid = training.valid().at(static_cast<int64_t>(i));
    EXPECT_EQ(all[i]["source"], valid.text());
    EXPECT_EQ(all[i]["reference"], valid.right.at(0));
    const std::vector<std::string> output{all[i]["output"]}, reference{all[i]["reference"]};
    EXPECT_DOUBLE_EQ(all[i]["chrf"].get<double>(), train::chrf(output, reference));
    if (sizeof(real) == 4) {
      AnswerOptions greedy{.search = best.config().options.search};
      greedy.search.beam = 1;
      EXPECT_EQ(best.answer(std::span(&valid, 1), greedy).at(0).at(0).text, output[0]);
    }
  }
}

TEST_F(TextRun, SentencesOfAnEarlierRunAreForgotten) {
  std::filesystem::create_directories(folder_.path() / "again");
  folder_.file("again/valid.jsonl", "of another run\n");
  { TaskTraining first = begin("again"); }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "again" / "valid.jsonl"));
  folder_.file("again/valid.jsonl", "of this run\n");
  { TaskTraining resumed = begin("again", {}, true); }
  EXPECT_EQ(folder_.bytes("again/valid.jsonl"), "of this run\n");
}

TEST_F(TextRun, WhatCannotBeTrainedIsRefusedBeforeAnythingIsWritten) {
  EXPECT_NE(refused({{"corpus", "dates", ""}}).find("got both"), std::string::npos);
  EXPECT_NE(refused({{"held_out", "1", ""}}).find("held_out"), std::string::npos);
  EXPECT_NE(refused({{"held_out", "0", ""}}).find("validation files"), std::string::npos);
  EXPECT_NE(refused({{"filter.longest", "1", ""}}).find("nothing is left to train on"), std::string::npos);
  EXPECT_NE(refused({{"train.best_by", "blue", ""}}).find("\"bleu\""), std::string::npos);
  EXPECT_NE(refused({{"train.optimiser", "adm", ""}}).find("\"adam\""), std::string::npos);
  EXPECT_NE(refused({{"tokeniser.kind", "word", ""}}).find("\"words\""), std::string::npos);
  EXPECT_NE(refused({{"model.cell", "gruu", ""}}).find("gru"), std::string::npos);
  EXPECT_NE(refused({{"tsv", (folder_.path() / "none.tsv").string(), "", true}}).find("none.tsv"), std::string::npos);
  const std::string broken = folder_.file("broken.tsv", "a\tb\nno tab\n").string();
  EXPECT_NE(refused({{"tsv", broken, "", true}}).find("broken.tsv:2"), std::string::npos);
  const auto made = folder_.path() / "refused";
  EXPECT_TRUE(!std::filesystem::exists(made) || std::filesystem::is_empty(made));
}

TEST_F(TextRun, AScoreThatIsNotComputedCannotDecide) {
  EXPECT_NE(refused({{"train.best_by", "exact", ""}, {"valid_sentences", "0", ""}}), "");
  EXPECT_EQ(refused({{"train.best_by", "exact", ""}, {"valid_sentences", "1", ""}}), "");
}

TEST(ModelFolder, WhatIsNoModelIsRefused) {
  const TestFolder folder;
  const auto message = [&](const std::string& name) {
    return message_of([&] { TaskModel::load(folder.path() / name); });
  };
  EXPECT_TRUE(message("none").ends_with("none: not a model folder, as there is no such folder")) << message("none");
  folder.file("file", "x");
  EXPECT_TRUE(message("file").ends_with("file: not a model folder, but a file")) << message("file");
  EXPECT_NE(message("").find("not a model folder, as it has no config.yml"), std::string::npos) << message("");
}

/// A clock that goes on by a hundredth of a second whenever it is looked at.
Seconds ticking() {
  return [time = 0.0]() mutable { return time += 0.01; };
}

TEST_F(TextRun, ATimeSetsTheStepsOnce) {
  const SettingList in_time{{"train.steps", "0", ""}, {"train.minutes", "0.1", ""}, {"train.validate_every", "0", ""}};
  int64_t steps = 0;
  {
    TaskTraining training = begin("timed", in_time);
    training.trainer().set_clock(ticking());
    ASSERT_TRUE(training.trainer().awaits_fit());
    const train::Pace pace = training.trainer().rehearse(0);
    EXPECT_GT(pace.validation, 0);
    training.trainer().fit(6, pace);
    steps = training.trainer().steps();
    EXPECT_GE(steps, 20);
  }
  TaskTraining resumed = begin("timed", in_time, true);
  EXPECT_FALSE(resumed.trainer().awaits_fit());
  EXPECT_EQ(resumed.trainer().steps(), steps);
  resumed.trainer().set_clock(ticking());
  EXPECT_EQ(run(resumed).step, steps);
}

TEST_F(TextRun, MeasuredFirstItIsTheSameRun) {
  TaskTraining plain = begin("plain"), measured = begin("measured");
  measured.trainer().set_clock(ticking());
  measured.trainer().rehearse(1);
  run(plain), run(measured);
  for (const char* file : {"weights.safetensors", "valid.jsonl"}) {
    EXPECT_EQ(folder_.bytes(std::string("plain/") + file), folder_.bytes(std::string("measured/") + file)) << file;
  }
}

}  // namespace
}  // namespace attend::tasks
