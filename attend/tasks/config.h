// All options of a run: its files, how they are read and batched, the network, training and search.
#pragma once

#include <string>
#include <vector>

#include "attend/base/options.h"
#include "attend/data/batches.h"
#include "attend/data/encoded.h"
#include "attend/data/sound_augment.h"
#include "attend/data/sound_features.h"
#include "attend/data/sound_sequences.h"
#include "attend/data/tokeniser.h"
#include "attend/decode/search.h"
#include "attend/tasks/model_choice.h"
#include "attend/tasks/task.h"
#include "attend/train/trainer.h"

namespace attend::tasks {

/// Files of texts. Which of them a task has depends on its format.
struct TextFiles {
  std::vector<std::string> source, target, tsv, data;

  template <class Visit>
  void fields(Visit&& visit, bool pairs, bool valid) {
    const std::string v = valid ? "valid_" : "";
    const Bounds files = bounds::files_to_read();
    if (pairs) {
      visit((v + "source").c_str(), source, valid ? "validation files; without them, a share of the pairs is held out"
                                          : "files of sentences, plain or .gz; line i goes with line i of target",
            files);
      visit((v + "target").c_str(), target, valid ? "their answers" : "files of their answers", files);
      visit((v + "tsv").c_str(), tsv, valid ? "both in one" : "files of \"source<tab>target\" lines", files);
    } else {
      visit((v + "data").c_str(), data, valid ? "validation files; without them, a share of the examples is held out"
                                              : "files to train on, plain or .gz (docs/formats.md)", files);
    }
  }
  bool empty() const { return source.empty() && target.empty() && tsv.empty() && data.empty(); }
  /// All of them, as they were named.
  std::vector<std::string> all() const;
};

/// The built-in corpus of captions.
inline constexpr std::string_view kShapesCorpus = "shapes";

struct ImageFiles {
  std::string images, labels, valid_images, valid_labels;
  std::string captions, names, valid_names;
  std::string scene = "none";
  int64_t pieces = 4;
  int64_t size = 0, channels = 0;
  bool keep_size = false;
  std::string on_broken = "refuse", cache;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("images", images,
          "an IDX file (.gz too), or a folder of PNG and JPEG files: with a sub-folder for each label",
          bounds::files_to_read());
    visit("labels", labels, "the IDX file of their labels", bounds::files_to_read());
    visit("valid_images", valid_images, "the same to validate with; without them, a share of the images is held out",
          bounds::files_to_read());
    visit("valid_labels", valid_labels, "their labels", bounds::files_to_read());
    visit("captions", captions, "a file of captions: name#k<tab>caption, or JSON lines", bounds::files_to_read());
    visit("names", names, "file with the names of the images to train on, one per line; none: all but valid_names",
          bounds::files_to_read());
    visit("valid_names", valid_names, "file with the names of those to validate with", bounds::files_to_read());
    visit("scene", scene, "digits: none, translated (anywhere on a larger image) or cluttered (and pieces of others)",
          bounds::one_of({"none", "translated", "cluttered"}));
    visit("pieces", pieces, "cluttered: how many", bounds::within(0, 1000));
    visit("size", size,
          "height and width of what the network sees; 0: as the images are (scenes: 60, folders of labels: 64)",
          bounds::within(0, 1 << 14));
    visit("keep_size", keep_size,
          "images that it is asked about keep their size; those that it learns from still have the one above");
    visit("channels", channels, "1: grey, 3: colour, 0: as the first image is (folders of labels: 3)",
          bounds::width_or_none());
    visit("on_broken", on_broken, "an image that cannot be read: refuse, or skip", bounds::one_of({"refuse", "skip"}));
    visit("cache", cache,
          "published networks of which no stage is trained: the folder in which the features of images are kept once they are "
          "computed; none given: beside the model's folder, NAME.features; no: nowhere");
  }
};

/// Sounds to learn from.
struct SoundFiles {
  std::string sounds, folder, valid_sounds, pattern, word_times, phoneme_times;
  data::JoinOptions join{.least = 1, .most = 1};
  double longest = 20;
  std::string on_broken = "refuse";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("sounds", sounds,
          "a list (file or id <tab> … <tab> what is said), or a folder of sounds with a .txt or .lab file beside each",
          bounds::files_to_read());
    visit("folder", folder,
          "where the sounds of a list are: a folder, or an .npz file of frames by id; none: the folder of the list",
          bounds::files_to_read());
    visit("valid_sounds", valid_sounds, "the same to validate with; without it, a share of the sounds is held out",
          bounds::files_to_read());
    visit("pattern", pattern,
          "what names say, such as {label}_{group}_{number} or {group}-{}: of a group (who speaks) all sounds are held out, or none");
    visit("word_times", word_times, "a CTM file with the times of all words, to compare with", bounds::files_to_read());
    visit("phoneme_times", phoneme_times, "the same of phonemes; for frames: what each is labelled by",
          bounds::files_to_read());
    visit("join", join, "");
    visit("longest", longest, "seconds; longer sounds are not learned from, and are answered in parts",
          bounds::within(0.1, 3600));
    visit("on_broken", on_broken, "a sound that cannot be read: refuse, or skip", bounds::one_of({"refuse", "skip"}));
  }
};

/// The tokeniser's own options, and how the two sides differ.
struct TokenOptions : data::TokeniserOptions {
  bool joint = false;
  std::string target_kind;

  template <class Visit>
  void fields(Visit&& visit) {
    data::TokeniserOptions::fields(visit);
    visit("joint", joint, "one vocabulary for both sides (needed by model.tied: all)");
    visit("target_kind", target_kind, "what a token of the answer is, where that differs from kind",
          bounds::one_of(data::tokenisers(), {""}));
  }
};

