// `attend run` of sounds: files, a list of them, or what comes through a pipe, however long; with times, and while they are heard.
#pragma once

#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/tasks/model.h"

namespace attend::cli {

struct SoundRunOptions {
  std::string list, times, output, on_error = "stop";
  bool stream = false, scores = false;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("list", list, "a file with one name of a sound per line, in place of names on the command line",
          bounds::files_to_read());
    visit("times", times, "write when each word was said, as: tsv, srt, vtt, textgrid or ctm; of several sounds in formats that "
          "hold one, --output is a folder", bounds::one_of({"", "tsv", "srt", "vtt", "textgrid", "ctm"}));
    visit("stream", stream, "write words while the sound comes, of networks that hear no more than what has been said "
          "(ctc with a one-way encoder)");
  }
};

/// What is wrong with them and these files; "" if nothing is.
std::string objection(const SoundRunOptions& options, const std::vector<std::string>& files);
void run_sounds(const tasks::TaskModel& model, const SoundRunOptions& options, const tasks::AnswerOptions& answer,
                const std::vector<std::string>& files);

}  // namespace attend::cli
