#include "serve/model_folders.h"

#include <sys/stat.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/tasks/model_folder.h"
#include "serve/json.h"
#include "serve/lab.h"
#include "serve/refusal.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestModelName = 64;
constexpr int kDeepestFolder = 2;  // levels of JSON

}  // namespace

Stamp stamp_of(const fs::path& folder) {
  std::vector<fs::path> files{folder / tasks::kConfig, folder / "weights.safetensors"};
  try {
    for (const fs::path& file : tasks::vocabulary_files(folder)) files.push_back(folder / file.filename());
  } catch (const Error&) {
    // A configuration that cannot be read is another one than before.
  }
  Stamp stamp;
  for (const fs::path& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) status = {};
    stamp.emplace_back(status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }
  return stamp;
}

std::vector<fs::path> models_in(const fs::path& home) {
  std::error_code none;
  require_usage(fs::is_directory(home, none), "--models: expected a folder, got ", attend::quoted(home.native()));
  std::vector<fs::path> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(home)) {
    if (entry.is_directory(none) && tasks::has_model(entry.path())) all.push_back(entry.path());
  }
  std::ranges::sort(all);
  return all;
}

std::string parse_folder(std::string_view body) {
  constexpr const char* kExpected = "body: expected {\"folder\": \"NAME\"}, the name of a folder of --models";
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepestFolder; };
  const Json parsed = Json::parse(body, shallow, false);
  if (!parsed.is_object() || parsed.size() != 1 || !parsed.contains("folder") || !parsed["folder"].is_string()) {
    refuse(400, "bad_request", kExpected, ", got something else");
  }
  return parsed["folder"].get<std::string>();
}

fs::path folder_within(const fs::path& home, const std::string& folder) {
  std::error_code none;
  const fs::path whole = fs::canonical(home, none), part = fs::weakly_canonical(whole / folder, none);
  const bool within = !none && !folder.empty() && folder.find('\0') == folder.npos &&
                      std::mismatch(whole.begin(), whole.end(), part.begin(), part.end()).first == whole.end() &&
                      part != whole;
  if (!within) {
    refuse(400, "bad_request", "folder: expected the name of a folder of --models, got ", attend::quoted(folder));
  }
  if (!fs::is_directory(part, none) || !tasks::has_model(part)) {
    refuse(404, "no_such_model", "folder: expected one with a model in it, got ", attend::quoted(folder));
  }
  return part;
}

void check_model_name(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  if (name.empty() || name.size() > kLongestModelName || name[0] == '.' || !std::ranges::all_of(name, allowed)) {
    refuse(400, "bad_request", "model: expected a name of at most ", kLongestModelName,
           " letters, digits, -, _ and ., got ", attend::quoted(name));
  }
}

}  // namespace attend::serve
