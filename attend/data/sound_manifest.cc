#include "attend/data/sound_manifest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/base/random.h"
#include "attend/data/name_pattern.h"
#include "attend/data/npy.h"
#include "attend/data/spool.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoSound = "transcripts without a sound";
constexpr const char* kManySounds = "ids that several sounds have";
constexpr const char* kNoTranscript = "sounds without a transcript";
constexpr const char* kEmptyTranscript = "empty transcripts";
constexpr const char* kTwice = "names that occur twice";
constexpr const char* kOtherName = "names of another kind than the pattern";
constexpr const char* kUnreadable = "sounds that cannot be read";
constexpr int64_t kLongestTranscript = 1 << 20;  // bytes of a .txt beside a sound

// What columns of a manifest are called; the first name counts most.
constexpr std::string_view kIdColumn = "id path file name audio filename file_name utterance",
                           kTranscriptColumn = "transcript text sentence transcription", kBeginColumn = "begin start",
                           kEndColumn = "end", kGroupColumn = "group speaker speaker_id client_id";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

/// Which column it is; none if no column has one of the names.
std::optional<size_t> column_of(const std::vector<std::string>& columns, std::string_view names) {
  for (const std::string_view name : split_words(names)) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (in_small_letters(columns[i]) == name) return i;
    }
  }
  return std::nullopt;
}

/// What spreadsheets put into quotes, doubling those in it, as it was before; every other field as it is.
std::string unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string text;
  for (size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"' && (++i + 1 >= field.size() || field[i] != '"')) return std::string(field);
  }
  return text;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (const std::string_view column : split_columns(line)) fields.push_back(unquoted(column));
  return fields;
}

struct SoundColumns {
  size_t id = 0;
  std::optional<size_t> transcript, begin, end, group;  // transcript: none: the last one
  size_t count = 0;                                     // 0: any number of at least two
};

std::optional<SoundColumns> named_columns(std::string_view line) {
  const std::vector<std::string> columns = fields_of(line);
  const std::optional<size_t> id = column_of(columns, kIdColumn), transcript = column_of(columns, kTranscriptColumn);
  if (!id || !transcript) return std::nullopt;
  return SoundColumns{*id,
                      transcript,
                      column_of(columns, kBeginColumn),
                      column_of(columns, kEndColumn),
                      column_of(columns, kGroupColumn),
                      columns.size()};
}

double seconds_in(const std::string& where, std::string_view what, std::string_view text) {
  double seconds = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool fine = problem == std::errc() && end == text.data() + text.size() && seconds >= 0 && seconds <= 1e9;
  require(fine, where, ": expected ", what, " in seconds, got ", quoted(text));
  return seconds;
}

/// A path must not lead out of the folder of sounds.
void check_id(const std::string& where, std::string_view id) {
  const fs::path path(id);
  const bool inside = !id.empty() && path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
  require(inside, where, ": expected the id or path of a sound, relative to the folder of sounds, got ", quoted(id));
}

SoundRow sound_row(const std::string& where, std::string_view line, const SoundColumns& named) {
  const std::vector<std::string> columns = fields_of(line);
  require(named.count == 0 ? columns.size() >= 2 : columns.size() == named.count, where, ": expected ",
          named.count == 0 ? "id<tab>…<tab>transcript" : std::to_string(named.count) + " columns, as in the first line",
          ", got ", columns.size(), columns.size() == 1 ? " column" : " columns");
  SoundRow row{columns[named.id], columns[named.transcript.value_or(columns.size() - 1)], ""};
  check_id(where, row.id);
  if (named.begin) row.begin = seconds_in(where, "where it begins", columns[*named.begin]);
  if (named.end) row.end = seconds_in(where, "where it ends", columns[*named.end]);
  require(row.end == 0 || row.end > row.begin, where, ": expected an end behind ", row.begin, " seconds, got ",
          row.end);
  if (named.group) row.group = columns[*named.group];
  return row;
}

fs::path without_extension(fs::path path) { return path.replace_extension(); }
bool is_feature_name(const fs::path& path) { return path.extension() == ".npy"; }

