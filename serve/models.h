// The models that are served: their names, what is told about them, and what their folders know of their training.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/tasks/explanation.h"
#include "attend/tasks/text.h"
#include "serve/refusal.h"

namespace attend::serve {

using Json = nlohmann::ordered_json;

struct ServedModel {
  std::string name;
  std::filesystem::path folder;
  tasks::TextModel model;
  tasks::Explainable known;
  Json description;  ///< a row of GET /v1/models
};

class Models {
 public:
  /// Loads them all. Throws Error where a folder holds none.
  explicit Models(const std::vector<std::string>& folders);

  /// "": the first. Refuses (404) a name that is none of theirs, with those that are.
  const ServedModel& at(const std::string& name) const;
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

/// {"train":[{"step","loss",…}],"valid":[{"step","valid_loss",…}]} of log.jsonl, each thinned to at most 500 points.
Json curves(const std::filesystem::path& folder);
/// {"sentences":[{"source","reference","output","chrf"}]} of valid.jsonl, the worst first; with a note where there is none.
Json gallery(const std::filesystem::path& folder);
/// The best validation BLEU in the log; null where there is none.
Json best_bleu(const std::filesystem::path& folder);

}  // namespace attend::serve
