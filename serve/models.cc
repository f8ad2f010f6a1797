#include "serve/models.h"

#include <algorithm>

#include "attend/base/names.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

/// The folder's name, with a number behind it where it is taken: demo, demo-2.
std::string name_for(const fs::path& folder, const std::vector<std::unique_ptr<ServedModel>>& others) {
  const fs::path whole = fs::weakly_canonical(folder);
  const std::string plain = whole.has_filename() ? whole.filename().string() : "model";
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(others, [&](const auto& other) { return other->name == name; });
  };
  std::string name = plain;
  for (int number = 2; taken(name); ++number) name = plain + "-" + std::to_string(number);
  return name;
}

}  // namespace

Models::Models(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    models_.push_back(std::make_unique<ServedModel>(name_for(folder, models_), folder));
  }
}

const ServedModel& Models::at(const std::string& name) const {
  if (name.empty() && !models_.empty()) return *models_.front();
  std::string names;
  for (const auto& one : models_) {
    if (one->name == name) return *one;
    names += (names.empty() ? "" : ", ") + one->name;
  }
  refuse(404, "no_such_model", "model: expected one of ", names, ", got ", attend::quoted(name));
}

}  // namespace attend::serve
