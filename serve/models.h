// The models that are served, by name: those of folders from the beginning, or loaded, replaced and unloaded while serving; those
// of the lab when they are asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serve/lab.h"
#include "serve/model_folders.h"
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

/// What loading again has changed, in sentences for the log.
struct Reloaded {
  std::vector<std::string> said;
  size_t replaced = 0, added = 0, removed = 0, failed = 0;
};

/// Who asks for a model holds it: those who did before it was replaced or unloaded finish with the old one.
class Models {
 public:
  using Served = std::shared_ptr<const ServedModel>;

  /// Loads those of the folders, and of all folders of `home` ("": none). Throws Error where a folder holds none, or the folder of
  /// the lab no experiment.
  Models(const std::vector<std::string>& folders, std::string home, const std::string& lab, int64_t lab_bytes);
  Models(const Models&) = delete;

  /// "": the first. Refuses (404) a name that is none of theirs, with those that are.
  Served at(const std::string& name) const;
  /// Those of the folders, as they are now.
  std::vector<Served> all() const;
  const Lab& lab() const { return lab_; }

  // While they are served. One that cannot be loaded leaves the one that is there in its place.
  /// Loads again what has changed on disk; of `home` also what is new, and lets go of what is no longer there.
  Reloaded reload();
  /// The model of a folder below `home`, under that name, in place of one that has it. Refuses (403, 404, 409).
  Served load(const std::string& name, const std::string& folder);
  /// Refuses (404) what there is not.
  void unload(const std::string& name);

 private:
  struct Entry {
    Served model;
    Stamp stamp;
    bool of_home = false;
  };
  Entry loaded(const std::string& name, const std::filesystem::path& folder, bool of_home) const;
  void put(Entry entry);
  void remove(const std::string& name);
  bool is_unloaded(const std::filesystem::path& folder) const;
  void refresh(const Entry& entry, Reloaded& result);
  void look_for_new(const std::vector<Entry>& known, Reloaded& result);
  std::vector<Entry> entries() const;

  const std::string home_;
  std::mutex loading_;  // one at a time
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::filesystem::path> unloaded_;  // of home, until they are asked for again
  Lab lab_;
  mutable LabModels lab_models_;
};

}  // namespace attend::serve
