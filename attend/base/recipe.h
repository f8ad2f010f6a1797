// Recipes: options as YAML. Mappings within mappings become names with dots ("model: {hidden: 9}" is model.hidden);
// every value is text until an option reads it. Only the YAML that a recipe needs: one document of mappings, scalars
// and lists of scalars.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/options.h"

namespace attend {

/// What the file sets, each with "file:line". Rejects (UsageError) anything that is not a recipe, or is larger than 1
/// MiB.
SettingList read_recipe(const std::filesystem::path& path);
/// The same for a text; messages use `name` as the file name.
SettingList parse_recipe(std::string_view text, const std::string& name);

/// A recipe that sets these options to their values, with `help` followed by their help as comments. Reading it back
/// gives the same values.
std::string print_recipe(std::span<const OptionInfo> options, bool help = false);

}  // namespace attend
