#include "attend/tasks/model_folder.h"

#include <chrono>
#include <thread>

#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/folder_lock.h"
#include "attend/base/folder_replacement.h"
#include "attend/base/recipe.h"
#include "attend/data/tokeniser.h"
#include "attend/tasks/manifest.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

/// Files of a run, those of its log and of `attend compare` included. Vocabularies are found by their stems.
constexpr const char* kRunFiles[] = {"config.yml", "manifest.json", "data.json", "labels.txt", "weights.safetensors",
                                     "checkpoint.safetensors", "valid.jsonl", "log.jsonl", "result.json", "compare.json",
                                     "model-card.md"};
constexpr const char* kVocabularies[] = {"source", "target", "letters"};

/// A folder in it, and how the names of its files begin and end.
struct Inner {
  const char *folder, *begin, *end;
};
constexpr Inner kInner[] = {{"average", "step-", ".safetensors"}, {"tensorboard", "events.out.tfevents.", ".attend"}};

}  // namespace

void settle_folder(const fs::path& folder) {
  constexpr int kTries = 200;
  constexpr std::chrono::milliseconds kPause(10);  // a run needs a few to move its files
  for (int i = 1; replacement_is_pending(folder); ++i) {
    try {
      const FolderLock lock(folder);
      settle_replacement(folder);
    } catch (const Error& error) {
      require(i < kTries, folder.string(), ": the files of its model are on their way to their places, and cannot be put ",
              "there: ", error.what());
      std::this_thread::sleep_for(kPause);
    }
  }
}

bool has_model(const fs::path& folder) {
  settle_folder(folder);
  return fs::exists(folder / kConfig);
}

void check_folder(const fs::path& folder) {
  std::error_code problem;
  require_usage(fs::exists(folder, problem), folder.string(), ": not a model folder, as there is no such folder");
  require_usage(fs::is_directory(folder, problem), folder.string(), ": not a model folder, but a file");
  require_usage(has_model(folder), folder.string(), ": not a model folder, as it has no ", kConfig,
                "; `attend train … --out ", folder.string(), "` makes one");
}

TaskConfig read_config(const fs::path& folder) {
  check_folder(folder);
  check_listed(folder, kConfig);
  try {
    return TaskConfig(read_recipe(file_within(folder, kConfig)));
  } catch (const UsageError& error) {  // nobody asked for it: the folder is damaged
    throw Error(error.what());
  }
}

std::vector<fs::path> vocabulary_files(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const char* stem : kVocabularies) {
    for (const fs::path& path : data::tokeniser_files(folder, stem)) all.push_back(path.filename());
  }
  return all;
}

std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> all = vocabulary_files(folder);
  for (const char* name : kRunFiles) {
    if (fs::is_regular_file(folder / name)) all.emplace_back(name);
  }
  for (const Inner& inner : kInner) {
    if (!fs::is_directory(folder / inner.folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder / inner.folder)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(inner.begin) && name.ends_with(inner.end)) all.push_back(fs::path(inner.folder) / name);
    }
  }
  return all;
}

std::string folder_name(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace attend::tasks
