// Models with new weights, whose inputs and output have learned from a corpus in memory: without a run, and without files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/data/image.h"
#include "attend/models/zoo.h"
#include "attend/tasks/model.h"

namespace attend::test {

/// Examples of a list, one after another.
class ListStream : public tasks::ExampleStream {
 public:
  explicit ListStream(std::vector<tasks::Example> all) : all_(std::move(all)) {}
  void rewind() override { at_ = 0; }
  bool next(tasks::Example& example) override {
    if (at_ == all_.size()) return false;
    example = all_[at_++];
    return true;
  }

 private:
  std::vector<tasks::Example> all_;
  size_t at_ = 0;
};

inline tasks::Example text_example(const std::string& text, const std::vector<std::string>& right = {}) {
  return {.inputs = {text}, .right = right};
}
inline tasks::Example image_example(data::Image image, const std::vector<std::string>& right = {},
                                    const std::string& name = "x.png") {
  return {.inputs = {std::move(image)}, .right = right, .name = name};
}
/// Texts without answers, as a person types them.
inline std::vector<tasks::Example> typed(const std::vector<std::string>& lines) {
  std::vector<tasks::Example> all;
  for (const std::string& line : lines) all.push_back(text_example(line));
  return all;
}

/// A text and its answer, from which vocabularies are learned.
inline tasks::Corpus text_corpus(const std::string& text, const std::string& right) {
  return {.stream = std::make_shared<ListStream>(std::vector{text_example(text, {right})})};
}
/// One grey image with these answers and, where its answers are labels, these.
inline tasks::Corpus image_corpus(int64_t side, const std::vector<std::string>& right,
                                  const std::vector<std::string>& labels = {}) {
  return {.train = tasks::examples_of({image_example(data::Image(side, side, 1), right)}), .labels = labels};
}

inline tasks::TaskModel untrained(const SettingList& settings, const tasks::Corpus& corpus) {
  tasks::TaskConfig config(settings);
  const tasks::Prepared silent = [](const std::string&) {};
  tasks::TaskModel::Inputs inputs = tasks::TaskModel::new_inputs(config);
  std::unique_ptr<tasks::Output> output = config.output().make(config);
  tasks::TaskModel::each_learner(inputs, config, [&](tasks::Input& input) { input.learn(corpus, config, silent); });
  output->learn(corpus, *inputs[0], silent);
  return tasks::TaskModel(std::move(config), std::move(inputs), std::move(output));
}

inline tasks::Example question(const std::string& document, const std::string& asked,
                               const std::vector<std::string>& right = {}) {
  return {.inputs = {document, asked}, .right = right};
}
/// A small reader of spans, with the settings of its task `answer` but for these; what it has read are letters.
inline SettingList small_reader(const SettingList& more = {}) {
  SettingList settings{{"task", "answer", ""},
                       {"model.encoder.size", "8", ""},
                       {"tokeniser.min_count", "1", ""},
                       {"document.window", "40", ""},
                       {"document.stride", "15", ""}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}
inline tasks::Corpus question_corpus() {
  std::string words;
  for (char c = 'a'; c <= 'z'; ++c) words += std::string(1, c) + " ";
  return {.stream = std::make_shared<ListStream>(std::vector{question(words, "where is it ?")})};
}

/// The folder of such a model, as a run would have left it.
inline void save_untrained(const std::filesystem::path& folder, const SettingList& settings,
                           const tasks::Corpus& corpus) {
  tasks::TaskModel model = untrained(settings, corpus);
  std::filesystem::create_directories(folder);
  model.save(folder);
  models::save_weights(model.model(), folder / "weights.safetensors");
}

}  // namespace attend::test
