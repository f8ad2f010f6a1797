// Where a task's examples come from: files of people, or the built-in corpora.
#pragma once

#include <string>
#include <vector>

#include "attend/tasks/config.h"
#include "attend/tasks/example.h"

namespace attend::tasks {

/// What a run trains and validates with. Reads it as the task's row says.
Corpus read_corpus(const TaskConfig& config);

/// Files to test with, as `attend eval` and `attend compare` take them; empty ones: not named.
struct TestFiles {
  TextFiles text;
  std::string gold;  ///< word alignments of text pairs
  ImageFiles images;
  SoundFiles sounds;
  bool held_out = false;  ///< in place of files: what training held out to validate with

  bool named() const { return held_out || !text.empty() || !images.images.empty() || !sounds.sounds.empty(); }
  /// What results are said to be of.
  std::string shown() const;
};
/// Those files, read as the training ones were or, where none are named, the held-out part of the built-in corpus. Throws
/// Error where there is neither. `labels`: those that were learned, by whose names images are read.
Examples read_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>& labels = {});

/// A file as an input of an image task: of .png and .jpg the image, of .npy its features.
Value read_image_value(const std::string& file);
/// Whether a network can read what a file of that name holds.
bool is_image_file(const std::string& file);

/// A validation example: its number among them, from 0, and its name ("": whatever it is).
struct ValidExample {
  int64_t number = 0;
  std::string name;
};
/// Those validation images that are found again, in this order and as the network sees them: of a built-in corpus or an IDX
/// file by number and name, of a folder by name alone, which costs one file each. Reads nothing outside of what the
/// configuration names.
std::vector<Example> find_images(const TaskConfig& config, const std::vector<ValidExample>& wanted);

/// Keeps at most so many of its right answers, drawn; 0: all.
void keep_some(Example& example, int64_t most, Random& random);

}  // namespace attend::tasks
