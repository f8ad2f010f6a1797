#include "attend/tasks/sound_corpus.h"

#include <algorithm>
#include <filesystem>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/bounded_cache.h"
#include "attend/data/npy.h"
#include "attend/data/sound_file.h"
#include "attend/data/sound_manifest.h"
#include "attend/data/spoken.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSpokenTrain = 8000, kSpokenValid = 400, kSpokenTest = 1000;
constexpr size_t kCacheBytes = size_t{1} << 30;  // of decoded sounds: 4.5 hours at 16 kHz
constexpr double kSecondsPerWord = 0.4;          // about

constexpr SpokenCorpus kSpoken[] = {
    {"spoken", "numbers and short commands to their words", false, false, 1, 10},
    {"spoken-phonemes", "the same to their phonemes", true, false, 1, 10},
    {"spoken-digits", "one to eight digits to their words", false, true, 1, 8},
};

/// Whether every frame is labelled, rather than the whole sound.
bool labels_frames(const TaskRow& row) { return row.output == &kTagsOutput; }

Examples spoken(const TaskConfig& config, data::SpokenPart part, int64_t count) {
  const TaskOptions& task = config.options;
  const SpokenCorpus& corpus = row_named("corpus", spoken_corpora(), task.corpus);
  const uint64_t seed = task.seed();
  data::SpokenOptions options{.least_words = corpus.least_words, .most_words = corpus.most_words};
  options.digits_only = corpus.digits_only, options.rate = std::clamp<int64_t>(task.features.rate, 8000, 48000);
  const auto said = [phonemes = corpus.phonemes](const data::SpokenUtterance& one) {
    return std::vector{phonemes ? one.phonemes : one.text};
  };
  const bool frames = labels_frames(config.row());
  const auto features = std::make_shared<const data::SoundFeatures>(task.features);
  const auto at = [=](int64_t i) {
    data::SpokenUtterance one = data::spoken_utterance(part, seed, i, options);
    Example example{.right = said(one), .name = "utterance " + std::to_string(i) + ", " + one.voice};
    if (frames) {
      const int64_t count_of = features->frames(static_cast<int64_t>(one.sound.samples.size()));
      example.right = {frame_labels(one.phoneme_times, *features, count_of)};
    }
    example.inputs = {std::move(one.sound)};
    example.times = {std::move(one.word_times), std::move(one.phoneme_times)};
    return example;
  };
  const auto right = [=](int64_t i) { return frames ? at(i).right : said(data::spoken_text(part, seed, i, options)); };
  const auto length = [=](int64_t i) {
    const std::string text = data::spoken_text(part, seed, i, options).text;
    return kSecondsPerWord * static_cast<double>(std::ranges::count(text, ' ') + 2);
  };
  return {count, at, right, length};
}

