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

template <HasFields Options>
Json options_json(Options options) {
  Json all = Json::object();
  visit_fields(options, [&](const std::string& name, auto& field, const char*) { all[name] = field; });
  return all;
}

Json sites_json(const std::vector<explain::TraceSite>& sites) {
  Json all = Json::array();
  for (const explain::TraceSite& site : sites) {
    all.push_back({{"site", site.site}, {"layer", site.layer}, {"heads", site.heads}});
  }
  return all;
}

Json describe(const ServedModel& served) {
  const tasks::TextModel& model = served.model;
  Json description = {{"name", served.name},
                      {"task", model.config().options.task},
                      {"network", model.config().model.name},
                      {"parameters", model.parameters()},
                      {"source_vocabulary", model.source().size()},
                      {"target_vocabulary", model.target().size()},
                      {"longest", model.longest()},
                      {"attends", served.known.attends()},
                      {"methods", served.known.methods},
                      {"sites", sites_json(served.known.sites)}};
  description["search"] = options_json(model.config().options.search);
  description["bleu"] = best_bleu(served.folder);
  return description;
}

}  // namespace

Models::Models(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    auto served = std::make_unique<ServedModel>(
        ServedModel{name_for(folder, models_), folder, tasks::TextModel::load(folder), {}, Json()});
    served->known = tasks::explainable(served->model);
    served->description = describe(*served);
    models_.push_back(std::move(served));
  }
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
