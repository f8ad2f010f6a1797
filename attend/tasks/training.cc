#include "attend/tasks/training.h"

#include <algorithm>
#include <map>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/replacement.h"
#include "attend/tasks/batch_plan.h"
#include "attend/tasks/image_features.h"
#include "attend/tasks/manifest.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kValidTokens = 4096;  // of one batch

/// The first window of a document that has the right answer; empty if none has.
Ready window_with_answer(const TaskModel& model, const Example& example) {
  for (Ready& window : model.parts(example)) {
    if (model.output().has(right_answer(example, 0), window)) return std::move(window);
  }
  return {};
}

/// Labels of which there is only one example: they cannot be learned and validated.
std::vector<std::string> seen_once(const Corpus& corpus) {
  std::map<std::string, int64_t> counts;
  corpus.each_right([&](const std::vector<std::string>& right) { ++counts[right.at(0)]; });
  std::vector<std::string> once;
  for (const auto& [label, count] : counts) {
    if (count == 1) once.push_back(label);
  }
  return once;
}

/// The folder, or the first above it that is there.
fs::path nearest_folder(fs::path folder) {
  for (folder = fs::absolute(folder); !fs::is_directory(folder) && folder.has_relative_path();)
    folder = folder.parent_path();
  return folder;
}

}  // namespace

TaskTraining::TaskTraining(const TaskConfig& config, fs::path folder, bool resume, const Prepared& prepared,
                           bool changed_data, train::Company& company)
    : company_(company), out_(std::move(folder)), folder_(out_) {
  config.check();
  config.check_files(resume);
  const std::vector<std::string> to_spool = pipes(config, resume);
  require_usage(to_spool.empty() || company_.alone(),
                "expected files, which every rank can read, got a pipe: ", joined(to_spool, ", ", data::shown_name));
  if (fs::is_directory(out_)) lock_.emplace(out_), settle_replacement(out_);  // first: a large corpus takes a while
  if (!to_spool.empty()) {
    prepared("reading " + joined(to_spool, ", ", data::shown_name));
    spool_.emplace(nearest_folder(out_), to_spool);
  }
  if (resume) check_listed(out_), compare_data(config, changed_data);
  if (!resume && fs::exists(out_ / kConfig)) replacement_.emplace(out_), folder_ = replacement_->path();
  try {
    prepare(config, resume, prepared);
  } catch (const UsageError& error) {
    if (!replacement_) throw;
    fail_usage(error.what(), "; ", out_.string(), " keeps the model that it had");
  } catch (const Error& error) {
    if (!replacement_) throw;
    fail(error.what(), "; ", out_.string(), " keeps the model that it had");
  }
}

TaskTraining::~TaskTraining() = default;

void TaskTraining::prepare(const TaskConfig& config, bool resume, const Prepared& prepared) {
  read(config, prepared);
  if (!resume) data_ = data_files(config);
  learn(config, resume, prepared);
  plan_batches(prepared);
  if (!resume) check_budget();
  encode_valid();
  make_trainer();
  start(resume);
  made_->keep();
}

/// A resumed run: is its data what it began with?
void TaskTraining::compare_data(const TaskConfig& config, bool changed_data) {
  data_ = data_files(config);
  const std::optional<std::vector<DataFile>> before = saved_data_files(out_);
  if (!before && !data_.empty())
    notes_.push_back(
        "note: an earlier version did not keep what this run learned from: "
        "whether the files are the same is unknown");
  const std::string changed = before ? data_difference(*before, data_) : "";
  if (changed.empty()) return;
  if (!changed_data) {
    throw ChangedData(changed +
                      "; a resumed run continues with the data that it began with: restore it, or allow "
                      "this by --changed-data");
  }
  other_data_ = true;
  notes_.push_back("note: resuming with other data: " + changed);
}

/// Before the folder is made: a wrong file name leaves none.
void TaskTraining::read(const TaskConfig& config, const Prepared& prepared) {
  prepared("reading the " + std::string(config.row().input().several));
  corpus_ = read_corpus(config);
  made_.emplace(folder_);
  if (!lock_) lock_.emplace(out_);
}

void TaskTraining::learn(TaskConfig config, bool resume, const Prepared& prepared) {
  TaskModel::Inputs inputs = TaskModel::new_inputs(config);
  std::unique_ptr<Output> output = config.output().make(config);
  TaskModel::each_learner(inputs, config, [&](Input& input) {
    if (resume && config.row().input().streamed) {
      input.load(folder_);
    } else {
      input.learn(corpus_, config, prepared);
    }
  });
  if (resume) {
    output->load(folder_, *inputs[0]);
  } else {
    output->learn(corpus_, *inputs[0], prepared);
  }
  model_ = std::make_unique<TaskModel>(std::move(config), std::move(inputs), std::move(output));
  if (const std::string& path = model_->config().options.vectors; !resume && !path.empty()) {
    std::vector<std::string> words;
    const auto& known = model_->input().tokeniser();
    for (int32_t id = data::kFirstWord; known && id < known->size(); ++id) words.push_back(known->piece(id));
    const int64_t taken = models::take_vectors(model_->model(), path, words);
    notes_.push_back(std::to_string(taken) + " of " + std::to_string(words.size()) + " words begin with a vector of " +
                     path);
  }
  if (const std::string note = take_features(*model_, corpus_, {out_, folder_, resume}, prepared); !note.empty()) {
    notes_.push_back(note);
  }
  if (corpus_.stream && !model_->output().searches() && !model_->output().labels().empty()) {
    const std::vector<std::string> once = seen_once(corpus_);
    if (model_->reads_documents() && !once.empty()) {
      notes_.push_back("note: " + std::to_string(once.size()) + " of the answers are those of one question alone");
    } else {
      for (const std::string& label : once) notes_.push_back("note: only one example has the label " + label);
    }
  }
}

