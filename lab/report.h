// What an experiment found: whether its claim held, part by part, with tables, figures and what to try next. Written as a
// page, as Markdown with its figures beside it, and as JSON with every number and the story that `attend serve --lab` tells.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "attend/explain/plot.h"

namespace attend::lab {

/// A part of a claim that a number decides.
struct Check {
  std::string expected;  ///< "with attention, long sentences are as right as short ones"
  std::string measured;  ///< "98.1 against 99.0 %"
  bool held = false;
};

struct Text {
  std::string title, text;  ///< a heading, or ""; a paragraph
};
struct Table {
  std::string title;  ///< what is in its cells
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  ///< the first cell of each is its name
  bool words = false;                          ///< the other cells are words, not numbers
};
struct Figure {
  std::string name;  ///< of its file, without .svg
  std::string svg, caption;
};
/// A place at which models can be tried, where the report is shown by a server that has them; files leave it out.
struct Live {
  std::string title;              ///< a heading; "": it belongs to what is shown before it
  std::string text;               ///< what to do there, and what to look for
  std::vector<std::string> runs;  ///< those that are compared, the most telling first
  /// Of "length", "head" and "model", those that show something; each only if the models have it.
  std::vector<std::string> sliders = {"length"};
  int64_t longest = 0;  ///< how far length goes, in words or letters; 0: as far as the examples
};
using Block = std::variant<Text, Table, Figure, Live>;

/// A trained model, in the folder models/`folder`.
struct Model {
  std::string run;
  int64_t seed = 1;
  std::string folder;
};
/// Examples that these runs were tested with: [{"source", "reference", …}].
struct Tested {
  std::vector<std::string> runs;
  nlohmann::ordered_json examples;
};

/// A command to go on with, and why.
struct Next {
  std::string command, why;
};

struct Report {
  std::string name, title, claim;
  int64_t number = 0;  ///< its place among the experiments
  bool quick = false;
  std::string command;  ///< that makes it, without its folder
  std::string set_up;   ///< the data, and what all models have in common
  std::string common;   ///< the options that all models share
  Table runs;           ///< the models, with what sets each apart
  std::vector<Check> checks;
  std::vector<Block> blocks;
  std::vector<Next> next;
  std::vector<Model> models;
  std::vector<Tested> tests;
  nlohmann::ordered_json numbers;  ///< all that was measured

  void check(std::string expected, bool held, std::string measured);
  void text(std::string title, std::string text) { blocks.push_back(Text{std::move(title), std::move(text)}); }
  void plot(std::string name, const explain::Plot& plot, std::string caption);
  void figure(std::string name, std::string svg, std::string caption);
  void live(Live live) { blocks.emplace_back(std::move(live)); }

  /// "held", "held in part" or "refuted".
  std::string verdict() const;
};

std::string html_of(const Report& report);
/// Its figures are files beside it.
std::string markdown_of(const Report& report);
nlohmann::ordered_json json_of(const Report& report);
/// report.html, report.md, report.json and an SVG for each figure.
void write_report(const Report& report, const std::filesystem::path& folder);

}  // namespace attend::lab
