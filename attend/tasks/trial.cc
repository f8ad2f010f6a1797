#include "attend/tasks/trial.h"

#include <algorithm>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::tasks {
namespace {

// Of an image whose size is not known yet: a small one costs little, a large one can be halved more often.
constexpr int64_t kSmallSide = 64, kLargeSide = 256;
constexpr int64_t kTrialChannels = 3;

std::string option_value(const ModelChoice& model, std::string_view name) {
  for (const OptionInfo& option : model.options) {
    if (ModelChoice::own_name(option) == name) return option.value;
  }
  return "";
}

/// Numbers of a frame; of ready-made ones, any will do.
int64_t frame_width(const TaskConfig& config) {
  if (config.row().input().reads != models::Reads::sound) return 0;
  return std::max<int64_t>(1, data::SoundFeatures(config.options.features).width());
}

/// What follows from the data: a vocabulary of one word besides the reserved ones, and images of that size.
ModelChoice with_sizes(const TaskConfig& config, int64_t side, int64_t channels) {
  ModelChoice model = config.model;
  for (OptionInfo& option : model.options) {
    const std::string_view name = ModelChoice::own_name(option);
    if (!config.row().derives(model.name, name)) continue;
    if (option.type != "whole number") {
      option.value.clear();
      continue;
    }
    const bool of_image = name.ends_with("height") || name.ends_with("width");
    const int64_t size = name == "texts"             ? static_cast<int64_t>(config.row().inputs.size())
                         : name.ends_with("channels") ? channels
                         : of_image                   ? side
                         : name.ends_with("features") ? frame_width(config)
                                                      : data::kFirstWord + 1;
    option.value = std::to_string(size);
  }
  return model;
}

/// One word for each input.
data::Source trial_text(const TaskConfig& config) {
  const std::vector<int32_t> word{data::kFirstWord};
  const std::vector<std::vector<std::vector<int32_t>>> spelled{{word}};
  data::Source source;
  for (const TaskInput& input : config.row().inputs) {
    const std::string name(input.name);
    const bool first = source.empty();
    source.add(name, data::Sequences(std::vector<std::vector<int32_t>>{word}));
    if (first && config.model.reads_sentences()) {
      source.add(name + std::string(data::Source::kSentences), data::Sequences(std::vector<std::vector<int32_t>>{{0}}));
    }
    if (config.model.reads_letters()) source.add_letters(data::letter_rows(spelled, 1), name);
  }
  if (config.model.copies()) source.add_copies(data::Sequences(std::vector<std::vector<int32_t>>{word}));
  if (config.model.is_told()) source.add_given(data::Sequences(std::vector<std::vector<int32_t>>{{0, 0}}));
  return source;
}

void take_loss(const TaskConfig& config, const ModelChoice& choice, data::Source source) {
  const std::unique_ptr<models::Model> model = choice.make(config.options.train.seed);
  const models::Answers answers = models::model_row(choice.name).answers;
  std::vector<int32_t> target{answers == models::Answers::words ? data::kFirstWord : 0};
  if (answers == models::Answers::span) target = {0, 0};
  if (answers == models::Answers::image) target.clear();
  data::Batch batch{std::move(source), data::Sequences(std::vector<std::vector<int32_t>>{target})};
  if (answers == models::Answers::words && config.row().input().is_image()) batch.source_of = {0};
  models::Training training{.random = Random(1), .own_words = config.options.train.scheduled_sampling};
  const Tape tape;
  (void)model->loss(batch, &training);
  require_option(config.options.vectors.empty() || model->word_table().defined(), "vectors",
                 "the network ", choice.name, " has no table of source words");
}

void try_image(const TaskConfig& config, int64_t side) {
  const int64_t channels = config.options.images.channels > 0 ? config.options.images.channels : kTrialChannels;
  take_loss(config, with_sizes(config, side, channels),
            data::Source::of_images(Tensor::zeros({1, channels, side, side})));
}

}  // namespace

void try_network(const TaskConfig& config) {
  if (config.row().input().streamed) {
    return take_loss(config, with_sizes(config, 0, 0), trial_text(config));
  }
  if (!config.row().input().is_image()) {
    return take_loss(config, with_sizes(config, 0, 0), data::Source::of_frames(Tensor::zeros({1, 1, frame_width(config)}), {1}));
  }
  if (option_value(config.model, "encoder.kind") == "none") return;  // features: their file decides on all widths
  if (config.options.images.size > 0) return try_image(config, config.options.images.size);
  try {
    try_image(config, kSmallSide);
  } catch (const OptionError& error) {
    if (error.option() != "stages") throw;  // which may be too many for a small image
    try_image(config, kLargeSide);
  }
}

const Setting* culprit_of(const TaskConfig& config) {
  const SettingList& given = config.given;
  for (auto setting = given.rbegin(); setting != given.rend(); ++setting) {
    const bool shapes_it = setting->name.starts_with("model.") || setting->name == "train.scheduled_sampling";
    if (!shapes_it || setting->name == "model.name") continue;
    SettingList others = given;
    std::erase_if(others, [&](const Setting& s) { return s.name == setting->name; });
    try {
      try_network(TaskConfig(others));
      return &*setting;
    } catch (const Error&) {  // not this one alone
    }
  }
  return nullptr;
}

}  // namespace attend::tasks
