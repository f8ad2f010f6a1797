// Corpora of sounds: built in, listed in files, or in a folder.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attend/tasks/corpus.h"

namespace attend::tasks {

/// What is spoken by the built-in synthesiser (data/spoken.h).
struct SpokenCorpus {
  std::string_view name, summary;
  bool phonemes, digits_only;
  int64_t least_words, most_words;
};
std::span<const SpokenCorpus> spoken_corpora();

Corpus read_sound_corpus(const TaskConfig& config);
Examples read_sound_test(const TaskConfig& config, const SoundFiles& files);

/// A sound file or, of .npy, frames [T,F].
Value read_sound_value(const std::string& file);

/// What a frame is called in which nothing is said.
inline constexpr std::string_view kSilence = "sil";
/// A label for each frame: of the stretch that it has its middle in; else silence.
std::string frame_labels(const std::vector<data::TimedLabel>& times, const data::SoundFeatures& features, int64_t frames);

}  // namespace attend::tasks
