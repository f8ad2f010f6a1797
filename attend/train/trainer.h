// The training loop: batches → steps → validation → checkpoints. Uses only `loss` of a model; where batches come from
// and how a model is judged are passed to it. A run is a function of its options: stopped anywhere and resumed, it
// takes the same steps bit for bit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/base/clock.h"
#include "attend/models/model.h"
#include "attend/train/company.h"
#include "attend/train/optimiser.h"
#include "attend/train/pace.h"
#include "attend/train/part_gradients.h"
#include "attend/train/schedule.h"

namespace attend::train {

inline constexpr double kMostMinutes = 366 * 24 * 60;  ///< a year

struct TrainerOptions {
  int64_t epochs = 20, steps = 0;
  double minutes = 0;
  int64_t accumulate = 1, parts = 1;
  std::string optimiser = "adam";
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, momentum = 0, weight_decay = -1;
  std::string schedule = "cosine";
  int64_t warmup = -1;
  double floor = 0, factor = 0.5;
  int64_t every = 1000;
  int64_t width = 512;
  double clip = 1;
  double scheduled_sampling = 0;
  int64_t validate_every = 0, patience = 0;
  std::string best_by = "loss";
  int64_t average = 0;
  double save_minutes = 2;
  std::string start_from;
  int64_t seed = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("epochs", epochs, "how often all pairs are read, if steps is 0; 0: by how many there are",
          bounds::count_or_none());
    visit("steps", steps, "updates of the weights; 0: given by the epochs", bounds::at_least(0));
    visit("minutes", minutes,
          "in place of steps and epochs: how long the run may take, with all that it prepares; sets the steps by their "
          "measured speed; 0: as long as it takes",
          bounds::within(0, kMostMinutes));
    visit("accumulate", accumulate, "batches whose gradients make one update", bounds::within(1, 1 << 20));
    visit("parts", parts,
          "an update is the sum, in a fixed tree, of so many parts of `accumulate` batches each, so that ranks "
          "(mpirun) can share "
          "them out and the result is the same for any number of ranks; of a new run with several ranks: one for each, "
          "if not set",
          bounds::within(1, 1 << 16));
    visit("optimiser", optimiser, "sgd, adam, adamw or adadelta", bounds::one_of(optimisers()));
    visit("rate", rate, "learning rate, at its highest", bounds::at_least(0));
    visit("beta1", beta1, "adam: decay of the mean of gradients", bounds::share());
    visit("beta2", beta2, "adam: decay of the mean of their squares", bounds::share());
    visit("momentum", momentum, "sgd", bounds::at_least(0));
    visit("weight_decay", weight_decay, "-1: the optimiser's own", bounds::at_least(-1));
    visit("schedule", schedule, "of the learning rate: constant, warmup, noam, cosine, stairs or plateau",
          bounds::one_of(schedules()));
    visit("warmup", warmup, "steps in which the rate rises from 0; -1: a tenth of all, at most 400",
          bounds::at_least(-1));
    visit("floor", floor, "cosine and plateau: the rate does not fall below this", bounds::at_least(0));
    visit("factor", factor,
          "plateau: the rate is multiplied by this after a validation without improvement; stairs: at every fall",
          bounds::between(0, 1));
    visit("every", every, "stairs: steps between falls of the rate", bounds::at_least(1));
    visit("width", width, "noam: width of the model", bounds::at_least(1));
    visit("clip", clip, "largest norm of a gradient; 0: any", bounds::at_least(0));
    visit("scheduled_sampling", scheduled_sampling,
          "share of the words that the decoder replaces with its own guesses; rises to this over the run",
          bounds::within(0, 1));
    visit("validate_every", validate_every, "steps between validations; 0: once an epoch", bounds::at_least(0));
    visit("patience", patience, "stop after this many validations in a row without improvement; 0: never",
          bounds::at_least(0));
    visit("best_by", best_by, "what the best weights are chosen by: loss, or a score of the task such as bleu");
    visit("average", average, "at the end, try the mean of the weights of the last k validations; 0: do not",
          bounds::within(0, 1000));
    visit("save_minutes", save_minutes, "longest time between checkpoints; there is also one at each validation",
          bounds::at_least(0));
    visit("start_from", start_from,
          "folder of a model to start from: takes its weights of the same names and shapes; its words must match",
          bounds::files_to_read());
    visit("seed", seed, "of weights, dropout, held-out pairs and built-in corpora; batch.seed is that of the order");
  }
};

