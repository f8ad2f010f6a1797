#include "cli/flags.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/dist/company.h"
#include "attend/kernels/parallel.h"
#include "cli/exit_code.h"
#include "cli/quiet.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

constexpr size_t kWidest = 100;

std::optional<Usage>* wanted_usage = nullptr;  // where a command that runs for usage_of leaves what it takes

/// --length-penalty and --length_penalty are the same.
std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

struct Flag {
  std::string text;                  // "--beam"
  std::optional<std::string> value;  // behind "="
  std::string_view name() const { return std::string_view(text).substr(2); }
};

Flag split(const std::string& word) {
  const size_t equal = word.find('=');
  if (equal == std::string::npos) return {word, std::nullopt};
  return {word.substr(0, equal), word.substr(equal + 1)};
}

bool is_flag(std::string_view word) { return word.size() > 2 && word.starts_with("--"); }
bool is_quiet(std::string_view word) { return word == "--quiet" || word == "-q"; }
bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }
/// What begins with one dash is a mistake, unless it is a number or the dash alone.
bool is_mistake(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.';
}

/// How the value of an option is called in its help.
struct ValueRow {
  std::string_view type, word, plural;
};
constexpr ValueRow kValues[] = {
    {"whole number", " N", ""},          {"number", " X", ""}, {"true or false", "", ""}, {"text", " TEXT", ""},
    {"list", " TEXT", " (one or more)"},
};
const ValueRow& value_row(const OptionInfo& option) {
  return *std::find_if(std::begin(kValues), std::prev(std::end(kValues)),
                       [&](const ValueRow& row) { return row.type == option.type; });
}

std::string explained(const OptionInfo& option) {
  std::string text = option.help + std::string(value_row(option).plural);
  if (option.value.empty()) return text;
  std::string value = option.value;
  std::replace(value.begin(), value.end(), '\n', ' ');
  return text + (text.empty() ? "[" : " [") + value + "]";
}

using Rows = std::vector<std::pair<std::string, std::string>>;

void print_rows(const Rows& rows, size_t column, size_t width, std::string& out) {
  for (const auto& [left, right] : rows) {
    const size_t taken = 2 + data::display_width(left);
    out += "  " + left;
    // A name that leaves no room has its help on the lines below.
    out += taken + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - taken, ' ');
    const std::vector<std::string> lines = wrap(right, width > column + 20 ? width - column : 20);
    for (size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : std::string(column, ' ')) + lines[i] + "\n";
  }
}

size_t column_of(const std::vector<Rows>& tables) {
  constexpr size_t kLongestName = 34;
  size_t longest = 0;
  for (const Rows& rows : tables) {
    for (const auto& row : rows) {
      if (data::display_width(row.first) <= kLongestName) longest = std::max(longest, data::display_width(row.first));
    }
  }
  return longest + 4;
}

}  // namespace

void ThreadOption::apply() const {
  const dist::Launch launch = dist::launch();
  if (threads > 0) {
    kernels::set_threads(static_cast<int>(threads));
  } else if (launch.size > 1) {  // ranks that share a machine share its cores
    kernels::set_threads(
        dist::threads_of(launch, kernels::threads(), static_cast<int>(std::thread::hardware_concurrency())));
  }
}

Flags::Flags(std::string command, std::string summary) : command_(std::move(command)), summary_(std::move(summary)) {}

Flags& Flags::argument(std::string name, std::string& value, std::string help, bool needed) {
  arguments_.push_back({std::move(name), std::move(help), &value, nullptr, needed});
  return *this;
}

Flags& Flags::arguments(std::string name, std::vector<std::string>& values, std::string help) {
  arguments_.push_back({std::move(name), std::move(help), nullptr, &values, false});
  return *this;
}

Flags& Flags::options(std::string title, std::vector<OptionInfo> options) {
  return add(std::move(title), std::move(options), {});
}

Flags& Flags::add(std::string title, std::vector<OptionInfo> options, std::function<void(const SettingList&)> set) {
  for (const OptionInfo& option : options) {
    require(find(option.name) == nullptr, "flags of ", command_, ": ", option.name, ": expected once, got it again");
  }
  groups_.push_back({std::move(title), std::move(options), std::move(set)});
  return *this;
}

Flags& Flags::defaults_are(const std::string& whose) {
  Group& group = groups_.back();
  group.title += " (defaults: " + whose + ")";
  for (OptionInfo& option : group.options) option.value.clear();
  return *this;
}

Flags& Flags::on_unknown(std::function<std::string(std::string_view)> say) {
  on_unknown_ = std::move(say);
  return *this;
}

