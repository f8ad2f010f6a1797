// What a model's folder says about the model, for `attend info` and for the card that lies beside its weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attend/tasks/task.h"

namespace attend::tasks {

/// The file in a run's folder that says how it ended. It is there only once it has.
inline constexpr const char* kResult = "result.json";

/// An option that was set to something else than it has by itself, for this task, data and network.
struct ChangedOption {
  std::string name, value, otherwise;
};

struct ModelFacts {
  std::string name;  ///< of the folder
  const TaskRow* row = nullptr;
  std::string network, summary, paper;
  int64_t parameters = 0;
  uint64_t bytes = 0;             ///< of weights.safetensors
  std::string corpus;             ///< built in; "": files
  std::vector<std::string> files;  ///< as they were named
  std::optional<int64_t> examples;
  std::vector<std::pair<std::string, int64_t>> vocabularies;  ///< "source", "target"
  std::optional<double> loss;                                 ///< of the weights, in validation
  std::vector<std::pair<std::string, double>> scores;         ///< by the names of the task's rows, in their order
  std::vector<ChangedOption> changed;
  std::string outcome = "not finished";  ///< or "finished", "stopped early"
  int64_t steps = 0;
  std::optional<int64_t> weights_of_step;
  bool averaged = false;
  std::optional<double> seconds;  ///< of training, without validations
  std::string version;            ///< of attend that trained it; "": not known
};

/// From config.yml, result.json, log.jsonl and the header of the weights; what a folder lacks is left out. Throws Error where it
/// is no model folder, or what it says of the network is broken.
ModelFacts facts_of(const std::filesystem::path& folder);

nlohmann::ordered_json json_of(const ModelFacts& facts);

}  // namespace attend::tasks
