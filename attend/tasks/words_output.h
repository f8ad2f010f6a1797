// Answers in words: translations, captions, phonemes. Other answers that are made of tokens derive from it. Where the network
// copies, words of the input that are not in the vocabulary have ids beyond it: V for the first of them, V + 1 for the next
// different one, and so on.
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
  std::vector<int32_t> encode(const Right& right, const Ready& input) const override;
  std::string written(std::span<const int32_t> ids, const Ready& input) const override;
  explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const override;
  std::string piece(int32_t id) const override { return words_->piece(id); }
  std::string piece_of(int32_t id, const Ready& input) const override;
  void add_to(data::Source& source, std::span<const Ready* const> batch) const override;
  std::string spelled(const std::string& right) const override;
  const data::Tokeniser* words() const override { return words_.get(); }

 protected:
  /// A right answer as the text of its tokens.
  virtual std::string tokens_of(const std::string& right) const { return right; }
  /// Whether its vocabulary may be the input's.
  virtual bool may_share() const { return options().tokeniser.joint; }

  std::shared_ptr<data::Tokeniser> words_;

 private:
  struct Copies;

  bool share(const Input& input);
  Copies copies_of(const Ready& input) const;
  data::TokenisedWords said(std::span<const int32_t> ids, const Ready& input) const;

  bool shared_ = false;
};

}  // namespace attend::tasks
