// What commands know of any task: its options, and a run. What is read and how it is judged is the family's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/tasks/model_folder.h"
#include "attend/train/trainer.h"

namespace attend::tasks {

/// Told what is being prepared: "learning the vocabulary".
using Prepared = std::function<void(const std::string& what)>;

/// A run made ready: data read, network made. While it lives, no other one can write in its folder.
class Run {
 public:
  virtual ~Run() = default;
  virtual train::Trainer& trainer() = 0;
  /// What was prepared, in one line.
  virtual std::string summary() const = 0;
  /// How many there are to learn from.
  virtual int64_t examples() const = 0;
};

/// Tasks that read and answer the same kinds of things.
struct Family {
  std::string_view name;
  std::string_view counted;                     ///< what a rate counts: "tokens" per second
  std::span<const std::string_view> files;      ///< options that name what to train on, in place of a built-in corpus
  std::span<const std::string_view> found_out;  ///< options of models that follow from the data, whatever is asked for
  /// Every option with its value under these settings; refuses what no option is called.
  std::vector<OptionInfo> (*options)(const SettingList& settings);
  /// Starts a run in `folder`, or goes on with the one that is there.
  std::unique_ptr<Run> (*start)(const SettingList& settings, const std::filesystem::path& folder, bool resume,
                                const Prepared& prepared);
};

}  // namespace attend::tasks
