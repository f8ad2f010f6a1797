// Traces of documents, made by hand: an answer found in one, hops over its sentences, and a summary.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "attend/data/utf8.h"
#include "attend/explain/trace.h"

namespace attend::test {

/// A text whose words are its tokens.
inline explain::TraceSide word_side(const std::string& text) {
  explain::TraceSide side{text, {}, {}, {}, {}};
  for (const std::string_view word : data::split_words(text)) {
    side.word_of.push_back(static_cast<int32_t>(side.words.size()));
    side.words.emplace_back(word), side.tokens.emplace_back(word);
  }
  return side;
}

inline explain::TraceSide input_side(const std::string& name, const std::string& text) {
  explain::TraceSide side = word_side(text);
  side.name = name;
  explain::locate(side);
  return side;
}

/// The index of a word in a side; its `nth` occurrence from 0.
inline size_t place_of_word(const explain::TraceSide& side, const std::string& word, int nth = 0) {
  for (size_t i = 0; i < side.words.size(); ++i) {
    if (side.words[i].starts_with(word) && nth-- == 0) return i;
  }
  return 0;
}

/// Where a row looks: a word and its weight.
struct Peak {
  std::string word;
  real weight;
};
/// A row of weights over a side: the peaks, and the rest evenly.
inline std::vector<real> peaked_row(const explain::TraceSide& side, const std::vector<Peak>& peaks) {
  real left = 1;
  for (const Peak& peak : peaks) left -= peak.weight;
  std::vector<real> row(side.words.size(), left / static_cast<real>(side.words.size()));
  for (const Peak& peak : peaks) row[place_of_word(side, peak.word)] += peak.weight;
  return row;
}

inline void set_map(explain::Trace& trace, const std::vector<std::vector<real>>& rows, const std::string& keys,
                    const std::string& site) {
  std::vector<real> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  const auto high = static_cast<int64_t>(rows.size()), wide = static_cast<int64_t>(rows[0].size());
  const Tensor map = Tensor::of({high, wide}, values);
  trace.maps = {{"attention", "attention", site, -1, -1, false, map, map, "target", keys}};
}

/// "Who built the lighthouse?" of two paragraphs, with letters of several bytes before the answer.
inline explain::Trace span_trace() {
  explain::Trace trace;
  trace.model = "squad", trace.task = "answer", trace.network = "reader", trace.parameters = 1234567;
  trace.source = input_side(
      "document",
      "The island of Ærø – “the pearl” – lies in the Baltic Sea. Its old lighthouse was built in 1881 by the engineer "
      "Søren Kjær Hansen, who had come from Aalborg.\n\nIt burned down in 1902 and was rebuilt by the people of the "
      "island. Today it is a café, open from May to September, and nobody remembers how bright it was.");
  trace.inputs = {input_side("question", "Who built the lighthouse?")};
  trace.target = {"Søren Kjær Hansen", {"Søren", "Hansen"}, {"Søren", "Hansen"}, {0, 1}, {}, "span"};
  trace.log_probability = trace.score = -0.31, trace.token_log_probabilities = {-0.2, -0.11};
  const auto begin = static_cast<int64_t>(trace.source.text.find("Søren"));
  trace.found = data::TextRange{begin, static_cast<int64_t>(trace.source.text.find(",", static_cast<size_t>(begin)))};
  const auto people = static_cast<int64_t>(trace.source.text.find("the people"));
  trace.answers = {{trace.target.text, -0.31, -0.31, true, -1, trace.found},
                   {"the people of the island", -2.4, -2.4, true, -1, data::TextRange{people, people + 24}}};
  set_map(trace,
          {peaked_row(trace.source, {{"Søren", 0.78}, {"engineer", 0.08}, {"people", 0.07}}),
           peaked_row(trace.source, {{"Hansen", 0.84}, {"Kjær", 0.06}, {"island.", 0.06}})},
          "source", "reader.pointer");
  explain::TraceSite pointer{"reader.pointer", Purpose::source, 0, 1, "target", "source"};
  pointer.weights = trace.maps[0].tokens.reshape({1, 2, static_cast<int64_t>(trace.source.words.size())});
  explain::TraceSite question{"reader.question", Purpose::question, 0, 1, "source", "question"};
  question.weights = Tensor::full({1, static_cast<int64_t>(trace.source.words.size()), 4}, 0.25);
  trace.sites = {pointer, question};
  return trace;
}

/// "Where is the milk?" of a story in lines, three hops; `more` sentences of no use come first.
inline explain::Trace hops_trace(int more = 0) {
  explain::Trace trace;
  trace.model = "babi", trace.task = "answer", trace.network = "memory", trace.parameters = 12345;
  std::string story;
  for (int i = 0; i < more; ++i) story += "Mary slept for " + std::to_string(i + 2) + " hours.\n";
  story +=
      "Joe went to the kitchen.\nFred went to the kitchen.\nJoe picked up the milk.\nJoe travelled to the office.\n"
      "Joe left the milk.\nJoe went to the bathroom.";
  trace.source = input_side("document", story);
  trace.inputs = {input_side("question", "Where is the milk?")};
  trace.target = {"office", {"office"}, {"office"}, {0}, {}, "label"};
  trace.log_probability = -0.06, trace.score = 0.94, trace.token_log_probabilities = {-0.06};
  trace.answers = {{"office", 0.94, -0.06, true, -1}, {"kitchen", 0.04, -3.2, true, -1}};
  constexpr real kHops[3][6] = {{0.02, 0.01, 0.22, 0.01, 0.72, 0.02},
                                {0.03, 0.01, 0.06, 0.81, 0.04, 0.05},
                                {0.01, 0.01, 0.02, 0.94, 0.01, 0.01}};
  const auto sentences = static_cast<int64_t>(trace.source.sentences.size());
  std::vector<real> mean(static_cast<size_t>(sentences));
  for (int64_t hop = 0; hop < 3; ++hop) {
    explain::TraceSite site{"memory.hop", Purpose::hop, hop, 1, "target", "sentences"};
    site.weights = Tensor::zeros({1, 1, sentences});
    for (int64_t s = 0; s < 6; ++s) {
      site.weights.data()[more + s] = kHops[hop][s];
      mean[static_cast<size_t>(more + s)] += kHops[hop][s] / 3;
    }
    trace.sites.push_back(site);
  }
  set_map(trace, {mean}, "sentences", "memory.hop");
  return trace;
}

/// A headline of a paragraph; what is a name in it was copied.
inline explain::Trace summary_trace() {
  explain::Trace trace;
  trace.model = "headlines", trace.task = "summarise", trace.network = "recurrent", trace.parameters = 2345678;
  trace.source = input_side(
      "",
      "A fire broke out late on Tuesday evening in a warehouse near the harbour of Karlskrona, police said. Nobody was "
      "hurt, but traffic along the coast had to be stopped for three hours while firemen from four towns fought the "
      "flames with water from the sea. The owner, Ingrid Vestergaard, told reporters that she had no idea how the fire could have "
      "started, since the building had been empty for weeks. An investigation is to begin on Wednesday, a spokesman of "
      "the police added, and the road is open again.");
  trace.target = word_side("fire destroys warehouse in Karlskrona");
  trace.target.tokens.emplace_back("</s>"), trace.target.word_of.push_back(-1);
  trace.copied = {0.71, 0.02, 0.88, 0.31, 0.99, 0};
  trace.log_probability = -2.1, trace.score = -0.35;
  trace.token_log_probabilities = {-0.3, -0.9, -0.2, -0.5, -0.1, -0.1};
  trace.answers = {{trace.target.text, -0.35, -2.1, true, -1}};
  std::vector<std::vector<real>> rows{peaked_row(trace.source, {{"fire", 0.7}, {"flames", 0.1}}),
                                      peaked_row(trace.source, {{"broke", 0.4}, {"flames", 0.2}, {"fought", 0.1}}),
                                      peaked_row(trace.source, {{"warehouse", 0.8}}),
                                      peaked_row(trace.source, {{"near", 0.3}, {"in", 0.2}, {"harbour", 0.2}}),
                                      peaked_row(trace.source, {{"Karlskrona", 0.93}})};
  set_map(trace, rows, "source", "decoder.memory");
  rows.push_back(peaked_row(trace.source, {{"again.", 0.5}}));
  const auto words = static_cast<int64_t>(trace.source.words.size());
  std::vector<real> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  trace.maps[0].tokens = Tensor::of({6, words}, values);
  trace.sites = {{"decoder.memory", Purpose::source, 0, 1, "target", "source"}};
  trace.sites[0].weights = trace.maps[0].tokens.reshape({1, 6, words});
  return trace;
}

/// With words that are long, wide, from right to left, and full of signs that XML and scripts know; the last line is
/// empty.
inline explain::Trace odd_document_trace() {
  explain::Trace trace = span_trace();
  trace.source =
      input_side("document", "</script><b>&\"' Donaudampfschifffahrtsgesellschaftskapitän.\n\n漢字かな שלום {title}\n");
  trace.inputs = {input_side("question", "</p> שלום?")};
  trace.found = data::TextRange{0, static_cast<int64_t>(trace.source.text.find(' '))};
  trace.target.text = trace.source.words[0], trace.answers.clear();
  trace.sites.clear();
  set_map(trace,
          {peaked_row(trace.source, {{"</script>", 0.8}}),
           peaked_row(trace.source, {{"</script>", 0.5}, {"שלום", 0.3}})},
          "source", "reader.pointer");
  return trace;
}

}  // namespace attend::test