/// Names of the labels of frames, which need no pass over the corpus.
std::vector<std::string> phoneme_names() {
  std::vector<std::string> names{std::string(kSilence)};
  for (const data::SpokenWord& word : data::spoken_lexicon()) {
    std::string phonemes(word.phonemes);
    std::erase(phonemes, '1');
    for (size_t at = 0; at < phonemes.size();) {
      const size_t end = std::min(phonemes.find(' ', at), phonemes.size());
      names.push_back(phonemes.substr(at, end - at));
      at = end + 1;
    }
  }
  names.emplace_back("IY");  // of "the" before a vowel
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

/// By its header.
double seconds_of(const data::SoundEntry& one, const data::SoundFeatureOptions& features) {
  if (!one.is_features()) return data::entry_seconds(one);
  return static_cast<double>(data::stored_frames(one)) * features.hop / 1000;
}

using Entries = std::shared_ptr<const std::vector<data::SoundEntry>>;

/// Sounds of files. Those that were decoded are kept while there is room.
class SoundSet {
 public:
  SoundSet(Entries entries, const TaskConfig& config)
      : entries_(std::move(entries)),
        features_(config.options.features),
        frames_(labels_frames(config.row())),
        phonemes_(!config.options.sound.phoneme_times.empty()),
        cache_(kCacheBytes) {}

  int64_t size() const { return static_cast<int64_t>(entries_->size()); }
  const data::SoundEntry& entry(int64_t i) const { return (*entries_)[static_cast<size_t>(i) % entries_->size()]; }
  double seconds(int64_t i) const { return seconds_of(entry(i), features_.options()); }

  Value value(int64_t i) const {
    const data::SoundEntry& one = entry(i);
    if (one.is_features()) return std::get<Tensor>(data::load_entry(one));
    const auto size_of = [](const data::Sound& sound) { return sound.samples.size() * sizeof(float); };
    const auto read = [&] { return data::load_sound(one, features_.options().rate); };
    return data::Sound(*cache_.get(i % size(), read, size_of));
  }

  Example at(int64_t i) const {
    const data::SoundEntry& one = entry(i);
    Example example{.inputs = {value(i)}, .right = {one.transcript}, .name = one.name, .times = {one.words, one.phonemes}};
    if (frames_) {
      const auto* sound = std::get_if<data::Sound>(&example.inputs[0]);
      const int64_t count = sound ? features_.frames(static_cast<int64_t>(sound->samples.size()))
                                  : std::get<Tensor>(example.inputs[0]).dim(0);
      const auto& times = phonemes_ ? one.phonemes : one.words;
      require(!times.empty(), one.name, ": expected times of what is said, as each frame gets a label, got none "
              "(phoneme_times, or word_times)");
      example.right = {frame_labels(times, features_, count)};
    }
    return example;
  }
  std::vector<std::string> right(int64_t i) const {
    return frames_ ? at(i).right : std::vector{entry(i).transcript};
  }

 private:
  Entries entries_;
  data::SoundFeatures features_;
  bool frames_, phonemes_;
  mutable data::BoundedCache<data::Sound> cache_;
};

Examples examples_of(std::shared_ptr<const SoundSet> set) {
  return {set->size(), [set](int64_t i) { return set->at(i); }, [set](int64_t i) { return set->right(i); },
          [set](int64_t i) { return set->seconds(i); }};
}

/// Sequences of recordings, drawn anew for every number.
Examples joined_sounds(std::shared_ptr<const SoundSet> set, const data::JoinOptions& options, uint64_t seed) {
  std::vector<std::string> groups;
  for (int64_t i = 0; i < set->size(); ++i) groups.push_back(set->entry(i).group);
  const auto sequences = std::make_shared<const data::SoundSequences>(std::move(groups), options, seed);
  const auto right = [=](int64_t i) {
    std::string text;
    for (const size_t member : sequences->plan(i).members) {
      text += (text.empty() ? "" : " ") + set->entry(static_cast<int64_t>(member)).transcript;
    }
    return std::vector{text};
  };
  const auto at = [=](int64_t i) {
    const data::SequencePlan plan = sequences->plan(i);
    std::vector<data::Sound> sounds;
    Example example{.right = right(i), .name = "sequence " + std::to_string(i)};
    for (const size_t member : plan.members) {
      Value value = set->value(static_cast<int64_t>(member));
      auto* sound = std::get_if<data::Sound>(&value);
      require(sound != nullptr, "join: expected sounds, which can be joined, got ready-made frames");
      sounds.push_back(std::move(*sound));
    }
    data::JoinedSound whole = data::joined_sounds(sounds, options, plan.random);
    for (size_t k = 0; k < plan.members.size(); ++k) {
      whole.places[k].label = set->entry(static_cast<int64_t>(plan.members[k])).transcript;
    }
    example.inputs = {std::move(whole.sound)}, example.times.words = std::move(whole.places);
    return example;
  };
  const auto length = [=](int64_t i) {
    double seconds = 0;
    for (const size_t member : sequences->plan(i).members) {
      seconds += set->seconds(static_cast<int64_t>(member)) + (options.least_pause + options.most_pause) / 2;
    }
    return seconds;
  };
  return {set->size(), at, right, length};
}

/// Refuses times of which none is of these sounds, as when they go by other names.
void check_times(const std::vector<data::SoundEntry>& entries, const char* option, const std::string& file,
                 std::vector<data::TimedLabel> data::SoundEntry::*times) {
  const auto known = [&](const data::SoundEntry& one) { return !(one.*times).empty(); };
  require_usage(file.empty() || std::ranges::any_of(entries, known), option, ": expected times of these sounds by their names, such as ",
                quoted(fs::path(entries.front().name).filename().native()), ", got none of theirs in ", file);
}

/// The sounds of files as `options` say.
std::vector<data::SoundEntry> entries_of(const SoundFiles& files, const std::string& named, data::Broken& broken) {
  return data::read_sound_entries({.manifest = named,
                                   .sounds = files.folder,
                                   .pattern = files.pattern,
                                   .words = files.word_times,
                                   .phonemes = files.phoneme_times},
                                  broken);
}

Examples examples_of(std::vector<data::SoundEntry> entries, const TaskConfig& config, std::string_view part) {
  require(!entries.empty(), part, ": expected at least one sound, got none");
  const auto set = std::make_shared<const SoundSet>(
      std::make_shared<const std::vector<data::SoundEntry>>(std::move(entries)), config);
  const data::JoinOptions& join = config.options.sound.join;
  return join.most > 1 ? joined_sounds(set, join, Random(config.options.seed()).named(part).bits()) : examples_of(set);
}

std::vector<data::SoundEntry> taken(const std::vector<data::SoundEntry>& all, const std::vector<size_t>& which) {
  std::vector<data::SoundEntry> some;
  for (const size_t i : which) some.push_back(all[i]);
  return some;
}

/// Leaves out what is too long to learn from; returns how many.
int64_t without_long(std::vector<data::SoundEntry>& entries, const TaskOptions& options) {
  return static_cast<int64_t>(std::erase_if(entries, [&](const data::SoundEntry& one) {
    return seconds_of(one, options.features) > options.sound.longest;
  }));
}

Corpus corpus_of_files(const TaskConfig& config) {
  const TaskOptions& options = config.options;
  const SoundFiles& files = options.sound;
  data::Broken broken(data::on_broken_named(files.on_broken));
  std::vector<data::SoundEntry> train = entries_of(files, files.sounds, broken), valid;
  if (files.valid_sounds.empty()) {
    const data::SoundParts parts = data::part_by_group(train, options.held_out, 0);
    require(!parts.valid.empty() && !parts.train.empty(), "train: expected sounds to learn from and, of other groups, to "
            "validate with; got ", parts.train.size(), " and ", parts.valid.size(), " of ", train.size());
    valid = taken(train, parts.valid), train = taken(train, parts.train);
  } else {
    valid = entries_of(files, files.valid_sounds, broken);
  }
  broken.settle("train");
  const int64_t count = static_cast<int64_t>(train.size()), left_out = without_long(train, options);
  require(!train.empty(), "train: all of the ", count, " sounds are longer than ", files.longest, " seconds (longest)");
  Corpus corpus{.train = examples_of(std::move(train), config, "train"),
                .valid = examples_of(std::move(valid), config, "valid"),
                .report = broken.summary()};
  corpus.test = corpus.valid;
  if (left_out > 0) {
    corpus.report += (corpus.report.empty() ? "" : "; ") + std::to_string(left_out) + " sounds are longer than longest: left out";
  }
  return corpus;
}

}  // namespace

