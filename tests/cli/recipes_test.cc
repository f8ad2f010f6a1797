// Recipes by name, recipes that extend others, and recipes with files of one's own, as users type them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/command.h"
#include "tests/support/folder.h"
#include "tests/support/small_run.h"

namespace {

namespace fs = std::filesystem;
using namespace attend::test;

class RecipesByName : public testing::Test {
 protected:
  Result in_folder(const std::string& arguments) const {
    return attend_with(arguments + " 2>&1", "cd " + in_quotes(folder_.path()) + " &&");
  }
  std::string small(const std::string& more = "") const { return small_recipe(tsv_, 2) + more; }

  TestFolder folder_;
  fs::path tsv_ = folder_.file("pairs.tsv", small_corpus());
};

TEST_F(RecipesByName, AreFoundFromAnyFolder) {
  const Result by_name = in_folder("train multi30k-de-en-transformer --dump-config");
  EXPECT_EQ(by_name.code, 0) << by_name.output;
  EXPECT_TRUE(has(by_name.output, "source: [data/multi30k/train.de.gz]")) << by_name.output;
  const Result by_path = in_folder("train " ATTEND_SOURCE_DIR "/recipes/multi30k-de-en-transformer.yml --dump-config");
  EXPECT_EQ(by_name.output, by_path.output);
}

TEST_F(RecipesByName, AFolderOfThatNameIsNotInTheirWay) {
  fs::create_directories(folder_.path() / "shapes-soft");
  EXPECT_EQ(in_folder("train shapes-soft --dump-config").code, 0);
  const Result other = in_folder("train nothing-of-the-kind --out x");
  EXPECT_NE(other.code, 0);
  EXPECT_TRUE(has(other.output, "attend list recipes")) << other.output;
}

TEST_F(RecipesByName, AreListedWithOneLineEach) {
  const Result listed = attend_with("list recipes");
  EXPECT_EQ(listed.code, 0);
  EXPECT_TRUE(has(listed.output, "multi30k-en-fr-transformer")) << listed.output;
  const auto rows = nlohmann::json::parse(attend_with("list recipes --json").output)["recipes"];
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(ATTEND_SOURCE_DIR "/recipes")) ++files;
  EXPECT_EQ(rows.size(), files);
  size_t named = 0;  // a long summary goes on in a second line, below its own
  std::istringstream listing(listed.output);
  for (std::string line; std::getline(listing, line);) named += line.size() > 2 && line.starts_with("  ") && line[2] != ' ';
  EXPECT_EQ(named, files) << listed.output;
  for (const auto& row : rows) {
    EXPECT_FALSE(row["summary"].get<std::string>().empty()) << row;
    EXPECT_FALSE(row["task"].get<std::string>().empty()) << "the task of one that extends another, too: " << row;
  }
}

TEST_F(RecipesByName, ExtendsIsFollowedAndDumped) {
  folder_.file("base.yml", small());
  folder_.file("mine.yml", "extends: base.yml\nmodel: {hidden: 16}\n");
  folder_.file("theirs.yml", "extends: shapes-soft\ntrain: {steps: 7, warmup: 2}\n");
  const Result dumped = in_folder("train mine.yml --train.steps 3 --dump-config");
  EXPECT_EQ(dumped.code, 0) << dumped.output;
  for (const char* line : {"pairs.tsv", "\n  hidden: 16", "\n  embedding: 6", "\n  steps: 3"}) {
    EXPECT_TRUE(has(dumped.output, line)) << line << " in: " << dumped.output;
  }
  EXPECT_FALSE(has(dumped.output, "extends")) << "it shows what came of it: " << dumped.output;
  const Result theirs = in_folder("train theirs.yml --dump-config");
  EXPECT_TRUE(has(theirs.output, "corpus: shapes")) << theirs.output;
  EXPECT_TRUE(has(theirs.output, "\n  steps: 7")) << theirs.output;
}

TEST_F(RecipesByName, MistakesAreToldWithTheFileTheyAreIn) {
  folder_.file("base.yml", small("modle: {hidden: 3}\n"));
  folder_.file("mine.yml", "extends: base.yml\n");
  EXPECT_TRUE(has(in_folder("train mine.yml --dump-config").output, "base.yml:7: there is no option \"modle.hidden\""));
  folder_.file("one.yml", "extends: two.yml\n");
  folder_.file("two.yml", "extends: one.yml\n");
  const Result cycle = in_folder("train one.yml --dump-config");
  EXPECT_NE(cycle.code, 0);
  EXPECT_TRUE(has(cycle.output, "two.yml:1: extends: a recipe cannot extend itself: one.yml → two.yml → one.yml"))
      << cycle.output;
}

TEST_F(RecipesByName, AModelsFolderExtendsNothing) {
  folder_.file("base.yml", small());
  fs::create_directories(folder_.path() / "model");
  folder_.file("model/config.yml", "extends: ../base.yml\n");
  const Result refused = in_folder("run model < /dev/null");
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(has(refused.output, "there is no option \"extends\"")) << refused.output;
}

TEST_F(RecipesByName, OwnFilesAreNotValidatedOnTheRecipes) {
  const Result dumped =
      in_folder("train multi30k-de-en-transformer --source my.de --target my.en --dump-config");
  EXPECT_EQ(dumped.code, 0) << dumped.output;
  EXPECT_TRUE(has(dumped.output, "source: [my.de]")) << dumped.output;
  EXPECT_FALSE(has(dumped.output, "data/multi30k")) << dumped.output;

  folder_.file("recipe.yml", small("valid_tsv: none.tsv\n"));
  folder_.file("mine.tsv", small_corpus(30));
  const Result trained = in_folder("train recipe.yml --tsv mine.tsv --out model");
  EXPECT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(has(trained.output, "note: --tsv: the recipe's own data is not used: valid_tsv\n")) << trained.output;
  EXPECT_FALSE(has(folder_.bytes("model/config.yml"), "none.tsv"));
  EXPECT_EQ(in_folder("train recipe.yml --tsv mine.tsv --out model --resume --train.steps 3").code, 0)
      << "the same words resume it";
  EXPECT_NE(in_folder("train recipe.yml --out other").code, 0) << "none.tsv does not exist, and is asked for";
}

TEST_F(RecipesByName, ARecipeOfOnesOwnFilesTakesNoneOfTheOneThatItExtends) {
  folder_.file("mine.yml", "extends: multi30k-de-en-transformer\nsource: [my.de]\ntarget: [my.en]\n");
  const Result dumped = in_folder("train mine.yml --dump-config");
  EXPECT_EQ(dumped.code, 0) << dumped.output;
  EXPECT_FALSE(has(dumped.output, "data/multi30k")) << dumped.output;
  EXPECT_TRUE(has(dumped.output, "heads: 4")) << dumped.output;
}

TEST_F(RecipesByName, AnotherNetworkLeavesTheRecipesOwnOptionsBehind) {
  folder_.file("recipe.yml", small());
  const Result trained =
      in_folder("train recipe.yml --model.name transformer --model.size 8 --model.heads 2 --out model");
  EXPECT_EQ(trained.code, 0) << trained.output;
  EXPECT_TRUE(has(trained.output, "note: --model.name: the recipe's own options of the network recurrent are not used: "
                                  "model.embedding, model.hidden, model.dropout"))
      << trained.output;
}

TEST_F(RecipesByName, AreComparedByName) {
  const Result refused = in_folder("compare multi30k-compare --vary attention.score=dot,additive --out report");
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(has(refused.output, "there is no file \"data/multi30k/train.de.gz\"")) << refused.output;
}

}  // namespace
