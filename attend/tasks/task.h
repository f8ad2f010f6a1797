// The tasks: task = inputs × network × output × scores × pictures × corpus. Each is a row; commands, server, page and tests
// iterate over the rows and never ask which task it is.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/models/zoo.h"

namespace attend::tasks {

class Input;
class Output;
struct Corpus;
struct Examples;
struct TaskConfig;
struct TestFiles;

/// A kind of input: words, an image, a sound.
struct InputRow {
  std::string_view name;     ///< "text", "image", "sound"
  models::Reads reads;       ///< what its networks read
  std::string_view counted;  ///< what a rate counts: "tokens" per second
  std::string_view several;  ///< what many of them are called: "images"
  std::string_view given;    ///< what a person gives, for help: "a line of text", "PNG or JPEG files"
  bool streamed;             ///< examples are encoded once and stored; else every batch is made anew
  int64_t at_once;           ///< examples that are scored at once
  std::span<const std::string_view> files;    ///< options that name what to train on, in place of a built-in corpus
  std::span<const std::string_view> derived;  ///< options of networks that follow from it, whatever was asked for
  std::unique_ptr<Input> (*make)(const TaskConfig& config, std::string_view name);
  Corpus (*corpus)(const TaskConfig& config);
  Examples (*test)(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>& labels);

  /// Whether it has cells rather than places in a row, so that it is looked at rather than read (image_look.h).
  bool is_image() const { return reads == models::Reads::images; }
};
extern const InputRow kTextInput, kImageInput, kSoundInput;

/// A kind of output: words, a label, tags, a stretch of the input, a tree, an image.
struct OutputRow {
  std::string_view name;
  std::unique_ptr<Output> (*make)(const TaskConfig& config);
  std::span<const std::string_view> derived;  ///< as an input's
};
extern const OutputRow kWordsOutput, kLabelOutput, kTagsOutput, kSpanOutput, kTreeOutput, kImageOutput;

struct TaskInput {
  std::string_view name;  ///< "document", "question"; of a task with one input that of its kind
  const InputRow* kind;
};

struct TaskSetting {
  std::string_view name, value;
};

struct TaskRow {
  std::string_view name, summary;
  std::span<const TaskInput> inputs;
  const OutputRow* output;                     ///< null: what its network answers with
  std::span<const std::string_view> networks;  ///< that it may use, the default first; empty: all that read its input
  std::string_view format;                     ///< of its files: a row of data::example_formats(), "pairs" or "images"
  std::string_view corpus;                     ///< built in, used where no files are named
  std::span<const TaskSetting> defaults;       ///< what it needs different from the defaults
  std::span<const TaskSetting> on_builtin;     ///< what training on the built-in corpus needs beyond that
  std::span<const std::string_view> scores;    ///< rows of scores(), the main one first; empty: none
  std::span<const TaskSetting> on_files = {};  ///< what training on files needs beyond the defaults
  /// Beginnings of the options that mean the same in all its networks ("model.encoder."): its defaults of those suit each
  /// network that has them.
  std::span<const std::string_view> shared = {};

  const InputRow& input() const { return *inputs[0].kind; }
  /// The output with a network of that name.
  const OutputRow& output_with(std::string_view network) const;
  /// Whether an option of that network ("labels") follows from the data, whatever was asked for.
  bool derives(std::string_view network, std::string_view option) const;
  /// What files of one's own are named by: "source", "data" or "images".
  std::string_view file_option() const;
};
/// The menu: help, option checks and tests iterate over it.
std::span<const TaskRow> tasks();
/// Adds a task from outside the library; its tables have to outlive the program's use of it.
void add_task(const TaskRow& row);
const TaskRow& task_named(std::string_view name);

/// The task that these settings ask for; where they name a corpus that belongs to a task, that one.
const TaskRow& task_of(const SettingList& asked);
/// The task's defaults, then what its built-in corpus or, where files are named, training on those needs, then what was asked
/// for. Where a network is named, of those of networks only what all of the task's networks share and this one has.
SettingList with_task_defaults(const SettingList& asked);

}  // namespace attend::tasks
