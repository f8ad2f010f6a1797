// The models that are served, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/served_model.h"

namespace attend::serve {

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

}  // namespace attend::serve
