#include "serve/models.h"

#include <algorithm>

#include "attend/base/names.h"
#include "attend/tasks/image.h"
#include "attend/tasks/task.h"
#include "attend/tasks/text.h"

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

struct Kind {
  const tasks::Family* family;
  std::unique_ptr<ServedModel> (*load)(const std::string& name, const fs::path& folder);
};
constexpr Kind kKinds[] = {{&tasks::kText, load_text}, {&tasks::kImages, load_images}};

std::unique_ptr<ServedModel> load(const std::string& name, const fs::path& folder) {
  const tasks::TaskRow& task = tasks::task_of(tasks::read_config(folder));
  const auto kind = std::ranges::find(kKinds, task.family, &Kind::family);
  require(kind != std::end(kKinds), folder.string(), ": a model that is served is wanted, got one for ", task.name);
  return kind->load(name, folder);
}

}  // namespace

Models::Models(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) models_.push_back(load(name_for(folder, models_), folder));
}

const ServedModel& Models::at(const std::string& name) const {
  if (name.empty() && !models_.empty()) return *models_.front();
  std::string names;
  for (const auto& one : models_) {
    if (one->name == name) return *one;
    names += (names.empty() ? "" : ", ") + one->name;
  }
  refuse(404, "no_such_model", "model: one of ", names, " is wanted, got ", attend::quoted(name));
}

}  // namespace attend::serve
