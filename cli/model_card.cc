#include "cli/model_card.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/base/joined.h"
#include "attend/train/scores.h"
#include "cli/progress.h"

namespace attend::cli {
namespace {

using tasks::ModelFacts;
using Facts = std::vector<std::pair<std::string, std::string>>;

/// 1234567 → "1,234,567".
std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string with_digits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string data_fact(const ModelFacts& facts) {
  std::string text = facts.corpus.empty() ? joined(facts.files) : "the built-in corpus " + facts.corpus;
  if (facts.examples) text += "; " + grouped(*facts.examples) + " examples";
  if (!facts.vocabularies.empty()) {
    text += "; vocabulary " + joined(facts.vocabularies, " → ", [](const auto& one) { return grouped(one.second); });
  }
  return text;
}

std::string training_fact(const ModelFacts& facts) {
  std::string text = facts.outcome + ": " + grouped(facts.steps) + " steps";
  if (facts.seconds) text += " in " + clock_time(*facts.seconds) + ", validations not counted";
  if (facts.averaged) return text + "; the mean of the last weights";
  return facts.weights_of_step ? text + "; weights of step " + grouped(*facts.weights_of_step) : text;
}

/// Each score with its title; the perplexity where a loss is one of words.
Facts score_facts(const ModelFacts& facts) {
  Facts all;
  if (facts.loss) {
    all.emplace_back("loss", with_digits(*facts.loss, 3));
    if (facts.row->input().counted == "tokens") all.emplace_back("perplexity", with_digits(std::exp(*facts.loss), 2));
  }
  for (const auto& [name, score] : facts.scores) {
    all.emplace_back(train::score_named(name).title, with_digits(score, 1));
  }
  return all;
}

/// All but scores and options, which are lists.
Facts fact_rows(const ModelFacts& facts) {
  Facts rows{{"task", std::string(facts.row->name) + ": " + std::string(facts.row->summary)},
             {"network", facts.network + ": " + facts.summary + (facts.paper.empty() ? "" : " (" + facts.paper + ")")},
             {"size", grouped(facts.parameters) + " parameters, " +
                          with_digits(static_cast<double>(facts.bytes) / (1 << 20), 1) + " MiB"},
             {"data", data_fact(facts)},
             {"training", training_fact(facts)}};
  if (!facts.version.empty()) rows.emplace_back("trained by", "attend " + facts.version);
  return rows;
}

/// Text of a folder inside a table of Markdown.
std::string in_markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& head) {
  const auto line = [](const std::vector<std::string>& cells) { return "| " + joined(cells, " | ", in_markdown) + " |\n"; };
  std::string text = line(head) + "|" + joined(head, "", [](const std::string&) { return "---|"; }) + "\n";
  for (const auto& row : rows) text += line(row);
  return text;
}

std::string how_to_use(const ModelFacts& facts) {
  const bool text = facts.row->input().streamed;
  const std::string file = facts.row->input().is_image() ? " image.png" : " sound.wav";
  return std::string("    attend run ") + facts.name + (text ? " < in.txt > out.txt\n" : file + "\n") +
         "    attend explain " + facts.name + (text ? " \"some text\"" : file) + " --out why.html\n" +
         "    attend serve " + facts.name + "\n";
}

}  // namespace

std::string info_text(const ModelFacts& facts) {
  Facts rows = fact_rows(facts);
  const Facts scores = score_facts(facts);
  if (!scores.empty()) {
    rows.emplace_back("validation", joined(scores, ", ", [](const auto& one) { return one.first + " " + one.second; }));
  }
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text = facts.name + "\n";
  for (const auto& [what, said] : rows) text += "  " + what + std::string(width + 2 - what.size(), ' ') + said + "\n";
  if (facts.changed.empty()) return text + "  all options as by default\n";
  text += "  options that differ from the defaults:\n";
  for (const tasks::ChangedOption& option : facts.changed) {
    text += "    " + option.name + " " + (option.value.empty() ? "none" : option.value) + "  (default " +
            (option.otherwise.empty() ? "none" : option.otherwise) + ")\n";
  }
  return text;
}

std::string model_card(const ModelFacts& facts) {
  const auto cells = [](const Facts& list) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [what, said] : list) rows.push_back({what, said});
    return rows;
  };
  std::string text = "# " + in_markdown(facts.name) + "\n\n" + markdown_table(cells(fact_rows(facts)), {"", ""});
  if (const Facts scores = score_facts(facts); !scores.empty()) {
    text += "\n## Scores\n\nOf these weights on the validation examples, which training did not see; answers by greedy search.\n\n" +
            markdown_table(cells(scores), {"score", "value"});
  }
  text += "\n## Use\n\n" + how_to_use(facts) + "\n## Options\n\n";
  if (facts.changed.empty()) return text + "All options have their defaults (`config.yml`).\n";
  std::vector<std::vector<std::string>> rows;
  for (const tasks::ChangedOption& option : facts.changed) rows.push_back({option.name, option.value, option.otherwise});
  return text + "Those that differ from the defaults; `config.yml` has all.\n\n" +
         markdown_table(rows, {"option", "value", "default"});
}

}  // namespace attend::cli
