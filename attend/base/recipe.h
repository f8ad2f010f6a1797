// Recipes: options as YAML. Mappings within mappings become names with dots ("model: {hidden: 9}" is model.hidden); every
// value is text until an option wants it. Of YAML, what a recipe needs: one document, mappings, scalars, lists of scalars.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "attend/base/options.h"

namespace attend {

/// What the file sets, each with "file:line". Refuses what is not such a recipe, and more than 1 MiB.
SettingList read_recipe(const std::filesystem::path& path);
/// The same of a text; `name` stands for the file's in messages.
SettingList parse_recipe(std::string_view text, const std::string& name);

/// A recipe that sets these options to their values, with each one's help behind it as a comment if wanted. Reading it
/// gives the same values.
std::string print_recipe(std::span<const OptionInfo> options, bool help = false);

}  // namespace attend
