#include "lab/report.h"

#include <algorithm>

#include "attend/base/replacement.h"
#include "attend/explain/report_page.h"
#include "lab/story.h"

namespace attend::lab {
namespace {

namespace fs = std::filesystem;
using explain::escaped_markup;
using explain::in_markdown;
using nlohmann::ordered_json;

std::string html_of_table(const Table& table) {
  std::string html = table.title.empty() ? "" : "<h3>" + escaped_markup(table.title) + "</h3>\n";
  html += std::string("<div class=\"wide\"><table") + (table.words ? " class=\"words\"" : "") + "><thead><tr>";
  for (const std::string& cell : table.head) html += "<th scope=\"col\">" + escaped_markup(cell) + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    html += "<tr><th scope=\"row\">" + escaped_markup(row.at(0)) + "</th>";
    for (size_t k = 1; k < row.size(); ++k) html += "<td>" + escaped_markup(row[k]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string markdown_of_table(const Table& table) {
  std::string text = table.title.empty() ? "" : "### " + table.title + "\n\n";
  std::string rule = "|";
  const char* const aligned = table.words ? "---|" : "---:|";
  text += "|";
  for (const std::string& cell : table.head)
    text += " " + in_markdown(cell) + " |", rule += rule == "|" ? "---|" : aligned;
  text += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + in_markdown(cell) + " |";
    text += "\n";
  }
  return text + "\n";
}

std::string html_of_block(const Block& block) {
  if (const auto* table = std::get_if<Table>(&block)) return html_of_table(*table);
  if (const auto* figure = std::get_if<Figure>(&block)) return explain::figure(figure->svg, figure->caption);
  if (std::holds_alternative<Live>(block)) return "";
  const Text& text = std::get<Text>(block);
  return (text.title.empty() ? "" : "<h2>" + escaped_markup(text.title) + "</h2>\n") +
         (text.text.empty() ? "" : "<p>" + escaped_markup(text.text) + "</p>\n");
}

std::string markdown_of_block(const Block& block) {
  if (const auto* table = std::get_if<Table>(&block)) return markdown_of_table(*table);
  if (const auto* figure = std::get_if<Figure>(&block)) {
    return "![" + figure->caption + "](" + figure->name + ".svg)\n\n*" + figure->caption + "*\n\n";
  }
  if (std::holds_alternative<Live>(block)) return "";
  const Text& text = std::get<Text>(block);
  return (text.title.empty() ? "" : "## " + text.title + "\n\n") + (text.text.empty() ? "" : text.text + "\n\n");
}

std::string about(const Report& report) {
  return report.quick
             ? "A quick run: it shows the direction of the claim, not the figures. Without --quick it is done in full."
             : "";
}

}  // namespace

void Report::check(std::string expected, bool held, std::string measured) {
  checks.push_back({std::move(expected), std::move(measured), held});
}

void Report::figure(std::string name, std::string svg, std::string caption) {
  blocks.push_back(Figure{std::move(name), std::move(svg), std::move(caption)});
}

void Report::plot(std::string name, const explain::Plot& plot, std::string caption) {
  figure(std::move(name), explain::svg_plot(plot), std::move(caption));
}

std::string Report::verdict() const {
  const auto held = static_cast<size_t>(std::ranges::count(checks, true, &Check::held));
  return held == checks.size() ? "held" : held == 0 ? "refuted" : "held in part";
}

std::string html_of(const Report& report) {
  std::string body = "<h1>" + escaped_markup(report.title) + "</h1>\n<blockquote><p>" + escaped_markup(report.claim) +
                     "</p></blockquote>\n";
  if (const std::string note = about(report); !note.empty())
    body += "<p class=\"note\">" + escaped_markup(note) + "</p>\n";
  body += "<h2>Here it " + (report.verdict() == "refuted" ? "is refuted" : report.verdict()) +
          "</h2>\n<ul class=\"checks\">\n";
  for (const Check& check : report.checks) {
    body += std::string("<li") + (check.held ? "" : " class=\"refuted\"") + ">" + escaped_markup(check.expected) +
            ": " + (check.held ? "" : "no, ") + escaped_markup(check.measured) + "</li>\n";
  }
  body += "</ul>\n<h2>Set-up</h2>\n<p>" + escaped_markup(report.set_up) + "</p>\n" + html_of_table(report.runs);
  if (!report.common.empty())
    body += "<p class=\"note\">All of them: <code>" + escaped_markup(report.common) + "</code></p>\n";
  for (const Block& block : report.blocks) body += html_of_block(block);
  if (!report.next.empty()) body += "<h2>What to try next</h2>\n";
  for (const Next& next : report.next) {
    body += "<p>" + escaped_markup(next.why) + "</p>\n<pre><code>" + escaped_markup(next.command) + "</code></pre>\n";
  }
  body +=
      "<footer><p>Made by <code>" + escaped_markup(report.command) +
      "</code>; every number is in report.json. <code>attend serve --lab DIR</code> leads through it, with its models "
      "to try.</p></footer>\n";
  return explain::report_page(report.title, body);
}

std::string markdown_of(const Report& report) {
  std::string text = "# " + report.title + "\n\n> " + report.claim + "\n\n";
  if (const std::string note = about(report); !note.empty()) text += note + "\n\n";
  text += "## Here it " + (report.verdict() == "refuted" ? "is refuted" : report.verdict()) + "\n\n";
  for (const Check& check : report.checks) {
    text += std::string("- ") + (check.held ? "✓ " : "✗ ") + check.expected + ": " + (check.held ? "" : "no, ") +
            check.measured + "\n";
  }
  text += "\n## Set-up\n\n" + report.set_up + "\n\n" + markdown_of_table(report.runs);
  if (!report.common.empty()) text += "All of them: `" + report.common + "`\n\n";
  for (const Block& block : report.blocks) text += markdown_of_block(block);
  if (!report.next.empty()) text += "## What to try next\n\n";
  for (const Next& next : report.next) text += next.why + "\n\n    " + next.command + "\n\n";
  return text + "Made by `" + report.command +
         "`; every number is in report.json. `attend serve --lab DIR` leads through it, with its models to try.\n";
}

ordered_json json_of(const Report& report) {
  ordered_json checks = ordered_json::array();
  for (const Check& check : report.checks) {
    checks.push_back({{"expected", check.expected}, {"measured", check.measured}, {"held", check.held}});
  }
  ordered_json models = ordered_json::array(), tests = ordered_json::array();
  for (const Model& model : report.models) {
    models.push_back({{"run", model.run}, {"seed", model.seed}, {"folder", model.folder}});
  }
  for (const Tested& test : report.tests) tests.push_back({{"runs", test.runs}, {"examples", test.examples}});
  return {{"experiment", report.name},   {"number", report.number},     {"title", report.title},
          {"command", report.command},   {"claim", report.claim},       {"quick", report.quick},
          {"verdict", report.verdict()}, {"checks", std::move(checks)}, {"story", story_of(report)},
          {"models", std::move(models)}, {"tests", std::move(tests)},   {"numbers", report.numbers}};
}

void write_report(const Report& report, const fs::path& folder) {
  for (const Block& block : report.blocks) {
    if (const auto* figure = std::get_if<Figure>(&block)) write_file(folder / (figure->name + ".svg"), figure->svg);
  }
  write_file(folder / "report.json", json_of(report).dump(2) + "\n");
  write_file(folder / "report.md", markdown_of(report));
  write_file(folder / "report.html", html_of(report));
}

}  // namespace attend::lab