/// Sounds and features of a folder and its sub-folders, in the order of their names.
std::vector<fs::path> sound_files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  fs::recursive_directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::recursive_directory_iterator(); entry.increment(problem)) {
    const bool named = is_sound_name(entry->path()) || is_feature_name(entry->path());
    if (named && entry->is_regular_file(problem)) files.push_back(entry->path());
  }
  require(!problem, folder.native(), ": cannot list the folder of sounds: ", problem.message());
  std::ranges::sort(files);
  return files;
}

/// Finds sounds by their names.
class SoundPlaces {
 public:
  virtual ~SoundPlaces() = default;
  /// Fills in where the sound is; says how many there are of that id.
  virtual size_t find(const std::string& id, SoundEntry& entry) const = 0;
  virtual std::string name() const = 0;
};

class SoundFolder : public SoundPlaces {
 public:
  explicit SoundFolder(fs::path folder) : folder_(std::move(folder)) {
    for (const fs::path& file : sound_files_below(folder_)) {
      by_stem_[file.stem().native()].push_back(file.lexically_relative(folder_));
    }
  }

  size_t find(const std::string& id, SoundEntry& entry) const override {
    const fs::path path = fs::path(id).lexically_normal();
    for (const fs::path& stem : {path.filename(), path.stem()}) {
      const auto found = by_stem_.find(stem.native());
      if (found == by_stem_.end()) continue;
      std::vector<fs::path> fitting;
      std::ranges::copy_if(found->second, std::back_inserter(fitting), [&](const fs::path& file) {
        return ends_with(file, path) || ends_with(without_extension(file), path);
      });
      const auto exact = std::ranges::find_if(
          fitting, [&](const fs::path& file) { return file == path || without_extension(file) == path; });
      if (fitting.size() > 1 && exact != fitting.end()) fitting = {*exact};
      if (fitting.empty()) continue;
      entry.file = folder_ / fitting.front();
      return fitting.size();
    }
    return 0;
  }
  std::string name() const override { return folder_.native(); }

 private:
  /// Whether `tail` is the last names of `path`.
  static bool ends_with(const fs::path& path, const fs::path& tail) {
    const std::string &whole = path.native(), &end = tail.native();
    return whole.ends_with(end) && (whole.size() == end.size() || whole[whole.size() - end.size() - 1] == '/');
  }

  fs::path folder_;
  std::unordered_map<std::string, std::vector<fs::path>> by_stem_;  // relative to the folder
};

class SoundArrays : public SoundPlaces {
 public:
  explicit SoundArrays(const fs::path& path) : path_(path), arrays_(std::make_shared<NpzFile>(path)) {}

  size_t find(const std::string& id, SoundEntry& entry) const override {
    if (!arrays_->has(id)) return 0;
    entry.file = path_, entry.arrays = arrays_, entry.array = id;
    return 1;
  }
  std::string name() const override { return path_.native(); }
  const std::vector<std::string>& names() const { return arrays_->names(); }

 private:
  fs::path path_;
  std::shared_ptr<const NpzFile> arrays_;
};

bool is_npz(const fs::path& path) { return path.extension() == ".npz"; }

std::unique_ptr<SoundPlaces> places_of(const SoundFiles& files) {
  fs::path where = files.sounds;
  if (where.empty()) {
    fs::path stem = without_extension(files.manifest);
    if (stem.extension() == ".tsv") stem = without_extension(stem);  // x.tsv.gz
    const fs::path arrays = stem.native() + ".npz";
    const fs::path own = files.manifest.has_parent_path() ? files.manifest.parent_path() : fs::path(".");
    where = fs::exists(arrays) ? arrays : fs::is_directory(stem) ? stem : own;
  }
  if (is_npz(where)) return std::make_unique<SoundArrays>(where);
  return std::make_unique<SoundFolder>(where);
}