std::optional<int> Flags::parse(int argc, char** argv) {
  if (wanted_usage != nullptr) {
    *wanted_usage = usage();
    return 0;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  if (std::any_of(words.begin(), end, is_help)) {
    std::cout << help(std::min(kWidest, terminal_width(STDOUT_FILENO, kWidest)));
    return 0;
  }
  try {
    read(words);
    set_all();
    return std::nullopt;
  } catch (const UsageError& error) {
    return refuse(error.what());
  }
}

void Flags::read(const std::vector<std::string>& words) {
  all_.clear();
  std::vector<std::string> rest;
  std::string list;  // a flag that further words may belong to, as a shell writes out --data *.txt
  const bool open_ended = std::ranges::any_of(arguments_, [](const Argument& a) { return a.values != nullptr; });
  size_t at = 0;
  while (at < words.size() && words[at] != "--") {
    if (is_quiet(words[at])) {
      set_quiet(true), ++at;
    } else if (is_flag(words[at])) {
      const Flag flag = split(words[at]);
      at = read_flag(words, at);
      list = !flag.value && find(flag.name())->type == "list" ? flag.text : "";
    } else {
      if (is_mistake(words[at])) refuse_flag(words[at]);
      if (!list.empty() && !open_ended && rest.size() == arguments_.size()) {
        take(*find(split(list).name()), list, words[at++]);
      } else {
        rest.push_back(words[at++]);
      }
    }
  }
  for (++at; at < words.size(); ++at) rest.push_back(words[at]);
  take_words(rest);
}

/// Reads the flag at `at`; returns where to go on.
size_t Flags::read_flag(const std::vector<std::string>& words, size_t at) {
  const Flag flag = split(words[at++]);
  const OptionInfo* option = find(flag.name());
  if (option == nullptr) refuse_flag(flag.text);
  const bool more = at < words.size() && !words[at].starts_with("--");
  if (flag.value) {
    take(*option, flag.text, *flag.value);
  } else if (option->type == "true or false") {
    const bool told = more && (words[at] == "true" || words[at] == "false");
    take(*option, flag.text, told ? words[at++] : "true");
  } else {
    require_usage(more, flag.text, ": expected a value, got none");
    take(*option, flag.text, words[at++]);
  }
  return at;
}

void Flags::take(const OptionInfo& option, const std::string& flag, const std::string& value) {
  Setting setting{option.name, value, flag, option.type == "list"};
  check_value(option, setting);
  if (setting.list) {
    const auto same = [&](const Setting& s) { return s.name == option.name; };
    const auto before = std::find_if(all_.begin(), all_.end(), same);
    if (before != all_.end()) return void(before->value.append("\n").append(value));
  }
  all_.push_back(std::move(setting));
}

void Flags::take_words(const std::vector<std::string>& words) const {
  size_t at = 0;
  for (const Argument& argument : arguments_) {
    if (argument.values != nullptr) {
      argument.values->assign(words.begin() + static_cast<ptrdiff_t>(at), words.end());
      return;
    }
    require_usage(at < words.size() || !argument.needed, "expected ", argument.name, " (", argument.help, ")");
    if (at < words.size()) *argument.value = words[at++];
  }
  if (at < words.size()) fail_usage("expected nothing more, got ", quoted(words[at]));
}

void Flags::set_all() {
  settings_.clear();
  for (const Group& group : groups_) {
    SettingList mine;
    for (const Setting& setting : all_) {
      const auto named = [&](const OptionInfo& option) { return option.name == setting.name; };
      if (std::any_of(group.options.begin(), group.options.end(), named)) mine.push_back(setting);
    }
    if (group.set) {
      group.set(mine);
    } else {
      settings_.insert(settings_.end(), mine.begin(), mine.end());
    }
  }
}

const OptionInfo* Flags::find(std::string_view name) const {
  for (const Group& group : groups_) {
    for (const OptionInfo& option : group.options) {
      if (with_dashes(option.name) == with_dashes(name)) return &option;
    }
  }
  return nullptr;
}

bool Flags::given(std::string_view name) const { return find_setting(all_, name) != nullptr; }

void Flags::refuse_flag(std::string_view flag) const {
  std::vector<OptionInfo> known;
  for (const Group& group : groups_) {
    for (const OptionInfo& option : group.options) {
      known.push_back({with_dashes(option.name), "", "", "", option.bounds});
    }
  }
  const std::string name = with_dashes(flag.substr(std::min(flag.find_first_not_of('-'), flag.size())));
  const std::string said = on_unknown_ ? on_unknown_(name) : "";
  if (!said.empty()) throw UsageError(said);
  const OptionInfo* nearest = nearest_option(known, name);
  const std::string shown = quoted(flag);
  const std::string plain = shown.substr(1, shown.size() - 2);
  require_usage(nearest != nullptr, "there is no option ", plain);
  fail_usage("there is no option ", plain, "; the nearest is --", nearest->name);
}

std::vector<std::pair<std::string, std::string>> Flags::rows(const Group& group) const {
  Rows all;
  for (const OptionInfo& option : group.options) {
    all.emplace_back("--" + with_dashes(option.name) + std::string(value_row(option).word), explained(option));
  }
  return all;
}

Usage Flags::usage() const {
  Usage all{command_, summary_, {}, {}};
  for (const Argument& argument : arguments_) {
    all.arguments.push_back({argument.name, argument.help, argument.needed, argument.values != nullptr});
  }
  for (const Group& group : groups_) {
    Usage::Group& next = all.groups.emplace_back(Usage::Group{group.title, {}, !group.set});
    for (const OptionInfo& option : group.options) {
      const ValueRow& value = value_row(option);
      next.options.push_back({option, "--" + with_dashes(option.name), std::string(value.word)});
      next.options.back().help += value.plural;
    }
  }
  return all;
}

std::string Flags::help(size_t width) const {
  std::string out = "attend " + command_ + ": " + summary_ + "\n\n  attend " + command_;
  std::vector<Rows> tables(1);
  for (const Argument& argument : arguments_) {
    const std::string name = argument.name + (argument.values != nullptr ? " …" : "");
    out += argument.needed ? " " + name : " [" + name + "]";
    tables[0].emplace_back(name, argument.help);
  }
  for (const Group& group : groups_) tables.push_back(rows(group));
  tables.push_back({{"-q, --quiet", std::string(kQuietHelp)}, {"--help", "this list"}});
  out += " [options]\n";
  const size_t column = column_of(tables);
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].empty()) continue;
    out += "\n";
    if (i > 0 && i <= groups_.size() && !groups_[i - 1].title.empty()) out += groups_[i - 1].title + ":\n";
    print_rows(tables[i], column, width, out);
  }
  return out;
}

