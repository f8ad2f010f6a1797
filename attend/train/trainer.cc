#include "attend/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/names.h"
#include "attend/base/options.h"
#include "attend/base/replacement.h"
#include "attend/models/zoo.h"
#include "attend/tensor/finite.h"
#include "attend/tensor/safetensors.h"
#include "attend/train/scores.h"

namespace attend::train {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kCheckpoint = "checkpoint.safetensors";
constexpr const char* kPlace = "place";  // the numbers of a checkpoint, as JSON in its metadata
constexpr const char* kRate = "rate";    // among them, train.rate; a schedule's derived rate is its own state
constexpr const char *kSteps = "steps", *kValidateEvery = "validate_every";  // of a run whose length was measured
constexpr double kNotKept = std::numeric_limits<double>::quiet_NaN();  // a number that an earlier version did not keep

int64_t warmup_of(const TrainerOptions& options, int64_t steps) {
  constexpr int64_t kMost = 400;
  return options.warmup >= 0 ? options.warmup : std::min(kMost, steps / 10);
}

std::unique_ptr<Schedule> schedule_of(const TrainerOptions& options, int64_t steps) {
  return make_schedule(options.schedule, {.rate = options.rate,
                                          .warmup = warmup_of(options, steps),
                                          .steps = steps,
                                          .floor = options.schedule == "plateau" ? 0 : options.floor,
                                          .width = options.width,
                                          .every = options.every,
                                          .factor = options.factor,
                                          .minimum = options.floor,
                                          .higher_is_better = options.best_by != "loss"});
}

OptimiserOptions optimiser_options(const TrainerOptions& options) {
  OptimiserOptions chosen{.momentum = options.momentum, .beta1 = options.beta1, .beta2 = options.beta2};
  if (options.weight_decay >= 0) chosen.weight_decay = options.weight_decay;
  return chosen;
}

SafetensorsFile whole_checkpoint(const fs::path& path) {
  try {
    SafetensorsFile file(path);
    file.verify();
    return file;
  } catch (const Error& error) {
    fail(error.what(),
         "; the run cannot continue without it, but another one can begin with its weights: ", "--train.start_from ",
         path.parent_path().string());
  }
}

/// Whether any rank wants it: all of them have to do the same.
bool wanted_by_any(Company& company, bool wanted) {
  const double mine = wanted ? 1 : 0;
  const std::vector<double> all =
      company.gathered(std::span(&mine, 1), std::vector<int>(static_cast<size_t>(company.size()), 1));
  return std::ranges::find(all, 1.0) != all.end();
}

uint64_t bytes_of(models::Model& model) {
  uint64_t bytes = 0;
  for (const nn::NamedParam& p : nn::parameters(model)) bytes += p.var.size() * sizeof(float);
  return bytes;
}

}  // namespace

/// The position of a run: everything a resumed one needs besides weights and the optimiser's tensors.
struct Trainer::Place {
  double step = 0, epoch = 0, batch = 0;  // updates done; the next batch
  double random = 0;                      // position in the stream of dropout
  double tokens = 0, seconds = 0;
  double loss = 0, loss_tokens = 0;  // since the last report
  double norm = 0;
  double best_step = -1, best_score = 0, worse = 0;  // validations since the best
  double best_loss = 0;
  double averaged = 0;  // 1: the best weights are the mean of the last ones

  void visit(const VisitNumber& number) {
    number("step", step), number("epoch", epoch), number("batch", batch), number("random", random);
    number("tokens", tokens), number("seconds", seconds), number("loss", loss), number("loss_tokens", loss_tokens);
    number("norm", norm), number("best_step", best_step);
    number("best_score", best_score), number("worse", worse);
  }
  /// Those that version 0.1 did not keep.
  void visit_later(const VisitNumber& number) { number("best_loss", best_loss), number("averaged", averaged); }

  /// A file may contain anything; numbers used as counts are checked.
  void check(const std::string& where) const {
    for (const double count : {step, epoch, batch, random, best_step + 1, worse}) {
      require(count >= 0 && count == std::floor(count) && count < 0x1p53, where, ": expected the counts of a run, got ",
              count, "; it is damaged");
    }
  }
};

