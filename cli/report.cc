#include "cli/report.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attend/base/replacement.h"
#include "attend/explain/heatmap.h"
#include "attend/explain/report_page.h"
#include "attend/train/bleu.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace attend::cli {
namespace {

namespace fs = std::filesystem;
using explain::escaped_markup;
using explain::figure;
using explain::fixed;
using explain::in_markdown;
using explain::inlined;
using nlohmann::ordered_json;

constexpr std::pair<double, double> kScoreBounds{0, 100};

/// The task's main score; of a task without any, a row for curves of nothing.
const train::ScoreRow& main_score(const Comparison& c) {
  static constexpr train::ScoreRow kNone{"score", "Score", "score", "", 1, nullptr};
  return c.score ? *c.score : kNone;
}

/// A column of the table. `better`: 1 more is, −1 less is, 0 neither.
struct Column {
  std::string title, explained;
  int better;
  std::function<std::optional<double>(const Compared&)> value;
  std::string (*text)(double);
};

std::optional<double> speed(const Compared& model) {
  if (!model.tokens || !model.seconds || *model.seconds <= 0) return {};
  return static_cast<double>(*model.tokens) / *model.seconds;
}

Column score_column(const train::ScoreRow& row) {
  const std::string name(row.name);
  return {std::string(row.title), std::string(row.about), row.better,
          [name](const Compared& m) -> std::optional<double> {
            if (!m.measured || !m.measured->scores.contains(name)) return {};
            return m.measured->scores.at(name);
          },
          [](double v) { return fixed(v, 1); }};
}

/// The task's scores, the main one first, and what every training has; without those that no model has anything for.
std::vector<Column> columns_of(const Comparison& c) {
  std::vector<Column> columns;
  for (const std::string_view name : c.row->scores) columns.push_back(score_column(train::score_named(name)));
  columns.push_back({"AER", "alignment error rate against the gold alignment; less is better", -1,
                     [](const Compared& m) -> std::optional<double> {
                       if (!m.measured || !m.measured->alignment) return {};
                       return m.measured->alignment->error_rate;
                     },
                     [](double v) { return fixed(v, 3); }});
  columns.push_back({"Parameters", "numbers that are learned", 0,
                     [](const Compared& m) -> std::optional<double> {
                       if (!m.measured) return {};
                       return static_cast<double>(m.measured->parameters);
                     },
                     short_number});
  columns.push_back({"Training", "time of training, without validations", -1,
                     [](const Compared& m) { return m.seconds; }, clock_time});
  std::string counted(c.row->input().counted);
  counted[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(counted[0])));
  columns.push_back({counted + "/s", "what training reads per second", 0, speed, short_number});
  std::erase_if(columns, [&](const Column& column) {
    return std::ranges::none_of(c.models, [&](const Compared& model) { return column.value(model).has_value(); });
  });
  return columns;
}

/// Whether no other model shows a better value, and some show a worse one.
bool is_best(const Comparison& c, const Column& column, const Compared& model) {
  const auto value = column.value(model);
  if (!value || column.better == 0) return false;
  bool any_worse = false;
  for (const Compared& other : c.models) {
    const auto its = column.value(other);
    if (!its || column.text(*its) == column.text(*value)) continue;
    if (column.better * *its > column.better * *value) return false;
    any_worse = true;
  }
  return any_worse;
}

std::string cell(const Column& column, const Compared& model) {
  const auto value = column.value(model);
  return value ? column.text(*value) : "–";
}

std::vector<std::string> names_of(const Comparison& c) {
  std::vector<std::string> names;
  for (const Compared& model : c.models) names.push_back(model.name);
  return names;
}

const Compared* first_measured(const Comparison& c) {
  const auto found = std::ranges::find_if(c.models, [](const Compared& m) { return m.measured.has_value(); });
  return found == c.models.end() ? nullptr : &*found;
}