void TaskTraining::plan_batches(const Prepared& prepared) {
  if (corpus_.stream) prepared("encoding the examples");
  plan_ = corpus_.stream ? stored_batches(*model_, *corpus_.stream, folder_) : made_batches(*model_, corpus_.train);
}

/// A pair that no batch has room for would be one by itself, beyond the budget that was asked for.
void TaskTraining::check_budget() const {
  const TaskConfig& config = model_->config();
  const int64_t longest = plan_->longest(), tokens = config.options.batch.tokens;
  with_places(config.given, "", [&] {
    require_option(longest <= tokens, "batch.tokens", "expected room for the longest pair, which has ", longest,
                   " tokens on a side, got ", tokens, "; raise it, or leave such pairs out (filter.longest)");
  });
}

std::string TaskTraining::summary() const {
  std::string text = plan_->summary();
  const std::string learned = model_->output().summary();
  if (corpus_.stream) {
    const std::string source = std::to_string(model_->input().tokeniser()->size());
    text += model_->output().words() ? "; vocabulary " + source + " → " + learned
                                     : "; vocabulary " + source + ", " + learned;
    text += "; " + std::to_string(corpus_.valid.count) + " validation pairs";
    if (valid_left_out_ > 0) {
      text += " (" + std::to_string(valid_left_out_) +
              (model_->reads_documents() ? " whose answer cannot be given: in no loss)"
                                         : " too long or empty: in no loss)");
    }
  } else {
    if (!learned.empty()) text += (model_->output().words() ? ", vocabulary " : ", ") + learned;
    text += "; " + std::to_string(corpus_.valid.count) + " validation " + std::string(model_->row().input().several) +
            "; " + std::to_string(model_->parameters()) + " parameters";
  }
  for (const std::string& note : notes_) text += "\n" + note;
  return corpus_.report.empty() ? text : text + "\n" + corpus_.report;
}

/// Validation texts in batches of like length; those with an empty side have no loss.
void TaskTraining::encode_valid() {
  if (!corpus_.stream) return;
  const int64_t longest = model_->config().options.filter.longest;
  struct Encoded {
    Ready source;
    std::vector<int32_t> target;
    size_t longer() const { return std::max(static_cast<size_t>(source.longest()), target.size()); }
  };
  std::vector<Encoded> all;
  for (int64_t i = 0; i < corpus_.valid.count; ++i) {
    const Example example = corpus_.valid.at(i);
    Encoded one = model_->reads_documents() ? Encoded{window_with_answer(*model_, example), {}}
                                            : Encoded{model_->ready(example), {}};
    if (one.source.is_empty() && model_->reads_documents()) continue;
    one.target = model_->output().encode(right_answer(example, 0), one.source);
    const bool fits = longest == 0 || static_cast<int64_t>(one.longer()) <= longest;
    if (one.source.length() > 0 && !one.target.empty() && fits) all.push_back(std::move(one));
  }
  valid_left_out_ = corpus_.valid.count - static_cast<int64_t>(all.size());
  require(!all.empty(), "train: none of the ", corpus_.valid.count,
          " validation examples has text on both sides and at most ", longest, " tokens");
  std::ranges::stable_sort(all, {},
                           [](const Encoded& one) { return one.source.tokens.ids.size() + one.target.size(); });
  std::vector<const Ready*> sources;
  std::vector<std::vector<int32_t>> targets;
  size_t most = 0;
  const auto flush = [&] {
    if (!sources.empty()) valid_batches_.push_back({model_->source(sources), data::Sequences(targets)});
    sources.clear(), targets.clear(), most = 0;
  };
  for (Encoded& one : all) {
    most = std::max(most, one.longer());
    if (static_cast<int64_t>(most * (sources.size() + 1)) > kValidTokens) flush();
    most = std::max(most, one.longer());
    sources.push_back(&one.source), targets.push_back(std::move(one.target));
  }
  flush();
}

