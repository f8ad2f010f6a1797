// A network that is told where to look, in a task: the gold alignment of words becomes one of tokens, and what has none is
// refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "attend/tasks/model.h"
#include "tests/support/message.h"
#include "tests/support/text.h"
#include "tests/support/untrained.h"

namespace attend::tasks {
namespace {

using test::has;
using test::message_of;

SettingList told_settings(const SettingList& more = {}) {
  SettingList settings{{"task", "translate", ""},           {"corpus", "english", ""},
                       {"model.name", "recurrent", ""},     {"tokeniser.kind", "words", ""},
                       {"model.embedding", "6", ""},        {"model.hidden", "8", ""},
                       {"model.decoder.oracle", "true", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TaskModel told_model(const SettingList& more = {}) {
  return test::untrained(told_settings(more), test::text_corpus("main ghar ja rahi hoon", "i am going home"));
}

Example going_home() {
  return {.inputs = {"main ghar ja rahi hoon"},
          .right = {"i am going home"},
          .links = {{0, 0}, {1, 3}, {2, 2}, {3, 2}, {4, 1}}};
}

TEST(Told, LooksWhereTheGoldAlignmentSays) {
  const TaskModel model = told_model();
  const Example example = going_home();
  const auto answers = model.answer(std::span(&example, 1), {.search = {.max_length = 4}, .align = true});
  const Tensor& weights = answers[0][0].weights;  // of its own words, as many as it has said
  ASSERT_GE(weights.dim(0), 3);
  const real wanted[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0.5, 0.5, 0};
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(weights.data()[i], wanted[i]) << i;
}

TEST(Told, SharesTheWeightOfAWordAmongItsTokens) {
  const TaskModel model = told_model({{"tokeniser.kind", "characters", ""}});
  const Ready ready = model.ready(going_home());
  const data::TokenisedWords right = model.output().words()->tokenise("i am going home");
  size_t of_going = 0;
  for (size_t i = 0; i < ready.given.size(); i += 2) {
    const int32_t from = ready.tokens.word_of.at(static_cast<size_t>(ready.given[i]));
    const int32_t to = right.word_of.at(static_cast<size_t>(ready.given[i + 1]));
    const std::pair<int32_t, int32_t> link{from, to};
    EXPECT_TRUE(link == std::pair(0, 0) || link == std::pair(1, 3) || link == std::pair(2, 2) ||
                link == std::pair(3, 2) || link == std::pair(4, 1))
        << from << "-" << to;
    of_going += to == 2;
  }
  const auto tokens_of = [](const std::vector<int32_t>& word_of, int32_t word) {
    return static_cast<size_t>(std::ranges::count(word_of, word));
  };
  const std::vector<int32_t>& words = ready.tokens.word_of;
  EXPECT_GE(tokens_of(words, 2) + tokens_of(words, 3), 6u) << "the letters of ja and rahi";
  EXPECT_EQ(of_going, tokens_of(right.word_of, 2) * (tokens_of(words, 2) + tokens_of(words, 3)))
      << "each token of going looks at all of ja and rahi";
}

TEST(Told, AnswersOnlyWhereThereIsAnAlignment) {
  const TaskModel model = told_model();
  const Example alone = test::text_example("main ghar ja rahi hoon"), unlinked = test::text_example("main", {"i"});
  for (const auto& [example, says] : {std::pair{alone, "got a text alone"}, {unlinked, "got one without"}}) {
    const std::string message = message_of([&] { model.answer(std::span(&example, 1), {}); });
    EXPECT_TRUE(has(message, "told the gold alignment of a right answer")) << message;
    EXPECT_TRUE(has(message, says)) << message;
  }
}

TEST(Told, IsRefusedBeforeAnythingIsRead) {
  const auto refused = [](const SettingList& settings, const std::string& says) {
    const std::string message = message_of([&] { TaskConfig(settings).check(); });
    EXPECT_TRUE(has(message, says)) << message;
  };
  refused(told_settings({{"corpus", "reverse", ""}}), "(hindi, english, chains), got reverse");
  refused({{"task", "translate", ""},
           {"tsv", "none", "", true},
           {"valid_tsv", "none", "", true},
           {"model.name", "recurrent", ""},
           {"model.decoder.oracle", "true", ""}},
          "got files, which have none");
  refused({{"task", "parse", ""}, {"model.decoder.oracle", "true", ""}}, "got the task parse");
  refused(told_settings({{"model.decoder.input", "bridge", ""}}), "needs decoder.input attention");
  EXPECT_NO_THROW(TaskConfig(told_settings()).check());
}

}  // namespace
}  // namespace attend::tasks
