#include "attend/tasks/model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/folder_replacement.h"
#include "attend/base/memory_limit.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/explain/alignment.h"
#include "attend/nn/initial.h"
#include "attend/tasks/manifest.h"
#include "attend/tasks/model_folder.h"
#include "attend/tensor/safetensors.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeights = "weights.safetensors";
constexpr int64_t kAtOnce = 64;        // examples of one batch of images, …
constexpr int64_t kTextsAtOnce = 256;  // … and texts between two calls of `done`

/// Bytes that building a network with these weights may take. Beside them there are tables of positions, and parts of a
/// weight before they are joined.
size_t room_for(const fs::path& weights) {
  constexpr size_t kTimes = 4, kBeside = size_t{4} << 20;
  const size_t memory = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const SafetensorsFile file(weights);
  size_t numbers = 0;
  for (const SafetensorsEntry& entry : file.entries()) {
    numbers += entry.shape.size();
    require(numbers <= memory / sizeof(real), weights.native(), ": expected weights that fit into the ", memory >> 20,
            " MiB of this machine, got larger ones");
  }
  return kTimes * numbers * sizeof(real) + kBeside;
}

/// A network of options that nobody has checked; its weights are read next.
TaskModel blank_model(const fs::path& folder, const TaskConfig& config, TaskModel::Inputs inputs,
                      std::unique_ptr<Output> output) {
  const std::string where = (folder / kConfig).native();
  const size_t room = room_for(file_within(folder, kWeights));
  try {
    const nn::Blank blank;
    const memory::Limit limit(room);
    return {config, std::move(inputs), std::move(output)};
  } catch (const memory::OverLimit&) {
    fail(where, ": expected the options of a network with as many weights as ", kWeights,
         " has, got those of a larger one");
  } catch (const Error& error) {
    fail(where, ": ", error.what());
  }
}

void check_search(const fs::path& folder, const decode::SearchOptions& search) {
  try {
    decode::check(search);
  } catch (const Error& error) {
    fail((folder / kConfig).native(), ": ", error.what());
  }
}

}  // namespace

TaskModel::Inputs TaskModel::new_inputs(const TaskConfig& config) {
  Inputs inputs;
  for (const TaskInput& one : config.row().inputs) inputs.push_back(one.kind->make(config, one.name));
  return inputs;
}

TaskModel::TaskModel(TaskConfig config, Inputs inputs, std::unique_ptr<Output> output)
    : config_(std::move(config)), inputs_(std::move(inputs)), output_(std::move(output)) {
  for (const auto& input : inputs_) {
    input->set_config(config_);
    config_.model.derive(input->sizes());
  }
  output_->set_config(config_);
  config_.model.derive(output_->sizes());
  model_ = config_.model.make(config_.options.train.seed);
  for (const nn::NamedParam& p : nn::parameters(*model_)) parameters_ += static_cast<int64_t>(p.var.size());
}

TaskModel::TaskModel(TaskModel&& other) noexcept
    : config_(std::move(other.config_)),
      inputs_(std::move(other.inputs_)),
      output_(std::move(other.output_)),
      model_(std::move(other.model_)),
      name_(std::move(other.name_)),
      parameters_(other.parameters_) {
  for (const auto& input : inputs_) input->set_config(config_);
  output_->set_config(config_);
}

TaskModel TaskModel::load_once(const fs::path& folder) {
  const TaskConfig config = read_config(folder);
  check_search(folder, config.options.search);
  check_listed(folder);
  Inputs inputs = new_inputs(config);
  for (const auto& input : inputs) input->load(folder);
  std::unique_ptr<Output> output = config.row().output->make(config);
  output->load(folder, *inputs[0]);
  TaskModel model = blank_model(folder, config, std::move(inputs), std::move(output));
  models::load_weights(*model.model_, file_within(folder, kWeights));
  model.name_ = folder_name(folder);
  return model;
}

/// Again where a run has replaced files meanwhile: some of them may be of the old model, and some of the new one.
TaskModel TaskModel::load(const fs::path& folder) {
  constexpr int kTries = 5;
  check_folder(folder);
  for (int i = 1;; ++i) {
    const std::string before = manifest_text(folder);
    const auto is_settled = [&] { return !replacement_is_pending(folder) && manifest_text(folder) == before; };
    try {
      TaskModel model = load_once(folder);
      if (i == kTries || is_settled()) return model;
    } catch (const Error&) {
      if (i == kTries || is_settled()) throw;
    }
  }
}

void TaskModel::save(const fs::path& folder, const std::map<std::string, std::string>& further) const {
  FolderReplacement files(folder);
  for (const auto& input : inputs_) input->save(files.path());
  output_->save(files.path());
  for (const auto& [name, bytes] : further) write_file(files.path() / name, bytes);
  write_file(files.path() / kConfig, print_recipe(config_.all(), true));
  write_manifest(files.path());
  files.commit(vocabulary_files(folder));
}