void check(const TrainerOptions& options) {
  check_bounds(options);
  require_option(options.minutes == 0 || options.steps == 0, "minutes",
                 "expected minutes or steps, as the time sets the number of steps, got both: ", options.minutes,
                 " and ", options.steps);
  const bool falls = options.schedule == "cosine" || options.schedule == "plateau";
  require_option(!falls || options.floor <= options.rate, "floor", "expected at most the rate, ", options.rate,
                 ", got ", options.floor);
  require_option(options.schedule != "cosine" || options.steps == 0 || options.warmup < options.steps, "warmup",
                 "expected fewer steps than the ", options.steps, " of the run, got ", options.warmup);
}

Trainer::Trainer(models::Model& model, BatchSource batches, Validate validate, TrainerOptions options, fs::path folder,
                 Company& company)
    : model_(model),
      batches_(std::move(batches)),
      validate_(std::move(validate)),
      options_(std::move(options)),
      folder_(std::move(folder)),
      training_{Random(static_cast<uint64_t>(options_.seed)).named("training"), 0},
      place_(std::make_unique<Place>()),
      company_(company) {
  check(options_);
  const int64_t batches_of_epoch = batches_.count(0), together = batches_of_update();
  require(batches_of_epoch > 0, "train: there is nothing to train on");
  an_epoch_ = std::max<int64_t>(1, batches_of_epoch / together);
  validate_asked_ = options_.validate_every;
  const int64_t epochs = options_.epochs > 0 ? options_.epochs : usual_epochs(an_epoch_);
  int64_t steps = options_.steps > 0 ? options_.steps : (epochs * batches_of_epoch + together - 1) / together;
  if (options_.minutes > 0) steps = std::max(steps, 10 * options_.warmup);  // to be rehearsed with, until it is fitted
  new_optimiser();
  set_length({steps, validate_asked_ > 0 ? validate_asked_ : an_epoch_});
}

Trainer::~Trainer() = default;

void Trainer::new_optimiser() {
  optimiser_ = make_optimiser(options_.optimiser, optimiser_options(options_), nn::parameters(model_));
  const Division division{options_.parts, options_.accumulate, overlap_};
  gradients_ = std::make_unique<PartGradients>(company_, division, model_, *optimiser_, batches_.counted);
}

void Trainer::set_length(const RunLength& length) {
  steps_ = length.steps, options_.validate_every = length.validate_every;
  schedule_ = schedule_of(options_, steps_);
}

int64_t Trainer::step() const { return static_cast<int64_t>(place_->step); }
int64_t Trainer::steps() const { return steps_; }
double Trainer::epochs() const { return static_cast<double>(steps_) / static_cast<double>(an_epoch_); }
double Trainer::seconds(const Pace& pace) const {
  return seconds_of(length(), pace) + (options_.average > 0 ? pace.validation : 0);
}
bool Trainer::out_of_patience() const {
  return options_.patience > 0 && place_->worse >= static_cast<double>(options_.patience);
}

void Trainer::check_room() const {
  require_writable(folder_);
  // Weights, a checkpoint of three times that, the new one beside the old while it is written, and the means.
  const uint64_t needed = bytes_of(model_) * static_cast<uint64_t>(8 + options_.average) + (uint64_t{1} << 20);
  std::error_code problem;
  const fs::space_info space = fs::space(folder_, problem);
  require(problem || space.available >= needed, folder_.string(), ": the run will need ", needed >> 20,
          " MiB on this disk, which has ", space.available >> 20, " MiB left");
}

std::string Trainer::take_start() {
  if (options_.start_from.empty()) return "";
  const int64_t taken = models::take_weights(model_, file_within(options_.start_from, kWeights));
  return "started with " + std::to_string(taken) + " of " + std::to_string(nn::parameters(model_).size()) +
         " weights of " + options_.start_from;
}

