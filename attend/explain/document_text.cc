#include "attend/explain/document_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/data/display_width.h"
#include "attend/explain/document.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr const char* kTextMargin = "    ";
constexpr size_t kWidestText = 100;  // columns of running text: longer lines are hard to read
constexpr size_t kNamedLooks = 3;     // words that are named of those that a word looked at
constexpr std::array<std::string_view, 5> kWordMarks = {" ", "░", "▒", "▓", "█"};
constexpr std::string_view kDocumentEscape = "\x1b[";

std::string colour_bytes(const Colour& colour) {
  return std::to_string(colour.red) + ";" + std::to_string(colour.green) + ";" + std::to_string(colour.blue);
}

std::string grounded(const std::string& text, const Colour& colour) {
  const std::string escape(kDocumentEscape);
  return escape + "48;2;" + colour_bytes(colour) + ";38;2;" + colour_bytes(ink_on(colour)) + "m" + text + escape + "0m";
}

/// The colour of a look: the first has the ramp of every map, a second one its counterpart.
Colour colour_of(const Scale& scale, size_t look, double value) {
  return look == 0 ? scale.colour(value) : diverging(-value / scale.most);
}

size_t shade_of(const Scale& scale, double value) {
  const double share = std::isfinite(value) ? std::clamp(std::abs(value) / scale.most, 0.0, 0.99) : 0;
  return static_cast<size_t>(share * static_cast<double>(kWordMarks.size()));
}

std::string without_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// The running text of a document whose looks are over words.
class RunningText {
 public:
  RunningText(const Trace& trace, const Document& document, const TextOptions& options)
      : trace_(trace), document_(document), colour_(options.ink == Ink::true_colour) {
    margin_ = std::string(kTextMargin).size();
    for (const DocumentLook& look : document.looks) {
      if (names_looks()) margin_ = std::max(margin_, data::display_width(look.name) + 2);
    }
    const size_t room = options.width == 0 ? kWidestText : std::max<size_t>(20, options.width) - margin_;
    constexpr size_t kBrackets = 2;
    width_ = static_cast<double>(std::min(kWidestText, room) - (trace.found ? kBrackets : 0));
  }

  std::string text() const {
    std::string text;
    const auto width_of = [](const std::string& word) { return static_cast<double>(data::display_width(word)); };
    for (const std::vector<size_t>& line : wrapped_words(trace_.source, width_, 1, width_of)) text += drawn(line);
    return text;
  }

 private:
  bool names_looks() const { return !colour_ && document_.looks.size() > 1; }

  std::string drawn(const std::vector<size_t>& line) const {
    std::string words(margin_, ' ');
    std::vector<std::string> marks;
    std::vector<bool> any(document_.looks.size());
    for (const DocumentLook& look : document_.looks) {
      const std::string name = names_looks() ? look.name : "";
      marks.push_back(name + std::string(margin_ - data::display_width(name), ' '));
    }
    for (size_t i = 0; i < line.size(); ++i) {
      words += i > 0 ? " " : "";
      for (std::string& mark : marks) mark += i > 0 ? " " : "";
      add_word(line[i], words, marks, any);
    }
    std::string text = without_end(std::move(words));
    for (size_t k = 0; k < marks.size() && !colour_; ++k) {
      if (any[k]) text += without_end(std::move(marks[k]));
    }
    return text;
  }

  /// A word, in brackets where the answer begins and ends, and below it the mark of each look.
  void add_word(size_t index, std::string& words, std::vector<std::string>& marks, std::vector<bool>& any) const {
    const std::string& word = trace_.source.words[index];
    const Covered span = covered(trace_.source, trace_.found, index);
    const std::string parts[] = {word.substr(0, span.begin), word.substr(span.begin, span.end - span.begin),
                                 word.substr(span.end)};
    const auto add = [&](const std::string& text) {
      words += colour_ && !text.empty() ? painted(text, index) : text;
      for (size_t k = 0; k < marks.size(); ++k) {
        const size_t shade = shade_of(document_.scale, document_.looks[k].values[index]);
        any[k] = any[k] || shade > 0;
        for (size_t c = 0; c < data::display_width(text); ++c) marks[k] += kWordMarks[shade];
      }
    };
    const auto bracket = [&](const char* sign) {
      words += sign;
      for (std::string& mark : marks) mark += " ";
    };
    add(parts[0]);
    if (span.first) bracket("[");
    add(parts[1]);
    if (span.last) bracket("]");
    add(parts[2]);
  }

  /// On the ground of what looked at it most; one that both looked at is halved.
  std::string painted(const std::string& word, size_t index) const {
    const auto value = [&](size_t k) { return document_.looks[k].values[index]; };
    const auto seen = [&](size_t k) { return std::abs(value(k)) >= kUnseen * document_.scale.most; };
    const auto ground = [&](const std::string& text, size_t k) {
      return text.empty() || !seen(k) ? text : grounded(text, colour_of(document_.scale, k, value(k)));
    };
    if (document_.looks.size() < 2) return ground(word, 0);
    if (!seen(0) || !seen(1)) return ground(word, seen(1) ? 1 : 0);
    const size_t half = data::bytes_within(word, (data::display_width(word) + 1) / 2);
    return ground(word.substr(0, half), 0) + ground(word.substr(half), 1);
  }

