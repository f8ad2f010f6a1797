#include "attend/tasks/model.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/folder_replacement.h"
#include "attend/base/joined.h"
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

void TaskModel::each_learner(const Inputs& inputs, const TaskConfig& config,
                             const std::function<void(Input& input)>& learn) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto same = [&](const TaskInput& one) { return one.kind == config.row().inputs[i].kind; };
    const auto first = static_cast<size_t>(std::ranges::find_if(config.row().inputs, same) - config.row().inputs.begin());
    first < i ? inputs[i]->share(*inputs[first]) : learn(*inputs[i]);
  }
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
  each_learner(inputs, config, [&](Input& input) { input.load(folder); });
  std::unique_ptr<Output> output = config.output().make(config);
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
  if (reads_documents()) return document_window(0);
  const int64_t seen = input().longest(), able = model_->longest_source();
  return seen > 0 && able > 0 ? std::min(seen, able) : std::max(seen, able);
}

/// Spans are read in windows; other answers need the whole document, as far as the network can take it together with the other
/// inputs, which have that many tokens.
int64_t TaskModel::document_window(int64_t others) const {
  const int64_t able = model_->longest_source();
  if (models::model_row(config_.model.name).answers != models::Answers::span) {
    return able > 0 ? std::max<int64_t>(1, able - others) : 0;
  }
  const int64_t window = config_.options.document.window;
  return able > 0 ? std::min(window, able) : window;
}

/// Tokens that an input beside the document may have: it is read together with every window. 0: any number.
int64_t TaskModel::most_further() const {
  const bool spans = models::model_row(config_.model.name).answers == models::Answers::span;
  const int64_t able = model_->longest_source(), window = spans ? config_.options.document.window : 0;
  return able > 0 && window > 0 ? std::min(able, window) : std::max(able, window);
}

std::vector<Ready> TaskModel::with_further(std::vector<Ready> parts, const Example& example) const {
  for (size_t i = 1; i < inputs_.size(); ++i) {
    const Ready further = inputs_[i]->ready(example.inputs[i]);
    const int64_t most = most_further();
    require(most == 0 || further.length() <= most, inputs_[i]->name(), ": expected at most ", most,
            " tokens, as many as are read at once, got ", further.length());
    for (Ready& part : parts) part.further.push_back(further);
  }
  return parts;
}

namespace {

void require_inputs(const TaskRow& row, const Example& example) {
  std::vector<std::string> names;
  for (const TaskInput& input : row.inputs) names.emplace_back(input.name);
  require(example.inputs.size() == names.size(), row.name, ": expected ", joined(names, " and "), ", got ",
          example.inputs.size(), example.inputs.size() == 1 ? " input" : " inputs");
}

}  // namespace

/// Where the right answer looks, where the network is told that: the gold alignment of words as links of tokens.
void TaskModel::tell(const Example& example, std::span<Ready> parts) const {
  if (!config_.model.is_told()) return;
  require(!example.links.empty() && example.right.size() == 1,
          "decoder.oracle: this network is told the gold alignment of a ",
          "right answer and does not look for itself; expected an example that has one (attend eval, on its own "
          "corpus), got ",
          example.right.empty() ? "a text alone" : "one without");
  require(parts.size() == 1,
          "decoder.oracle: expected a text that is read in one piece, as its gold alignment is, got ", parts.size(),
          " parts");
  const std::vector<int32_t>& source = parts[0].tokens.word_of;
  const std::vector<int32_t> target = output_->words()->tokenise(example.right[0]).word_of;
  for (size_t t = 0; t < target.size(); ++t) {
    for (size_t s = 0; s < source.size(); ++s) {
      if (std::ranges::find(example.links, data::Link{source[s], target[t]}) == example.links.end()) continue;
      parts[0].given.push_back(static_cast<int32_t>(s)), parts[0].given.push_back(static_cast<int32_t>(t));
    }
  }
}

Ready TaskModel::ready(const Example& example) const {
  require_inputs(row(), example);
  Ready ready = std::move(with_further({input().ready(example.inputs[0])}, example).front());
  tell(example, std::span(&ready, 1));
  return ready;
}

Ready TaskModel::varied(const Example& example, Random& random) const {
  require_inputs(row(), example);
  return std::move(with_further({input().varied(example.inputs[0], random)}, example).front());
}

std::vector<Ready> TaskModel::parts(const Example& example) const {
  require_inputs(row(), example);
  if (!reads_documents()) {
    std::vector<Ready> parts = input().parts(example.inputs[0], longest());
    tell(example, parts);
    return parts;
  }
  int64_t others = 0;
  for (size_t i = 1; i < inputs_.size(); ++i) others += inputs_[i]->ready(example.inputs[i]).length();
  const int64_t window = document_window(others), stride = config_.options.document.stride;
  return with_further(input().windows(example.inputs[0], window, std::min(window, stride)), example);
}

Example TaskModel::trial() const {
  Example example;
  for (const auto& input : inputs_) example.inputs.push_back(input->trial());
  return example;
}

data::Source TaskModel::source(std::span<const Ready* const> batch) const {
  data::Source source;
  inputs_[0]->add_to(source, batch);
  for (size_t i = 1; i < inputs_.size(); ++i) {
    std::vector<const Ready*> further;
    for (const Ready* one : batch) further.push_back(&one->further.at(i - 1));
    inputs_[i]->add_to(source, further);
  }
  output_->add_to(source, batch);
  return source;
}

data::Batch TaskModel::batch(std::span<const Example> examples, Random* random) const {
  const std::vector<std::string> itself{""};  // what an image is rebuilt to
  std::vector<Ready> ready;
  std::vector<const Ready*> all;
  std::vector<std::vector<int32_t>> targets;
  data::Batch batch;
  ready.reserve(examples.size());
  // Captions say which image they belong to, even where each has one: it is how their network reads them.
  bool shared = output_->words() && row().input().is_image();
  for (size_t i = 0; i < examples.size(); ++i) {
    all.push_back(&ready.emplace_back(random ? varied(examples[i], *random) : this->ready(examples[i])));
    const std::vector<std::string>& answers = output_->is_image() ? itself : examples[i].right;
    shared |= answers.size() != 1;
    for (size_t k = 0; k < answers.size(); ++k) {
      const Right right = output_->is_image() ? Right(answers[k]) : right_answer(examples[i], k);
      targets.push_back(output_->encode(right, ready.back()));
      batch.source_of.push_back(static_cast<int32_t>(i));
    }
  }
  if (!shared) batch.source_of.clear();
  batch.source = source(all), batch.target = data::Sequences(targets);
  return batch;
}

}  // namespace attend::tasks