void Trainer::save_start() {
  std::error_code ignored;
  fs::remove_all(folder_ / "average", ignored);  // of an earlier run
  save();
}

fs::path Trainer::kept(int64_t step) const {
  return folder_ / "average" / ("step-" + std::to_string(step) + ".safetensors");
}

/// Oldest first. A damaged one is removed (below): so none of another folder may be among them, nor a file of somebody else.
std::vector<fs::path> Trainer::kept_files() const {
  const fs::path average = folder_ / "average";
  require(!fs::is_symlink(average), average.native(), ": expected a folder of the run itself, got a symbolic link");
  std::vector<fs::path> files;
  if (!fs::exists(average)) return files;
  for (const auto& entry : fs::directory_iterator(average)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("step-") && name.ends_with(".safetensors")) files.push_back(entry.path());
  }
  const auto age = [](const fs::path& path) { return std::pair(path.native().size(), path); };  // 95 before 100
  std::ranges::sort(files, {}, age);
  return files;
}

StepReport Trainer::report() const {
  const Place& p = *place_;
  const int64_t at = std::max<int64_t>(1, step());
  return {.step = step(),
          .steps = steps_,
          .epoch = static_cast<int64_t>(p.epoch),
          .loss = p.loss_tokens > 0 ? p.loss / p.loss_tokens : 0,
          .rate = schedule_->rate(at),
          .gradient_norm = p.norm,
          .tokens = static_cast<int64_t>(p.tokens),
          .seconds = p.seconds};
}

/// The next batches of an update that are of this rank's parts; the position moves past those of all.
std::vector<data::Batch> Trainer::next_batches() {
  const Share parts = gradients_->share();
  std::vector<data::Batch> mine;
  for (int64_t i = 0; i < batches_of_update(); ++i) {
    const int64_t epoch = static_cast<int64_t>(place_->epoch);
    if (parts.has(i / options_.accumulate)) mine.push_back(batches_.batch(epoch, static_cast<int64_t>(place_->batch)));
    place_->batch += 1;
    if (place_->batch >= static_cast<double>(batches_.count(epoch))) place_->batch = 0, place_->epoch += 1;
  }
  return mine;
}

/// One step of the weights, each batch counting by its target tokens.
void Trainer::update() {
  Place& place = *place_;
  const std::vector<data::Batch> batches = next_batches();
  training_.update = step();
  training_.own_words = options_.scheduled_sampling * place.step / static_cast<double>(steps_);
  const Learned learned = gradients_->learn(batches, training_);
  const double rate = schedule_->rate(step() + 1);
  if (!std::isfinite(learned.loss)) stop_not_finite("loss", step() + 1);
  if (!std::isfinite(learned.norm)) stop_not_finite("gradient", step() + 1);
  optimiser_->step(rate, options_.clip > 0 ? clip_scale(learned.norm, options_.clip) : 1);
  optimiser_->clear_gradients();
  gradients_->share_weights();
  place.step += 1, place.norm = learned.norm;
  place.tokens += learned.tokens, place.loss += learned.loss * learned.tokens, place.loss_tokens += learned.tokens;
}

void Trainer::stop_not_finite(const std::string& what, int64_t at) const {
  const int64_t used = place_->best_step < 0 ? saved_step_ : static_cast<int64_t>(place_->best_step);
  const std::string left = saved_step_ == 0
                               ? "nothing had been learned that could be kept"
                               : "the weights of step " + std::to_string(used) +
                                     " are kept, and --resume continues from step " + std::to_string(saved_step_);
  fail("train: step ", at, ": the ", what, " is not finite (learning rate ", schedule_->rate(std::max<int64_t>(1, at)),
       "); ", left, "; lower train.rate or raise train.warmup");
}

void Trainer::require_finite_weights() const {
  for (const nn::NamedParam& p : optimiser_->parameters()) {
    if (first_not_finite(p.var.value())) stop_not_finite("weight " + p.name, step());
  }
}