/// Collects entries; what is broken is counted.
class EntryList {
 public:
  EntryList(const SoundFiles& files, Broken& broken) : broken_(broken) {
    if (!files.pattern.empty()) pattern_.emplace(files.pattern);
    if (!files.words.empty()) words_ = read_ctm(LineReader(files.words));
    if (!files.phonemes.empty()) phonemes_ = read_ctm(LineReader(files.phonemes));
  }

  bool names_have_labels() const { return pattern_ && pattern_->has_label(); }

  /// `where`: what messages call it. A transcript that is none may be in the name.
  void add(const std::string& where, SoundEntry entry, std::optional<std::string> transcript) {
    if (pattern_ && !take_parts(where, entry, transcript)) return;
    if (!transcript) return broken_.add(kNoTranscript, where);
    entry.transcript = joined(split_words(*transcript), " ");
    if (entry.transcript.empty()) return broken_.add(kEmptyTranscript, where);
    if (!names_.insert(entry.name).second) return broken_.add(kTwice, where);
    entry.words = times(words_, entry), entry.phonemes = times(phonemes_, entry);
    entries_.push_back(std::move(entry));
  }
  std::vector<SoundEntry> take() && { return std::move(entries_); }

 private:
  bool take_parts(const std::string& where, SoundEntry& entry, std::optional<std::string>& transcript) const {
    const std::string name = fs::path(entry.name).filename().native();
    std::optional<NameParts> parts = pattern_->match(name);
    if (!parts) {
      broken_.add(kOtherName, where);
      return false;
    }
    if (entry.group.empty()) entry.group = std::move(parts->group);
    entry.number = parts->number;
    if (!transcript && pattern_->has_label()) transcript = std::move(parts->label);
    return true;
  }

  /// Those within the stretch, from its beginning.
  static std::vector<TimedLabel> times(const TimesByName& all, const SoundEntry& entry) {
    const auto found = all.find(entry.array.empty() ? entry.file.stem().native() : entry.array);
    if (found == all.end()) return {};
    std::vector<TimedLabel> within;
    for (TimedLabel label : found->second) {
      if (label.end <= entry.begin || (entry.end > 0 && label.begin >= entry.end)) continue;
      label.begin = std::max(0.0, label.begin - entry.begin);
      label.end = (entry.end > 0 ? std::min(label.end, entry.end) : label.end) - entry.begin;
      within.push_back(std::move(label));
    }
    return within;
  }

  Broken& broken_;
  std::optional<NamePattern> pattern_;
  TimesByName words_, phonemes_;
  std::unordered_set<std::string> names_;
  std::vector<SoundEntry> entries_;
};

/// "1.25": as short as it can be.
std::string short_number(double number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

void add_rows(const SoundFiles& files, EntryList& list, Broken& broken) {
  const std::unique_ptr<SoundPlaces> places = places_of(files);
  const std::string manifest = shown_name(files.manifest);
  for (SoundRow& row : read_sound_rows(LineReader(files.manifest))) {
    const std::string where = manifest + ":" + std::to_string(row.line) + " " + quoted(row.id);
    SoundEntry entry{
        .name = fs::path(row.id).lexically_normal().native(), .file = {}, .begin = row.begin, .end = row.end};
    const size_t found = places->find(row.id, entry);
    if (found != 1) {
      broken.add(found == 0 ? kNoSound : kManySounds, where + " in " + places->name());
      continue;
    }
    if (is_sound_name(entry.name)) entry.name = without_extension(entry.name).native();
    if (row.begin > 0 || row.end > 0) entry.name += ":" + short_number(row.begin) + "-" + short_number(row.end);
    entry.group = std::move(row.group);
    list.add(where, std::move(entry), std::move(row.transcript));
  }
}

/// What the text beside a sound says.
std::optional<std::string> text_beside(const fs::path& sound) {
  for (const char* extension : {".txt", ".lab"}) {
    const fs::path path = fs::path(sound).replace_extension(extension);
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) continue;
    return joined(read_lines(path, ByteOrderMark::dropped, kLongestTranscript), " ");
  }
  return std::nullopt;
}

void add_folder(const fs::path& folder, EntryList& list) {
  for (const fs::path& file : sound_files_below(folder)) {
    SoundEntry entry{.name = without_extension(file.lexically_relative(folder)).native(), .file = file};
    list.add(file.native(), std::move(entry), text_beside(file));
  }
}

