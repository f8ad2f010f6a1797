// The recipes of this repository: each names a task, sets nothing that no option is called, and keeps the options that
// its results were made with.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "attend/base/recipe.h"
#include "attend/base/recipe_chain.h"
#include "attend/tasks/config.h"
#include "attend/tasks/layers.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

SettingList layered(const fs::path& path) {
  SettingList settings;
  for (const SettingList& layer : read_recipe_chain(path)) settings = laid_over(settings, layer).settings;
  return settings;
}

std::vector<fs::path> recipes() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(ATTEND_SOURCE_DIR "/recipes")) all.push_back(entry.path());
  return all;
}

TEST(Recipes, AreUnderstood) {
  EXPECT_GE(recipes().size(), 8u);
  for (const fs::path& path : recipes()) {
    SCOPED_TRACE(path.string());
    const SettingList settings = layered(path);
    EXPECT_NE(find_setting(settings, "task"), nullptr);
    EXPECT_NO_THROW(TaskConfig(settings).check());
  }
}

/// "recipe option value" lines: every recipe without `extends`, as its results were made.
std::map<std::string, std::string> whole_recipes() {
  std::map<std::string, std::string> all;
  std::ifstream in(ATTEND_SOURCE_DIR "/tests/tasks/recipe_options.txt");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string recipe, option, value;
    words >> recipe >> option;
    std::getline(words, value);
    const bool list = value.starts_with(" [");
    all[recipe] += option + ":" + (list ? value : " \"" + value.substr(1) + "\"") + "\n";
  }
  return all;
}

TEST(Recipes, KeepTheOptionsThatTheirResultsWereMadeWith) {
  const auto whole = whole_recipes();
  EXPECT_EQ(whole.size(), recipes().size()) << "a recipe is missing in tests/tasks/recipe_options.txt, or here";
  for (const auto& [name, text] : whole) {
    SCOPED_TRACE(name);
    const TaskConfig before(parse_recipe(text, name)), now(layered(ATTEND_SOURCE_DIR "/recipes/" + name + ".yml"));
    EXPECT_EQ(settings_of(before.all()), settings_of(now.all()));
  }
}

TEST(Recipes, BeginWithALineThatSaysWhatTheyAre) {
  for (const fs::path& path : recipes()) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    EXPECT_TRUE(line.starts_with("# ")) << path;
    EXPECT_LE(line.size(), 84u) << path << ": what `attend list recipes` has room for in one line: " << line;
    EXPECT_TRUE(line.ends_with('.')) << path << ": a whole sentence: " << line;
  }
}

}  // namespace
}  // namespace attend::tasks