/// Until a validation has judged any weights, the newest are the ones to use.
void Trainer::save() {
  require_finite_weights();
  if (place_->best_step < 0 && company_.leads()) models::save_weights(model_, folder_ / kWeights);
  write_checkpoint();
}

void Trainer::write_checkpoint() {
  place_->random = static_cast<double>(training_.random.position());
  std::vector<NamedTensor> tensors;
  for (const nn::NamedParam& p : nn::parameters(model_)) tensors.push_back({"model." + p.name, p.var.value()});
  json numbers;
  const VisitNumber number = [&](const std::string& name, double& value) { numbers[name] = value; };
  const bool leads = company_.leads();  // the others only pass on what they keep
  optimiser_->state(
      [&](const std::string& name, Tensor& value) {
        if (leads) tensors.push_back({name, value});
      },
      number);
  if (!leads) {
    saved_step_ = step();
    return;
  }
  schedule_->state(number);
  place_->visit(number), place_->visit_later(number);
  numbers[kRate] = options_.rate;
  if (fitted_) numbers[kSteps] = steps_, numbers[kValidateEvery] = options_.validate_every;
  for (const NamedTensor& one : tensors) {
    if (first_not_finite(one.tensor)) stop_not_finite("state " + one.name, step());
  }
  write_checked_safetensors(folder_ / kCheckpoint, tensors, {{kPlace, numbers.dump()}});
  saved_step_ = step();
}

std::vector<std::string> Trainer::resume(bool other_data) {
  const fs::path path = file_within(folder_, kCheckpoint);
  const SafetensorsFile file = whole_checkpoint(path);
  const auto found = file.metadata().find(kPlace);
  require(found != file.metadata().end(), path.string(), ": expected a checkpoint of a run, got other tensors");
  const json numbers = json::parse(found->second, nullptr, false);
  const VisitNumber number = [&](const std::string& name, double& value) {
    require(numbers.is_object() && numbers.contains(name) && numbers[name].is_number(), path.string(), ": no number ",
            name, " in it; it is of another run, or damaged");
    value = numbers[name].get<double>();
  };
  place_->visit(number);
  place_->visit_later([&](const std::string& name, double& value) {
    value = numbers.contains(name) && numbers[name].is_number() ? numbers[name].get<double>() : kNotKept;
  });
  place_->check(path.string());
  saved_step_ = step();
  for (nn::NamedParam& p : nn::parameters(model_)) {
    const Tensor value = models::saved_value(file, "model." + p.name, p.var);
    require(value.shape() == p.var.shape(), path.string(), ": expected ", p.name, " of shape ", p.var.shape(), ", got ",
            value.shape());
    std::copy(value.begin(), value.end(), p.var.value().data());
  }
  optimiser_->state([&](const std::string& name, Tensor& value) { value = file.read_finite(name); }, number);
  if (options_.minutes > 0 && numbers.contains(kSteps)) {
    double steps = 0, every = 0;
    number(kSteps, steps), number(kValidateEvery, every);
    require(steps >= place_->step && every >= 1 && steps < 0x1p53 && every < 0x1p53, path.string(),
            ": expected the length of a run, got ", steps, " steps with a validation every ", every, "; it is damaged");
    set_length({static_cast<int64_t>(steps), static_cast<int64_t>(every)});
    fitted_ = true;
  }
  schedule_->state([&](const std::string& name, double& value) {
    if (numbers.contains(name)) number(name, value);  // otherwise the run had another schedule
  });
  double before = kNotKept;
  if (numbers.contains(kRate)) number(kRate, before);
  take_rate(before);
  const int64_t count = batches_.count(static_cast<int64_t>(place_->epoch));
  if (other_data && place_->batch >= static_cast<double>(count)) place_->batch = 0, place_->epoch += 1;
  require(place_->batch < static_cast<double>(count), path.string(), ": the next batch of epoch ", place_->epoch,
          " would be number ", place_->batch + 1, ", but there are ", count,
          " now; go on with the pairs and the options of batch that the run began with");
  training_.random.seek(static_cast<uint64_t>(place_->random));
  std::vector<std::string> notes = drop_damaged_averages();
  if (const std::string restored = restore_best(notes.empty()); !restored.empty()) notes.push_back(restored);
  return notes;
}

