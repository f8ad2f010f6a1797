// Answers by name: one label for a whole input, or one for each of its words.
#pragma once

#include "attend/tasks/output.h"

namespace attend::tasks {

/// Names that stand for ids 0, 1, …
class NamesOutput : public Output {
 public:
  using Output::Output;
  void learn(const Corpus& corpus, const Input& input, const Prepared& prepared) override;
  void load(const std::filesystem::path& folder, const Input& input) override;
  void save(const std::filesystem::path& folder) const override;
  Settings sizes() const override;
  std::string summary() const override;
  std::vector<int32_t> encode(const std::string& right, const Ready& input) const override;
  std::string written(std::span<const int32_t> ids, const Ready& input) const override;
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override;
  std::string piece(int32_t id) const override;
  const std::vector<std::string>& labels() const override { return names_; }

 protected:
  virtual std::string_view kind() const = 0;
  /// The names that a right answer consists of.
  virtual std::vector<std::string> parts_of(const std::string& right) const = 0;

 private:
  int32_t id_of(const std::string& name) const;

  std::vector<std::string> names_;
};

}  // namespace attend::tasks
