// The model that a command is about: its folder is among the arguments, and what it reads decides which flags there are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/corpus.h"
#include "attend/tasks/model.h"

namespace attend::cli {

/// Whose defaults the options of a search have, for help that is asked for before a model is named.
inline constexpr const char* kModelsOwn = "the model's own, as its folder has them";

struct ModelArgument {
  std::string folder;  ///< "": none was named
  std::optional<tasks::TaskModel> model;     ///< not loaded where only usage_of asks, for which its options are enough
  std::optional<tasks::TaskConfig> options;  ///< in that case
  std::string wrong;  ///< why the folder that was named holds no model; "" if it does, or none was named

  const tasks::TaskConfig* config() const { return model ? &model->config() : options ? &*options : nullptr; }
  const tasks::TaskRow* row() const { return config() ? &config()->row() : nullptr; }
  decode::SearchOptions search() const { return config() ? config()->options.search : decode::SearchOptions{}; }
};
/// Loads the model of the first argument that is a model's folder; without one, the first argument is taken for it.
ModelArgument model_argument(int argc, char** argv);

/// Why this is not a model folder; "" if it is one. What is broken inside of one is another matter.
std::string folder_objection(const std::string& folder);

/// Files to test with, as flags. Which of them there are depends on what the task reads; without a task, pairs of texts.
struct TestFlags {
  const tasks::TaskRow* row = nullptr;
  tasks::TestFiles files;

  bool is_text() const { return !row || row->input().streamed; }
  bool is_pairs() const { return !row || row->format == "pairs"; }

  template <class Visit>
  void fields(Visit&& visit) {
    if (is_pairs()) {
      visit("source", files.text.source, "sentences, plain or .gz; none: the held-out ones of its built-in corpus");
      visit("target", files.text.target, "references, one per line");
      visit("gold", files.gold, "word alignments that are sure, as 0-0 2-1, one sentence per line");
    } else if (is_text()) {
      visit("data", files.text.data,
            "files in the task's own format (docs/formats.md); none: held-out examples of its built-in corpus");
    } else {
      visit("images", files.images.images, "IDX file or folder; none: the test images of the built-in corpus");
      visit("labels", files.images.labels, "IDX file of their labels");
      visit("captions", files.images.captions, "file of captions; images is their folder");
      visit("names", files.images.names, "file with the names of the images to look at; none: all");
      visit("on_broken", files.images.on_broken,
            "an image that cannot be read or has no captions: refuse, or skip; none: as in training");
    }
  }
  /// Why these do not fit together; "" if they do.
  std::string objection() const;
};

/// Numbers between commas; throws Error where they are not, or not below `count`.
std::vector<int64_t> numbers_of(const std::string& list, int64_t count);

}  // namespace attend::cli
