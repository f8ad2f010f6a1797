// Feeds any bytes to the reader of recipes; whatever is not an attend::Error or a list of settings is a bug. What was read
// is printed as a recipe and read again, which has to give the same.
#include <cstdint>
#include <exception>
#include <set>
#include <string>

#include "attend/base/error.h"
#include "attend/base/recipe.h"

namespace {

void check(bool held) {
  if (!held) std::terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attend::SettingList settings;
  try {
    settings = attend::parse_recipe(text, "fuzz");
  } catch (const attend::Error& error) {
    check(std::string_view(error.what()).starts_with("fuzz"));
    return 0;
  }
  std::vector<attend::OptionInfo> options;
  size_t values = 0;
  for (const attend::Setting& setting : settings) {
    options.push_back({setting.name, setting.value, "", setting.list ? "list" : "text"});
    values += setting.value.size();
  }
  check(values <= 2 * size);
  try {
    const std::string printed = attend::print_recipe(options, false);
    check(attend::settings_of(attend::parse_recipe(printed, "again")) == attend::settings_of(settings));
  } catch (const attend::Error&) {
    check(false);
  }
  return 0;
}
