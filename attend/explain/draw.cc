#include "attend/explain/draw.h"

#include <algorithm>
#include <cmath>

#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr double kLabelGap = 8;          // between a label and the cells
constexpr double kWidestLabel = 13;      // in units of the font's size
constexpr double kSlant = 0.7071;        // column labels are at 45 degrees
constexpr double kFontLine = 1.15;       // a line of text, in units of the font's size
constexpr size_t kMostTooltips = 20000;  // cells; with more, a picture would have some megabytes of tooltips

double font_of(double cell) { return std::clamp(0.6 * cell, 8.0, 13.0); }

/// Labels that would touch are left out: every n-th is drawn.
size_t every_nth(double font, double room) {
  return static_cast<size_t>(std::max(1.0, std::ceil(kFontLine * font / room)));
}

double widest(std::span<const std::string> labels, double font) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, text_width(label));
  return font * std::min(width, kWidestLabel);
}

/// A label at (x, y); a shortened one has its full text as a tooltip.
std::string label(const std::string& text, double x, double y, double font, const std::string& more) {
  const std::string seen = shortened_picture(text, kWidestLabel);
  std::string svg = "<text" + attribute("x", x) + attribute("y", y) + attribute("font-size", font) +
                    attribute("fill", kInk) + more + ">" + xml_escaped(isolated(seen));
  if (seen != text) svg += "<title>" + xml_escaped(text) + "</title>";
  return svg + "</text>\n";
}

std::string column_labels(const Grid& grid, const GridPlace& place) {
  std::string svg;
  const double font = font_of(place.cell);
  const size_t step = every_nth(font, kSlant * place.cell);
  for (size_t c = 0; c < grid.columns.size(); c += step) {
    const double x = place.left + place.cell * (static_cast<double>(c) + 0.5) + font / 4, y = place.top - kLabelGap / 2;
    const std::string turn = "rotate(-45 " + svg_number(x) + " " + svg_number(y) + ")";
    svg += label(grid.columns[c], x, y, font, attribute("transform", turn));
  }
  return svg;
}

std::string row_labels(const Grid& grid, const GridPlace& place) {
  std::string svg;
  const double font = font_of(place.cell);
  for (size_t r = 0; r < grid.rows.size(); r += every_nth(font, place.cell)) {
    const double y = place.top + place.cell * (static_cast<double>(r) + 0.5) + 0.36 * font;
    svg += label(grid.rows[r], place.left - kLabelGap, y, font, attribute("text-anchor", "end"));
  }
  return svg;
}

std::string rectangle(double x, double y, double width, double height, const std::string& more) {
  return "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height) +
         more;
}

std::string outline(std::string_view name, std::string_view colour, double width) {
  return attribute("class", name) + attribute("fill", "none") + attribute("stroke", colour) +
         attribute("stroke-width", width) + "/>\n";
}

std::string dot_svg(double x, double y, double radius) {
  return "<circle" + attribute("class", "choice") + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
         attribute("fill", kAccent) + "/>\n";
}

std::string upright(std::string_view name, double x, double y, double high, std::string_view colour, double width) {
  return "<line" + attribute("class", name) + attribute("x1", x) + attribute("x2", x) +
         attribute("y1", y + 0.15 * high) + attribute("y2", y + 0.85 * high) + attribute("stroke", colour) +
         attribute("stroke-width", width) + "/>\n";
}

/// Cells on a background with the colour of 0, so that cells of 0 need not be drawn.
class Cells {
 public:
  Cells(const Grid& grid, const GridPlace& place)
      : grid_(grid), place_(place), scale_(scale_of(grid)), tooltips_(grid.values.size() <= kMostTooltips) {}

  std::string svg() const {
    const auto wide = static_cast<double>(grid_.columns.size()), high = static_cast<double>(grid_.rows.size());
    std::string svg;
    if (!tooltips_) {
      svg = rectangle(place_.left, place_.top, wide * place_.cell, high * place_.cell,
                      attribute("fill", hex(scale_.colour(0))) + "/>\n");
    }
    const auto best = strongest(grid_);
    for (size_t r = 0; r < grid_.rows.size(); ++r) {
      for (size_t c = 0; c < grid_.columns.size(); ++c) svg += cell(r, c);
      if (!grid_.look.hard && best[r] && place_.cell >= 10) svg += ring(r, *best[r]);
    }
    for (size_t r = 0; r < grid_.look.windows.size(); ++r) {
      if (grid_.look.windows[r]) svg += window(r, *grid_.look.windows[r]);
    }
    return svg;
  }

 private:
  double x_of(double column) const { return place_.left + place_.cell * column; }
  double y_of(size_t row) const { return place_.top + place_.cell * static_cast<double>(row); }
  double between() const { return place_.cell >= 10 ? 1 : 0; }

