#include "attend/explain/document_picture.h"

#include <algorithm>
#include <cmath>

#include "attend/explain/document.h"
#include "attend/explain/draw.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr double kPage = 760;                        // width of the text
constexpr double kWordSize = 14, kWordLine = 25;     // of the running text
constexpr double kPad = 2, kBetweenWords = 5;        // within a word's ground, and between two
constexpr double kGround = 0.5;                      // of the ramp: darker ones would need white letters
constexpr double kHopCell = 58, kSentenceLine = 19;  // of the table of sentences
constexpr double kStripRow = 15, kStripLabel = 120;  // of the strips
constexpr double kNarrowestCell = 2.5;               // of a strip: more words than fit share cells

/// Grounds of words, light enough for dark letters. A second look has the other hue.
Colour ground_of(const Scale& scale, size_t look, double value) {
  const double share = std::isfinite(value) ? kGround * value / scale.most : 0;
  if (look > 0) return diverging(-share);
  return scale.is_signed ? diverging(share) : sequential(share);
}

double picture_width(const std::string& word) { return kWordSize * text_width(word) + 2 * kPad; }

/// "start 93 %, end 2 %".
std::string looks_at(const Document& document, size_t place) {
  std::string text;
  for (const DocumentLook& look : document.looks) {
    text += (text.empty() ? "" : ", ") + (document.looks.size() > 1 ? look.name + " " : "") +
            document.scale.shown(look.values[place]);
  }
  return text;
}

/// The grounds of a word: of two looks each has a half.
std::string grounds(const Document& document, size_t word, double x, double y, double width) {
  std::string svg;
  const double part = width / static_cast<double>(std::min<size_t>(2, document.looks.size()));
  for (size_t k = 0; k < std::min<size_t>(2, document.looks.size()); ++k) {
    const double value = document.looks[k].values[word];
    if (!(std::abs(value) >= kUnseen * document.scale.most)) continue;
    svg += svg_box(x + part * static_cast<double>(k), y, part, kWordLine - 5,
                   attribute("fill", hex(ground_of(document.scale, k, value))));
  }
  return svg;
}

Fragment running_text(const Trace& trace, const Document& document) {
  Fragment all{"", kPage, 0};
  for (const std::vector<size_t>& line : wrapped_words(trace.source, kPage, kBetweenWords, picture_width)) {
    double x = 0;
    const double y = all.height;
    for (const size_t w : line) {
      const std::string& word = trace.source.words[w];
      const std::string seen = shortened_picture(word, (kPage - 2 * kPad) / kWordSize);
      const double width = picture_width(seen);
      all.svg += "<g" + attribute("class", "word") + "><title>" +
                 xml_escaped(isolated(word) + " " + looks_at(document, w)) + "</title>" +
                 grounds(document, w, x, y, width);
      if (const Covered span = covered(trace.source, trace.found, w); span.any()) {
        const double letter = width / std::max(1.0, text_width(word));
        const double from = letter * text_width(word.substr(0, span.begin)) - (span.first ? 0 : kBetweenWords);
        const double to = letter * text_width(word.substr(0, span.end));
        all.svg += svg_line(x + from, y + kWordLine - 4, to - from, kInk, 2, "span");
      }
      all.svg +=
          svg_text(seen, x + width / 2, y + 1.05 * kWordSize, kWordSize, kInk, attribute("text-anchor", "middle")) +
          "</g>\n";
      x += width + kBetweenWords;
    }
    all.height += line.empty() ? kWordLine / 2 : kWordLine;
  }
  return all;
}

/// Ramps of the looks, and what lines under words mean.
Fragment document_legend(const Trace& trace, const Document& document) {
  Fragment key{"", 0, kSwatch + 4};
  for (size_t k = 0; k < std::min<size_t>(2, document.looks.size()); ++k) {
    add_ramp(key, document.scale, document.looks.size() > 1 ? document.looks[k].name + " " : "",
             [&](double value) { return ground_of(document.scale, k, value); });
  }
  const auto underlined = [&](const std::string& words, std::string_view colour) {
    key.svg += svg_line(key.width, 0.8 * kSwatch, 16, colour, 2, "key");
    key.width += 22;
    add_key_text(key, words);
  };
  if (trace.found) underlined("the answer", kInk);
  if (!trace.copied.empty()) underlined("copied", kAccent);
  return key;
}

