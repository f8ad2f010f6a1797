// Sounds and what is said in them, as files list them: which sound (or which features that were made of one), what is said,
// who says it. A sound is not kept before it is asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "attend/data/broken.h"
#include "attend/data/lines.h"
#include "attend/data/npz.h"
#include "attend/data/sound.h"
#include "attend/data/sound_file.h"
#include "attend/tensor/tensor.h"

namespace attend::data {

struct SoundEntry {
  std::string name;  ///< its own: the id of a manifest, or the file's name below the folder, without extension
  std::filesystem::path file;  ///< a sound, an .npy of features [frames, width], or an .npz of them
  double begin = 0, end = 0;   ///< the stretch of it that counts, in seconds; an end of 0: up to its end
  std::string transcript;
  std::vector<TimedLabel> words = {},
                          phonemes = {};       ///< gold times from the beginning of the stretch, where they are known
  std::string group = {};                      ///< who speaks, or of what kind it is; "": not known
  int64_t number = -1;                         ///< what the pattern calls {number}
  std::shared_ptr<const NpzFile> arrays = {};  ///< the .npz, opened …
  std::string array = {};                      ///< … and which of its arrays it is

  /// Whether it is features, not a sound.
  bool is_features() const { return arrays != nullptr || file.extension() == ".npy"; }
};

/// Where sounds and transcripts are.
struct SoundFiles {
  /// A TSV file: rows of id or path, …, transcript; what is between is ignored. If the first row has the names of columns, these
  /// count: id (or path, file, name, audio), transcript (or text, sentence), and, where there are any, begin and end (seconds)
  /// and group (or speaker). Or a folder of sounds, each with a .txt (or .lab) beside it that has its transcript, or with a
  /// label in its name. Or an .npz of features whose names have labels.
  std::filesystem::path manifest;
  /// Where a TSV's ids are: a folder, of which the sub-folders are searched, too, or an .npz with an array of frames for each.
  /// "": what is named like the TSV beside it (train.tsv: train.npz, or the folder train), or else the TSV's own folder.
  std::filesystem::path sounds = {};
  /// What names say: "{label}_{group}_{number}", "{group}-{}-{}". "": nothing. A label is the transcript where there is no
  /// other.
  std::string pattern = {};
  /// CTM files (lines of name, channel, begin, seconds, label) with gold times of words and of phonemes.
  std::filesystem::path words = {}, phonemes = {};
};

/// A row of a TSV.
struct SoundRow {
  std::string id, transcript, group;
  double begin = 0, end = 0;
  int64_t line = 0;
};
/// Throws Error with file and line for what is none.
std::vector<SoundRow> read_sound_rows(LineReader reader);

/// Times by name, in the order of the file, each in order. Throws Error with file and line.
using TimesByName = std::unordered_map<std::string, std::vector<TimedLabel>>;
TimesByName read_ctm(LineReader reader);

/// In the order of the TSV, or of the names. Counted in `broken`, which settles whether they are refused or left out: rows
/// without a sound, sounds without a transcript, empty transcripts, names that occur twice or do not follow the pattern and,
/// if `open`, files that cannot be read to their end: each is decoded once, so that these are found before training starts.
std::vector<SoundEntry> read_sound_entries(const SoundFiles& files, Broken& broken, bool open = true);

/// The sound at `rate` (0: its own), or features as they are in their file: [frames, width], of which a stretch is refused. May be called from several threads.
std::variant<Sound, Tensor> load_entry(const SoundEntry& entry, int64_t rate = 0, const SoundLimits& limits = {});
/// Throws Error if it is features.
Sound load_sound(const SoundEntry& entry, int64_t rate = 0, const SoundLimits& limits = {});

/// Frames of ready-made features, of which only the header is read; throws Error for a sound.
int64_t stored_frames(const SoundEntry& entry);
/// How long it is, as its header says, without decoding it; throws Error if it is features.
double entry_seconds(const SoundEntry& entry);

/// Entries by number, in three parts that have no group in common; an entry without a group is one of its own.
struct SoundParts {
  std::vector<size_t> train, valid, test;
};
/// Groups are ordered by a hash of their names, the same on every machine and for any order of files, and the first ones held
/// out until they have these shares of all entries, at least one group for a share above 0.
SoundParts part_by_group(std::span<const SoundEntry> entries, double valid, double test);

}  // namespace attend::data
