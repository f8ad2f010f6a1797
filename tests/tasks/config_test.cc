// The options of a run: the task's, a recipe's, flags'.
#include <gtest/gtest.h>

#include <algorithm>

#include "attend/base/recipe.h"
#include "attend/tasks/config.h"
#include "tests/support/message.h"

namespace attend::tasks {
namespace {

using test::message_of;

std::string value_of(const TaskConfig& config, const std::string& name) {
  for (const OptionInfo& option : config.all()) {
    if (option.name == name) return option.value;
  }
  return "no option " + name;
}

std::string refused(const Setting& setting) {
  return message_of([&] { TaskConfig({setting}); });
}

TEST(TaskConfig, ATaskHasTheOptionsOfItsInputAndNoOthers) {
  const auto message = [](const char* task, const char* option) {
    return message_of([&] {
      TaskConfig({{"task", task, "task"}, {option, "1", "x.yml:2"}});
    });
  };
  EXPECT_TRUE(message("glimpse", "filter.longest").starts_with("x.yml:2: there is no option \"filter.longest\""))
      << message("glimpse", "filter.longest");
  EXPECT_TRUE(message("translate", "batch.images").starts_with("x.yml:2: there is no option \"batch.images\""))
      << message("translate", "batch.images");
  EXPECT_EQ(message("translate", "filter.longest"), "");
  EXPECT_EQ(message("glimpse", "batch.images"), "");
  EXPECT_NE(message("translate", "data"), "") << "files of another format";
}

TEST(TaskConfig, ATaskHasItsOwnNetworks) {
  EXPECT_NE(message_of([] {
              TaskConfig({{"task", "glimpse", ""}, {"model.name", "transformer", "x.yml:1"}});
            }).find("glimpse, image_classifier"),
            std::string::npos);
}

TEST(TaskConfig, ATaskAloneMeansItsOwnCorpusWithWhatSuitsIt) {
  for (const TaskRow& task : tasks()) {
    const TaskConfig config({{"task", std::string(task.name), "task"}});
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
  EXPECT_EQ(TaskConfig({}).options.corpus, "hindi");
}

TEST(TaskConfig, WhatIsAskedForComesBeforeTheTask) {
  const TaskConfig config({{"task", "dates", ""}, {"train.epochs", "3", ""}, {"model.hidden", "24", ""}});
  EXPECT_EQ(config.options.train.epochs, 3);
  EXPECT_EQ(value_of(config, "model.hidden"), "24");
  EXPECT_EQ(config.options.tokeniser.kind, "characters");
  const TaskConfig later({{"train.epochs", "3", ""}, {"train.epochs", "4", ""}});
  EXPECT_EQ(later.options.train.epochs, 4);
}

TEST(TaskConfig, AnotherModelHasItsOwnDefaults) {
  const TaskConfig config({{"task", "reverse", ""}, {"model.name", "transformer", ""}});
  EXPECT_EQ(config.model.name, "transformer");
  EXPECT_EQ(config.options.corpus, "reverse");
  EXPECT_EQ(config.options.tokeniser.kind, "characters") << "the corpus is the same";
  for (const OptionInfo& option : models::model_row("transformer").options({}, "model.")) {
    EXPECT_EQ(value_of(config, option.name), option.value);
  }
}

/// Options of the network in which this task alone differs from the network's own defaults.
std::vector<std::string> set_by_task(const TaskRow& task, std::string_view network) {
  const TaskConfig config({{"task", std::string(task.name), ""}, {"model.name", std::string(network), ""}});
  std::vector<std::string> names;
  for (const OptionInfo& option : models::model_row(network).options({}, "model.")) {
    if (value_of(config, option.name) != option.value) names.push_back(option.name);
  }
  return names;
}

TEST(TaskConfig, AnotherModelKeepsOnlyWhatAllOfTheTasksNetworksShare) {
  for (const TaskRow& task : tasks()) {
    for (const std::string_view network : task.networks) {
      for (const std::string& name : set_by_task(task, network)) {
        const auto begins = [&](std::string_view front) { return name.starts_with(front); };
        EXPECT_TRUE(std::ranges::any_of(task.shared, begins)) << task.name << " with " << network << ": " << name;
      }
    }
  }
}

TEST(TaskConfig, EveryNetworkOfListenIsAListener) {
  const SettingList listen{{"task", "listen", ""}};
  for (const std::string_view network : task_named("listen").networks) {
    const SettingList asked{{"task", "listen", ""}, {"model.name", std::string(network), ""}};
    const TaskConfig config(asked), own(listen);
    for (const std::string name : {"kind", "size", "layers", "pyramid", "dropout"}) {
      EXPECT_EQ(value_of(config, "model.encoder." + name), value_of(own, "model.encoder." + name))
          << network << " " << name;
    }
  }
  const TaskConfig speller({{"task", "listen", ""}, {"model.name", "encoder_decoder", ""}});
  EXPECT_EQ(value_of(speller, "model.attention.score"), "location_aware");
  EXPECT_EQ(value_of(speller, "model.decoder.feeding"), "true");
  const TaskConfig asked(
      {{"task", "listen", ""}, {"model.name", "ctc", ""}, {"model.encoder.kind", "transformer", ""}});
  EXPECT_EQ(value_of(asked, "model.encoder.kind"), "transformer") << "what is asked for comes first";
  const TaskConfig frames({{"task", "frames", ""}}), tagger({{"task", "frames", ""}, {"model.name", "tagger", ""}});
  EXPECT_EQ(value_of(tagger, "model.encoder.size"), value_of(frames, "model.encoder.size"));
}

TEST(TaskConfig, FilesSwitchOffWhatSuitsTheBuiltInCorpus) {
  for (const SettingList& files : {SettingList{{"tsv", "x.tsv", "", true}},
                                   SettingList{{"source", "x.en", "", true}, {"target", "x.de", "", true}}}) {
    const TaskConfig config(files);
    EXPECT_EQ(config.options.corpus, "");
    EXPECT_EQ(value_of(config, "model.hidden"), "256");
    EXPECT_EQ(config.options.tokeniser.kind, data::TokeniserOptions{}.kind);
    EXPECT_EQ(config.options.train.best_by, "loss");
  }
}

TEST(TaskConfig, FilesHaveDefaultsOfTheirOwn) {
  const Setting file{"tsv", "x.tsv", "", true};
  const TaskConfig config({file}), other({file, {"model.name", "transformer", ""}}), dates({{"task", "dates", ""}, file});
  EXPECT_EQ(value_of(config, "model.decoder.feeding"), "true");
  EXPECT_EQ(value_of(config, "train.rate"), "0.002");
  EXPECT_EQ(config.options.train.epochs, 0) << "by the number of pairs";
  EXPECT_EQ(value_of(other, "train.rate"), "0.001") << "what suits one network need not suit another";
  EXPECT_EQ(other.options.batch.tokens, config.options.batch.tokens);
  EXPECT_EQ(dates.options.train.epochs, train::TrainerOptions{}.epochs) << "those of another task";
}

TEST(TaskConfig, UnknownNamesAreRefusedWithTheirPlaceAndTheNearest) {
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

TEST(TaskConfig, PrintedAsARecipeItReadsBackTheSame) {
  const std::vector<SettingList> all{
      {},
      {{"task", "reverse", ""}, {"train.rate", "0.123", ""}},
      {{"tsv", "a b.tsv\nc: d.tsv", "", true}, {"model.name", "language_model", ""}, {"tokeniser.joint", "true", ""}},
      {{"source", "x.en", "", true}, {"target", "x.de", "", true}, {"model.name", "recurrent", ""}},
      {{"task", "caption", ""}, {"images", "a folder: of images", ""}, {"captions", "x.txt", ""}},
      {{"task", "glimpse", ""}, {"model.name", "image_classifier", ""}},
  };
  for (const SettingList& settings : all) {
    const TaskConfig config(settings);
    for (const bool help : {true, false}) {
      const std::string recipe = print_recipe(config.all(), help);
      const TaskConfig again(parse_recipe(recipe, "recipe"));
      EXPECT_EQ(print_recipe(again.all(), help), recipe);
      EXPECT_EQ(again.model.name, config.model.name);
      EXPECT_EQ(again.options.text.tsv, config.options.text.tsv);
      EXPECT_EQ(again.options.images.images, config.options.images.images);
      EXPECT_EQ(again.options.corpus, config.options.corpus);
    }
  }
}

}  // namespace
}  // namespace attend::tasks