/// The mean of fewer weights is better than a run that fails at its end.
std::vector<std::string> Trainer::drop_damaged_averages() {
  std::vector<std::string> notes;
  for (const fs::path& path : kept_files()) {
    try {
      models::check_weights(model_, path);
    } catch (const Error& error) {
      fs::remove(path);
      notes.push_back(std::string(error.what()) + "; removed: the mean of the last weights is without them");
    }
  }
  return notes;
}

/// Weights that can be used, whatever has happened to those in the folder; says what was done, "" if they are as they were.
/// The best ones are exactly those of the checkpoint, where that is of the same step, or among those kept for the average.
/// Otherwise they are lost: the newest take their place, and the next validation decides anew.
std::string Trainer::restore_best(bool has_all_averages) {
  const fs::path path = folder_ / kWeights;
  std::string wrong;
  try {
    models::check_weights(model_, path);
    return "";
  } catch (const Error& error) {
    wrong = error.what();
  }
  const auto best = static_cast<int64_t>(place_->best_step);
  const std::vector<fs::path> last = kept_files();
  const std::string of_best = std::to_string(best < 0 ? step() : best);
  std::vector<std::vector<real>> newest;
  for (const nn::NamedParam& p : nn::parameters(model_)) {
    newest.emplace_back(p.var.value().begin(), p.var.value().end());
  }
  std::string taken = "the weights of step " + of_best;
  if (best >= 0 && place_->averaged == 1 && has_all_averages && last.size() >= 2) {
    load_average(last);
    taken = "the mean of the last weights";
  } else if (best >= 0 && best != step() && place_->averaged == 0 && std::ranges::count(last, kept(best)) > 0) {
    models::load_weights(model_, kept(best));
  } else if (best >= 0 && (best != step() || place_->averaged != 0)) {
    place_->best_step = -1, place_->averaged = 0;
    write_checkpoint();  // first: killed before the weights are written, they are restored again
    taken = "the newest, of step " + std::to_string(step()) + ", as the best ones, of step " + of_best + ", are lost";
  }
  models::save_weights(model_, path);
  std::vector<nn::NamedParam> parameters = nn::parameters(model_);
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::ranges::copy(newest[i], parameters[i].var.value().data());
  }
  return wrong + "; written again: " + taken;
}

/// A plateau remembers the rate that it derived from the rate `before`; if a different one is requested, that counts.
/// Checkpoints that do not say (NaN) had a rate of at least the remembered one.
void Trainer::take_rate(double before) {
  schedule_->state([&](const std::string& name, double& value) {
    if (name != "plateau.rate" || before == options_.rate) return;
    value = std::isnan(before) ? std::min(value, options_.rate) : options_.rate;
  });
}

/// More is better, whatever it is judged by.
double Trainer::judged(const Validation& validation) const {
  if (options_.best_by == "loss") return -validation.loss;
  const auto found = validation.scores.find(options_.best_by);
  const auto row = std::ranges::find(scores(), options_.best_by, &ScoreRow::name);
  const bool falls = row != scores().end() && row->better < 0;
  if (found != validation.scores.end()) return falls ? -found->second : found->second;
  std::vector<std::string_view> known{"loss"};
  for (const auto& [name, score] : validation.scores) known.push_back(name);
  refuse_name("train.best_by", known, options_.best_by);
}

/// Equal scores are decided by the loss: of two networks that get nothing right yet, one may be far ahead. A score that is not
/// finite would stay the best for ever, and JSON has no number for it.
bool Trainer::keep_if_best(const Validation& validation) {
  const double score = judged(validation);
  const bool tied = score == place_->best_score && validation.loss < place_->best_loss;
  const bool best = std::isfinite(score) && (place_->best_step < 0 || score > place_->best_score || tied);
  if (best) {
    if (company_.leads()) models::save_weights(model_, folder_ / kWeights);
    place_->best_step = place_->step, place_->best_score = score, place_->best_loss = validation.loss;
    place_->averaged = 0;
    if (company_.leads()) became_best_();
  }
  return best;
}