void add_arrays(const fs::path& path, EntryList& list) {
  const SoundArrays arrays(path);
  require(list.names_have_labels(), path.native(),
          ": expected a manifest with the transcripts of its arrays, or a pattern ",
          "for labels in their names, got neither");
  for (const std::string& name : arrays.names()) {
    SoundEntry entry{.name = name, .file = {}};
    arrays.find(name, entry);
    list.add(path.native() + ":" + name, std::move(entry), std::nullopt);
  }
}

/// Reads every entry once, to its end: what is damaged behind the header is found before training starts.
class EntryCheck {
 public:
  void operator()(const SoundEntry& entry) {
    const bool features = entry.is_features();
    require(features_.value_or(features) == features, entry.file.native(), ": expected sounds alone or features alone, got ",
            features ? "features" : "a sound", " behind ", features ? "sounds" : "features");
    features ? check_features(entry) : check_sound(entry);
    features_ = features;
  }

 private:
  void check_features(const SoundEntry& entry) {
    const std::string& where = entry.file.native();
    require(stored_frames(entry) > 0, where, ": expected at least one frame of ", quoted(entry.name), ", got none");
    const int64_t width = std::get<Tensor>(load_entry(entry)).dim(1);
    require(width_ == 0 || width == width_, where, ": expected ", width_, " numbers in each frame, as before, got ", width,
            " in those of ", quoted(entry.name));
    width_ = width;
  }

  void check_sound(const SoundEntry& entry) {
    require(entry_seconds(entry) > 0, entry.file.native(), ": expected more than nothing behind ", entry.begin, " seconds");
    const auto [damage, first] = damage_.try_emplace(entry.file.native());
    if (first) damage->second = damage_of(entry.file);
    if (!damage->second.empty()) throw Error(damage->second);
  }

