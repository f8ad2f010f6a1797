// The models that are served, by name: those of folders from the beginning, those of the lab when they are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/lab.h"
#include "serve/served_model.h"

namespace attend::serve {

/// Models that are loaded when they are asked for; of all that nobody is asking, those of the longest ago make room for the next.
class LabModels {
 public:
  /// `most`: bytes of weights that are held at once. `lab` must outlive it.
  LabModels(const Lab& lab, int64_t most) : lab_(lab), most_(most) {}
  /// Refuses (404) what there is not or cannot be loaded, and (503) what there is no room for now.
  std::shared_ptr<const ServedModel> at(const std::string& name);

 private:
  struct Loaded {
    std::shared_ptr<const ServedModel> model;
    int64_t bytes;
  };
  void make_room(int64_t bytes);

  const Lab& lab_;
  const int64_t most_;
  std::mutex mutex_;
  std::vector<Loaded> loaded_;  // the last one that was asked for is the last
};

class Models {
 public:
  /// Loads those of the folders. Throws Error where a folder holds none, or the folder of the lab no experiment.
  Models(const std::vector<std::string>& folders, const std::string& lab, int64_t lab_bytes);
  Models(const Models&) = delete;

  /// "": the first. Refuses (404) a name that is none of theirs, with those that are.
  std::shared_ptr<const ServedModel> at(const std::string& name) const;
  /// Those of the folders.
  const std::vector<std::shared_ptr<const ServedModel>>& all() const { return models_; }
  const Lab& lab() const { return lab_; }

 private:
  std::vector<std::shared_ptr<const ServedModel>> models_;
  Lab lab_;
  mutable LabModels lab_models_;
};

}  // namespace attend::serve
