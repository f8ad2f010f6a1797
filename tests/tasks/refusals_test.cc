// Every option of every task and network is checked before a file is read or a folder made, and is called by the place
// at which it was given.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "attend/models/zoo.h"
#include "attend/tasks/training.h"
#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/small_run.h"

namespace attend::tasks {
namespace {

using test::message_of;
using test::says;

/// Values that the option cannot have.
std::vector<std::string> wrong_values(const OptionInfo& option) {
  std::vector<std::string> wrong;
  if (option.type == "whole number") wrong = {"abc", "1.5", ""};
  if (option.type == "number") wrong = {"abc", "nan", "inf", ""};
  if (option.type == "true or false") wrong = {"maybe"};
  if (!option.bounds.names.empty()) wrong.emplace_back("no such name");
  if (option.bounds.widths) wrong.insert(wrong.end(), {"8,a", "8,,8", "8,", ",", "", "8.5"});
  const auto number = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  if (std::isfinite(option.bounds.least)) wrong.push_back(number(std::floor(option.bounds.least) - 1));
  if (std::isfinite(option.bounds.most)) wrong.push_back(number(std::ceil(option.bounds.most) + 1));
  return wrong;
}

SettingList settings_for(const TaskRow& task, std::string_view network) {
  return {{"task", std::string(task.name), "task"}, {"model.name", std::string(network), "--model.name"}};
}

TEST(RefusalsSlow, EveryOptionOfEveryTaskAndNetworkRefusesWhatItCannotBe) {
  for (const TaskRow& task : tasks()) {
    for (const std::string_view network : task.networks) {
      const SettingList plain = settings_for(task, network);
      for (const OptionInfo& option : TaskConfig(plain).all()) {
        for (const std::string& value : wrong_values(option)) {
          SettingList settings = plain;
          settings.push_back({option.name, value, "x.yml:7"});
          try {
            TaskConfig config(settings);
            ADD_FAILURE() << task.name << ", " << network << ": accepted " << option.name << " = " << value;
          } catch (const UsageError& error) {
            EXPECT_TRUE(std::string(error.what()).starts_with("x.yml:7: " + option.name + ": "))
                << option.name << " = " << value << ": " << error.what();
          }
        }
      }
    }
  }
}

/// A number without bounds is checked by nobody until it is used.
TEST(Refusals, NumbersHaveBounds) {
  const std::vector<std::string> any{"train.seed", "batch.seed", "search.seed", "model.cost",
                                     "model.reinforce.entropy"};
  for (const TaskRow& task : tasks()) {
    for (const std::string_view network : task.networks) {
      for (const OptionInfo& option : TaskConfig(settings_for(task, network)).all()) {
        if (option.type != "whole number" && option.type != "number") continue;
        if (std::ranges::find(any, option.name) != any.end()) continue;
        EXPECT_TRUE(std::isfinite(option.bounds.least)) << option.name << " of " << network;
      }
    }
  }
}

TEST(RefusalsSlow, EveryTaskAndNetworkCanBeTrainedAsItIs) {
  for (const TaskRow& task : tasks()) {
    for (const std::string_view network : task.networks) {
      SettingList settings = settings_for(task, network);
      if (task.input().is_image() && network == "encoder_decoder") {
        settings.push_back({"model.encoder.kind", "convolutional", "--model.encoder.kind"});
      }
      EXPECT_EQ(message_of([&] { TaskConfig(settings).check(); }), "") << task.name << ", " << network;
    }
    EXPECT_EQ(message_of([&] { TaskConfig({{"task", std::string(task.name), "task"}}).check(); }), "") << task.name;
  }
}

struct Together {
  SettingList settings;
  std::string said;
};

TEST(Refusals, OptionsThatDoNotFitTogetherAreNamedAsGiven) {
  const Together cases[] = {
      {{{"model.name", "transformer", "--model.name"}, {"model.heads", "7", "--model.heads"}},
       "--model.heads: expected a divisor of size 256, got 7"},
      {{{"model.name", "transformer", ""}, {"model.size", "10", "x.yml:4"}},
       "x.yml:4: model.size: model.heads: expected a divisor of size 10, got 4"},
      {{{"model.attention.heads", "3", "--model.attention.heads"}}, "--model.attention.heads: 3 heads must divide"},
      {{{"model.attention.align", "argmax", "--model.attention.align"}},
       "--model.attention.align: argmax cannot be trained"},
      {{{"model.name", "transformer", ""}, {"model.align", "argmax", "--model.align"}}, "--model.align: "},
      {{{"model.decoder.query", "before", "x.yml:9"}}, "x.yml:9: model.decoder.query: "},
      {{{"model.name", "language_model", ""}, {"train.scheduled_sampling", "0.5", "--train.scheduled-sampling"}},
       "--train.scheduled-sampling: expected 0 with this network (language_model)"},
      {{{"model.name", "transformer", ""}, {"model.tied", "all", "--model.tied"}},
       "--model.tied: all needs one vocabulary for both sides"},
      {{{"model.attention.score", "location", "--model.attention.score"}}, "--model.attention.score: location: "},
      {{{"task", "tag", ""}, {"tokeniser.kind", "bpe", "--tokeniser.kind"}}, "--tokeniser.kind: a network that looks"},
      {{{"task", "caption", ""}, {"model.encoder.stages", "8,a", "--model.encoder.stages"}},
       "--model.encoder.stages: expected whole numbers of 1 to 65536 with commas"},
      {{{"task", "glimpse", ""}, {"model.policy", "tiles", ""}, {"model.copies_in_use", "3", "--model.copies-in-use"}},
       "--model.copies-in-use: expected with policy tiles 1"},
      {{{"search.n_best", "9", "--search.n-best"}, {"search.beam", "4", "--search.beam"}},
       "--search.n-best: expected at most the beam, 4, got 9"},
      {{{"search.min_length", "9", "x.yml:2"}, {"search.max_length", "5", "x.yml:3"}},
       "x.yml:2: search.min_length: expected at most max_length, 5, got 9"},
      {{{"train.steps", "10", ""}, {"train.warmup", "10", "--train.warmup"}},
       "--train.warmup: expected fewer steps than the 10 of the run, got 10"},
      {{{"train.floor", "1", "--train.floor"}}, "--train.floor: expected at most the rate"},
      {{{"train.minutes", "5", "--train.minutes"}, {"train.steps", "9", ""}},
       "--train.minutes: expected minutes or steps"},
      {{{"train.best_by", "charm", "--train.best-by"}}, "--train.best-by: expected one of loss, bleu"},
      {{{"corpus", "nosuch", "--corpus"}}, "--corpus: expected one of"},
      {{{"corpus", "hindi", "--corpus"}, {"tsv", "x", "--tsv", true}}, "--corpus: expected files or a built-in corpus"},
      {{{"tokeniser.kind", "words", "--tokeniser.kind"}, {"batch.subwords.dropout", "0.1", ""}},
       "--tokeniser.kind: expected bpe for batch.subwords.dropout on that side (batch.subwords.sides), got words"},
      {{{"tokeniser.kind", "bpe", ""},
        {"tokeniser.target_kind", "words", "x.yml:3"},
        {"batch.subwords.dropout", "0.1", ""}},
       "x.yml:3: tokeniser.target_kind: expected bpe for batch.subwords.dropout"},
      {{{"tokeniser.kind", "bpe", ""},
        {"batch.subwords.dropout", "0.1", ""},
        {"batch.subwords.alpha", "0.1", "--batch.subwords.alpha"}},
       "--batch.subwords.alpha: expected 0 with batch.subwords.dropout"},
      {{{"task", "parse", ""}, {"batch.subwords.alpha", "0.1", "--batch.subwords.alpha"}},
       "--batch.subwords.alpha: texts are cut anew only where the answer does not depend on how"},
      {{{"task", "classify", ""},
        {"tokeniser.kind", "bpe", ""},
        {"batch.subwords.dropout", "0.1", ""},
        {"batch.subwords.sides", "target", "--batch.subwords.sides"}},
       "--batch.subwords.sides: expected both or source where the answer is a label, got target"},
      {{{"model.r_drop", "1", "--model.r-drop"}, {"model.dropout", "0", ""}},
       "--model.r-drop: expected 0 without dropout, which alone makes two passes differ, got 1"},
      {{{"model.name", "transformer", ""}, {"model.r_drop", "1", "--model.r-drop"}, {"model.dropout", "0", ""}},
       "--model.r-drop: expected 0 without dropout"},
      {{{"source", "x", "--source", true}}, "--source: expected as many files of sources as of targets, got 1 and 0"},
      {{{"tsv", "x", "", true}, {"held_out", "0", "--held-out"}}, "--held-out: expected more than 0"},
  };
  for (const Together& c : cases) {
    const std::string said = message_of([&] { TaskConfig(c.settings).check(); });
    EXPECT_TRUE(says(said, c.said)) << said << "\nexpected: " << c.said;
  }
  EXPECT_EQ(TaskConfig({{"search.n_best", "9", ""}}).options.search.beam, 9) << "as many hypotheses as answers";
}

TEST(Refusals, ARefusedRunLeavesNoFolder) {
  const test::TestFolder folder;
  const std::string tsv = folder.file("pairs.tsv", test::small_corpus()).string();
  const auto train = [&](SettingList settings) {
    settings.insert(settings.begin(),
                    {{"tsv", tsv, "--tsv", true}, {"tokeniser.kind", "words", ""}, {"held_out", "0.2", ""}});
    return message_of([&] {
      TaskTraining(TaskConfig(settings), folder.path() / "a" / "model", false, [](const auto&) {});
    });
  };
  EXPECT_EQ(train({{"batch.tokens", "1", "--batch.tokens"}}),
            "--batch.tokens: expected room for the longest pair, which has 2 tokens on a side, got 1; raise it, or "
            "leave such pairs out (filter.longest)");
  EXPECT_TRUE(says(train({{"train.warmup", "500", "--train.warmup"}, {"train.epochs", "1", ""}}),
                   "--train.warmup: expected fewer steps than the"));
  EXPECT_TRUE(says(train({{"valid_tsv", "nosuch", "--valid-tsv", true}}), "--valid-tsv: there is no file \"nosuch\""));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a"));
}

}  // namespace
}  // namespace attend::tasks