/// The answer in large letters; what was copied has a line below it.
Fragment answer_line(const Trace& trace) {
  const std::vector<double> copied = copied_words(trace);
  const auto copy_of = [&](size_t w) { return w < copied.size() && copied[w] >= kCopied; };
  if (std::ranges::none_of(copied, [](double share) { return share >= kCopied; })) {
    return paragraph(answer_in(trace), kPage, {kTitle, kInk, true}, 4, "→ ");
  }
  const double lead = kTitle * 1.5, space = 0.42 * kTitle, line = 1.7 * kTitle;
  Fragment all{svg_text("→", 0, kTitle, kTitle, kInk, attribute("font-weight", "bold")), 0, line};
  double x = lead;
  for (size_t w = 0; w < trace.target.words.size(); ++w) {
    const std::string seen = shortened_picture(trace.target.words[w], (kPage - lead) / kTitle / 1.12);
    const double width = 1.12 * kTitle * text_width(seen);
    if (x > lead && x + width > kPage) x = lead, all.height += line;
    const double y = all.height - line + kTitle;
    const std::string title = isolated(trace.target.words[w]) + ": copied " + percent(copied[w]);
    all.svg += "<g><title>" + xml_escaped(title) + "</title>" +
               svg_text(seen, x + width / 2, y, kTitle, kInk,
                        attribute("font-weight", "bold") + attribute("text-anchor", "middle")) +
               "</g>\n";
    if (copy_of(w)) {
      const double before = w > 0 && copy_of(w - 1) && x > lead ? space : 0;
      all.svg += svg_line(x - before, y + 4, width + before, kAccent, 2, "copied");
    }
    x += width + space;
    all.width = std::max(all.width, x);
  }
  return all;
}

/// A row per sentence, a column per hop; the largest of each hop has a frame.
class SentenceTable {
 public:
  SentenceTable(const Trace& trace, const Document& document) : trace_(trace), document_(document) {
    for (const DocumentLook& look : document.looks) {
      best_.push_back(static_cast<size_t>(std::ranges::max_element(look.values) - look.values.begin()));
    }
  }

  Fragment drawn() {
    for (size_t k = 0; k < document_.looks.size(); ++k) {
      all_.svg += svg_text(document_.looks[k].name, kHopCell * (static_cast<double>(k) + 0.5), 12, 12, kFaint,
                           attribute("text-anchor", "middle"));
    }
    all_.height = 20;
    const std::vector<std::string> sentences = sentences_of(trace_.source);
    for (const SentenceRun& run : sentence_runs(document_)) {
      if (!run.shown) gap(run.end - run.begin);
      for (size_t s = run.begin; run.shown && s < run.end; ++s) row(s, sentences[s]);
    }
    return all_;
  }

 private:
  double left() const { return kHopCell * static_cast<double>(document_.looks.size()) + 12; }

  void gap(size_t count) {
    all_.svg += svg_text("… " + std::to_string(count) + " sentences that no hop looked at", left(), all_.height + 13,
                         12, kFaint);
    all_.height += kSentenceLine;
  }

  void row(size_t s, const std::string& sentence) {
    const std::vector<std::string> lines = wrapped(sentence, (kPage - left()) / kText / 1.12, 3);
    const double y = all_.height, high = kSentenceLine * static_cast<double>(std::max<size_t>(1, lines.size())) + 3;
    for (size_t k = 0; k < document_.looks.size(); ++k) {
      const double x = kHopCell * static_cast<double>(k), value = document_.looks[k].values[s];
      const Colour colour = document_.scale.colour(value);
      all_.svg += svg_box(x, y, kHopCell - 2, high - 2, attribute("fill", hex(colour)));
      if (best_[k] == s) {
        all_.svg += svg_box(x + 0.75, y + 0.75, kHopCell - 3.5, high - 3.5,
                            attribute("class", "most") + attribute("fill", "none") + attribute("stroke", kInk) +
                                attribute("stroke-width", 1.5));
      }
      all_.svg += svg_text(document_.scale.shown(value), x + kHopCell / 2 - 1, y + high / 2 + 3.5, 11,
                           hex(ink_on(colour)), attribute("text-anchor", "middle"));
    }
    const bool most = std::ranges::find(best_, s) != best_.end();
    const Fragment text = text_lines(lines, {kText, most ? kInk : kFaint, most});
    all_.svg += placed(text, left(), y + 1);
    all_.width = std::max(all_.width, left() + text.width);
    all_.height += high;
  }

