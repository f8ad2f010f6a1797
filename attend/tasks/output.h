// An output of a trained task: how a right answer becomes ids, how the likeliest is searched for, and how ids are written.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/decode/search.h"
#include "attend/explain/trace.h"
#include "attend/tasks/input.h"

namespace attend::tasks {

/// A right answer and, where that is known, the bytes of the first input where it stands.
struct Right {
  Right(const std::string& text, const data::TextRange* found = nullptr)  // NOLINT(google-explicit-constructor)
      : text(text), found(found) {}
  const std::string& text;
  const data::TextRange* found;
};
/// Right answer `i` of an example.
inline Right right_answer(const Example& example, size_t i) {
  return {example.right.at(i), i < example.found.size() ? &example.found[i] : nullptr};
}

/// An answer among those to be chosen from: what it is ranked by, and whether it says that there is none.
struct Candidate {
  double score = 0;
  bool none = false;
};

class Output {
 public:
  explicit Output(const TaskConfig& config) : config_(&config) {}
  virtual ~Output() = default;
  void set_config(const TaskConfig& config) { config_ = &config; }

  /// Learns its vocabulary or its labels from the corpus. `input`: the first one, whose vocabulary it may share.
  virtual void learn(const Corpus& corpus, const Input& input, const Prepared& prepared) = 0;
  virtual void load(const std::filesystem::path& folder, const Input& input) = 0;
  virtual void save(const std::filesystem::path& folder) const = 0;
  /// Options of networks that follow from it, without "model.".
  virtual Settings sizes() const = 0;
  /// What was learned, in words: "vocabulary 407", "6 labels"; "" if there is nothing to say.
  virtual std::string summary() const = 0;

  /// A right answer as the ids of a target. Throws Error where it cannot be an answer to `input`: an unknown label, another
  /// number of tags than words.
  virtual std::vector<int32_t> encode(const Right& right, const Ready& input) const = 0;
  /// Of a question about a document: whether this part of the document has the answer, or the answer could be given whatever
  /// it says. encode() throws where it has not.
  virtual bool has(const Right& /*right*/, const Ready& /*part*/) const { return true; }
  /// The target for a part of a document that lacks the answer; empty: nothing is learned from such a part.
  virtual std::vector<int32_t> none(const Ready& /*part*/) const { return {}; }
  /// Ids as an answer is written.
  virtual std::string written(std::span<const int32_t> ids, const Ready& input) const = 0;
  /// Its places, for maps: one for each id.
  virtual explain::TraceSide side(std::span<const int32_t> ids, const Ready& input) const = 0;
  virtual std::string piece(int32_t id) const = 0;
  /// The same where ids may depend on what was read, as those of words do that were copied from it.
  virtual std::string piece_of(int32_t id, const Ready& /*input*/) const { return piece(id); }
  /// Adds what its network needs to know of the sources in view of its answers: what copying each word says.
  virtual void add_to(data::Source& /*source*/, std::span<const Ready* const> /*batch*/) const {}
  /// A right answer in the spelling that the model has, to compare with.
  virtual std::string spelled(const std::string& right) const { return right; }

  /// Answers are searched for word by word, so that beams and sampling make a difference; else there are few to rank.
  virtual bool searches() const { return true; }
  /// How it is searched for, given what was asked for.
  virtual decode::SearchOptions search(const decode::SearchOptions& asked) const { return asked; }
  /// What may follow, where not everything makes sense; null: anything.
  virtual std::unique_ptr<decode::Constraint> constraint(std::span<const Ready* const>) const { return nullptr; }
  /// What its answers are ranked and shown by.
  virtual double score(const decode::Hypothesis& found) const { return found.score; }
  /// Of a stretch of the input: its bytes.
  virtual std::optional<data::TextRange> place(std::span<const int32_t> /*ids*/, const Ready&) const { return {}; }
  /// Whether these ids say that there is no answer.
  virtual bool is_none(std::span<const int32_t> /*ids*/, const Ready&) const { return false; }
  /// Which of the answers are given, best first, at most `most`: where their scores can be compared, as those to one question
  /// from several windows. Without an answer where none exceeds that by more than `threshold`.
  virtual std::vector<size_t> ranked(std::span<const Candidate> all, int64_t most, double threshold) const;

  /// Its labels or tags in the order of their ids; empty where it has none.
  virtual const std::vector<std::string>& labels() const;
  /// The tokeniser of words; null where there are none.
  virtual const data::Tokeniser* words() const { return nullptr; }
  /// Answers are images: `searches` and all that is about ids does not apply.
  virtual bool is_image() const { return false; }

 protected:
  const TaskOptions& options() const { return config_->options; }
  const ModelChoice& model() const { return config_->model; }
  /// The value of an option of the network, without "model."; "" if it has none of that name.
  std::string_view model_option(std::string_view name) const;

 private:
  const TaskConfig* config_;
};

/// For a row of that kind.
template <class Kind>
std::unique_ptr<Output> make_output(const TaskConfig& config) {
  return std::make_unique<Kind>(config);
}

}  // namespace attend::tasks
