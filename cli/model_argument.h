// The model that a command is about: its folder is among the arguments, and what it reads decides which flags there are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/tasks/corpus.h"
#include "attend/tasks/model.h"
#include "cli/flags.h"

namespace attend::cli {

/// Whose defaults the options of a search have, for help that is asked for before a model is named.
inline constexpr const char* kModelsOwn = "the model's own, as its folder has them";

struct ModelArgument {
  std::string folder;  ///< "": none was named
  /// Its options, which decide on the flags; the rest is loaded when these are checked.
  std::optional<tasks::TaskConfig> config;

  const tasks::TaskRow* row() const { return config ? &config->row() : nullptr; }
  decode::SearchOptions search() const { return config ? config->options.search : decode::SearchOptions{}; }
  /// Notes on standard error where its files cannot be checked.
  tasks::TaskModel load() const;
};
/// The first argument that is a model's folder; without one, the first argument is taken for it, and refused
/// (UsageError) where it is none.
ModelArgument model_argument(int argc, char** argv);
/// Throws UsageError unless that is what the flags call the model's folder: its options decided which flags there are.
void require_first(const ModelArgument& argument, const std::string& folder);

/// How a search is to be, as flags set it over what the model has: with room for as many answers as are asked for.
void complete_search(const Flags& flags, decode::SearchOptions& search);

/// Files to test with, as flags. Which of them there are depends on what the task reads; without a task, pairs of texts.
struct TestFlags {
  const tasks::TaskRow* row = nullptr;
  tasks::TestFiles files;

  bool is_text() const { return !row || row->input().streamed; }
  bool is_pairs() const { return !row || row->format == "pairs"; }

  template <class Visit>
  void fields(Visit&& visit) {
    if (row) visit("held_out", files.held_out, "what training held out to validate with, in place of files");
    if (is_pairs()) {
      visit("source", files.text.source, "sentences, plain or .gz; none: the held-out ones of its built-in corpus",
            bounds::files_to_read());
      visit("target", files.text.target, "references, one per line", bounds::files_to_read());
      visit("gold", files.gold, "word alignments that are sure, as 0-0 2-1, one sentence per line",
            bounds::files_to_read());
    } else if (is_text()) {
      visit("data", files.text.data,
            "files in the task's own format (docs/formats.md); none: held-out examples of its built-in corpus",
            bounds::files_to_read());
    } else if (!row->input().is_image()) {
      visit("sounds", files.sounds.sounds, "a list or folder of sounds; none: the test part of the built-in corpus",
            bounds::files_to_read());
      visit("folder", files.sounds.folder, "where the sounds of a list are: a folder, or an .npz file",
            bounds::files_to_read());
      visit("pattern", files.sounds.pattern, "what names say; none: as in training");
      visit("word_times", files.sounds.word_times, "a CTM file with the times of all words", bounds::files_to_read());
      visit("phoneme_times", files.sounds.phoneme_times, "the same of phonemes", bounds::files_to_read());
      visit("join", files.sounds.join, "");
      visit("on_broken", files.sounds.on_broken, "a sound that cannot be read: refuse, or skip; none: as in training",
            bounds::one_of({"", "refuse", "skip"}));
    } else {
      visit("images", files.images.images, "IDX file or folder; none: the test images of the built-in corpus",
            bounds::files_to_read());
      visit("labels", files.images.labels, "IDX file of their labels", bounds::files_to_read());
      visit("captions", files.images.captions, "file of captions; images is their folder", bounds::files_to_read());
      visit("names", files.images.names, "file with the names of the images to look at; none: all",
            bounds::files_to_read());
      visit("on_broken", files.images.on_broken,
            "an image that cannot be read or has no captions: refuse, or skip; none: as in training",
            bounds::one_of({"", "refuse", "skip"}));
    }
  }
  /// Why these do not fit together; "" if they do.
  std::string objection() const;
};

/// Numbers between commas; throws UsageError where they are not, or not below `count`.
std::vector<int64_t> numbers_of(const std::string& list, int64_t count);

}  // namespace attend::cli
