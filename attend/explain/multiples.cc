#include "attend/explain/multiples.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/explain/draw.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr double kMapsWide = 1040;              // of the whole, if there are many cells
constexpr double kMapGap = 18, kMapTitle = 11;  // between small maps; size of their titles
constexpr double kReadable = 11;                // the side of a cell that has room for a label

struct HeadPanel {
  size_t layer, head;  // places, not numbers
  std::string title;
  Grid grid;
};

/// Layers whose weights the trace has, in its order.
std::vector<const TraceSite*> layers_at(const Trace& trace, const std::string& site) {
  std::vector<const TraceSite*> layers;
  for (const TraceSite& one : trace.sites) {
    if (one.site == site && one.weights.defined()) layers.push_back(&one);
  }
  require(!layers.empty(), "svg_multiples: expected a trace with weights of ", site, ", got one without");
  return layers;
}

std::vector<HeadPanel> panels_of(const Trace& trace, const std::string& site, const std::string& level) {
  std::vector<HeadPanel> panels;
  double most = 0;
  const auto layers = layers_at(trace, site);
  for (size_t l = 0; l < layers.size(); ++l) {
    for (int64_t h = 0; h < layers[l]->heads; ++h) {
      const std::string title = "layer " + std::to_string(layers[l]->layer) + " · head " + std::to_string(h);
      panels.push_back({l, static_cast<size_t>(h), title, site_grid(trace, site, layers[l]->layer, h, level)});
      most = std::max(most, scale_of(panels.back().grid).most);
    }
  }
  for (HeadPanel& panel : panels) panel.grid.look.most = most;  // one scale, to make them comparable
  return panels;
}

}  // namespace

Fragment draw_heads(const Trace& trace, const std::string& site, const std::string& level) {
  const std::vector<HeadPanel> panels = panels_of(trace, site, level);
  const Grid& any = panels[0].grid;
  size_t heads = 0;
  for (const HeadPanel& panel : panels) heads = std::max(heads, panel.head + 1);
  const auto columns = static_cast<double>(std::max<size_t>(1, any.columns.size()));
  GridStyle style;
  style.cell = std::clamp(std::floor((kMapsWide / static_cast<double>(heads) - kMapGap) / columns), 2.0, 16.0);
  const bool readable = style.cell >= kReadable;
  style.row_labels = style.column_labels = readable;
  const GridPlace place = place_of(any, style);  // of one that has both labels
  const double wide = std::max(style.cell * columns, kMapTitle * text_width(panels[0].title) + 4) + kMapGap;
  const double high = style.cell * static_cast<double>(any.rows.size()) + 1.6 * kMapTitle + kMapGap;

  Fragment all;
  for (const HeadPanel& panel : panels) {
    style.row_labels = readable && panel.head == 0, style.column_labels = readable && panel.layer == 0;
    const double x = place.left + wide * static_cast<double>(panel.head);
    const double y = high * static_cast<double>(panel.layer) + (panel.layer > 0 ? place.top : 0);
    const std::vector<std::string> title{panel.title};
    all.svg += placed(text_lines(title, {kMapTitle, kFaint}), x, y);
    const double left = style.row_labels ? place.left : 0;
    const Fragment map = draw_grid(panel.grid, style);
    all.svg += placed(map, x - left, y + 1.6 * kMapTitle);
    all.width = std::max(all.width, x + std::max(wide, map.width - left));
    all.height = std::max(all.height, y + 1.6 * kMapTitle + map.height);
  }
  return all;
}

std::string svg_multiples(const Trace& trace, const std::string& site, const std::string& level) {
  const Grid mean = site_grid(trace, site, -1, -1, level);
  const std::vector<std::string> title{mean.label};
  const std::vector<std::string> scale{"all heads, in one scale"};
  const std::vector<HeadPanel> panels = panels_of(trace, site, level);
  return svg_document(
      stacked({text_lines(title, {13, kInk}), draw_grid(mean, {}), draw_legend(mean), text_lines(scale, {13, kInk}),
               draw_heads(trace, site, level), draw_legend(panels[0].grid)},
              14),
      16);
}

}  // namespace attend::explain
