// Answers in words: translations, captions, phonemes. Other answers that are made of tokens derive from it.
#pragma once

#include "attend/tasks/output.h"

namespace attend::tasks {

class WordsOutput : public Output {
 public:
  using Output::Output;
  void learn(const Corpus& corpus, const Input& input, const Prepared& prepared) override;
  void load(const std::filesystem::path& folder, const Input& input) override;
  void save(const std::filesystem::path& folder) const override;
  Settings sizes() const override;
  std::string summary() const override { return std::to_string(words_->size()); }
  std::vector<int32_t> encode(const std::string& right, const Ready&) const override { return words_->encode(right); }
  std::string written(std::span<const int32_t> ids, const Ready&) const override { return words_->decode(ids); }
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override;
  std::string piece(int32_t id) const override { return words_->piece(id); }
  std::string spelled(const std::string& right) const override;
  const data::Tokeniser* words() const override { return words_.get(); }

 protected:
  /// A right answer as the text of its tokens.
  virtual std::string tokens_of(const std::string& right) const { return right; }
  /// Whether its vocabulary may be the input's.
  virtual bool may_share() const { return options().tokeniser.joint; }

  std::shared_ptr<data::Tokeniser> words_;

 private:
  bool share(const Input& input);

  bool shared_ = false;
};

}  // namespace attend::tasks