std::string main_table(const Comparison& c) {
  const std::vector<Column> columns = columns_of(c);
  std::string html = "<div class=\"wide\"><table class=\"sorted\"><thead><tr><th scope=\"col\">Model</th>";
  for (const Column& column : columns) {
    html += "<th scope=\"col\" title=\"" + escaped_markup(column.explained) + "\">" + column.title + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < c.models.size(); ++i) {
    const Compared& model = c.models[i];
    html += "<tr><th scope=\"row\">" + inlined(explain::svg_mark(i)) + "<span>" + escaped_markup(model.name);
    if (model.state != "finished") html += " <em class=\"" + model.state + "\">" + model.state + "</em>";
    if (!model.options.empty()) html += "<small>" + escaped_markup(model.options) + "</small>";
    html += "</span></th>";
    for (const Column& column : columns) {
      const auto value = column.value(model);
      const std::string text = cell(column, model);
      html += "<td" + (value ? " data-v=\"" + std::to_string(*value) + "\"" : std::string()) + ">" +
              (is_best(c, column, model) ? "<strong>" + text + "</strong>" : text) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string length_table(const Comparison& c, const Compared& first) {
  std::string html = "<details><summary>The numbers</summary><div class=\"wide\"><table><thead><tr><th scope=\"col\">" +
                     std::string("Source ") + c.unit + "</th>";
  for (const train::LengthGroup& group : first.groups) html += "<th scope=\"col\">" + group.text() + "</th>";
  html += "</tr></thead><tbody><tr><th scope=\"row\">sentences</th>";
  for (const train::LengthGroup& group : first.groups) html += "<td>" + std::to_string(group.count) + "</td>";
  html += "</tr>\n";
  for (const Compared& model : c.models) {
    if (model.by_length.empty()) continue;
    html += "<tr><th scope=\"row\">" + escaped_markup(model.name) + "</th>";
    for (const double score : model.by_length) html += "<td>" + (std::isnan(score) ? "–" : fixed(score, 1)) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></details>\n";
}

std::string answer_card(const Compared& model, size_t index, const tasks::ShownAnswer& shown) {
  const std::string html = "<div class=\"card\"><h4>" + inlined(explain::svg_mark(index)) + escaped_markup(model.name) +
                           "</h4><p class=\"said\">" + escaped_markup(shown.text) + "</p>";
  if (!shown.picture.empty()) return html + inlined(shown.picture) + "</div>\n";
  return html + "<p class=\"none\">This model does not attend to its source.</p></div>\n";
}

std::string answers(const Comparison& c) {
  const Compared* first = first_measured(c);
  if (first == nullptr || first->measured->shown.empty()) return "";
  std::string html =
      "<h2>Where they look</h2>\n<p>The same examples for all models. Source words stand above, the answer to the "
      "left; the darker a cell, the more the model looked there when it said the word.</p>\n";
  for (size_t k = 0; k < first->measured->shown.size(); ++k) {
    const tasks::ShownAnswer& asked = first->measured->shown[k];
    html += "<section><h3>" + escaped_markup(asked.title) +
            "</h3><p class=\"said\">Reference: " + escaped_markup(asked.reference) + "</p><div class=\"cards\">\n";
    for (size_t i = 0; i < c.models.size(); ++i) {
      const Compared& model = c.models[i];
      if (!model.measured || k >= model.measured->shown.size()) continue;
      html += answer_card(model, i, model.measured->shown[k]);
    }
    html += "</div></section>\n";
  }
  return html;
}

std::string failures(const Comparison& c) {
  std::string html;
  for (const Compared& model : c.models) {
    if (model.error.empty()) continue;
    html += "<li><b>" + escaped_markup(model.name) + "</b>: " + escaped_markup(model.error) + "</li>\n";
  }
  return html.empty() ? "" : "<h2>What failed</h2>\n<ul class=\"failed\">\n" + html + "</ul>\n";
}

/// "Scored on 1000 sentences: …".
std::string scored_on(const Comparison& c) {
  const Compared* first = first_measured(c);
  if (first == nullptr) return "No model has been scored yet.";
  std::string text = "Scored on " + std::to_string(first->test.examples.count) +
                     (c.row->input().streamed ? " sentences" : " " + std::string(c.row->input().several)) + ": " + first->test.name + ".";
  if (!c.same_test) text += " Not all models had the same examples: compare their scores with care.";
  return text;
}

/// "BLEU", "exact match".
std::string score_in_words(const Comparison& c) {
  const std::string_view unit = main_score(c).unit;
  return std::string(unit.substr(0, unit.find(',')));
}

/// The same at the beginning of a title.
std::string score_title(const Comparison& c) {
  std::string title = score_in_words(c);
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return title;
}

std::string length_caption(const Comparison& c) {
  return score_title(c) + " among the sources of each length. Long ones are harder for all: compare the lines within a group.";
}

std::string learning_caption(const Comparison& c) {
  return "The validations during training: " + score_in_words(c) +
         " by greedy search, and the loss per target token. Losses are comparable between models with the same "
         "vocabulary.";
}

bool learned(const Comparison& c) {
  return std::ranges::any_of(c.models, [](const Compared& m) { return !m.curve.steps.empty(); });
}

ordered_json number_or_null(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json numbers(const std::vector<double>& values) {
  ordered_json all = ordered_json::array();
  for (const double value : values) all.push_back(number_or_null(value));
  return all;
}

ordered_json json_of(const Compared& model, const std::string& score) {
  ordered_json json{{"name", model.name}, {"folder", model.folder}, {"options", model.options}, {"state", model.state}};
  if (!model.error.empty()) json["error"] = model.error;
  if (model.steps) json["steps"] = *model.steps;
  if (model.tokens) json["tokens"] = *model.tokens;
  if (model.seconds) json["seconds"] = *model.seconds;
  if (const auto rate = speed(model)) json["tokens_per_second"] = *rate;
  if (model.measured) json["parameters"] = model.measured->parameters, json["scores"] = model.scores;
  for (size_t i = 0; i < model.by_length.size(); ++i) {
    const train::LengthGroup& group = model.groups[i];
    json["by_length"].push_back({{"from", group.first},
                                 {"to", group.last ? ordered_json(*group.last) : ordered_json(nullptr)},
                                 {"sentences", group.count},
                                 {score, number_or_null(model.by_length[i])}});
  }
  json["curve"] = {{"step", numbers(model.curve.steps)},
                   {"minutes", numbers(model.curve.minutes)},
                   {"valid_loss", numbers(model.curve.loss)},
                   {score, numbers(model.curve.score)}};
  return json;
}

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string blanks(width - std::min(width, data::display_width(text)), ' ');
  return left ? text + blanks : blanks + text;
}

}  // namespace

explain::Plot length_plot(const Comparison& c) {
  explain::Plot plot{.title = score_title(c) + " by length of the " + c.measured_side(),
                     .x_label = c.unit + " in the " + c.measured_side() + " (sentences)",
                     .y_label = std::string(main_score(c).unit),
                     .series = {},
                     .categories = {},
                     .bounds = kScoreBounds};
  const Compared* first = first_measured(c);
  if (first == nullptr) return plot;
  for (const train::LengthGroup& group : first->groups) {
    plot.categories.push_back(group.text() + " (" + std::to_string(group.count) + ")");
  }
  for (const Compared& model : c.models) {
    if (model.by_length.empty()) continue;
    explain::Series series{model.name, {}, model.by_length};
    for (size_t i = 0; i < model.by_length.size(); ++i) series.xs.push_back(static_cast<double>(i));
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::vector<explain::Plot> learning_plots(const Comparison& c) {
  const std::string title = score_title(c), unit(main_score(c).unit);
  std::vector<explain::Plot> plots{
      {title + " in validation, by step", "step", unit, {}, {}, kScoreBounds},
      {"Loss in validation, by step", "step", "loss per token", {}, {}},
      {title + " in validation, by time", "minutes of training", unit, {}, {}, kScoreBounds}};
  for (const Compared& model : c.models) {
    const tasks::Curve& curve = model.curve;
    if (curve.steps.empty()) continue;
    plots[0].series.push_back({model.name, curve.steps, curve.score});
    plots[1].series.push_back({model.name, curve.steps, curve.loss});
    plots[2].series.push_back({model.name, curve.minutes, curve.score});
  }
  return plots;
}

std::string html_report(const Comparison& c) {
  const std::vector<std::string> names = names_of(c);
  std::string body =
      "<h1>" + std::to_string(c.models.size()) + " models compared</h1>\n<p class=\"about\">" +
      escaped_markup(c.subject) + ". " + escaped_markup(scored_on(c)) + "</p>\n" + main_table(c) +
      "<p class=\"note\">The best of each score is bold. A heading that is pressed sorts by its column.</p>\n" +
      failures(c);
  const auto drawn = [&](const explain::Plot& plot) { return explain::svg_plots(std::span(&plot, 1), names); };
  if (const Compared* first = first_measured(c); first && !first->groups.empty()) {
    body += "<h2>" + score_title(c) + " by length</h2>\n" +
            figure(drawn(length_plot(c)), length_caption(c)) + length_table(c, *first);
  }
  if (learned(c)) {
    body += "<h2>How they learned</h2>\n" + figure(explain::svg_plots(learning_plots(c), names), learning_caption(c));
  }
  body += answers(c) + "<footer><p>" +
          (main_score(c).name == "bleu" ? "BLEU: " + escaped_markup(train::bleu_signature()) + ". " : "") +
          "Made by <code>attend compare</code>; every number is in report.json.</p></footer>\n";
  return explain::report_page("Models compared", body);
}

std::string markdown_report(const Comparison& c) {
  const std::vector<Column> columns = columns_of(c);
  std::string text = "# " + std::to_string(c.models.size()) + " models compared\n\n" + c.subject + ". " + scored_on(c) +
                     "\n\n| model |",
              rule = "|---|";
  for (const Column& column : columns) text += " " + column.title + " |", rule += "---:|";
  text += "\n" + rule + "\n";
  for (const Compared& model : c.models) {
    text += "| " + in_markdown(model.name) + (model.state == "finished" ? "" : " (" + model.state + ")") + " |";
    for (const Column& column : columns) {
      const std::string bold = is_best(c, column, model) ? "**" : "";
      text += " " + bold + cell(column, model) + bold + " |";
    }
    text += "\n";
  }
  for (const Compared& model : c.models) {
    if (!model.error.empty()) text += "\n" + model.name + " failed: " + model.error + "\n";
  }
  if (const Compared* first = first_measured(c); first && !first->groups.empty()) {
    text += "\n![" + score_title(c) + " by length of the source](score-by-length.svg)\n";
  }
  if (learned(c)) text += "\n![Learning curves](learning-curves.svg)\n";
  return text;
}

ordered_json json_report(const Comparison& c) {
  ordered_json models = ordered_json::array();
  for (const Compared& model : c.models) models.push_back(json_of(model, std::string(main_score(c).name)));
  const Compared* first = first_measured(c);
  return {{"subject", c.subject},     {"test", first == nullptr ? "" : first->test.name},
          {"same_test", c.same_test}, {"score", main_score(c).name},
          {"length_unit", c.unit},    {"models", std::move(models)}};
}

std::string text_table(const Comparison& c) {
  const std::vector<Column> columns = columns_of(c);
  std::vector<std::vector<std::string>> rows(1, {"model"});
  for (const Column& column : columns) rows[0].push_back(column.title);
  for (const Compared& model : c.models) {
    rows.push_back({model.name + (model.state == "finished" ? "" : " (" + model.state + ")")});
    for (const Column& column : columns) {
      rows.back().push_back(cell(column, model) + (is_best(c, column, model) ? "*" : " "));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (size_t k = 0; k < row.size(); ++k) {
      size_t width = 0;
      for (const std::vector<std::string>& other : rows) width = std::max(width, data::display_width(other[k]));
      text += (k == 0 ? "" : "  ") +
              padded(&row == &rows[0] && k > 0 ? row[k] + " " : row[k], k > 0 ? width + 1 : width, k == 0);
    }
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  return text;
}

void write_report(const Comparison& c, const fs::path& folder) {
  const std::vector<std::string> names = names_of(c);
  const explain::Plot by_length = length_plot(c);
  write_file(folder / "report.json", json_report(c).dump(2) + "\n");
  write_file(folder / "score-by-length.svg", explain::svg_plots(std::span(&by_length, 1), names));
  write_file(folder / "learning-curves.svg", explain::svg_plots(learning_plots(c), names));
  write_file(folder / "report.md", markdown_report(c));
  write_file(folder / "report.html", html_report(c));
}

}  // namespace attend::cli