/// Throws OptionError if these options are invalid, whatever the network and the data.
void check(const TrainerOptions& options);

/// Where batches come from; both are pure functions, so that a run can be resumed at any batch.
struct BatchSource {
  std::function<int64_t(int64_t epoch)> count;
  std::function<data::Batch(int64_t epoch, int64_t index)> batch;
  /// How much a batch counts, in rates and in means of losses.
  std::function<int64_t(const data::Batch& batch)> counted = data::target_tokens;
  /// How much all batches of an epoch count; 0: not known.
  int64_t an_epoch = 0;
};

/// How good the weights are: the loss per target token, further scores by name (higher is better), and a sample answer.
struct Validation {
  double loss = 0;
  std::map<std::string, double> scores;
  std::string source, reference, output;
};
using Validate = std::function<Validation(const models::Model& model)>;
/// How many seconds a validation will take, by that clock, without one.
using ValidationSeconds = std::function<double(const Seconds& now)>;
/// Called when the weights judged last are the best so far, and have been saved.
using BecameBest = std::function<void()>;
/// Called when a checkpoint has been written, except one because of an interruption.
using Saved = std::function<void()>;

/// What was done since the last report.
struct StepReport {
  int64_t step = 0, steps = 0, epoch = 0;
  double loss = 0;  ///< mean per target token
  double rate = 0, gradient_norm = 0;
  int64_t tokens = 0;  ///< target tokens, ends included, since the run began
  double seconds = 0;  ///< of training, without validations, since the run began
};

/// Displays or logs a run.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void stepped(const StepReport&) {}
  virtual void validated(const StepReport&, const Validation&, bool /*best*/) {}
  /// Asked after every step; true: save and stop.
  virtual bool stop() { return false; }
};

enum class Outcome { finished, stopped_early, interrupted };

struct TrainResult {
  Outcome outcome = Outcome::finished;
  int64_t step = 0, best_step = 0;
  int64_t tokens = 0;     ///< target tokens of the whole run, ends included
  double seconds = 0;     ///< of training, without validations
  bool averaged = false;  ///< the mean of the last weights was better than the best ones
};

/// A run in a folder, in which it keeps
///   weights.safetensors     the best weights so far, for use
///   checkpoint.safetensors  the last state, with everything a resumed run needs
///   average/                the weights of the last validations, if they are to be averaged
/// Each is replaced atomically, so that a kill leaves the last good one, and carries a checksum. What is not finite is never
/// written. Of weights with equal scores, those with the lower validation loss are the best.
class Trainer {
 public:
  /// Of several ranks, only the one that leads writes into its folder. `validate` must say the same to all.
  Trainer(models::Model& model, BatchSource batches, Validate validate, TrainerOptions options,
          std::filesystem::path folder, Company& company = train::alone());
  ~Trainer();

