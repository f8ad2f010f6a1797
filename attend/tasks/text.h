// Text to text: translation, and whatever else is one line in, one line out. What a run reads, and what a trained model is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/base/folder_lock.h"
#include "attend/base/options.h"
#include "attend/data/alignment.h"
#include "attend/data/batches.h"
#include "attend/data/encoded.h"
#include "attend/data/tokeniser.h"
#include "attend/decode/search.h"
#include "attend/explain/trace.h"
#include "attend/tasks/model_choice.h"
#include "attend/tasks/run.h"
#include "attend/tasks/valid_sentences.h"

namespace attend::tasks {

/// The tokeniser's own options, and whether both sides share one.
struct TextTokens : data::TokeniserOptions {
  bool joint = false;

  template <class Visit>
  void fields(Visit&& visit) {
    data::TokeniserOptions::fields(visit);
    visit("joint", joint, "one vocabulary for both sides (wanted by model.tied: all)");
  }
};

/// All options of a run but those of its model, which depend on model.name.
struct TextOptions {
  std::string task = "translate";
  std::vector<std::string> source, target, tsv, valid_source, valid_target, valid_tsv;
  double held_out = 0.02;
  std::string corpus;
  data::PairFilter filter;
  TextTokens tokeniser;
  data::BatchOptions batch{.tokens = 2048};
  train::TrainerOptions train;
  int64_t valid_sentences = 1000;
  decode::SearchOptions search{.beam = 4, .length_penalty = 0.6};

  template <class Visit>
  void fields(Visit&& visit) {
    visit("task", task, "one of those that `attend list tasks` names");
    visit("source", source, "files of sentences, plain or .gz; line i goes with line i of target");
    visit("target", target, "files of their answers");
    visit("tsv", tsv, "files of \"source<tab>target\" lines");
    visit("valid_source", valid_source, "validation files; without them, a share of the pairs is held out");
    visit("valid_target", valid_target, "their answers");
    visit("valid_tsv", valid_tsv, "both in one");
    visit("held_out", held_out,
          "share of the pairs to validate with, where no validation files are named (at most 2,000)");
    visit("corpus", corpus, "a built-in corpus in place of files (`attend list tasks` names them)");
    visit("filter", filter, "");
    visit("tokeniser", tokeniser, "");
    visit("batch", batch, "");
    visit("train", train, "");
    visit("valid_sentences", valid_sentences,
          "most validation sentences that are translated to be scored; those of the best weights are in valid.jsonl");
    visit("search", search, "");
  }
};

/// A run's options as they are read, shown and saved: the defaults of the task, then a recipe's, then flags.
struct TextConfig {
  TextOptions options;
  ModelChoice model;

  /// Refuses what no option is called, with its place and the nearest name. A task's name alone means its own corpus.
  explicit TextConfig(const SettingList& settings);
  /// Every option with its value: for help, --dump-config and config.yml.
  std::vector<OptionInfo> all() const;
};

/// One answer to one line.
struct Answer {
  std::string text;
  double score = 0, log_probability = 0;
  bool ended = true;                        ///< false: it reached the longest length
  std::vector<std::string> source, target;  ///< words, where alignments were asked for
  Tensor weights;                           ///< [target words, source words]
  data::Links links;
  std::vector<explain::Trace> traces;  ///< where they were asked for, of the first answer: one per part
  int64_t parts = 1;                   ///< a line that is too long for the model is answered in parts
};

struct AnswerOptions {
  decode::SearchOptions search;
  bool align = false;
  bool trace = false;
  double threshold = 0;          ///< of links; 0: the best for each target word
  std::function<void()> check;   ///< called after each step of a search; what it throws ends it
  bool replace_unknown = false;  ///< an unknown word becomes the source word that it looked at most
};

/// A trained model: the network, its vocabularies, and the options that it was trained with.
class TextModel {
 public:
  /// With new weights.
  TextModel(TextConfig config, std::shared_ptr<data::Tokeniser> source, std::shared_ptr<data::Tokeniser> target);
  /// Throws Error where no such network can be made, before a vocabulary is learnt.
  static void try_model(const TextConfig& config);
  /// What save() and a trainer wrote into a folder.
  static TextModel load(const std::filesystem::path& folder);
  /// Vocabularies and, last, config.yml, with which the folder is a model; weights are the trainer's.
  void save(const std::filesystem::path& folder) const;
  /// Makes a folder that holds a model one that holds none, so that another can be written into it bit by bit.
  static void forget(const std::filesystem::path& folder);

