#include "attend/tasks/facts.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/folder_file.h"
#include "attend/base/replacement.h"
#include "attend/data/spool.h"
#include "attend/tasks/config.h"
#include "attend/tasks/model_folder.h"
#include "attend/tensor/safetensors.h"
#include "attend/train/scores.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr uintmax_t kMostHistory = uintmax_t{1} << 30;  // bytes of a log

/// Which options there are, and what they have by themselves, depends on these.
std::vector<std::string_view> deciding(const TaskRow& row) {
  std::vector<std::string_view> names{"task", "corpus", "model.name"};
  names.insert(names.end(), row.input().files.begin(), row.input().files.end());
  return names;
}

/// The same task, data and network, and nothing else. A network that is named, even if it is the task's own, has its options
/// without the task's: so it is named only where it is another.
std::vector<OptionInfo> defaults_of(const SettingList& settings, const TaskConfig& config) {
  SettingList kept;
  for (const std::string_view name : deciding(config.row())) {
    const Setting* found = find_setting(settings, name);
    if (found && !found->value.empty() && name != "model.name") kept.push_back(*found);
  }
  TaskConfig usual(kept);
  if (usual.model.name == config.model.name) return usual.all();
  kept.push_back({"model.name", config.model.name, "config.yml"});
  return TaskConfig(kept).all();
}

/// Set by the data: sizes of vocabularies and, unless something was asked for, of images.
bool follows_from_data(const OptionInfo& option, const OptionInfo& usual, const TaskRow& row, std::string_view network) {
  const bool image_size = option.name == "size" || option.name == "channels";
  return row.derives(network, ModelChoice::own_name(option)) || (image_size && usual.value == "0");
}

std::string on_one_line(std::string value) {
  std::ranges::replace(value, '\n', ' ');
  return value;
}

void add_changed(const SettingList& settings, const TaskConfig& config, ModelFacts& facts) {
  const std::vector<OptionInfo> defaults = defaults_of(settings, config);
  const std::vector<std::string_view> known = deciding(config.row());
  for (const OptionInfo& option : config.all()) {
    const auto usual = std::ranges::find(defaults, option.name, &OptionInfo::name);
    const bool of_data = std::ranges::find(known, option.name) != known.end();
    if (of_data || usual == defaults.end() || usual->value == option.value) continue;
    if (follows_from_data(option, *usual, config.row(), config.model.name)) continue;
    facts.changed.push_back({option.name, on_one_line(option.value), on_one_line(usual->value)});
  }
}

void add_data(const TaskConfig& config, ModelFacts& facts) {
  facts.corpus = config.options.corpus;
  const std::vector<OptionInfo> all = config.all();
  for (const std::string_view name : config.row().input().files) {
    const auto option = std::ranges::find(all, name, &OptionInfo::name);
    if (option == all.end()) continue;
    std::string_view rest = option->value;  // one name per line
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('\n'));
      facts.files.push_back(data::shown_name(name));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
  }
  for (const char* side : {"source", "target"}) {
    const auto option = std::ranges::find(all, "model." + std::string(side) + "_vocabulary", &OptionInfo::name);
    if (option != all.end() && option->value != "0") facts.vocabularies.emplace_back(side, std::stoll(option->value));
  }
}

void add_weights(const fs::path& path, ModelFacts& facts) {
  if (!fs::exists(path)) return;
  facts.bytes = fs::file_size(path);
  const SafetensorsFile file(path);
  for (const SafetensorsEntry& entry : file.entries()) {
    facts.parameters += static_cast<int64_t>(entry.shape.size());
  }
}

template <class Value>
std::optional<Value> value_in(const json& object, std::string_view name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<Value>();
}

void add_result(const fs::path& path, ModelFacts& facts) {
  if (!fs::exists(path)) return;
  const json result = json::parse(read_file(path, size_t{1} << 20), nullptr, false);
  if (!result.is_object()) return;
  facts.outcome = result.contains("outcome") && result["outcome"].is_string() ? result["outcome"] : "finished";
  facts.steps = value_in<int64_t>(result, "steps").value_or(facts.steps);
  facts.weights_of_step = value_in<int64_t>(result, "weights_of_step");
  facts.examples = value_in<int64_t>(result, "examples");
  facts.seconds = value_in<double>(result, "seconds");
  if (const auto averaged = result.find("averaged"); averaged != result.end()) facts.averaged = *averaged == true;
  if (const auto version = result.find("version"); version != result.end() && version->is_string()) {
    facts.version = *version;
  }
}

/// The last validation that found the best weights is that of the weights in the folder.
void add_log(const fs::path& path, ModelFacts& facts) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const json entry = json::parse(line, nullptr, false);
    if (!entry.is_object()) continue;  // the last line of a run that was killed
    facts.steps = value_in<int64_t>(entry, "step").value_or(facts.steps);
    if (const auto seconds = value_in<double>(entry, "seconds")) facts.seconds = seconds;
    const auto best = entry.find("best");
    if (best == entry.end() || *best != true) continue;
    facts.weights_of_step = value_in<int64_t>(entry, "step");
    facts.loss = value_in<double>(entry, "valid_loss");
    facts.scores.clear();
    for (const std::string_view name : facts.row->scores) {
      if (const auto score = value_in<double>(entry, name)) facts.scores.emplace_back(name, *score);
    }
  }
}

}  // namespace

ModelFacts facts_of(const fs::path& folder) {
  const SettingList settings = read_config(folder).given;
  const TaskConfig config(settings);
  const models::ModelRow& network = models::model_row(config.model.name);
  ModelFacts facts{.name = folder_name(folder),
                   .row = &config.row(),
                   .network = config.model.name,
                   .summary = std::string(network.summary),
                   .paper = std::string(network.paper)};
  add_data(config, facts);
  add_weights(file_within(folder, "weights.safetensors"), facts);
  add_log(file_within(folder, "log.jsonl", kMostHistory), facts);
  add_result(file_within(folder, kResult), facts);
  add_changed(settings, config, facts);
  return facts;
}

ordered_json json_of(const ModelFacts& facts) {
  const auto or_null = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(nullptr); };
  ordered_json json{{"name", facts.name},
                    {"task", facts.row->name},
                    {"network", facts.network},
                    {"parameters", facts.parameters},
                    {"weights_bytes", facts.bytes},
                    {"corpus", facts.corpus.empty() ? ordered_json(nullptr) : ordered_json(facts.corpus)},
                    {"files", facts.files},
                    {"examples", or_null(facts.examples)}};
  json["vocabularies"] = ordered_json::object();
  for (const auto& [side, size] : facts.vocabularies) json["vocabularies"][side] = size;
  json["outcome"] = facts.outcome;
  json["steps"] = facts.steps;
  json["weights_of_step"] = or_null(facts.weights_of_step);
  json["averaged"] = facts.averaged;
  json["seconds"] = or_null(facts.seconds);
  json["validation"] = {{"loss", or_null(facts.loss)}};
  for (const auto& [name, score] : facts.scores) json["validation"][name] = score;
  json["options"] = ordered_json::object();
  for (const ChangedOption& option : facts.changed) {
    json["options"][option.name] = {{"value", option.value}, {"default", option.otherwise}};
  }
  json["version"] = facts.version.empty() ? ordered_json(nullptr) : ordered_json(facts.version);
  return json;
}

}  // namespace attend::tasks
