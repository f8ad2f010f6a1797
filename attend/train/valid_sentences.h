// What the best weights of a run made of its validation sentences, for people to look at.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace attend::train {

struct ValidSentences {
  static constexpr const char* kFile = "valid.jsonl";
  std::vector<std::string> sources, references, outputs;
  /// Where several texts were read, all of them by name; otherwise empty.
  std::vector<std::vector<std::pair<std::string, std::string>>> inputs = {};

  /// One line each, {"source":…,"reference":…,"output":…,"chrf":…} with the chrF2 of the sentence, and "inputs":{"document":…}
  /// where there are several, in the place of what `folder` had before: a kill leaves the old file or the new one.
  void save(const std::filesystem::path& folder) const;
};

}  // namespace attend::train
