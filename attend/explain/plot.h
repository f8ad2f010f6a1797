// Line plots as SVG: a few series over numbers or categories, readable on light and dark pages, in print and without colour.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace attend::explain {

/// A line through (xs[i], ys[i]); a y that is not finite is a gap in it.
struct Series {
  std::string name;
  std::vector<double> xs, ys;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  std::vector<std::string> categories;  ///< the names of x = 0, 1, …; empty: x is a number
  std::optional<std::pair<double, double>>
      bounds;  ///< limits of y, such as 0 and 100, which its axis does not exceed
  bool log_x = false, log_y = false;  ///< equal ratios are equally far apart; what is not above 0 is then a gap
};

/// Numbers 1, 2 or 5 times a power of ten apart that cover [low, high], about `count` of them.
std::vector<double> round_ticks(double low, double high, int count = 5);

/// Numbers that cover [low, high], both above 0, for an axis of ratios: powers of ten, and 2 and 5 times these where they are few.
std::vector<double> ratio_ticks(double low, double high);

/// The plots one above the other, with one legend: series of the same name look the same in all of them, in the order
/// of `names` (if empty, that of the first plot). Each series has its own colour, dash and marker; its name is also
/// written at its end, unless it would cover another.
std::string svg_plots(std::span<const Plot> plots, std::span<const std::string> names = {});
std::string svg_plot(const Plot& plot);

/// The line and marker of series `index`, small, for a table on a page that contains plots or plot_style().
std::string svg_mark(size_t index);

/// The colours of all series on light and dark pages: a <style> element, which svg_plots already includes.
std::string plot_style();

/// Text for an SVG or a page: & < > and quotes as entities.
std::string escaped_markup(std::string_view text);

}  // namespace attend::explain
