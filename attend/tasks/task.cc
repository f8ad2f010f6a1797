#include "attend/tasks/task.h"

#include <algorithm>

#include "attend/base/names.h"
#include "attend/tasks/image.h"
#include "attend/tasks/text.h"

namespace attend::tasks {
namespace {

// The query comes after the update: before it, a decoder has not yet read the word that it said last, and has to guess where
// to look (alignment error rate 0.30 against 0.17).
constexpr TaskSetting kHindi[] = {
    {"tokeniser.kind", "words"},
    {"model.name", "recurrent"},
    {"model.embedding", "64"},
    {"model.hidden", "128"},
    {"model.dropout", "0.1"},
    {"model.decoder.query", "after"},
    {"model.decoder.feeding", "true"},
    {"batch.tokens", "600"},
    {"train.rate", "4e-3"},
    {"train.epochs", "6"},
    {"train.best_by", "exact"},
};
constexpr TaskSetting kCharacters[] = {
    {"tokeniser.kind", "characters"},
    {"model.name", "recurrent"},
    {"model.embedding", "64"},
    {"model.hidden", "128"},
    {"batch.tokens", "1000"},
    {"train.rate", "4e-3"},
    {"train.epochs", "8"},
    {"train.best_by", "exact"},
};

constexpr TaskSetting kGlimpse[] = {
    {"model.name", "glimpse"}, {"model.first", "random"}, {"model.deviation", "0.05"},   {"model.reward", "likelihood"},
    {"batch.images", "128"},   {"train.epochs", "20"},    {"train.best_by", "accuracy"},
};
constexpr TaskSetting kShapes[] = {
    {"model.name", "captioner"},
    {"model.encoder.stages", "16,32,64,64"},
    {"model.encoder.reduce_last", "false"},
    {"model.encoder.norm", "group"},
    {"model.encoder.positions", "learned"},
    {"model.embedding", "64"},
    {"model.hidden", "192"},
    {"model.query", "state_word"},
    {"model.dropout", "0.1"},
    {"batch.images", "16"},
    {"batch.captions", "3"},
    {"train.epochs", "5"},
    {"train.rate", "2e-3"},
    {"train.validate_every", "500"},
    {"train.best_by", "exact"},
};
constexpr TaskSetting kAutoencode[] = {
    {"model.name", "autoencoder"},
    {"train.epochs", "5"},
};

constexpr TaskRow kTasks[] = {
    {"translate", "one language to another; built in: English to romanised Hindi", &kText, "hindi", kHindi, "bleu"},
    {"dates", "dates as people write them to ISO 8601", &kText, "dates", kCharacters, "exact"},
    {"reverse", "words spelled backwards", &kText, "reverse", kCharacters, "exact"},
    {"glimpse", "images to labels, by a few glances; built in: digits", &kImages, "digits", kGlimpse, "accuracy"},
    {"caption", "images to sentences; built in: scenes of coloured shapes", &kImages, "shapes", kShapes, "bleu4"},
    {"autoencode", "images to a few numbers and back; built in: digits", &kImages, "digits", kAutoencode, ""},
};

std::string value_or(const SettingList& settings, std::string_view name, std::string_view otherwise) {
  const Setting* found = find_setting(settings, name);
  return found ? found->value : std::string(otherwise);
}

bool names_files(const Family& family, const SettingList& asked) {
  return std::ranges::any_of(
      asked, [&](const Setting& s) { return std::ranges::find(family.files, s.name) != family.files.end(); });
}

}  // namespace

std::span<const TaskRow> tasks() { return kTasks; }

const TaskRow& task_of(const SettingList& asked) {
  const std::string name = value_or(asked, "task", kTasks[0].name), corpus = value_or(asked, "corpus", "");
  const TaskRow* owner = nullptr;
  for (const TaskRow& row : kTasks) {
    if (row.corpus == corpus && (!owner || row.name == name)) owner = &row;
  }
  return owner ? *owner : row_named("task", tasks(), name);
}

SettingList with_task_defaults(const SettingList& asked) {
  const TaskRow& task = task_of(asked);
  if (names_files(*task.family, asked)) return asked;
  const std::string where = "task " + std::string(task.name);
  SettingList settings{{"corpus", std::string(task.corpus), where}};
  const bool other_model = find_setting(asked, "model.name") != nullptr;  // has options of its own
  for (const TaskSetting& s : task.on_builtin) {
    if (other_model && s.name.starts_with("model.")) continue;
    settings.push_back({std::string(s.name), std::string(s.value), where});
  }
  settings.insert(settings.end(), asked.begin(), asked.end());
  return settings;
}

}  // namespace attend::tasks
