#include "serve/models.h"

#include <algorithm>
#include <iostream>

#include "attend/base/names.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

/// The folder's name, with a number behind it where it is taken: demo, demo-2.
template <class Taken>
std::string name_for(const fs::path& folder, Taken&& taken) {
  const fs::path whole = fs::weakly_canonical(folder);
  const std::string plain = whole.has_filename() ? whole.filename().string() : "model";
  std::string name = plain;
  for (int number = 2; taken(name); ++number) name = plain + "-" + std::to_string(number);
  return name;
}

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code none;
  return fs::weakly_canonical(a, none) == fs::weakly_canonical(b, none);
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

Models::Models(const std::vector<std::string>& folders, std::string home, const std::string& lab, int64_t lab_bytes)
    : home_(std::move(home)), lab_(lab.empty() ? Lab() : Lab(lab)), lab_models_(lab_, lab_bytes) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(entries_, [&](const Entry& one) { return one.model->name == name; });
  };
  for (const std::string& folder : folders) entries_.push_back(loaded(name_for(folder, taken), folder, false));
  if (home_.empty()) return;
  for (const fs::path& folder : models_in(home_)) entries_.push_back(loaded(name_for(folder, taken), folder, true));
}

/// The stamp is that from before: what changes while it is read is loaded again the next time.
Models::Entry Models::loaded(const std::string& name, const fs::path& folder, bool of_home) const {
  Stamp stamp = stamp_of(folder);
  return {std::make_shared<const ServedModel>(name, folder), std::move(stamp), of_home};
}

std::vector<Models::Entry> Models::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

std::vector<Models::Served> Models::all() const {
  std::vector<Served> all;
  for (const Entry& one : entries()) all.push_back(one.model);
  return all;
}

Models::Served Models::at(const std::string& name) const {
  if (name.starts_with(kLab)) return lab_models_.at(name);
  std::string names;
  for (const Served& one : all()) {
    if (one->name == name || name.empty()) return one;
    names += (names.empty() ? "" : ", ") + one->name;
  }
  if (names.empty()) names = "those of the lab, lab/EXPERIMENT/MODEL";
  refuse(404, "no_such_model", "model: expected one of ", names, ", got ", attend::quoted(name));
}

/// In place of the one of that name, or behind all others. Whose folder is displaced stays away until it is asked for by name.
void Models::put(Entry entry) {
  const std::lock_guard lock(mutex_);
  std::erase_if(unloaded_, [&](const fs::path& one) { return same_folder(one, entry.model->folder); });
  const auto same =
      std::ranges::find_if(entries_, [&](const Entry& one) { return one.model->name == entry.model->name; });
  if (same == entries_.end()) {
    entries_.push_back(std::move(entry));
    return;
  }
  if (!same_folder(same->model->folder, entry.model->folder)) unloaded_.push_back(same->model->folder);
  std::swap(*same, entry);  // the old one is let go of by whoever is the last to use it
}

Reloaded Models::reload() {
  const std::lock_guard alone(loading_);
  Reloaded result;
  const std::vector<Entry> known = entries();
  for (const Entry& entry : known) refresh(entry, result);
  if (!home_.empty()) look_for_new(known, result);
  return result;
}

void Models::refresh(const Entry& entry, Reloaded& result) {
  const std::string& name = entry.model->name;
  const fs::path& folder = entry.model->folder;
  std::error_code none;
  if (entry.of_home && !fs::exists(folder, none)) {
    remove(name);
    ++result.removed;
    result.said.push_back(name + ": unloaded, as its folder is gone");
    return;
  }
  if (stamp_of(folder) == entry.stamp) return;
  try {
    put(loaded(name, folder, entry.of_home));
    ++result.replaced;
    result.said.push_back(name + ": loaded again");
  } catch (const std::exception& error) {
    ++result.failed;
    result.said.push_back(name + ": stays as it was, as it cannot be loaded again: " + error.what());
  }
}

void Models::look_for_new(const std::vector<Entry>& known, Reloaded& result) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(entries(), [&](const Entry& one) { return one.model->name == name; });
  };
  std::vector<fs::path> folders;
  try {
    folders = models_in(home_);
  } catch (const std::exception& error) {
    result.said.emplace_back(error.what());
  }
  for (const fs::path& folder : folders) {
    const bool there =
        std::ranges::any_of(known, [&](const Entry& one) { return same_folder(one.model->folder, folder); });
    if (there || is_unloaded(folder)) continue;
    try {
      const std::string name = name_for(folder, taken);
      put(loaded(name, folder, true));
      ++result.added;
      result.said.push_back(name + ": loaded");
    } catch (const std::exception& error) {
      ++result.failed;
      result.said.push_back(folder.filename().string() + ": cannot be loaded: " + error.what());
    }
  }
}

Models::Served Models::load(const std::string& name, const std::string& folder) {
  if (home_.empty())
    refuse(403, "not_allowed", "models: expected a server that was started with --models DIR, got one without");
  check_model_name(name);
  const fs::path whole = folder_within(home_, folder);
  const std::lock_guard alone(loading_);
  try {
    put(loaded(name, whole, true));
  } catch (const Error& error) {
    std::cerr << "attend serve: " + std::string(error.what()) + "\n";
    refuse(409, "not_loaded", "model: ", attend::quoted(folder),
           " cannot be loaded, and all stays as it was; the log of the server says why");
  }
  return at(name);
}

bool Models::is_unloaded(const fs::path& folder) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(unloaded_, [&](const fs::path& one) { return same_folder(one, folder); });
}

void Models::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& one) { return one.model->name == name; });
}

void Models::unload(const std::string& name) {
  const Served model = name.empty() || name.starts_with(kLab) ? nullptr : at(name);
  if (!model) refuse(404, "no_such_model", "model: expected one of a folder, got ", attend::quoted(name));
  remove(name);
  const std::lock_guard lock(mutex_);
  unloaded_.push_back(model->folder);
}

}  // namespace attend::serve
