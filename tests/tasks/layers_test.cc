// Flags over a recipe, a recipe over the one that it extends: what goes with what is replaced.
#include "attend/tasks/layers.h"

#include <gtest/gtest.h>

#include "attend/tasks/config.h"

namespace attend::tasks {
namespace {

SettingList recipe(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  SettingList all;
  for (const auto& [name, value] : pairs) all.push_back({name, value, "x.yml:1"});
  return all;
}

SettingList flags(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  SettingList all;
  for (const auto& [name, value] : pairs) all.push_back({name, value, std::string("--") + name});
  return all;
}

using Notes = std::vector<std::string>;

const SettingList kTranslation = recipe({{"task", "translate"},
                                   {"source", "a.de"},
                                   {"target", "a.en"},
                                   {"valid_source", "v.de"},
                                   {"valid_target", "v.en"},
                                   {"vectors", "glove.txt"},
                                   {"model.name", "transformer"},
                                   {"model.heads", "4"}});

TEST(Layers, LaterValuesCount) {
  const Layered both = laid_over(kTranslation, flags({{"model.heads", "8"}}));
  EXPECT_EQ(find_setting(both.settings, "model.heads")->value, "8");
  EXPECT_EQ(find_setting(both.settings, "valid_source")->value, "v.de");
  EXPECT_EQ(both.notes, Notes{});
}

TEST(Layers, OwnFilesTakeNoneOfTheRecipesData) {
  const Layered own = laid_over(kTranslation, flags({{"source", "my.de"}, {"target", "my.en"}}));
  EXPECT_EQ(find_setting(own.settings, "source")->value, "my.de");
  EXPECT_EQ(find_setting(own.settings, "valid_source"), nullptr);
  EXPECT_EQ(find_setting(own.settings, "valid_target"), nullptr);
  EXPECT_EQ(find_setting(own.settings, "vectors")->value, "glove.txt") << "no data to train on";
  EXPECT_EQ(find_setting(own.settings, "model.heads")->value, "4");
  EXPECT_EQ(own.notes, Notes{"--source: the recipe's own data is not used: valid_source, valid_target"});

  const Layered tsv = laid_over(kTranslation, flags({{"tsv", "my.tsv"}, {"valid_tsv", "v.tsv"}}));
  EXPECT_EQ(TaskConfig(tsv.settings).options.text.source, std::vector<std::string>{});
  EXPECT_EQ(TaskConfig(tsv.settings).options.valid_text.all(), std::vector<std::string>{"v.tsv"});
  EXPECT_EQ(tsv.notes, Notes{"--tsv: the recipe's own data is not used: source, target, valid_source, valid_target"});
}

TEST(Layers, ACorpusAndFilesReplaceEachOther) {
  EXPECT_EQ(laid_over(kTranslation, flags({{"corpus", "hindi"}})).notes,
            Notes{"--corpus: the recipe's own data is not used: source, target, valid_source, valid_target"});
  const SettingList shapes = recipe({{"task", "caption"}, {"corpus", "shapes"}});
  const Layered images = laid_over(shapes, flags({{"images", "photos"}, {"captions", "c.txt"}}));
  EXPECT_EQ(find_setting(images.settings, "corpus"), nullptr);
  EXPECT_EQ(TaskConfig(images.settings).options.corpus, "");
}

TEST(Layers, ImagesComeWithTheirListsAndLabels) {
  const SettingList photos = recipe({{"task", "caption"},
                                     {"images", "photos"},
                                     {"captions", "c.txt"},
                                     {"names", "train.txt"},
                                     {"valid_names", "dev.txt"}});
  const Layered own = laid_over(photos, flags({{"images", "mine"}, {"captions", "mine.txt"}}));
  EXPECT_EQ(own.notes, Notes{"--images: the recipe's own data is not used: names, valid_names"});
  const Layered fewer = laid_over(photos, flags({{"names", "fewer.txt"}}));
  EXPECT_EQ(find_setting(fewer.settings, "images")->value, "photos") << "a choice among the same images";
  EXPECT_EQ(fewer.notes, Notes{});
}

TEST(Layers, OwnValidationFilesReplaceTheRecipes) {
  const Layered own = laid_over(kTranslation, flags({{"valid_tsv", "v.tsv"}}));
  EXPECT_EQ(find_setting(own.settings, "source")->value, "a.de");
  EXPECT_EQ(TaskConfig(own.settings).options.valid_text.all(), std::vector<std::string>{"v.tsv"});
  EXPECT_EQ(own.notes, Notes{"--valid_tsv: the recipe's own validation data is not used: valid_source, valid_target"});
}

TEST(Layers, AnotherNetworkHasOptionsOfItsOwn) {
  const Layered other = laid_over(kTranslation, flags({{"model.name", "recurrent"}, {"model.hidden", "8"}}));
  EXPECT_EQ(find_setting(other.settings, "model.heads"), nullptr);
  EXPECT_EQ(TaskConfig(other.settings).model.name, "recurrent");
  EXPECT_EQ(other.notes,
            Notes{"--model.name: the recipe's own options of the network transformer are not used: model.heads"});
  const Layered same = laid_over(kTranslation, flags({{"model.name", "transformer"}}));
  EXPECT_EQ(find_setting(same.settings, "model.heads")->value, "4");
}

}  // namespace
}  // namespace attend::tasks
