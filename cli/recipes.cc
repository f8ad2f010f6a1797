#include "cli/recipes.h"

#include <algorithm>
#include <fstream>

#include "attend/base/error.h"
#include "attend/base/recipe_chain.h"
#include "attend/tasks/layers.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecipes = "recipes";

/// The folder of the recipes: beside the program, where ATTEND_DATA_DIR says, or in the source tree that it is built in.
std::optional<fs::path> recipe_folder() {
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  if (program.empty()) return std::nullopt;
  const fs::path installed = (program / ATTEND_DATA_DIR / kRecipes).lexically_normal();
  if (fs::is_directory(installed, none)) return installed;
  fs::path tree = program;
  for (int up = 0; up < 2; ++up) {  // build/attend, build/debug/attend
    tree = tree.parent_path();
    if (fs::is_directory(tree / kRecipes, none) && fs::exists(tree / "CMakeLists.txt", none)) return tree / kRecipes;
  }
  return std::nullopt;
}

/// The first line of the comment that a recipe begins with.
std::string summary_of(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const size_t begin = line.find_first_not_of("# ");
  return line.starts_with('#') && begin != line.npos ? line.substr(begin) : "";
}

/// Which task it is for; "" where the recipe cannot be read, which is told when it is used.
std::string task_in(const fs::path& path) {
  try {
    const SettingList settings = read_layers(path);
    const Setting* const task = find_setting(settings, "task");
    return task ? task->value : "";
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

std::vector<NamedRecipe> named_recipes() {
  std::vector<NamedRecipe> all;
  const auto folder = recipe_folder();
  if (!folder) return all;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (entry.path().extension() != ".yml") continue;
    all.push_back({entry.path().stem().string(), summary_of(entry.path()), task_in(entry.path())});
  }
  std::ranges::sort(all, {}, &NamedRecipe::name);
  return all;
}

std::optional<fs::path> recipe_named(std::string_view name) {
  const auto folder = recipe_folder();
  if (!folder || name.empty() || name.find('/') != name.npos) return std::nullopt;
  const fs::path file = *folder / (std::string(name) + ".yml");
  std::error_code none;
  return fs::is_regular_file(file, none) ? std::optional(file) : std::nullopt;
}

std::optional<fs::path> find_recipe(const std::string& subject) {
  const bool there = fs::exists(subject);
  if (has_recipe_ending(subject) || (there && !fs::is_directory(subject))) return subject;
  if (const auto named = recipe_named(subject)) return named;  // whose model may lie in a folder of that name
  return there ? std::optional<fs::path>(subject) : std::nullopt;
}

SettingList read_layers(const fs::path& path) {
  SettingList settings;
  for (const SettingList& layer : read_recipe_chain(path, recipe_named)) {
    settings = tasks::laid_over(std::move(settings), layer).settings;
  }
  return settings;
}

}  // namespace attend::cli