/// Judges the current weights, and saves them if they are the best so far.
void Trainer::validate(std::span<Watcher* const> watchers) {
  const Validation validation = validate_(model_);
  if (std::isnan(validation.loss)) stop_not_finite("validation loss", step());
  const double score = judged(validation), before = place_->best_score;
  const bool first = place_->best_step < 0, best = keep_if_best(validation);
  place_->worse = best ? 0 : place_->worse + 1;
  const bool tied =
      best && !first && score == before;  // better by its loss, of which a plateau of scores knows nothing
  if (!tied) schedule_->observe(options_.best_by == "loss" ? validation.loss : score);
  for (Watcher* watcher : watchers) watcher->validated(report(), validation, best);
}

void Trainer::keep_for_average() {
  fs::create_directories(folder_ / "average");
  models::save_weights(model_, kept(step()));
  const std::vector<fs::path> files = kept_files();  // not by step: the last validation may come sooner than others
  for (size_t i = 0; i + static_cast<size_t>(options_.average) < files.size(); ++i) fs::remove(files[i]);
}

/// The mean of the weights that were kept, in double precision, becomes the model's.
void Trainer::load_average(const std::vector<fs::path>& files) {
  std::vector<nn::NamedParam> parameters = nn::parameters(model_);
  std::vector<std::vector<double>> sums;
  for (const nn::NamedParam& p : parameters) sums.emplace_back(p.var.size(), 0.0);
  for (const fs::path& path : files) {
    models::load_weights(model_, path);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& value = std::as_const(parameters[i].var).value();
      for (size_t k = 0; k < value.size(); ++k) sums[i][k] += static_cast<double>(value.data()[k]);
    }
  }
  const double count = static_cast<double>(files.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    real* value = parameters[i].var.value().data();
    for (size_t k = 0; k < sums[i].size(); ++k) value[k] = static_cast<real>(sums[i][k] / count);
  }
}

/// The mean of the last weights replaces the best ones if it is better. The run itself keeps its position and the
/// weights of its last step, so that it can be extended.
bool Trainer::try_average(std::span<Watcher* const> watchers) {
  const std::vector<fs::path> files = company_.leads() ? kept_files() : std::vector<fs::path>();
  if (company_.of_leader(static_cast<double>(files.size())) < 2) return false;
  if (company_.leads()) load_average(files);
  take_weights_of_leader();
  const Validation validation = validate_(model_);
  const bool best = keep_if_best(validation);
  if (best) place_->averaged = 1;
  for (Watcher* watcher : watchers) watcher->validated(report(), validation, best);
  if (company_.leads()) models::load_weights(model_, files.back());
  take_weights_of_leader();
  save();
  return best;
}

void Trainer::take_weights_of_leader() {
  for (nn::NamedParam& p : nn::parameters(model_)) {
    company_.wait(company_.broadcast(std::as_writable_bytes(p.var.value().values()), 0));
  }
}

/// Every tenth step and the last one: by steps, so that reports do not depend on the clock.
void Trainer::report_progress(std::span<Watcher* const> watchers) {
  constexpr int64_t kReportEvery = 10;
  if (step() % kReportEvery != 0 && step() != steps_) return;
  const StepReport where = report();
  for (Watcher* watcher : watchers) watcher->stepped(where);
  place_->loss = place_->loss_tokens = 0;
}