int64_t TaskModel::longest() const {
  const int64_t seen = row().input().streamed ? config_.options.filter.longest : 0, able = model_->longest_source();
  return seen > 0 && able > 0 ? std::min(seen, able) : std::max(seen, able);
}

data::Source TaskModel::source(std::span<const Ready* const> batch) const {
  data::Source source;
  for (const auto& input : inputs_) input->add_to(source, batch);
  return source;
}

data::Batch TaskModel::batch(std::span<const Example> examples) const {
  const std::vector<std::string> itself{""};  // what an image is rebuilt to
  std::vector<Ready> ready;
  std::vector<const Ready*> all;
  std::vector<std::vector<int32_t>> targets;
  data::Batch batch;
  ready.reserve(examples.size());
  // Captions say which image they belong to, even where each has one: it is how their network reads them.
  bool shared = output_->words() && !row().input().streamed;
  for (size_t i = 0; i < examples.size(); ++i) {
    all.push_back(&ready.emplace_back(input().ready(examples[i].inputs.at(0))));
    const std::vector<std::string>& answers = output_->is_image() ? itself : examples[i].right;
    shared |= answers.size() != 1;
    for (const std::string& right : answers) {
      targets.push_back(output_->encode(right, ready.back()));
      batch.source_of.push_back(static_cast<int32_t>(i));
    }
  }
  if (!shared) batch.source_of.clear();
  batch.source = source(all), batch.target = data::Sequences(targets);
  return batch;
}

std::map<std::string, double> Scored::scores(const TaskRow& row) const {
  std::map<std::string, double> all;
  if (judged.outputs.empty()) return all;
  for (const std::string_view name : row.scores) {
    const double score = train::score_named(name).score(judged);
    if (!std::isnan(score)) all[std::string(name)] = score;
  }
  return all;
}

namespace {

std::vector<std::string> right_of(const TaskModel& model, const Example& example) {
  std::vector<std::string> right = example.right;
  for (std::string& one : right) one = model.output().spelled(one);
  return right;
}

/// The loss of one batch, and how much it weighs: targets of searched answers, else examples.
void add_loss(const TaskModel& model, const data::Batch& batch, Scored& scored, double& weights) {
  const TapePause pause;
  const double weight =
      static_cast<double>(model.output().searches() ? data::target_tokens(batch) : batch.source.count());
  scored.loss += weight * static_cast<double>(model.model().loss(batch).item());
  weights += weight;
}

}  // namespace

bool has_links(const Examples& examples) {
  for (int64_t i = 0; i < examples.count; ++i) {
    if (!examples.at(i).links.empty()) return true;
  }
  return false;
}

Scored evaluate(const TaskModel& model, const Examples& examples, const EvaluateOptions& options) {
  const bool image = model.output().is_image();
  Scored result{.examples = options.most > 0 ? std::min(options.most, examples.count) : examples.count};
  AnswerOptions answer = options.answer;
  double weights = 0;
  const int64_t at_once = model.row().input().streamed ? kTextsAtOnce : kAtOnce;
  for (int64_t at = 0; at < result.examples; at += at_once) {
    std::vector<Example> some;
    for (int64_t i = at; i < std::min(result.examples, at + at_once); ++i) some.push_back(examples.at(i));
    if (options.loss) add_loss(model, model.batch(some), result, weights);
    if (!image) {
      answer.align = options.align && std::ranges::any_of(some, [](const Example& e) { return !e.links.empty(); });
      answer.search.first_sentence = options.answer.search.first_sentence + at;
      const auto answers = model.answer(some, answer);
      for (size_t i = 0; i < some.size(); ++i) {
        result.titles.push_back(some[i].title()), result.judged.outputs.push_back(answers[i].at(0).text);
        result.judged.right.push_back(right_of(model, some[i]));
        if (options.align) result.links.push_back(answers[i][0].links), result.gold.push_back(some[i].links);
      }
    }
    if (options.done) options.done(at + static_cast<int64_t>(some.size()));
  }
  if (options.loss) result.loss /= weights;
  return result;
}

Scored evaluate_answer(const TaskModel& model, const Examples& examples, const std::string& answer) {
  require(!model.output().is_image(), "answer: expected a model that answers with words, got an ",
          model.config().model.name, ", which answers with images");
  Scored result{.examples = examples.count};
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example one = examples.at(i);
    result.titles.push_back(one.title()), result.judged.outputs.push_back(model.output().spelled(answer));
    result.judged.right.push_back(right_of(model, one));
  }
  return result;
}

}  // namespace attend::tasks