  const Trace& trace_;
  const Document& document_;
  const bool colour_;
  size_t margin_ = 0;
  double width_ = 0;
};

std::string document_key(const Document& document, bool colour) {
  const std::string most = document.scale.shown(document.scale.most);
  std::string text;
  if (document.looks.size() > 1 && colour) {
    text = grounded(" " + document.looks[0].name + " ", colour_of(document.scale, 0, document.scale.most / 2)) + " " +
           grounded(" " + document.looks[1].name + " ", colour_of(document.scale, 1, document.scale.most / 2)) + "  ";
  }
  if (colour) return text + "the darker, the more; the darkest is " + most + "\n";
  for (size_t i = 1; i < kWordMarks.size(); ++i) {
    const double from = document.scale.most * static_cast<double>(i) / static_cast<double>(kWordMarks.size());
    text += std::string(kWordMarks[i]) + " from " + document.scale.shown(from) + "  ";
  }
  return text + "to " + most + "\n";
}

/// Sentences as rows, hops as columns.
std::string sentence_table(const Trace& trace, const Document& document, const TextOptions& options) {
  const std::vector<std::string> sentences = sentences_of(trace.source);
  const bool colour = options.ink == Ink::true_colour;
  constexpr size_t kCell = 7;
  std::string head = kTextMargin;
  for (const DocumentLook& look : document.looks) {
    const std::string name = shortened(look.name, kCell);
    head += name + std::string(kCell + 1 - data::display_width(name), ' ');
  }
  std::string text = without_end(std::move(head));
  const size_t before = std::string(kTextMargin).size() + document.looks.size() * (kCell + 1);
  const size_t room =
      options.width == 0 ? SIZE_MAX : std::max<size_t>(16, options.width - std::min(options.width, before));
  for (const SentenceRun& run : sentence_runs(document)) {
    const std::string gap = "… " + std::to_string(run.end - run.begin) + " sentences that no hop looked at\n";
    if (!run.shown) text += kTextMargin + gap;
    for (size_t s = run.begin; run.shown && s < run.end; ++s) {
      std::string line = kTextMargin;
      for (size_t k = 0; k < document.looks.size(); ++k) {
        const double value = document.looks[k].values[s];
        const std::string number = document.scale.shown(value);
        const std::string shade(colour ? "" : text_cell(document.scale, value, Ink::shades));
        const size_t used = data::display_width(number) + data::display_width(shade);
        std::string cell = shade + std::string(kCell - std::min(kCell, used), ' ') + number;
        line += (colour ? grounded(cell, document.scale.colour(value)) : cell) + " ";
      }
      std::string sentence = sentences[s];
      std::ranges::replace(sentence, '\n', ' ');
      text += without_end(line + shortened(sentence, room));
    }
  }
  return text;
}

/// For each word of the answer what it looked at most.
std::string looks_by_word(const Trace& trace, const TextOptions& options) {
  const Grid grid = map_grid(trace, trace.maps[0], "words");
  const Scale scale = scale_of(grid);
  const std::vector<double> copied = copied_words(trace);
  size_t margin = 0;
  for (const std::string& row : grid.rows) margin = std::max(margin, std::min<size_t>(24, data::display_width(row)));
  std::string text;
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    const std::string word = shortened(grid.rows[r], margin);
    std::vector<size_t> order(grid.columns.size());
    for (size_t c = 0; c < order.size(); ++c) order[c] = c;
    const auto value = [&](size_t c) { return static_cast<double>(grid.values.data()[r * order.size() + c]); };
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t c) { return std::abs(value(c)); });
    std::string named;
    for (size_t i = 0; i < std::min(kNamedLooks, order.size()); ++i) {
      if (i > 0 && std::abs(value(order[i])) < 0.01 * scale.most) break;
      named += (i > 0 ? ", " : "") + grid.columns[order[i]] + " " + scale.shown(value(order[i]));
    }
    const std::string most = order.empty() ? "" : text_cell(scale, value(order[0]), options.ink);
    text += kTextMargin + word + std::string(margin - data::display_width(word) + 2, ' ') + most + " " + named;
    if (!copied.empty()) text += copied[r] >= kCopied ? "   copied " + percent(copied[r]) : "";
    text += "\n";
  }
  return text;
}

}  // namespace

std::string text_document(const Trace& trace, const TextOptions& options) {
  const Document document = document_of(trace);
  std::string text;
  for (const TraceSide& input : trace.inputs) text += kTextMargin + input.text + "\n";
  text += "  → " + answer_in(trace) + (trace.given ? "   (given)" : "") + "\n\n";
  if (document.by_sentence) return text + sentence_table(trace, document, options);
  text += RunningText(trace, document, options).text() + "\n" + document_key(document, options.ink == Ink::true_colour);
  if (document.looks.size() > 1 || trace.target.words.size() < 2) return text;
  return text + "\neach word and what it looked at most\n\n" + looks_by_word(trace, options);
}

}  // namespace attend::explain
