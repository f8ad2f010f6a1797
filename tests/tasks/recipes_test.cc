// The recipes of this repository: each names a task, and sets nothing that no option is called.
#include <gtest/gtest.h>

#include <filesystem>

#include "attend/base/recipe.h"
#include "attend/tasks/config.h"

namespace attend::tasks {
namespace {

TEST(Recipes, AreUnderstood) {
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ATTEND_SOURCE_DIR "/recipes")) {
    SCOPED_TRACE(entry.path().string());
    const SettingList settings = read_recipe(entry.path());
    EXPECT_NE(find_setting(settings, "task"), nullptr);
    EXPECT_NO_THROW(TaskConfig(settings).check());
    ++read;
  }
  EXPECT_GE(read, 8);
}

}  // namespace
}  // namespace attend::tasks
