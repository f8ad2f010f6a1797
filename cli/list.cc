// `attend list`: every menu of the library, with formula and paper.
#include <algorithm>
#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/attention/align.h"
#include "attend/attention/score.h"
#include "attend/attention/window.h"
#include "attend/base/joined.h"
#include "attend/base/names.h"
#include "attend/data/display_width.h"
#include "attend/data/tokeniser.h"
#include "attend/models/encoder.h"
#include "attend/models/recurrent.h"
#include "attend/models/zoo.h"
#include "attend/nn/initial.h"
#include "attend/tasks/task.h"
#include "attend/train/bleu.h"
#include "attend/train/optimiser.h"
#include "attend/train/schedule.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/flags.h"
#include "cli/list.h"
#include "cli/recipes.h"
#include "lab/experiment.h"

namespace attend::cli {
namespace {

constexpr size_t kWidth = 120;
constexpr std::string_view kIndent = "  ", kGap = "  ";

/// Name, formula or summary, paper or source.
using Row = std::array<std::string_view, 3>;

/// The rows of a menu; the members are those that its rows call so.
template <auto menu, auto middle, auto last>
std::vector<Row> rows_of() {
  std::vector<Row> rows;
  for (const auto& row : menu()) rows.push_back({row.name, row.*middle, row.*last});
  return rows;
}

std::vector<Row> recipe_rows() {
  static const std::vector<NamedRecipe> all = named_recipes();
  std::vector<Row> rows;
  for (const NamedRecipe& recipe : all) rows.push_back({recipe.name, recipe.summary, recipe.task});
  return rows;
}

std::vector<Row> experiment_rows() {
  static const std::vector<std::string> times = [] {
    std::vector<std::string> all;
    for (const lab::Experiment& experiment : lab::experiments()) all.push_back(rough_time(60.0 * experiment.minutes));
    return all;
  }();
  std::vector<Row> rows;
  for (const lab::Experiment& row : lab::experiments()) rows.push_back({row.name, row.claim, times[rows.size()]});
  return rows;
}

struct Section {
  std::string_view name, title;
  std::string_view middle, last;  // keys of JSON
  std::vector<Row> (*rows)();
};

constexpr Section kSections[] = {
    {"tasks", "what can be trained by name", "summary", "corpus",
     rows_of<tasks::tasks, &tasks::TaskRow::summary, &tasks::TaskRow::corpus>},
    {"recipes", "what else can be trained by name", "summary", "task", recipe_rows},
    {"models", "networks", "summary", "paper",
     rows_of<models::zoo, &models::ModelRow::summary, &models::ModelRow::paper>},
    {"encoders", "how a source is read", "formula", "paper",
     rows_of<models::encoders, &models::EncoderRow::formula, &models::EncoderRow::paper>},
    {"inputs", "how a recurrent decoder is told of its input", "formula", "paper",
     rows_of<models::decoder_inputs, &models::DecoderInputRow::formula, &models::DecoderInputRow::paper>},
    {"scores", "how well a query q matches a key k: its energy e", "formula", "paper",
     rows_of<attend::scores, &ScoreRow::formula, &ScoreRow::paper>},
    {"windows", "which key j a query i may see", "formula", "paper",
     rows_of<attend::windows, &WindowRow::formula, &WindowRow::paper>},
    {"aligns", "how energies e become weights", "formula", "paper",
     rows_of<attend::aligns, &AlignRow::formula, &AlignRow::paper>},
    {"initialisers", "what weights begin with", "formula", "paper",
     rows_of<nn::initialisers, &nn::InitialiserRow::formula, &nn::InitialiserRow::paper>},
    {"optimisers", "how a gradient g moves a parameter p", "formula", "paper",
     rows_of<train::optimisers, &train::OptimiserRow::formula, &train::OptimiserRow::paper>},
    {"schedules", "the learning rate at step s", "formula", "source",
     rows_of<train::schedules, &train::ScheduleRow::formula, &train::ScheduleRow::source>},
    {"tokenisers", "what a token is (tokeniser.kind)", "summary", "paper",
     rows_of<data::tokenisers, &data::TokeniserRow::summary, &data::TokeniserRow::paper>},
    {"bleu-tokenisers", "BLEU: how lines become words", "summary", "source",
     rows_of<train::bleu_tokenisers, &train::BleuTokeniserRow::summary, &train::BleuTokeniserRow::source>},
    {"bleu-smoothings", "BLEU: what an order of n-grams without a match counts", "formula", "paper",
     rows_of<train::bleu_smoothings, &train::BleuSmoothingRow::formula, &train::BleuSmoothingRow::paper>},
    {"experiments", "claims about attention that `attend lab NAME --out DIR` shows, and how long that takes", "claim", "time",
     experiment_rows},
};

std::string padded(std::string_view text, size_t width) {
  const size_t used = data::display_width(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

/// How much of `text` goes into a line of `width` columns: up to a blank, and rather up to the end of a clause than to
/// another word of the next. A first word that is too long stays whole.
size_t line_length(std::string_view text, size_t width) {
  if (data::display_width(text) <= width) return text.size();
  size_t word = std::min(text.find(' '), text.size()), clause = 0;
  for (size_t end = word; end < text.size() && data::display_width(text.substr(0, end)) <= width;
       end = text.find(' ', end + 1)) {
    word = end;
    if (text[end - 1] == ',' || text[end - 1] == ';') clause = end;
  }
  return clause > word / 2 ? clause : word;
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, line_length(text, width)));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

size_t widest(const std::vector<Row>& rows, size_t column) {
  size_t width = 0;
  for (const Row& row : rows) width = std::max(width, data::display_width(row[column]));
  return width;
}

/// Widths of the three columns; where the two that are wrapped do not fit, the last has what it needs, up to half.
std::array<size_t, 3> column_widths(const std::vector<Row>& rows) {
  const size_t name = widest(rows, 0), middle = widest(rows, 1), last = widest(rows, 2);
  const size_t room = kWidth - kIndent.size() - name - 2 * kGap.size();
  const size_t shared = std::max(room - std::min(room, last), room / 2);
  const size_t taken = middle + last <= room ? middle : std::min(middle, shared);
  return {name, taken, room - taken};
}

void print_section(const Section& section) {
  const std::vector<Row> rows = section.rows();
  const auto [name, middle, last] = column_widths(rows);
  std::cout << section.name << " – " << section.title << "\n\n";
  for (const Row& row : rows) {
    const auto formula = wrapped(row[1], middle), paper = wrapped(row[2], last);
    for (size_t i = 0; i < std::max(formula.size(), paper.size()); ++i) {
      const auto line = [i](const std::vector<std::string>& lines) { return i < lines.size() ? lines[i] : ""; };
      std::string text(kIndent);
      text.append(padded(i == 0 ? row[0] : "", name)).append(kGap).append(padded(line(formula), middle));
      text.append(kGap).append(line(paper));
      std::cout << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
    }
  }
}

nlohmann::ordered_json json_of(const Section& section) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [name, middle, last] : section.rows()) {
    rows.push_back({{"name", name}, {std::string(section.middle), middle}, {std::string(section.last), last}});
  }
  return rows;
}

void print_json(std::span<const Section> sections) {
  nlohmann::ordered_json all;
  for (const Section& section : sections) all[std::string(section.name)] = json_of(section);
  std::cout << all.dump(2) << '\n';
}

void print_sections(std::span<const Section> sections) {
  for (const Section& section : sections) {
    if (&section != sections.data()) std::cout << '\n';
    print_section(section);
  }
}

struct ListOptions {
  bool json = false;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("json", json, "as JSON");
  }
};

}  // namespace

std::vector<std::string_view> list_sections() {
  std::vector<std::string_view> names;
  for (const Section& section : kSections) names.push_back(section.name);
  return names;
}

void print_list(std::string_view section) { print_section(row_named("SECTION", kSections, section)); }

int list(int argc, char** argv) {
  std::string name;
  ListOptions options;
  const std::string names = joined(kSections, ", ", &Section::name);
  Flags flags("list", "lists what there is to choose from, with formula and paper");
  flags.argument("SECTION", name, "one section alone: " + names, false).options("list", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  std::span<const Section> wanted = kSections;
  if (!name.empty()) wanted = std::span(&row_named("SECTION", kSections, name), 1);
  options.json ? print_json(wanted) : print_sections(wanted);
  return 0;
}

}  // namespace attend::cli