  static std::string damage_of(const fs::path& file) {
    try {
      SoundReader reader(file);
      std::array<float, size_t{1} << 14> part;
      while (reader.read(part) > 0) {
      }
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::optional<bool> features_;
  int64_t width_ = 0;
  std::unordered_map<std::string, std::string> damage_;  // by file: several rows may be stretches of one
};

void leave_out_unreadable(std::vector<SoundEntry>& entries, Broken& broken) {
  EntryCheck check;
  std::erase_if(entries, [&](const SoundEntry& entry) {
    try {
      check(entry);
      return false;
    } catch (const Error& error) {
      broken.add(kUnreadable, error.what());
      return true;
    }
  });
}

}  // namespace

std::vector<SoundRow> read_sound_rows(LineReader reader) {
  std::vector<SoundRow> rows;
  SoundColumns columns;
  bool first = true;
  for (std::string line; reader.next(line);) {
    if (trimmed(line).empty()) continue;
    const std::optional<SoundColumns> named = std::exchange(first, false) ? named_columns(line) : std::nullopt;
    if (named) {
      columns = *named;
      continue;
    }
    rows.push_back(sound_row(reader.where(), line, columns));
    rows.back().line = reader.number();
  }
  require(!rows.empty(), reader.name(), ": expected at least one sound with its transcript, got none");
  return rows;
}

TimesByName read_ctm(LineReader reader) {
  TimesByName times;
  for (std::string line; reader.next(line);) {
    const std::vector<std::string_view> fields = split_words(line);
    if (fields.empty() || fields[0].starts_with(";;")) continue;
    require(fields.size() >= 5, reader.where(), ": expected name, channel, begin, seconds and label, got ",
            quoted(line));
    const double begin = seconds_in(reader.where(), "where it begins", fields[2]),
                 seconds = seconds_in(reader.where(), "how long it is", fields[3]);
    std::vector<TimedLabel>& labels = times[std::string(fields[0])];
    require(labels.empty() || begin >= labels.back().begin, reader.where(), ": expected labels in order, got one at ",
            begin, " behind one at ", labels.empty() ? 0 : labels.back().begin);
    labels.push_back({std::string(fields[4]), begin, begin + seconds});
  }
  return times;
}

std::vector<SoundEntry> read_sound_entries(const SoundFiles& files, Broken& broken, bool open) {
  EntryList list(files, broken);
  if (fs::is_directory(files.manifest)) {
    add_folder(files.manifest, list);
  } else if (is_npz(files.manifest)) {
    add_arrays(files.manifest, list);
  } else {
    add_rows(files, list, broken);
  }
  std::vector<SoundEntry> entries = std::move(list).take();
  if (open) leave_out_unreadable(entries, broken);
  const std::string name = shown_name(files.manifest);
  broken.settle(name);
  require(!entries.empty(), name, ": expected sounds with transcripts, got ",
          broken.count() > 0 ? broken.summary() : "none; known are .wav, .flac, .ogg, .oga, .opus and .npy");
  return entries;
}

std::variant<Sound, Tensor> load_entry(const SoundEntry& entry, int64_t rate, const SoundLimits& limits) {
  if (!entry.is_features()) return load_sound(entry, rate, limits);
  const std::string& where = entry.file.native();
  require(entry.begin == 0 && entry.end == 0, where, ": expected all of the features of ", quoted(entry.name),
          ", got a stretch in seconds");
  Tensor features = entry.arrays ? entry.arrays->read(entry.array) : read_npy(entry.file);
  require(features.rank() == 2 && features.dim(0) > 0 && features.dim(1) > 0, where,
          ": expected features [frames,width] of ", quoted(entry.name), ", got ", features.shape());
  return features;
}

Sound load_sound(const SoundEntry& entry, int64_t rate, const SoundLimits& limits) {
  require(!entry.is_features(), entry.file.native(), ": expected a sound, got features");
  if (entry.begin == 0 && entry.end == 0) return read_sound(entry.file, rate, limits);
  return read_stretch(entry.file, entry.begin, entry.end, rate, limits);
}

int64_t stored_frames(const SoundEntry& entry) {
  require(entry.is_features(), entry.file.native(), ": expected features, got a sound");
  const Shape shape = entry.arrays ? entry.arrays->shape(entry.array) : read_npy_shape(entry.file);
  require(shape.rank() == 2, entry.file.native(), ": expected features [frames,width] of ", quoted(entry.name),
          ", got ", shape);
  return shape[0];
}

double entry_seconds(const SoundEntry& entry) {
  require(!entry.is_features(), entry.file.native(), ": expected a sound, got features");
  const double all = sound_seconds(entry.file);
  require(entry.end <= all + kStretchSlack, entry.file.native(), ": expected a stretch within its ", all,
          " seconds, got one up to ", entry.end);
  return (entry.end > 0 ? std::min(entry.end, all) : all) - entry.begin;
}

SoundParts part_by_group(std::span<const SoundEntry> entries, double valid, double test) {
  require(valid >= 0 && test >= 0 && valid + test <= 1, "part_by_group: expected shares of 0 to 1 together, got ",
          valid, " and ", test);
  std::unordered_map<std::string, std::vector<size_t>> by_group;
  for (size_t i = 0; i < entries.size(); ++i) {
    const SoundEntry& entry = entries[i];
    by_group[entry.group.empty() ? "/" + entry.name : entry.group].push_back(i);
  }
  std::vector<std::tuple<double, std::string>> order;
  for (const auto& [group, members] : by_group) order.emplace_back(Random().named(group).uniform53(), group);
  std::ranges::sort(order);
  SoundParts parts;
  const double all = static_cast<double>(entries.size());
  size_t at = 0;
  const auto take = [&](std::vector<size_t>& part, double share) {
    while (at < order.size() && static_cast<double>(part.size()) < share * all) {
      const std::vector<size_t>& members = by_group[std::get<1>(order[at++])];
      part.insert(part.end(), members.begin(), members.end());
    }
    std::ranges::sort(part);
  };
  take(parts.test, test);
  take(parts.valid, valid);
  take(parts.train, 1);
  return parts;
}

}  // namespace attend::data
