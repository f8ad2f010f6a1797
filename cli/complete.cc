// `attend --complete WORD…`: what the last word may become, one candidate per line with its explanation after a tab. A
// last line ":files" or ":folders" asks the shell to add names of files. The scripts of `attend completion` call it.
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/menus.h"

namespace attend::cli {
namespace {

using Words = std::vector<std::string>;

Choices all_commands() {
  Choices all;
  for (const Command& command : commands()) all.names.push_back({std::string(command.name), std::string(command.help)});
  all.names.push_back({"--help", "the list of commands"});
  all.names.push_back({"--version", "version, number type, instruction set, processor"});
  return all;
}

Choices all_flags(const Usage& usage) {
  Choices all;
  for (const Usage::Group& group : usage.groups) {
    for (const Usage::Option& option : group.options) all.names.push_back({option.flag, option.help});
  }
  all.names.push_back({"--help", "this command's options"});
  return all;
}

/// Whether the word after this one is its value.
bool takes_next(const Usage& usage, const std::string& word) {
  const Usage::Option* const option = usage.find(word);
  return option && !option->value_word.empty();
}

/// The argument that follows these words; null where none does.
const Usage::Argument* next_argument(const Usage& usage, const Words& before) {
  size_t count = 0;
  bool flags = true;
  for (size_t i = 0; i < before.size(); ++i) {
    if (flags && before[i] == "--") {
      flags = false;
    } else if (flags && before[i].starts_with("--")) {
      i += takes_next(usage, before[i]);
    } else {
      ++count;
    }
  }
  if (count < usage.arguments.size()) return &usage.arguments[count];
  return !usage.arguments.empty() && usage.arguments.back().many ? &usage.arguments.back() : nullptr;
}

/// The names of an option's values as --flag=value.
Choices values_after_equal(const Usage& usage, const std::string& flag) {
  const Usage::Option* const option = usage.find(flag);
  if (!option) return {};
  Choices values = choices_of(*option, usage);
  for (Candidate& one : values.names) one.text = flag + "=" + one.text;
  return values;
}

/// `before`: the words between the command and the one that is being typed.
Choices choices_for(const Usage& usage, const Words& before, const std::string& typed) {
  const bool flags_ended = std::ranges::find(before, "--") != before.end();
  const size_t equal = typed.find('=');
  if (!flags_ended && typed.starts_with("--") && equal != typed.npos) {
    return values_after_equal(usage, typed.substr(0, equal));
  }
  if (!flags_ended && typed.starts_with('-')) return all_flags(usage);
  if (!flags_ended && !before.empty() && takes_next(usage, before.back())) {
    return choices_of(*usage.find(before.back()), usage);
  }
  const Usage::Argument* const argument = next_argument(usage, before);
  return argument ? choices_of_argument(argument->name) : Choices{};
}

/// Which flags there are depends on the words before; where those cannot be understood, on none.
std::optional<Usage> usage_after(const Command& command, const Words& before) {
  const auto usage = usage_of(command.run, before);
  return usage ? usage : usage_of(command.run, {});
}

Choices choices_after(Words words, const std::string& typed) {
  if (words.empty()) return all_commands();
  const auto command = std::ranges::find(commands(), words[0], &Command::name);
  if (command == commands().end()) return {};
  words.erase(words.begin());
  const auto usage = usage_after(*command, words);
  return usage ? choices_for(*usage, words, typed) : Choices{};
}

}  // namespace

int complete(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  std::string typed;
  if (!words.empty()) typed = words.back(), words.pop_back();
  const Choices choices = choices_after(words, typed);
  for (const Candidate& one : choices.names) {
    if (one.text.starts_with(typed)) std::cout << one.text << '\t' << one.help << '\n';
  }
  if (choices.paths == Paths::files) std::cout << ":files\n";
  if (choices.paths == Paths::folders) std::cout << ":folders\n";
  return 0;
}

}  // namespace attend::cli