Outcome Trainer::train_on(std::span<Watcher* const> watchers) {
  Outcome outcome = out_of_patience() ? Outcome::stopped_early : Outcome::finished;
  double saved = now_();
  while (step() < steps_ && outcome == Outcome::finished) {
    const double start = now_();
    update();
    place_->seconds += now_() - start;
    report_progress(watchers);
    const bool validates = step() % options_.validate_every == 0 || step() == steps_;
    if (validates) {
      require_finite_weights();
      if (options_.average > 0 && company_.leads()) keep_for_average();
      validate(watchers);
      if (out_of_patience()) outcome = Outcome::stopped_early;
    }
    const bool stop = std::ranges::any_of(watchers, [](Watcher* watcher) { return watcher->stop(); });
    if (wanted_by_any(company_, stop)) outcome = Outcome::interrupted;
    const bool late = company_.of_leader(now_() - saved > 60 * options_.save_minutes) != 0;
    if (validates || late || outcome != Outcome::finished) save(), saved = now_();
    if (saved_step_ == step() && outcome != Outcome::interrupted) saved_callback_();
  }
  return outcome;
}

/// The mean over an epoch where that is known: the batches of a rehearsal may be smaller or larger than others.
double Trainer::tokens_of_an_update(double measured) const {
  if (batches_.an_epoch == 0) return measured;
  return static_cast<double>(batches_.an_epoch * batches_of_update()) / static_cast<double>(batches_.count(0));
}

Pace Trainer::rehearse(double seconds) {
  constexpr double kWarming = 3, kLeast = 5, kMost = 10'000;  // updates; the first ones pay for fresh memory
  require(step() == 0, "train: expected a rehearsal before the first step, got one at step ", step());
  std::vector<nn::NamedParam> parameters = nn::parameters(model_);
  std::vector<std::vector<real>> weights;
  for (const nn::NamedParam& p : parameters) {
    const Tensor& value = std::as_const(p.var).value();
    weights.emplace_back(value.begin(), value.end());
  }
  const Place place = *place_;
  const models::Training training = training_;
  while (place_->step < kWarming) update();
  const double tokens = place_->tokens, begun = now_();
  double taken = 0, spent = 0;
  const auto goes_on = [&] { return taken < kLeast || (spent < seconds && taken < kMost); };
  while (company_.of_leader(goes_on()) != 0) update(), taken += 1, spent = now_() - begun;
  const double measured = place_->tokens - tokens;
  Pace pace{.step = spent / measured * tokens_of_an_update(measured / taken)};
  const double answering = now_();
  if (validation_seconds_) {
    pace.validation = validation_seconds_(now_);
  } else {
    (void)validate_(model_), pace.validation = now_() - answering;
  }
  for (size_t i = 0; i < parameters.size(); ++i) std::ranges::copy(weights[i], parameters[i].var.value().data());
  *place_ = place, training_ = training;
  new_optimiser();
  return {.step = company_.of_leader(pace.step), .validation = company_.of_leader(pace.validation)};
}

void Trainer::fit(double seconds, const Pace& pace) {
  constexpr int64_t kFewest = 20;
  const double begun = now_();
  save();  // as after each validation: that takes time, too
  const double saving = company_.of_leader(now_() - begun), validation = pace.validation + saving;
  const double left = company_.of_leader(seconds) - saving - (options_.average > 0 ? validation : 0);
  const RunLength length = length_within(left, {pace.step, validation}, an_epoch_, validate_asked_);
  require(length.steps >= kFewest, "train.minutes: expected enough for ", kFewest, " steps, got ", options_.minutes,
          ", which leave time for ", length.steps, " (a step takes ", pace.step, " s, a validation ", validation,
          " s); allow more, or choose a smaller network");
  set_length(length);
  fitted_ = true;
  save();
}

TrainResult Trainer::run(std::span<Watcher* const> watchers) {
  if (awaits_fit()) {
    const double begun = now_();
    const Pace pace = rehearse(seconds_to_measure(60 * options_.minutes));
    fit(60 * options_.minutes - (now_() - begun), pace);
  }
  TrainResult result{.outcome = train_on(watchers)};
  if (options_.average > 0 && result.outcome != Outcome::interrupted) result.averaged = try_average(watchers);
  result.step = step();
  result.tokens = static_cast<int64_t>(place_->tokens), result.seconds = place_->seconds;
  result.best_step = std::max<int64_t>(0, static_cast<int64_t>(place_->best_step));
  return result;
}

}  // namespace attend::train
