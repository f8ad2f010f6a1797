// Finished experiments of `attend lab`: their stories, figures and models, as they lie in a folder. Files are distrusted: what is
// read of them is small, has the shape that is expected, and lies within the folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "serve/json.h"

namespace attend::serve {

/// What names of models of the lab begin with: "lab/told/bridge".
inline constexpr std::string_view kLab = "lab/";

class Lab {
 public:
  Lab() = default;
  /// A folder of an experiment, or one with experiments in its folders. Throws UsageError where there is none, and Error where
  /// the only one is damaged; of several, damaged ones are left out.
  explicit Lab(const std::filesystem::path& folder);

  bool empty() const { return stories_.empty(); }
  size_t size() const { return stories_.size(); }
  /// Why experiments were left out.
  const std::vector<std::string>& notes() const { return notes_; }

  // Each refuses (404) what there is not.
  Json list() const;                                                             ///< {"experiments": […]}
  Json story(const std::string& name) const;                                     ///< with the models that are there now
  std::string figure(const std::string& name, const std::string& figure) const;  ///< a file of SVG
  /// Where the model "lab/EXPERIMENT/MODEL" is.
  std::filesystem::path model(const std::string& name) const;

 private:
  struct Story {
    std::string name;
    std::filesystem::path folder;
    Json told;
    std::vector<std::string> figures;
  };
  void add(const std::filesystem::path& folder);
  const Story& at(const std::string& name) const;

  std::vector<Story> stories_;
  std::vector<std::string> notes_;
};

/// What report.json tells, as the page has it, each part checked for what it is; throws Error, with the place, where it is something
/// else.
Json story_of_report(const Json& report);

}  // namespace attend::serve
