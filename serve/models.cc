#include "serve/models.h"

#include <algorithm>

#include "attend/base/names.h"
#include "attend/data/utf8.h"
#include "attend/explain/methods.h"
#include "attend/tasks/explanation.h"

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

/// A text of words that the model knows, to see where it looks.
std::string short_text(const tasks::TextModel& model) {
  std::string text = model.source().decode(std::vector<int32_t>{data::kFirstWord});
  return data::split_words(text).empty() ? "a" : text;
}

/// Methods that can be asked of a network: those that read attention want one.
Json methods_of(bool attends) {
  Json names = Json::array();
  for (const explain::MethodRow& row : explain::methods()) {
    if (attends || !row.needs_attention) names.push_back(row.name);
  }
  return names;
}

/// What one short answer tells of the network: its attentions, by site and layer.
void add_sites(const tasks::TextModel& model, Json& description) {
  tasks::ExplainOptions options;
  options.weights = false;
  options.search.max_length = 2;
  Json sites = Json::array();
  bool attends = false;
  try {
    for (const explain::TraceSite& site : tasks::explain(model, short_text(model), options).sites) {
      sites.push_back({{"site", site.site}, {"layer", site.layer}, {"heads", site.heads}});
      attends = attends || (site.queries == "target" && site.keys.starts_with("source"));
    }
  } catch (const Error&) {
    // A network without attention has none to show; it still answers.
  }
  description["attends"] = attends;
  description["methods"] = methods_of(attends);
  description["sites"] = std::move(sites);
}

Json describe(const std::string& name, const fs::path& folder, const tasks::TextModel& model) {
  Json description = {{"name", name},
                      {"task", model.config().options.task},
                      {"network", model.config().model.name},
                      {"parameters", model.parameters()},
                      {"source_vocabulary", model.source().size()},
                      {"target_vocabulary", model.target().size()},
                      {"longest", model.longest()}};
  add_sites(model, description);
  description["search"] = options_json(model.config().options.search);
  description["bleu"] = best_bleu(folder);
  return description;
}

}  // namespace

Models::Models(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    auto served = std::make_unique<ServedModel>(
        ServedModel{name_for(folder, models_), folder, tasks::TextModel::load(folder), Json()});
    served->description = describe(served->name, folder, served->model);
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
