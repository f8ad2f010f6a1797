// Recipes that extend others: `extends: base.yml`, or a recipe's name, in place of repeating what that one sets.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "attend/base/options.h"

namespace attend {

/// Where the recipe of that name is; nothing if there is none.
using FindRecipe = std::function<std::optional<std::filesystem::path>(std::string_view name)>;

/// What a recipe sets, and before it what those set that it extends, one list for each file: the later lists count.
/// `extends` is a file relative to the folder of the recipe that says it, or a name: NAME.yml in that folder or, if
/// there is none, what `named` finds. Refuses a recipe that extends itself, directly or through others.
std::vector<SettingList> read_recipe_chain(const std::filesystem::path& path, const FindRecipe& named = {});

/// Whether that is the name of a file with options: x.yml, x.yaml.
bool has_recipe_ending(const std::filesystem::path& path);

}  // namespace attend
