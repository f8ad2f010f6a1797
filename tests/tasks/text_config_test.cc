// The options of a run: the task's, a recipe's, flags'.
#include <gtest/gtest.h>

#include "attend/base/recipe.h"
#include "attend/tasks/task.h"
#include "attend/tasks/text.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

using test::message_of;

std::string value_of(const TextConfig& config, const std::string& name) {
  for (const OptionInfo& option : config.all()) {
    if (option.name == name) return option.value;
  }
  return "no option " + name;
}

std::string refused(const Setting& setting) {
  return message_of([&] { TextConfig({setting}); });
}

TEST(TextConfig, RefusesTasksOfImages) {
  EXPECT_EQ(test::message_of([] {
              TextConfig({{"task", "glimpse", "task"}});
            }),
            "task: one that reads text is wanted here, such as translate, got glimpse, which reads images");
}

TEST(TextConfig, ATaskAloneMeansItsOwnCorpusWithWhatSuitsIt) {
  for (const TaskRow& task : tasks()) {
    if (task.family != &kText) continue;
    const TextConfig config({{"task", std::string(task.name), "task"}});
    EXPECT_EQ(config.options.corpus, task.corpus);
    for (const TaskSetting& setting : task.on_builtin) {
      const double number = std::atof(std::string(setting.value).c_str());
      if (number != 0) {
        EXPECT_DOUBLE_EQ(std::stod(value_of(config, std::string(setting.name))), number) << setting.name;
      } else {
        EXPECT_EQ(value_of(config, std::string(setting.name)), setting.value) << setting.name;
      }
    }
  }
  EXPECT_EQ(TextConfig({}).options.corpus, "hindi");
}

TEST(TextConfig, WhatIsAskedForComesBeforeTheTask) {
  const TextConfig config({{"task", "dates", ""}, {"train.epochs", "3", ""}, {"model.hidden", "24", ""}});
  EXPECT_EQ(config.options.train.epochs, 3);
  EXPECT_EQ(value_of(config, "model.hidden"), "24");
  EXPECT_EQ(config.options.tokeniser.kind, "characters");
  const TextConfig later({{"train.epochs", "3", ""}, {"train.epochs", "4", ""}});
  EXPECT_EQ(later.options.train.epochs, 4);
}

TEST(TextConfig, AnotherModelHasItsOwnDefaults) {
  const TextConfig config({{"task", "reverse", ""}, {"model.name", "transformer", ""}});
  EXPECT_EQ(config.model.name, "transformer");
  EXPECT_EQ(config.options.corpus, "reverse");
  EXPECT_EQ(config.options.tokeniser.kind, "characters") << "the corpus is the same";
  for (const OptionInfo& option : models::model_row("transformer").options({}, "model.")) {
    EXPECT_EQ(value_of(config, option.name), option.value);
  }
}

TEST(TextConfig, FilesSwitchOffWhatSuitsTheBuiltInCorpus) {
  for (const SettingList& files : {SettingList{{"tsv", "x.tsv", "", true}},
                                   SettingList{{"source", "x.en", "", true}, {"target", "x.de", "", true}}}) {
    const TextConfig config(files);
    EXPECT_EQ(config.options.corpus, "");
    EXPECT_EQ(config.model.name, "transformer");
    EXPECT_EQ(config.options.tokeniser.kind, data::TokeniserOptions{}.kind);
    EXPECT_EQ(config.options.train.best_by, "loss");
  }
}

TEST(TextConfig, UnknownNamesAreRefusedWithTheirPlaceAndTheNearest) {
  EXPECT_EQ(refused({"model.hiden", "8", "x.yml:3"}),
            "x.yml:3: there is no option \"model.hiden\"; the nearest is \"model.hidden\"");
  EXPECT_EQ(refused({"train.ratee", "8", "x.yml:4"}),
            "x.yml:4: there is no option \"train.ratee\"; the nearest is \"train.rate\"");
  EXPECT_NE(refused({"task", "revers", "x.yml:1"}).find("\"reverse\""), std::string::npos);
  EXPECT_NE(refused({"model.name", "transfomer", "x.yml:1"}).find("\"transformer\""), std::string::npos);
  EXPECT_TRUE(refused({"train.steps", "many", "x.yml:5"}).starts_with("x.yml:5: train.steps: "))
      << refused({"train.steps", "many", "x.yml:5"});
  EXPECT_TRUE(refused({"model.hidden", "1.5", "x.yml:6"}).starts_with("x.yml:6: model.hidden: "));
}

TEST(TextConfig, PrintedAsARecipeItReadsBackTheSame) {
  const std::vector<SettingList> all{
      {},
      {{"task", "reverse", ""}, {"train.rate", "0.123", ""}},
      {{"tsv", "a b.tsv\nc: d.tsv", "", true}, {"model.name", "language_model", ""}, {"tokeniser.joint", "true", ""}},
      {{"source", "x.en", "", true}, {"target", "x.de", "", true}, {"model.name", "recurrent", ""}},
  };
  for (const SettingList& settings : all) {
    const TextConfig config(settings);
    for (const bool help : {true, false}) {
      const std::string recipe = print_recipe(config.all(), help);
      const TextConfig again(parse_recipe(recipe, "recipe"));
      EXPECT_EQ(print_recipe(again.all(), help), recipe);
      EXPECT_EQ(again.model.name, config.model.name);
      EXPECT_EQ(again.options.tsv, config.options.tsv);
      EXPECT_EQ(again.options.corpus, config.options.corpus);
    }
  }
}

}  // namespace
}  // namespace attend::tasks
