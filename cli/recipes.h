// Recipes by name: those that are installed with the program or, in a build tree, those of the sources.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"

namespace attend::cli {

struct NamedRecipe {
  std::string name, summary, task;
};
/// All of them by name; the summary is the first line of the file's comment.
std::vector<NamedRecipe> named_recipes();
/// The file of that recipe; nothing where there is none of that name.
std::optional<std::filesystem::path> recipe_named(std::string_view name);
/// What is meant by a file's path or a recipe's name; nothing where it is neither.
std::optional<std::filesystem::path> find_recipe(const std::string& subject);
/// What the recipe sets, over those that it extends.
SettingList read_layers(const std::filesystem::path& path);

}  // namespace attend::cli