void TaskTraining::make_trainer() {
  const auto counted = [](const data::Batch& batch) { return batch.source.count(); };
  train::BatchSource source{[this](int64_t epoch) { return plan_->count(epoch); },
                            [this](int64_t epoch, int64_t index) { return plan_->batch(epoch, index); }};
  source.an_epoch = plan_->counted();
  const train::TrainerOptions& options = model_->config().options.train;
  const int64_t mine = train::share_of(company_.rank(), company_.size(), options.parts).size();
  plan_->expect(mine * options.accumulate, (options.parts - mine) * options.accumulate);
  if (!corpus_.stream) source.counted = counted;
  with_places(model_->config().given, "train.", [&] {
    trainer_ = std::make_unique<train::Trainer>(
        model_->model(), std::move(source), [this](const models::Model&) { return validate(); },
        model_->config().options.train, folder_, company_);
  });
  trainer_->when_best([this] { last_.save(folder_); });
  trainer_->when_rehearsing([this](const Seconds& now) { return validation_seconds(now); });
  trainer_->when_saved([this] { replace_model(); });
  trainer_->check_room();
}

void TaskTraining::start(bool resume) {
  if (resume) {
    for (std::string& note : trainer_->resume(other_data_)) notes_.push_back(std::move(note));
  } else {
    const std::string taken = trainer_->take_start();
    if (!taken.empty()) notes_.push_back(taken);
    for (const char* name : {train::ValidSentences::kFile, kDataFile}) fs::remove(folder_ / name);  // of an earlier run
    trainer_->save_start();
  }
  std::map<std::string, std::string> further;
  if (!data_.empty()) further[kDataFile] = print_data_files(data_);
  model_->save(folder_, further);
}

/// The new model has proven itself: it has learned something, and it is saved.
void TaskTraining::replace_model() {
  if (!is_waiting()) return;
  replacement_->commit(run_files(out_));
  folder_ = out_;
  trainer_->move_to(out_);
}

/// Batches are dealt out to the ranks, and their losses added up in the order of the batches.
double TaskTraining::valid_loss() const {
  const TapePause pause;
  const auto ranks = static_cast<size_t>(company_.size());
  std::vector<double> mine;
  for (size_t i = static_cast<size_t>(company_.rank()); i < valid_batches_.size(); i += ranks) {
    mine.push_back(static_cast<double>(model_->model().loss(valid_batches_[i]).item()));
  }
  std::vector<int> counts;
  std::vector<size_t> at;
  for (size_t r = 0; r < ranks; ++r) {
    at.push_back(static_cast<size_t>(r == 0 ? 0 : static_cast<int>(at.back()) + counts.back()));
    counts.push_back(static_cast<int>((valid_batches_.size() + ranks - 1 - r) / ranks));
  }
  const std::vector<double> losses = company_.gathered(mine, counts);
  double loss = 0, tokens = 0;
  for (size_t i = 0; i < valid_batches_.size(); ++i) {
    const double count = static_cast<double>(target_tokens(valid_batches_[i]));
    loss += count * losses[at[i % ranks]++];
    tokens += count;
  }
  return loss / tokens;
}

/// The first validation examples, answered greedily.
EvaluateOptions TaskTraining::scoring() const {
  const TaskOptions& options = model_->config().options;
  EvaluateOptions how{.most = options.scored, .loss = !corpus_.stream, .company = &company_};
  how.answer.search = options.search;
  how.answer.search.beam = how.answer.search.n_best = 1, how.answer.search.sample = false;
  return how;
}

/// From a few examples, with answers no longer than the right ones: an untrained network may not know how to end.
double TaskTraining::validation_seconds(const Seconds& now) const {
  constexpr int64_t kFew = 64;
  const double begun = now();
  if (corpus_.stream) (void)valid_loss();
  const double loss = now() - begun;
  if (corpus_.stream && model_->config().options.scored == 0) return loss;
  EvaluateOptions how = scoring();
  const int64_t all = how.most > 0 ? std::min(how.most, corpus_.valid.count) : corpus_.valid.count;
  how.most = std::min(all, kFew);
  if (how.most == 0) return loss;
  int64_t longest = 1;
  for (int64_t i = 0; i < how.most && model_->output().words(); ++i) {
    const Example example = corpus_.valid.at(i);
    longest = std::max(longest, static_cast<int64_t>(model_->output().words()->encode(example.right.at(0)).size()));
  }
  int64_t& most = how.answer.search.max_length;
  if (model_->output().words() && (most == 0 || most > longest)) most = std::max(longest, how.answer.search.min_length);
  const double answering = now();
  (void)evaluate(*model_, corpus_.valid, how);
  return loss + (now() - answering) * static_cast<double>(all) / static_cast<double>(how.most);
}

train::Validation TaskTraining::validate() const {
  train::Validation result;
  if (corpus_.stream) result.loss = valid_loss();
  if (corpus_.stream && model_->config().options.scored == 0) return result;
  const Scored scored = evaluate(*model_, corpus_.valid, scoring());
  if (!corpus_.stream) result.loss = scored.loss;
  if (scored.judged.outputs.empty()) return result;
  result.scores = scored.scores(model_->row());
  last_ = {scored.titles, scored.judged.references(), scored.judged.outputs, scored.inputs};
  if (!model_->output().labels().empty() && !model_->output().searches()) return result;
  const size_t shown = samples_++ % last_.outputs.size();
  result.source = last_.sources[shown], result.reference = last_.references[shown],
  result.output = last_.outputs[shown];
  return result;
}

}  // namespace attend::tasks
