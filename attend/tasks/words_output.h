// Answers in words: translations, captions, phonemes.
#pragma once

#include <functional>

#include "attend/tasks/output.h"

namespace attend::tasks {

class WordsOutput : public Output {
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
  std::string spelled(const std::string& right) const override;
  const data::Tokeniser* words() const override { return words_.get(); }

 protected:
  /// The vocabulary of all right answers, each in this spelling.
  std::shared_ptr<data::Tokeniser> learned(const Corpus& corpus,
                                           const std::function<std::string(const std::string&)>& spelling);

  std::shared_ptr<data::Tokeniser> words_;
};

}  // namespace attend::tasks
