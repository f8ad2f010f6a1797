#include "attend/explain/picture.h"

#include <algorithm>
#include <cstdio>

#include "attend/base/error.h"
#include "attend/explain/document.h"
#include "attend/explain/document_picture.h"
#include "attend/explain/draw.h"
#include "attend/explain/heard.h"
#include "attend/explain/labels.h"
#include "attend/explain/multiples.h"
#include "attend/explain/sound_picture.h"
#include "attend/explain/tree_picture.h"

namespace attend::explain {
namespace {

constexpr double kNarrowest = 480;  // of a text, so that a small map does not squeeze it into many lines

std::string log_probability(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text[0] == '-' ? "−" + std::string(text + 1) : text;
}

std::string right_aligned(const std::string& text, double x, std::string_view colour) {
  return "<text" + attribute("x", x) + attribute("y", kSmall) + attribute("font-size", kSmall) +
         attribute("fill", colour) + attribute("text-anchor", "end") + ">" + xml_escaped(text) + "</text>\n";
}

/// A change, what it did, and what that means, under a thin line.
Fragment evidence_row(const std::string& change, const std::string& before, const std::string& after,
                      const std::string& meaning, double width, std::string_view colour) {
  constexpr double kNumber = 60;
  Fragment row = stacked({paragraph(change, width - 2 * kNumber - 10, {kSmall, colour}, 4),
                          paragraph(meaning, width - 2 * kNumber - 10, {kSmall, kFaint}, 4)},
                         0);
  row.svg += right_aligned(before, width - kNumber, colour) + right_aligned(after, width, colour) + "<line" +
             attribute("x2", width) + attribute("y1", row.height + 2) + attribute("y2", row.height + 2) +
             attribute("stroke", "#d9dfe6") + "/>\n";
  row.width = width, row.height += 4;
  return row;
}

Fragment evidence(const Trace& trace, double width) {
  if (trace.evidence.empty()) return {};
  const std::string heading = "what a change does to the mean log-probability of the answer's words";
  std::vector<Fragment> rows{evidence_row(heading, "before", "after", "", width, kFaint)};
  for (const TraceEvidence& one : trace.evidence) {
    rows.push_back(
        evidence_row(one.change, log_probability(one.before), log_probability(one.after), one.meaning, width, kInk));
  }
  return stacked(rows, 4);
}

/// The site whose heads are shown: the map's, or otherwise the first that has weights.
std::string site_with_heads(const Trace& trace) {
  if (!trace.maps.empty() && !trace.maps[0].site.empty()) return trace.maps[0].site;
  for (const TraceSite& site : trace.sites) {
    if (site.weights.defined()) return site.site;
  }
  fail("picture: heads: expected a trace with weights, got one without");
}

/// Under its own heading: the map above may be of another method.
Fragment all_heads(const Trace& trace, const std::string& level) {
  const std::string site = site_with_heads(trace);
  const std::vector<std::string> heading{"attention: all heads of " + site};
  return stacked({text_lines(heading, {kText, kFaint}), draw_heads(trace, site, level)}, 8);
}

/// The sound's name and the answer; a label for each place is read in the picture.
std::string sound_picture(const Trace& trace, const PictureOptions& options) {
  const Fragment sound = draw_sound(trace, options.level);
  const double width = std::max(kNarrowest, sound.width);
  const std::string answer = trace.target.kind == "tags" ? "" : trace.target.text;
  const Fragment title = stacked({paragraph(trace.source.text, width, {kText, kFaint}, 2),
                                  paragraph(answer, width, {kTitle, kInk, true}, 8, "→ ")},
                                 2);
  const std::string label = trace.maps.empty() ? "" : trace.maps[0].label;
  const Fragment heads = options.heads ? all_heads(trace, options.level) : Fragment{};
  return svg_document(
      stacked({title, paragraph(label, width, {kText, kFaint}, 2), sound, heads, evidence(trace, width)}, 14), 20);
}

}  // namespace

std::string svg_picture(const Trace& trace, const PictureOptions& options) {
  if (is_sound(trace)) return sound_picture(trace, options);
  require(!trace.maps.empty(), "picture: expected a trace with a map, got one without");
  if (is_document(trace)) {
    const Fragment document = draw_document(trace);
    const Fragment below = options.heads ? all_heads(trace, options.level) : Fragment{};
    return svg_document(stacked({document, below, evidence(trace, document.width)}, 16), 20);
  }
  const Grid grid = map_grid(trace, trace.maps[0], options.level);
  const Fragment map = draw_grid(grid, {});
  const Fragment heads = options.heads ? all_heads(trace, options.level) : Fragment{};
  const Fragment tree = is_tree(trace) ? draw_tree(trace) : Fragment{};
  const double width = std::max({kNarrowest, map.width, heads.width, tree.width});
  const Fragment answer =
      tree.svg.empty() ? paragraph(trace.target.text, width, {kTitle, kInk, true}, 4, "→ ") : Fragment{};
  const Fragment title = stacked({paragraph(trace.source.text, width, {kTitle, kInk, true}, 4), answer}, 2);
  return svg_document(stacked({title, tree, paragraph(grid.label, width, {kText, kFaint}, 2), map, draw_legend(grid),
                               heads, evidence(trace, width)},
                              16),
                      20);
}

}  // namespace attend::explain
