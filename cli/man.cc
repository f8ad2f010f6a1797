// `attend man`: the manual pages, made from the same tables as --help.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/models/zoo.h"
#include "attend/tasks/task.h"
#include "cli/commands.h"
#include "cli/flags.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;

/// Text as man(7) takes it: a backslash, a dash that is typed, and a dot or a quote at the start of a line are escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\n' && !out.ends_with('\n')) {
      out += "\n.br\n";
    } else if (c != '\n') {
      out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
  }
  return out;
}

class Page {
 public:
  explicit Page(const std::string& name) {
    std::string title = name;
    std::ranges::transform(title, title.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
    text_ = ".TH " + escaped(title) + " 1 \"\" \"attend " ATTEND_VERSION "\" \"User Commands\"\n";
  }
  Page& section(std::string_view title) { return line(".SH " + std::string(title)); }
  Page& part(std::string_view title) { return line(".SS " + escaped(title)); }
  Page& paragraph(std::string_view text) { return line(".PP\n" + escaped(text)); }
  Page& literal(std::string_view text) { return line(".PP\n.nf\n.RS\n" + escaped(text) + "\n.RE\n.fi"); }
  /// A term in bold, what is put in its place in italics, and what it means.
  Page& item(std::string_view term, std::string_view value, std::string_view meaning) {
    line(".TP\n\\fB" + escaped(term) + "\\fR" + (value.empty() ? "" : "\\fI" + escaped(value) + "\\fR"));
    return line(escaped(meaning));
  }
  Page& line(const std::string& text) {
    text_ += text + "\n";
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string page_name(const Command& command) { return "attend-" + std::string(command.name); }

void add_group(Page& page, const Usage::Group& group, bool defaults) {
  page.part(group.title);
  for (const Usage::Option& option : group.options) {
    std::string help = option.help, value = option.value;
    std::ranges::replace(value, '\n', ' ');
    if (defaults && !value.empty()) help += (help.empty() ? "[" : " [") + value + "]";
    page.item(option.flag, option.value_word, help);
  }
}

/// Adds the options that are not there yet, each to the group of its title.
void merge(const Usage& usage, std::vector<Usage::Group>& all) {
  for (const Usage::Group& group : usage.groups) {
    if (!group.of_recipe || group.title == "model") continue;
    auto same = std::ranges::find(all, group.title, &Usage::Group::title);
    if (same == all.end()) same = all.insert(all.end(), {group.title, {}, true});
    for (const Usage::Option& option : group.options) {
      const bool there = std::ranges::find(same->options, option.flag, &Usage::Option::flag) != same->options.end();
      if (!there) same->options.push_back(option);
    }
  }
}

/// What recipes may set: the options of every task and of every network.
std::vector<Usage::Group> options_of_recipes(int (*command)(int, char**)) {
  std::vector<Usage::Group> all;
  std::vector<std::string_view> networks;
  for (const tasks::TaskRow& task : tasks::tasks()) {
    if (const auto usage = usage_of(command, {std::string(task.name)})) merge(*usage, all);
  }
  for (const tasks::TaskRow& task : tasks::tasks()) {
    for (const std::string_view network : task.networks) {
      if (std::ranges::find(networks, network) != networks.end()) continue;
      networks.push_back(network);
      const auto usage = usage_of(command, {std::string(task.name), "--model.name", std::string(network)});
      if (!usage) continue;
      const auto group = std::ranges::find(usage->groups, "model", &Usage::Group::title);
      if (group == usage->groups.end()) continue;
      all.push_back(*group);
      all.back().title = "model, with --model.name " + std::string(network) + ": " +
                         std::string(models::model_row(network).summary);
    }
  }
  return all;
}

std::string synopsis(const Usage& usage) {
  std::string text = "attend " + usage.command;
  for (const Usage::Argument& argument : usage.arguments) {
    const std::string name = argument.name + (argument.many ? " …" : "");
    text += argument.needed ? " " + name : " [" + name + "]";
  }
  return text + " [options]";
}

void add_options(Page& page, const Command& command, const Usage& usage) {
  const bool trains = command.run == train;
  page.section("OPTIONS");
  for (const Usage::Group& group : usage.groups) {
    if (!group.of_recipe) add_group(page, group, true);
  }
  page.item("--help", "", "lists the options, with the defaults that they have after the words before it");
  if (!std::ranges::any_of(usage.groups, &Usage::Group::of_recipe)) return;
  if (!trains) {
    page.section("OPTIONS OF A RECIPE").paragraph("Those of attend-train(1), over what the recipes set.");
    return;
  }
  page.section("OPTIONS OF A RECIPE")
      .paragraph(
          "Each may be a line of a recipe or a flag, which comes after the recipe. Which of them there are and their "
          "defaults depend on task and network: attend train TASK --help lists those of a task, --dump-config prints "
          "all of them as a recipe.");
  for (const Usage::Group& group : options_of_recipes(command.run)) add_group(page, group, false);
}

std::string command_page(const Command& command) {
  const std::string name = page_name(command);
  const Usage usage = usage_of(command.run, {}).value();
  Page page(name);
  page.section("NAME").line(escaped(name) + " \\- " + escaped(command.help));
  page.section("SYNOPSIS").line("\\fB" + escaped(synopsis(usage)) + "\\fR");
  page.section("DESCRIPTION").line(escaped(usage.summary));
  for (const Usage::Argument& argument : usage.arguments) page.item(argument.name, "", argument.help);
  add_options(page, command, usage);
  page.section("EXAMPLE").literal(command.example);
  page.section("SEE ALSO").line("\\fBattend\\fR(1)");
  return page.text();
}

std::string overview() {
  Page page("attend");
  page.section("NAME").line("attend \\- attention networks on a CPU: train them, run them, look inside them");
  page.section("SYNOPSIS").line("\\fBattend\\fR \\fICOMMAND\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]");
  page.section("COMMANDS");
  page.line(escaped("Each has a page of its own, attend-COMMAND(1), and explains itself with --help."));
  for (const Command& command : commands()) page.item("attend " + std::string(command.name), "", command.help);
  page.section("OPTIONS")
      .item("-h, --help", "", "lists the commands")
      .item("-V, --version", "", "version, number type, instruction set, processor");
  page.section("RECIPES")
      .paragraph(
          "A recipe is a YAML file of options: mappings within mappings are names with dots. Defaults come first, then "
          "the recipe, then flags. With extends: OTHER, a file relative to the recipe or a recipe's name, it sets what "
          "it changes of another one. attend list recipes lists those that can be trained by name.");
  page.section("EXIT STATUS")
      .item("0", "", "done")
      .item("1", "", "it failed")
      .item("2", "", "what was asked for is not possible")
      .item("130", "", "interrupted by Ctrl-C");
  page.section("ENVIRONMENT")
      .item("ATTEND_ISA", "", "the best instruction set to use: avx512, avx2 or sse4")
      .item("OMP_NUM_THREADS", "", "threads, where --threads does not say")
      .item("NO_COLOR", "", "no colours in the terminal");
  page.section("EXAMPLES");
  std::string examples;
  for (const Command& command : commands()) examples.append(examples.empty() ? "" : "\n").append(command.example);
  page.literal(examples);
  page.section("SEE ALSO");
  std::string pages;
  for (const Command& command : commands()) {
    pages += (pages.empty() ? "" : ",\n") + ("\\fB" + escaped(page_name(command)) + "\\fR(1)");
  }
  page.line(pages);
  return page.text();
}

struct ManOptions {
  std::string out;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("out", out, "folder for all pages, in place of printing one");
  }
};

void write_pages(const fs::path& folder) {
  require_writable(folder);
  write_file(folder / "attend.1", overview());
  for (const Command& command : commands()) write_file(folder / (page_name(command) + ".1"), command_page(command));
}

}  // namespace

int man(int argc, char** argv) {
  std::string name;
  ManOptions options;
  Flags flags("man", "prints a manual page: attend man train | man -l -");
  flags.argument("COMMAND", name, "one of those that attend lists; without it, the page of attend itself", false)
      .options("man", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  if (!options.out.empty()) {
    write_pages(options.out);
    return 0;
  }
  try {
    std::cout << (name.empty() ? overview() : command_page(row_named("COMMAND", commands(), name)));
  } catch (const Error& error) {
    return flags.refuse(error.what());
  }
  return 0;
}

}  // namespace attend::cli
