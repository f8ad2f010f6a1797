// Which network a run trains, with all of its options: the part of a recipe under "model:".
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/models/zoo.h"

namespace attend::tasks {

struct ModelChoice {
  std::string name;
  std::vector<OptionInfo> options;              ///< "model.hidden"
  std::span<const std::string_view> networks;  ///< among which it was chosen

  /// Takes what begins with "model." out of `settings`; without a name it is the first of `networks`. Refuses any other.
  static ModelChoice take(SettingList& settings, std::span<const std::string_view> networks);
  /// A run's options and these.
  std::vector<OptionInfo> with(std::vector<OptionInfo> of_run) const;
  /// Sets those of its options that follow from the data (names without "model."); one that it lacks is passed over.
  void derive(const Settings& derived);
  /// Without "model.": "hidden"; "" of options that are not a network's.
  static std::string_view own_name(std::string_view name);
  static std::string_view own_name(const OptionInfo& option) { return own_name(option.name); }
  /// Whether it looks at the letters of its words.
  bool reads_letters() const;
  /// Whether it copies words of its source.
  bool copies() const;
  /// Whether it is told the gold word alignment of each example.
  bool is_told() const;
  /// Whether it is told which sentence each token of its first text belongs to.
  bool reads_sentences() const { return models::model_row(name).sentences; }
  /// Throws Error where an option that is a whole number is beyond any network.
  void check_sizes() const;
  std::unique_ptr<models::Model> make(int64_t seed) const;

 private:
  bool is_true(std::string_view ending) const;
};

}  // namespace attend::tasks