  /// The folder's, where it was loaded from one.
  const std::string& name() const { return name_; }
  int64_t parameters() const { return parameters_; }
  const TextConfig& config() const { return config_; }
  const data::Tokeniser& source() const { return *source_; }
  const data::Tokeniser& target() const { return *target_; }
  models::Model& model() { return *model_; }
  const models::Model& model() const { return *model_; }
  /// Most tokens of a line that is translated in one piece: the longest that training has seen.
  int64_t longest() const;
  /// The parts that a line is answered in: itself alone, unless it has more than longest() tokens.
  std::vector<std::string> parts(const std::string& line) const;

  /// The n_best answers to each line; an empty line has an empty answer. `prefixes`: how each answer has to begin, or none.
  std::vector<std::vector<Answer>> answer(std::span<const std::string> lines, const AnswerOptions& options,
                                          std::span<const std::string> prefixes = {}) const;

 private:
  struct Piece;
  std::vector<Piece> pieces(std::span<const std::string> lines, std::span<const std::string> prefixes) const;
  static std::vector<size_t> in_order(const std::vector<Piece>& all, bool sample);
  static size_t batch_size(const std::vector<Piece>& all, std::span<const size_t> order, bool sample);
  static std::vector<std::vector<Answer>> by_line(const std::vector<Piece>& all, std::vector<std::vector<Answer>> found,
                                                  size_t lines);
  std::vector<std::vector<Answer>> answer_batch(std::span<const Piece* const> batch,
                                                const AnswerOptions& options) const;
  void align(std::span<const Piece* const> batch, const std::vector<std::vector<decode::Hypothesis>>& found,
             const AnswerOptions& options, std::vector<std::vector<Answer>>& answers) const;
  void align_one(const data::TokenisedWords& source, const std::vector<int32_t>& tokens, const Tensor& weights,
                 const AnswerOptions& options, Answer& answer) const;

  TextConfig config_;
  std::shared_ptr<data::Tokeniser> source_, target_;
  std::unique_ptr<models::Model> model_;
  std::string name_;
  int64_t parameters_ = 0;
};

/// Words with one space between them.
std::string joined(std::span<const std::string> words);

/// A pair as people wrote it, with its gold alignment where there is one.
struct TextPair {
  std::string source, target;
  data::Links links;
};

/// The held-out pairs of the corpus that a model was trained on, where that is built in; else none.
std::vector<TextPair> builtin_test(const TextConfig& config);

/// Lines to lines: translate, dates, reverse.
extern const Family kText;

/// A run made ready: pairs read, vocabularies learnt, pairs encoded.
class TextTraining : public Run {
 public:
  /// Starts a run in `folder`, or goes on with the one that is there.
  TextTraining(const TextConfig& config, std::filesystem::path folder, bool resume, const Prepared& prepared);

  TextModel& model() { return *model_; }
  train::Trainer& trainer() override { return *trainer_; }
  std::string summary() const override;
  int64_t examples() const override { return filtered_.kept; }
  const data::FilterReport& filtered() const { return filtered_; }
  const std::vector<TextPair>& valid() const { return valid_; }
  /// Validation pairs that count in no loss: they have an empty side, or more tokens than the filter allows.
  int64_t valid_left_out() const { return valid_left_out_; }

 private:
  void encode_valid();
  train::Validation validate(const models::Model& model) const;
  ValidSentences translated() const;

  std::optional<FolderLock> lock_;
  std::unique_ptr<TextModel> model_;
  std::unique_ptr<data::EncodedPairs> pairs_;
  data::FilterReport filtered_;
  std::vector<TextPair> valid_;
  std::vector<data::Batch> valid_batches_;
  int64_t valid_left_out_ = 0;
  mutable size_t samples_ = 0;
  mutable ValidSentences last_;  // of the last validation
  std::unique_ptr<data::Batches> batches_;
  std::unique_ptr<train::Trainer> trainer_;
  std::string begun_;  // with which weights; "": new ones
};

}  // namespace attend::tasks