int Flags::refuse(std::string_view message) const {
  if (only_usage()) return 2;
  return report(command_, UsageError(std::string(message)));
}

/// As it was typed; of one that was not, its usual form. What is no flag stays as it is.
std::string Flags::flag_of(const std::string& option) const {
  const Setting* setting = find_setting(all_, option);
  return setting ? setting->where : find(option) ? "--" + with_dashes(option) : option;
}

void Flags::check_files() const {
  std::vector<OptionInfo> named;
  for (const Setting& setting : all_) {
    named.push_back(*find(setting.name));
    named.back().value = setting.value;
  }
  require_files(named, all_);
}

const Usage::Option* Usage::find(std::string_view flag) const {
  for (const Group& group : groups) {
    const auto found = std::ranges::find(group.options, with_dashes(flag), &Option::flag);
    if (found != group.options.end()) return &*found;
  }
  return nullptr;
}

bool only_usage() { return wanted_usage != nullptr; }

std::optional<Usage> usage_of(int (*command)(int argc, char** argv), const std::vector<std::string>& words) {
  std::optional<Usage> usage;
  std::vector<std::string> all{""};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  wanted_usage = &usage;
  try {
    command(static_cast<int>(all.size()), argv.data());
  } catch (const std::exception&) {  // a recipe or a folder that cannot be read
  }
  wanted_usage = nullptr;
  return usage;
}

std::optional<std::string> peek_flag(int argc, char** argv, std::string_view name) {
  std::optional<std::string> value;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (!is_flag(argv[i])) continue;
    const Flag flag = split(argv[i]);
    if (with_dashes(flag.name()) != with_dashes(name)) continue;
    if (flag.value) {
      value = flag.value;
    } else if (i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
      value = argv[i + 1];
    }
  }
  return value;
}

bool peek_switch(int argc, char** argv, std::string_view name) {
  bool on = false;
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (!is_flag(argv[i])) continue;
    const Flag flag = split(argv[i]);
    if (with_dashes(flag.name()) != with_dashes(name)) continue;
    const bool off_next = i + 1 < argc && std::string_view(argv[i + 1]) == "false";
    on = flag.value ? *flag.value != "false" : !off_next;
  }
  return on;
}

}  // namespace attend::cli
