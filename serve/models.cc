#include "serve/models.h"

#include <algorithm>
#include <iostream>

#include "attend/base/names.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

/// The folder's name, with a number behind it where it is taken: demo, demo-2.
std::string name_for(const fs::path& folder, const std::vector<std::shared_ptr<const ServedModel>>& others) {
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

std::shared_ptr<const ServedModel> LabModels::at(const std::string& name) {
  const fs::path folder = lab_.model(name);
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(loaded_, [&](const Loaded& one) { return one.model->name == name; });
  if (found != loaded_.end()) {
    std::rotate(found, found + 1, loaded_.end());
    return loaded_.back().model;
  }
  std::error_code none;
  const auto bytes = static_cast<int64_t>(fs::file_size(folder / "weights.safetensors", none));
  if (none)
    refuse(404, "no_such_model", "model: ", attend::quoted(name), " has no weights: its training was not finished");
  if (bytes > most_) {
    refuse(404, "no_such_model", "model: ", attend::quoted(name), " has ", bytes,
           " bytes of weights, and models of the lab may have ", most_, " (--lab-bytes)");
  }
  make_room(bytes);
  try {
    loaded_.push_back({std::make_shared<const ServedModel>(name, folder), bytes});
  } catch (const Error& error) {  // which names files, and is not for clients
    std::cerr << "attend serve: " + std::string(error.what()) + "\n";
    refuse(404, "no_such_model", "model: ", attend::quoted(name), " cannot be loaded; the log of the server says why");
  }
  return loaded_.back().model;
}

/// Whoever computes with a model holds it, so that it cannot be let go of.
void LabModels::make_room(int64_t bytes) {
  int64_t held = bytes;
  for (const Loaded& one : loaded_) held += one.bytes;
  std::erase_if(loaded_, [&](const Loaded& one) {
    const bool goes = held > most_ && one.model.use_count() == 1;
    if (goes) held -= one.bytes;
    return goes;
  });
  if (held > most_)
    refuse(503, "busy", "models: those of the lab that are in use leave no room for another; try again in a second");
}

Models::Models(const std::vector<std::string>& folders, const std::string& lab, int64_t lab_bytes)
    : lab_(lab.empty() ? Lab() : Lab(lab)), lab_models_(lab_, lab_bytes) {
  for (const std::string& folder : folders) {
    models_.push_back(std::make_shared<const ServedModel>(name_for(folder, models_), folder));
  }
}

std::shared_ptr<const ServedModel> Models::at(const std::string& name) const {
  if (name.empty() && !models_.empty()) return models_.front();
  if (name.starts_with(kLab)) return lab_models_.at(name);
  std::string names;
  for (const auto& one : models_) {
    if (one->name == name) return one;
    names += (names.empty() ? "" : ", ") + one->name;
  }
  if (names.empty()) names = "those of the lab, lab/EXPERIMENT/MODEL";
  refuse(404, "no_such_model", "model: expected one of ", names, ", got ", attend::quoted(name));
}

}  // namespace attend::serve
