#include "attend/base/recipe_chain.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/recipe.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtends = "extends";

fs::path file_of(const Setting& extends, const fs::path& from, const FindRecipe& named) {
  detail::require_one(extends);
  require(!extends.value.empty(), detail::place_of(extends), ": expected a recipe, got nothing");
  const fs::path beside = from.parent_path() / extends.value;
  if (has_recipe_ending(beside)) {
    require(fs::exists(beside), detail::place_of(extends), ": there is no file ", beside.string());
    return beside;
  }
  const fs::path file = beside.string() + ".yml";
  if (fs::exists(file)) return file;
  if (const auto found = named ? named(extends.value) : std::nullopt) return *found;
  fail(detail::place_of(extends), ": expected a recipe, got ", quoted(extends.value), ": there is no file ",
       file.string(), " and no recipe of that name");
}

/// Takes `extends` out of what a recipe sets.
std::optional<Setting> take_extends(SettingList& settings) {
  const auto found = std::ranges::find(settings, kExtends, &Setting::name);
  if (found == settings.end()) return std::nullopt;
  Setting extends = std::move(*found);
  settings.erase(found);
  return extends;
}

}  // namespace

std::vector<SettingList> read_recipe_chain(const fs::path& path, const FindRecipe& named) {
  std::vector<SettingList> chain;
  std::vector<fs::path> seen;
  std::string route;
  for (fs::path file = path;;) {
    SettingList settings = read_recipe(file);
    seen.push_back(fs::weakly_canonical(file));
    route += (route.empty() ? "" : " → ") + file.string();
    const std::optional<Setting> extends = take_extends(settings);
    chain.push_back(std::move(settings));
    if (!extends) break;
    file = file_of(*extends, file, named);
    require(std::ranges::find(seen, fs::weakly_canonical(file)) == seen.end(), detail::place_of(*extends),
            ": a recipe cannot extend itself: ", route, " → ", file.string());
  }
  std::ranges::reverse(chain);
  return chain;
}

bool has_recipe_ending(const fs::path& path) {
  const fs::path ending = path.extension();
  return ending == ".yml" || ending == ".yaml";
}

}  // namespace attend