  /// For callers that keep more than the best weights.
  void when_best(BecameBest callback) { became_best_ = std::move(callback); }
  /// For callers that know a quicker way to the time of a validation than to validate once.
  void when_rehearsing(ValidationSeconds seconds) { validation_seconds_ = std::move(seconds); }
  void set_clock(Seconds now) { now_ = std::move(now); }
  double now() const { return now_(); }
  void when_saved(Saved callback) { saved_callback_ = std::move(callback); }
  /// Whether gradients are sent while the backward pass still runs, as they usually are, or after it.
  void set_overlap(bool overlap) { gradients_->set_overlap(overlap_ = overlap); }
  /// What it cost to be several.
  const ExchangeCost& cost() const { return gradients_->cost(); }
  /// Its files have been moved there.
  void move_to(std::filesystem::path folder) { folder_ = std::move(folder); }
  /// Throws Error if the folder cannot be written to, or the disk lacks room for everything the run will keep.
  void check_room() const;
  /// Takes the weights of the folder that options.start_from names, if any. Says how many there were; "" if none is
  /// named.
  std::string take_start();
  /// Writes the current weights, so that from now on there is a model to load and to resume.
  void save_start();
  /// Resumes from the folder's checkpoint. A learning rate that differs from the run's is used from here on, with any
  /// schedule. `other_data`: an epoch may have fewer batches than it had. Weights that cannot be loaded are restored from the
  /// checkpoint; says what was, and what had to be left out.
  std::vector<std::string> resume(bool other_data = false);
  /// What updates and validations cost. Takes some of the first ones for about so many seconds and undoes them: the run is
  /// the same to the last bit as without. Only before the first step.
  Pace rehearse(double seconds);
  /// Whether options.minutes is still to decide how long the run is: by fit(), or by the checkpoint of a run that had it.
  bool awaits_fit() const { return options_.minutes > 0 && !fitted_; }
  /// Sets steps, validations and schedule so that the run takes `seconds` from here on, and keeps them in the checkpoint:
  /// however long it then takes, a resumed run takes the same steps. Throws Error if there is time for hardly any.
  void fit(double seconds, const Pace& pace);
  /// Trains to the end, or until a watcher stops it. Throws Error, with step, rate and what is kept, if a loss, a gradient
  /// or a weight is not finite. A run that awaits it is rehearsed and fitted first.
  TrainResult run(std::span<Watcher* const> watchers);

  const TrainerOptions& options() const { return options_; }
  int64_t step() const;
  /// Of the last checkpoint.
  int64_t saved_step() const { return saved_step_; }
  /// How many updates the whole run has.
  int64_t steps() const;
  /// How often it reads all examples.
  double epochs() const;
  RunLength length() const { return {steps_, options_.validate_every}; }
  /// How many seconds the whole run takes at that pace.
  double seconds(const Pace& pace) const;
  /// Whether it stopped, or would, because validations brought no improvement.
  bool out_of_patience() const;

 private:
  struct Place;
  void set_length(const RunLength& length);
  double tokens_of_an_update(double measured) const;
  int64_t batches_of_update() const { return options_.accumulate * options_.parts; }
  void new_optimiser();
  std::vector<data::Batch> next_batches();
  void update();
  void report_progress(std::span<Watcher* const> watchers);
  Outcome train_on(std::span<Watcher* const> watchers);
  void take_rate(double before);
  double judged(const Validation& validation) const;
  bool keep_if_best(const Validation& validation);
  void validate(std::span<Watcher* const> watchers);
  void keep_for_average();
  void load_average(const std::vector<std::filesystem::path>& files);
  bool try_average(std::span<Watcher* const> watchers);
  void take_weights_of_leader();
  void save();
  void write_checkpoint();
  std::string restore_best(bool has_all_averages);
  std::vector<std::string> drop_damaged_averages();
  void require_finite_weights() const;
  [[noreturn]] void stop_not_finite(const std::string& what, int64_t at) const;
  std::filesystem::path kept(int64_t step) const;
  std::vector<std::filesystem::path> kept_files() const;
  StepReport report() const;

  models::Model& model_;
  BatchSource batches_;
  Validate validate_;
  ValidationSeconds validation_seconds_;
  BecameBest became_best_ = [] {};
  Saved saved_callback_ = [] {};
  Seconds now_ = steady_seconds;
  TrainerOptions options_;
  std::filesystem::path folder_;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<PartGradients> gradients_;
  std::unique_ptr<Schedule> schedule_;
  models::Training training_;
  std::unique_ptr<Place> place_;
  int64_t steps_ = 0, an_epoch_ = 0;  // updates: of the run, of an epoch
  int64_t validate_asked_ = 0;        // options.validate_every as it was given
  bool fitted_ = false;
  int64_t saved_step_ = 0;  // of the last checkpoint
  Company& company_;
  bool overlap_ = true;
};

}  // namespace attend::train