  const Trace& trace_;
  const Document& document_;
  std::vector<size_t> best_;
  Fragment all_;
};

/// For each word of the answer a strip: the words of the text from left to right, with a gap between sentences.
Fragment strips(const Trace& trace) {
  const Grid grid = map_grid(trace, trace.maps[0], "words");
  const Scale scale = scale_of(grid);
  const size_t columns = grid.columns.size();
  const double wide = kPage - kStripLabel, most_cells = std::floor(wide / kNarrowestCell);
  const auto shared = static_cast<size_t>(std::ceil(static_cast<double>(columns) / most_cells));  // words of one cell
  const size_t cells = (columns + shared - 1) / shared;
  const double cell = std::min(14.0, wide / static_cast<double>(cells));
  Fragment all{"", kStripLabel + cell * static_cast<double>(cells), 0};
  for (size_t r = 0; r < grid.rows.size(); ++r, all.height += kStripRow) {
    const std::string label = shortened_picture(grid.rows[r], (kStripLabel - 10) / 11);
    all.svg += svg_text(label, kStripLabel - 8, all.height + 10.5, 11, kInk, attribute("text-anchor", "end"));
    all.svg += svg_box(kStripLabel, all.height, cell * static_cast<double>(cells), kStripRow - 2,
                       attribute("fill", hex(scale.colour(0))));
    for (size_t i = 0; i < cells; ++i) {
      size_t best = i * shared;
      const auto value = [&](size_t c) { return static_cast<double>(grid.values.data()[r * columns + c]); };
      for (size_t c = best; c < std::min(columns, (i + 1) * shared); ++c) {
        if (std::abs(value(c)) > std::abs(value(best))) best = c;
      }
      const Colour colour = scale.colour(value(best));
      if (colour == scale.colour(0)) continue;
      all.svg += "<rect" + attribute("x", kStripLabel + cell * static_cast<double>(i)) + attribute("y", all.height) +
                 attribute("width", cell + 0.2) + attribute("height", kStripRow - 2) + attribute("fill", hex(colour)) +
                 "><title>" + xml_escaped(phrase(grid, scale, r, best)) + "</title></rect>\n";
    }
  }
  for (size_t s = 1; s < trace.source.sentences.size(); ++s) {
    const auto begins = [&](const data::TextRange& word) { return word.begin >= trace.source.sentences[s].begin; };
    const auto word =
        static_cast<size_t>(std::ranges::find_if(trace.source.word_ranges, begins) - trace.source.word_ranges.begin());
    const double x = kStripLabel + cell * static_cast<double>(word) / static_cast<double>(shared);
    all.svg += svg_box(x - 0.5, 0, 1, all.height, attribute("class", "sentence") + attribute("fill", "#8894a2"));
  }
  Fragment key{"", 0, kSwatch + 4};
  add_ramp(key, scale, "", [&](double value) { return scale.colour(value); });
  add_key_text(key, "each word of the answer, along the text; lines part sentences");
  return stacked({all, key}, 8);
}

}  // namespace

Fragment draw_document(const Trace& trace) {
  const Document document = document_of(trace);
  std::vector<Fragment> asked;
  for (const TraceSide& input : trace.inputs) asked.push_back(paragraph(input.text, kPage, {kTitle, kInk}, 4));
  asked.push_back(answer_line(trace));
  const Fragment label = paragraph(trace.maps[0].label, kPage, {kText, kFaint}, 2);
  if (document.by_sentence) return stacked({stacked(asked, 4), SentenceTable(trace, document).drawn()}, 14);
  const bool several = document.looks.size() == 1 && trace.target.words.size() > 1;
  return stacked({stacked(asked, 4), label, running_text(trace, document), document_legend(trace, document),
                  several ? strips(trace) : Fragment{}},
                 14);
}

}  // namespace attend::explain
