// A training run of any task: examples read, vocabularies learned, batches planned, validations answered and scored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attend/base/folder_lock.h"
#include "attend/base/folder_replacement.h"
#include "attend/base/new_folder.h"
#include "attend/data/spool.h"
#include "attend/tasks/data_files.h"
#include "attend/tasks/model.h"
#include "attend/tasks/model_folder.h"
#include "attend/train/trainer.h"
#include "attend/train/valid_sentences.h"

namespace attend::tasks {

/// Where batches come from: stored on disk once, or made anew for each step.
class BatchPlan {
 public:
  virtual ~BatchPlan() = default;
  virtual int64_t count(int64_t epoch) = 0;
  virtual data::Batch batch(int64_t epoch, int64_t index) = 0;
  /// Of the batches in a row, so many are asked for, then so many not, and so on: others read those.
  virtual void expect(int64_t /*asked*/, int64_t /*skipped*/) {}
  /// How many examples there are to learn from.
  virtual int64_t examples() const = 0;
  /// How much all batches of an epoch count in a rate: target tokens, or images; 0: not known.
  virtual int64_t counted() const = 0;
  /// Tokens of the longest side of a pair; 0 where batches are not counted in tokens.
  virtual int64_t longest() const { return 0; }
  /// What was read, in words.
  virtual std::string summary() const = 0;
};

/// A run made ready. While it lives, no other one can write in its folder.
class TaskTraining {
 public:
  /// Starts a run in `folder`, or resumes the one that is there. A model that is there stays as it is, bit by bit, until the new
  /// run has written its first checkpoint; then it is replaced. Resumed with other data than it began with, it throws
  /// ChangedData, unless `changed_data` allows that.
  /// Of several ranks, each has a folder of its own: where the leader has made its run ready, the others resume it.
  TaskTraining(const TaskConfig& config, std::filesystem::path folder, bool resume, const Prepared& prepared,
               bool changed_data = false, train::Company& company = train::alone());
  ~TaskTraining();
  TaskTraining(const TaskTraining&) = delete;
  TaskTraining& operator=(const TaskTraining&) = delete;

  /// Where its files are: until it has replaced another model, not in the folder that it was given.
  const std::filesystem::path& folder() const { return folder_; }
  /// Whether another model is still in its place; there is one only where no run was resumed.
  bool is_waiting() const { return replacement_ && !replacement_->is_committed(); }

  TaskModel& model() { return *model_; }
  train::Trainer& trainer() { return *trainer_; }
  /// What was prepared, in one line.
  std::string summary() const;
  /// How many there are to learn from.
  int64_t examples() const { return plan_->examples(); }
  const Examples& valid() const { return corpus_.valid; }
  /// Validation texts that count in no loss: they have an empty side, or more tokens than the filter allows.
  int64_t valid_left_out() const { return valid_left_out_; }

 private:
  void prepare(const TaskConfig& config, bool resume, const Prepared& prepared);
  void compare_data(const TaskConfig& config, bool changed_data);
  void read(const TaskConfig& config, const Prepared& prepared);
  void learn(TaskConfig config, bool resume, const Prepared& prepared);
  void plan_batches(const Prepared& prepared);
  void check_budget() const;
  void encode_valid();
  void make_trainer();
  void start(bool resume);
  void replace_model();
  EvaluateOptions scoring() const;
  train::Validation validate() const;
  double validation_seconds(const Seconds& now) const;
  double valid_loss() const;

  train::Company& company_;
  const std::filesystem::path out_;
  std::filesystem::path folder_;  // its own, until it replaces what is in out_
  std::optional<NewFolder> made_;
  std::optional<FolderLock> lock_;
  std::optional<FolderReplacement> replacement_;
  std::optional<data::Spool> spool_;  // of data that comes through pipes
  std::vector<DataFile> data_;
  bool other_data_ = false;  // than a resumed run began with
  Corpus corpus_;
  std::unique_ptr<TaskModel> model_;
  std::unique_ptr<BatchPlan> plan_;
  std::vector<data::Batch> valid_batches_;  // of texts, by length
  int64_t valid_left_out_ = 0;
  mutable size_t samples_ = 0;
  mutable train::ValidSentences last_;  // of the last validation
  std::unique_ptr<train::Trainer> trainer_;
  std::vector<std::string> notes_;  // which weights it began with, labels that were seen once, what was repaired
};

}  // namespace attend::tasks
