// Options as flags: what a struct lists in `fields` (or a model in the zoo) is what a command takes and explains.
//
//   decode::SearchOptions search;
//   std::string folder;
//   Flags flags("run", "answers one line with one line");
//   flags.argument("DIR", folder, "folder of the model").options("search", search);
//   if (const auto code = flags.parse(argc, argv)) return *code;
//
// --length-penalty 0.6, --length_penalty=0.6, --sample (true), --sample false, --temperature -1; a list by repetition:
// --data a --data b. "--" ends the flags. Of a flag that comes twice, the last one counts. Every command has --help and -q.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/options.h"
#include "attend/kernels/parallel.h"

namespace attend::cli {

/// How many threads a command may use.
struct ThreadOption {
  int64_t threads = 0;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("threads", threads, "0: as many as the machine has; of several ranks (mpirun) on it, each has its share",
          bounds::within(0, kernels::kMostThreads));
  }
  void apply() const;
};

/// What a command takes, as data: the man page and the completion of shells are made from it.
struct Usage {
  struct Argument {
    std::string name, help;
    bool needed, many;
  };
  struct Option : OptionInfo {
    std::string flag, value_word;  // "--length-penalty", and " X" as help has it; "" where it needs no value
  };
  struct Group {
    std::string title;
    std::vector<Option> options;
    bool of_recipe;  // may be in a recipe too
  };
  std::string command, summary;
  std::vector<Argument> arguments;
  std::vector<Group> groups;

  const Option* find(std::string_view flag) const;
};

/// What `command` takes where these words follow it: it is run up to where it would parse its flags. Nothing where it
/// refuses the words before that.
std::optional<Usage> usage_of(int (*command)(int argc, char** argv), const std::vector<std::string>& words);
/// Whether a command runs for usage_of alone: it need not load what its flags do not depend on.
bool only_usage();

class Flags {
 public:
  Flags(std::string command, std::string summary);

  /// What stands without a flag, in this order. One that is not needed keeps its value where it is missing.
  Flags& argument(std::string name, std::string& value, std::string help, bool needed = true);
  /// All that is left, any number of them.
  Flags& arguments(std::string name, std::vector<std::string>& values, std::string help);

  /// Options that parse() sets; their values now are the defaults.
  template <HasFields Options>
  Flags& options(std::string title, Options& options, const std::string& prefix = "") {
    return add(std::move(title), describe_options(options, prefix),
               [&options, prefix](const SettingList& settings) { set_options(options, settings, prefix); });
  }
  /// Options that are only collected (settings()), to override those of a recipe.
  Flags& options(std::string title, std::vector<OptionInfo> options);
  /// The defaults of the last group are not those that it has now: its help says instead whose they are ("the model's").
  Flags& defaults_are(const std::string& whose);
  /// Asked of a flag that there is not (its name, with dashes): what to say in place of the nearest one, or "".
  Flags& on_unknown(std::function<std::string(std::string_view name)> say);

  /// Empty if the command should go on; else the exit code: 0 after --help, 2 after a mistake, told in one line.
  std::optional<int> parse(int argc, char** argv);

  /// After parse(): what was given for options that are only collected, each with where = "--flag".
  const SettingList& settings() const { return settings_; }
  /// Whether that flag was given, collected or not.
  bool given(std::string_view name) const;
  /// Calls `check`; what it says about an option names its flag.
  template <class Check>
  void check(Check&& check) const {
    try {
      check();
    } catch (const OptionError& error) {
      fail_usage(flag_of(error.option()), ": ", error.reason());
    }
  }
  /// Throws UsageError where a flag names a file to be read that does not exist, or one to be written where no folder
  /// is.
  void check_files() const;

  Usage usage() const;
  /// The text of --help, in lines of at most `width` columns.
  std::string help(size_t width) const;
  /// "attend run: … (see: attend run --help)" on standard error, and the exit code 2: what main does with a UsageError.
  int refuse(std::string_view message) const;

 private:
  struct Group {
    std::string title;
    std::vector<OptionInfo> options;
    std::function<void(const SettingList&)> set;  // empty: only collected
  };
  struct Argument {
    std::string name, help;
    std::string* value;  // one of these two
    std::vector<std::string>* values;
    bool needed;
  };

  Flags& add(std::string title, std::vector<OptionInfo> options, std::function<void(const SettingList&)> set);
  void read(const std::vector<std::string>& words);
  size_t read_flag(const std::vector<std::string>& words, size_t at);
  void take(const OptionInfo& option, const std::string& flag, const std::string& value);
  void take_words(const std::vector<std::string>& words) const;
  void set_all();
  const OptionInfo* find(std::string_view name) const;
  std::string flag_of(const std::string& option) const;
  [[noreturn]] void refuse_flag(std::string_view flag) const;
  std::vector<std::pair<std::string, std::string>> rows(const Group& group) const;

  std::string command_, summary_;
  std::vector<Argument> arguments_;
  std::vector<Group> groups_;
  SettingList all_, settings_;
  std::function<std::string(std::string_view)> on_unknown_;
};

/// What argv gives for one flag, before anyone knows what flags there are: which model it is decides what options it has.
std::optional<std::string> peek_flag(int argc, char** argv, std::string_view name);
/// Whether argv switches on a flag that is true or false: --resume, --resume true.
bool peek_switch(int argc, char** argv, std::string_view name);

}  // namespace attend::cli