std::span<const SpokenCorpus> spoken_corpora() { return kSpoken; }

Value read_sound_value(const std::string& file) {
  if (fs::path(file).extension() != ".npy") return data::read_sound(file);
  Tensor frames = data::read_npy(file);
  require(frames.rank() == 2 && frames.dim(0) > 0 && frames.dim(1) > 0, file, ": expected frames [frames,width], got ",
          frames.shape());
  return frames;
}

std::string frame_labels(const std::vector<data::TimedLabel>& times, const data::SoundFeatures& features, int64_t frames) {
  const double hop = features.options().hop / 1000, middle = features.options().window / 2000;
  std::string labels;
  size_t at = 0;
  for (int64_t t = 0; t < frames; ++t) {
    const double now = static_cast<double>(t) * hop + middle;
    while (at < times.size() && times[at].end <= now) ++at;
    const bool said = at < times.size() && times[at].begin <= now;
    labels += (t == 0 ? "" : " ");
    labels += said ? std::string_view(times[at].label) : kSilence;
  }
  return labels;
}

Corpus read_sound_corpus(const TaskConfig& config) {
  if (config.options.corpus.empty()) return corpus_of_files(config);
  Corpus corpus{.train = spoken(config, data::SpokenPart::kTrain, kSpokenTrain),
                .valid = spoken(config, data::SpokenPart::kValid, kSpokenValid),
                .test = spoken(config, data::SpokenPart::kTest, kSpokenTest)};
  if (labels_frames(config.row())) corpus.labels = phoneme_names();
  return corpus;
}

Examples read_sound_test(const TaskConfig& config, const SoundFiles& files) {
  if (files.sounds.empty()) return read_sound_corpus(config).test;
  TaskConfig asked = config;
  SoundFiles& now = asked.options.sound;
  now.sounds = files.sounds, now.folder = files.folder, now.join = files.join;
  now.word_times = files.word_times, now.phoneme_times = files.phoneme_times;
  if (!files.pattern.empty()) now.pattern = files.pattern;
  if (!files.on_broken.empty()) now.on_broken = files.on_broken;
  data::Broken broken(data::on_broken_named(now.on_broken));
  std::vector<data::SoundEntry> entries = entries_of(now, now.sounds, broken);
  broken.settle("eval");
  check_times(entries, "word_times", now.word_times, &data::SoundEntry::words);
  check_times(entries, "phoneme_times", now.phoneme_times, &data::SoundEntry::phonemes);
  return examples_of(std::move(entries), asked, "test");
}

}  // namespace attend::tasks