/// How a long document is read, about which a question is asked.
struct DocumentOptions {
  int64_t window = 400, stride = 200;
  double threshold = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("window", window, "spans: most tokens of a document that are read at once; a longer one is read in windows",
          bounds::within(1, 1 << 20));
    visit("stride", stride, "tokens from the beginning of a window to that of the next; what they share is read twice",
          bounds::within(1, 1 << 20));
    visit("threshold", threshold,
          "spans, with model.no_answer: an answer is given if its score exceeds that of no answer by more than this",
          bounds::within(-1e6, 1e6));
  }
};

/// Texts to learn from are cut into other subwords each time.
struct SubwordOptions : data::SubwordCutOptions {
  std::string sides = "both";

  template <class Visit>
  void fields(Visit&& visit) {
    data::SubwordCutOptions::fields(visit);
    visit("sides", sides, "which texts are cut anew: both, source or target",
          bounds::one_of({"both", "source", "target"}));
  }
};

struct TaskBatchOptions : data::BatchOptions {
  models::Reads reads = models::Reads::words;  // by tokens, images or seconds
  int64_t images = 64, captions = 0;
  double seconds = 100;
  int64_t sounds = 32;
  SubwordOptions subwords = {};

  template <class Visit>
  void fields(Visit&& visit) {
    if (reads == models::Reads::words) {
      data::BatchOptions::fields(visit);
      visit("subwords", subwords, "");
      return;
    }
    if (reads == models::Reads::sound) {
      visit("seconds", seconds, "most seconds of sound in a batch, with the silence that makes all as long as the longest",
            bounds::within(1, 1e6));
      visit("sounds", sounds, "most sounds in a batch", bounds::within(1, 1 << 16));
      visit("seed", seed, "of the order of the sounds, and of what changes them");
      return;
    }
    visit("images", images, "images of a batch", bounds::within(1, 1 << 20));
    visit("captions", captions, "caption: at most so many of an image in a batch, drawn anew each time; 0: all",
          bounds::count_or_none());
    visit("seed", seed, "of the order of the images and of such draws");
  }
};

/// All options of a run but those of its network. Which of them a task has depends on its row.
struct TaskOptions {
  const TaskRow* row = &tasks()[0];
  std::string task;
  TextFiles text, valid_text;
  ImageFiles images;
  SoundFiles sound;
  data::SoundFeatureOptions features;
  data::SoundAugmentOptions augment;
  data::SpecAugmentOptions masks;
  double held_out = 0.02;
  std::string corpus, vectors;
  data::PairFilter filter;
  DocumentOptions document;
  TokenOptions tokeniser;
  TaskBatchOptions batch{{.tokens = 2048}};
  train::TrainerOptions train;
  int64_t scored = 1000;
  decode::SearchOptions search{.beam = 4};

  explicit TaskOptions(const TaskRow& row) : row(&row), task(row.name) { batch.reads = row.input().reads; }

  template <class Visit>
  void fields(Visit&& visit) {
    const bool text_in = row->input().streamed, pairs = row->format == "pairs";
    visit("task", task, "one of those that `attend list tasks` names", bounds::one_of(tasks()));
    if (text_in) {
      text.fields(visit, pairs, false);
      valid_text.fields(visit, pairs, true);
    } else if (row->input().is_image()) {
      images.fields(visit);
    } else {
      sound.fields(visit);
      visit("features", features, "");
      visit("augment", augment, "");
      visit("masks", masks, "");
    }
    visit("held_out", held_out, "share of the examples to validate with, where no validation files are named",
          bounds::share());
    visit("corpus", corpus, "a built-in corpus in place of files (`attend list tasks` names them)");
    if (text_in) {
      visit("vectors", vectors, "word vectors to begin with, as GloVe or word2vec write them in text, plain or .gz",
            bounds::files_to_read());
      visit("filter", filter, "");
    }
    if (row->inputs.size() > 1) visit("document", document, "");
    visit("tokeniser", tokeniser, "");
    visit("batch", batch, "");
    visit("train", train, "");
    visit(text_in ? "valid_sentences" : ("scored_" + std::string(row->input().several)).c_str(), scored,
          "at most so many validation examples are answered to be scored (0: all images or sounds); the answers of the best "
          "weights are in valid.jsonl",
          bounds::count_or_none());
    visit("search", search, "");
  }
  uint64_t seed() const { return static_cast<uint64_t>(train.seed); }
  /// Whether sounds come as frames that somebody else made; follows from the data.
  bool given_frames() const { return features.kind == "given"; }
};

/// A run's options as they are read, shown and saved: the defaults of the task, then a recipe's, then flags.
struct TaskConfig {
  TaskOptions options;
  ModelChoice model;
  SettingList given;  ///< what it was made of, without the task's defaults

  /// Refuses unknown options with their place and the nearest name. A task's name alone means its own corpus.
  explicit TaskConfig(const SettingList& settings);
  const TaskRow& row() const { return *options.row; }
  const OutputRow& output() const { return row().output_with(model.name); }
  /// Whether a token of the source is a letter: pictures then have a column for each.
  bool reads_characters() const { return options.tokeniser.kind == "characters"; }
  /// Every option with its value: for help, --dump-config and config.yml.
  std::vector<OptionInfo> all() const;
  /// Throws UsageError where values do not fit together or no such network can be trained, before any file is read. It
  /// names what was given: a flag, or a line of a recipe.
  void check() const;
  /// Throws UsageError where a file that is to be read does not exist. A resumed run does not begin with word vectors again.
  void check_files(bool resumed = false) const;

 private:
  void check_data() const;
  void check_network() const;
};

}  // namespace attend::tasks