  std::string cell(size_t r, size_t c) const {
    const auto value = static_cast<double>(grid_.values.data()[r * grid_.columns.size() + c]);
    const Colour colour = scale_.colour(grid_.look.hard ? 0 : value);
    const double x = x_of(static_cast<double>(c)), y = y_of(r), side = place_.cell - between();
    std::string svg;
    if (tooltips_) {
      svg = rectangle(x, y, side, side, attribute("fill", hex(colour))) + "><title>" +
            xml_escaped(phrase(grid_, scale_, r, c)) + "</title></rect>\n";
    } else if (colour != scale_.colour(0)) {
      svg = rectangle(x, y, side, side, attribute("fill", hex(colour)) + "/>\n");
    }
    if (grid_.look.hard && value > 0) {
      svg += dot_svg(x + side / 2, y + side / 2, 0.34 * side * std::sqrt(std::min(1.0, value / scale_.most)));
    }
    return svg;
  }

  std::string ring(size_t r, size_t c) const {
    const double side = place_.cell - between() - 1.5;
    return rectangle(x_of(static_cast<double>(c)) + 0.75, y_of(r) + 0.75, side, side, outline("most", kInk, 1.5));
  }

  std::string window(size_t r, const RowWindow& window) const {
    const double x = x_of(static_cast<double>(window.first)), y = y_of(r), high = place_.cell - between();
    const double wide = place_.cell * static_cast<double>(window.last - window.first + 1) - between();
    const double line = place_.cell >= 10 ? 1.5 : 0.5, centre = x_of(window.centre + 0.5) - between() / 2;
    return rectangle(x, y, wide, high, outline("window", kFaint, line)) +
           upright("halo", centre, y, high, "#ffffff", 3 * line) + upright("centre", centre, y, high, kInk, line);
  }

  const Grid& grid_;
  const GridPlace& place_;
  const Scale scale_;
  const bool tooltips_;
};

}  // namespace

GridPlace place_of(const Grid& grid, const GridStyle& style) {
  const auto columns = static_cast<double>(std::max<size_t>(1, grid.columns.size()));
  const auto rows = static_cast<double>(std::max<size_t>(1, grid.rows.size()));
  GridPlace place;
  place.cell = style.cell > 0 ? style.cell : std::clamp(std::floor(std::min(1200 / columns, 1600 / rows)), 3.0, 30.0);
  const double font = font_of(place.cell);
  place.left = style.row_labels ? std::ceil(widest(grid.rows, font) + kLabelGap) : 0;
  if (!style.column_labels) return place;
  const double slanted = kSlant * widest(grid.columns, font);
  place.top = std::ceil(slanted + kSlant * font + kLabelGap / 2);
  place.right = std::ceil(std::max(0.0, slanted + font / 4 - place.cell / 2));
  return place;
}

Fragment draw_grid(const Grid& grid, const GridStyle& style) {
  const GridPlace place = place_of(grid, style);
  Fragment fragment;
  if (style.column_labels) fragment.svg += column_labels(grid, place);
  if (style.row_labels) fragment.svg += row_labels(grid, place);
  fragment.svg += Cells(grid, place).svg();
  fragment.width = place.left + place.cell * static_cast<double>(grid.columns.size()) + place.right;
  fragment.height = place.top + place.cell * static_cast<double>(grid.rows.size());
  return fragment;
}

void add_key_text(Fragment& key, const std::string& words) {
  key.svg += svg_text(words, key.width, 0.85 * kSwatch, kSmall, kFaint);
  key.width += kSmall * text_width(words) + 6;
}

void add_ramp(Fragment& key, const Scale& scale, const std::string& name, const std::function<Colour(double)>& colour) {
  constexpr int kSteps = 24;
  const double from = scale.is_signed ? -1 : 0;
  add_key_text(key, name + (from < 0 ? scale.shown(-scale.most) + " against" : "0"));
  for (int i = 0; i < kSteps; ++i) {
    const double share = from + (1 - from) * i / (kSteps - 1.0);
    key.svg += svg_box(key.width + 4 * i, 0, 4.2, kSwatch, attribute("fill", hex(colour(share * scale.most))));
  }
  key.width += 4 * kSteps + 6;
  add_key_text(key, scale.shown(scale.most) + (from < 0 ? " for" : ""));
  key.width += 12;
}

Fragment draw_legend(const Grid& grid) {
  const Scale scale = scale_of(grid);
  Fragment fragment{"", 0, kSwatch + 4};
  if (!grid.look.hard) add_ramp(fragment, scale, "", [&](double value) { return scale.colour(value); });
  const auto key = [&](const std::string& sign, const std::string& words) {
    fragment.svg += placed({sign, 0, 0}, fragment.width, 0);
    fragment.width += kSwatch + 6;
    add_key_text(fragment, words);
    fragment.width += 12;
  };
  if (grid.look.hard) {
    key(dot_svg(kSwatch / 2, kSwatch / 2, 0.4 * kSwatch), "the choice");
  } else {
    key(rectangle(0.75, 0.75, kSwatch - 1.5, kSwatch - 1.5, outline("key", kInk, 1.5)),
        grid.look.is_signed ? "largest of its row, for or against" : "largest of its row");
  }
  if (!grid.look.windows.empty()) {
    key(rectangle(0.75, 0.75, kSwatch - 1.5, kSwatch - 1.5, outline("key", kFaint, 1.5)), "window, its centre a line");
  }
  return fragment;
}

}  // namespace attend::explain
