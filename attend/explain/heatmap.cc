#include "attend/explain/heatmap.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/base/error.h"
#include "attend/data/display_width.h"
#include "attend/explain/draw.h"

namespace attend::explain {
namespace {

constexpr std::array<std::string_view, 5> kShades = {"  ", "░░", "▒▒", "▓▓", "██"};
constexpr std::array<std::string_view, 5> kAgainst = {"  ", "-░", "-▒", "-▓", "-█"};

Grid grid_of(const Tensor& weights, std::span<const std::string> rows, std::span<const std::string> columns,
             const HeatmapOptions& options) {
  return {weights, {rows.begin(), rows.end()}, {columns.begin(), columns.end()}, options, ""};
}

std::string painted(const std::string& text, const Colour& colour) {
  const auto parts = [](const Colour& c) {
    return std::to_string(c.red) + ";" + std::to_string(c.green) + ";" + std::to_string(c.blue);
  };
  return "\x1b[48;2;" + parts(colour) + ";38;2;" + parts(ink_on(colour)) + "m" + text + "\x1b[0m";
}

/// For shares hundredths of the whole, for other numbers hundredths of the largest; those that round to 0 are left
/// blank.
std::string hundredths(const Scale& scale, double value) {
  if (!std::isfinite(value)) return "  ?";
  const long whole = std::lround(std::clamp(100 * value / (scale.share ? 1 : scale.most), -99.0, 100.0));
  const std::string digits = whole == 0 ? "" : std::to_string(whole);
  return std::string(3 - digits.size(), ' ') + digits;
}

class TextHeatmap {
 public:
  TextHeatmap(const Grid& grid, const TextOptions& options)
      : grid_(grid),
        width_(options.width),
        colour_(options.ink == Ink::true_colour),
        cell_(colour_ ? 3 : 2),
        scale_(scale_of(grid)) {
    const size_t longest = width_ == 0 ? SIZE_MAX : std::max<size_t>(4, width_ / 3);
    for (const std::string& row : grid.rows) rows_.push_back(shortened(row, longest));
    for (const std::string& column : grid.columns) columns_.push_back(shortened(column, longest));
    size_t widest = 0;
    for (const std::string& row : rows_) widest = std::max(widest, data::display_width(row));
    margin_ = widest + 3;
  }

  std::string text() const {
    if (columns_.empty()) return rows(0, 0);
    std::string text;
    for (size_t begin = 0; begin < columns_.size();) {
      const size_t end = block_end(begin);
      text += (begin > 0 ? "\n" : "") + headings(begin, end) + rows(begin, end);
      begin = end;
    }
    return text;
  }

 private:
  /// Columns from `begin` that fit the terminal, with their labels; at least one.
  size_t block_end(size_t begin) const {
    size_t end = begin + 1;
    const auto fits = [&](size_t c) {
      return margin_ + (c - begin) * (cell_ + 1) + std::max(cell_ + 1, data::display_width(columns_[c])) <= width_;
    };
    while (end < columns_.size() && (width_ == 0 || fits(end))) ++end;
    return end;
  }

  /// Labels above columns, each on its own line with a thin line down to its column: the last one first.
  std::string headings(size_t begin, size_t end) const {
    std::string text;
    for (size_t shown = end; shown-- > begin;) {
      text += std::string(margin_, ' ');
      for (size_t c = begin; c < shown; ++c) text += "│" + std::string(cell_, ' ');
      text += columns_[shown] + "\n";
    }
    return text;
  }

  std::string rows(size_t begin, size_t end) const {
    std::string text;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const size_t has = data::display_width(rows_[r]);
      // Without the mark, a terminal that handles text direction would reverse the numbers after the label.
      text += std::string(margin_ - 1 - has, ' ') + rows_[r] + (right_to_left(rows_[r]) ? "\u200E" : "");
      const auto* window = r < grid_.look.windows.size() && grid_.look.windows[r] ? &*grid_.look.windows[r] : nullptr;
      for (size_t c = begin; c < end; ++c) text += edge(window, c, c == begin) + cell(r, c);
      if (window && static_cast<size_t>(window->last) + 1 == end) text += "]";
      while (text.ends_with(' ')) text.pop_back();
      text += "\n";
    }
    return text;
  }

  /// What precedes column c: the mark of a window that begins there or has just ended.
  std::string edge(const RowWindow* window, size_t c, bool first) const {
    const auto column = static_cast<int64_t>(c);
    if (window && column == window->first) return "[";
    return window && column == window->last + 1 && !first ? "]" : " ";
  }

  std::string cell(size_t r, size_t c) const {
    const auto value = static_cast<double>(grid_.values.data()[r * grid_.columns.size() + c]);
    if (!grid_.look.hard) return text_cell(scale_, value, colour_ ? Ink::true_colour : Ink::shades);
    const double share = value / scale_.most;
    const std::string sign = share >= 0.5 ? "●" : share > 0 ? "○" : " ";
    return colour_ ? painted(" " + sign + " ", scale_.colour(0)) : sign + " ";
  }

  const Grid& grid_;
  const size_t width_;
  const bool colour_;
  const size_t cell_;
  const Scale scale_;
  std::vector<std::string> rows_, columns_;
  size_t margin_ = 0;
};

}  // namespace

std::string text_heatmap(const Tensor& weights, std::span<const std::string> rows,
                         std::span<const std::string> columns) {
  return text_heatmap(grid_of(weights, rows, columns, {.most = 1}), {});
}

std::string text_heatmap(const Grid& grid, const TextOptions& options) {
  check_grid("text_heatmap", grid);
  return TextHeatmap(grid, options).text();
}

std::string text_cell(const Scale& scale, double value, Ink ink) {
  if (ink == Ink::true_colour) return painted(hundredths(scale, value), scale.colour(value));
  const double size = scale.is_signed ? std::abs(value / scale.most) : value / scale.most;
  const auto shade = static_cast<size_t>(std::min(0.99, std::max(0.0, size)) * kShades.size());
  return std::string(scale.is_signed && value < 0 ? kAgainst[shade] : kShades[shade]);
}

std::string text_legend(const Grid& grid, const TextOptions& options) {
  const Scale scale = scale_of(grid);
  const std::string most = scale.shown(scale.most);
  std::string text;
  if (grid.look.hard) {
    text = "● the choice";
  } else if (options.ink == Ink::true_colour) {
    text =
        scale.share ? "numbers are per cent; the darkest is " + most : "numbers are hundredths of the largest, " + most;
  } else {
    for (size_t i = 1; i < kShades.size(); ++i) {
      text +=
          std::string(kShades[i]) + " from " + scale.shown(scale.most * static_cast<double>(i) / kShades.size()) + "  ";
    }
    text += "to " + most;
  }
  if (scale.is_signed && !grid.look.hard) text += "; with a minus: against the word";
  if (!grid.look.windows.empty()) text += "; [ ] the window";
  return text + "\n";
}

std::string svg_heatmap(const Tensor& weights, std::span<const std::string> rows, std::span<const std::string> columns,
                        const HeatmapOptions& options) {
  return svg_heatmap(grid_of(weights, rows, columns, options));
}

std::string svg_heatmap(const Grid& grid) {
  check_grid("svg_heatmap", grid);
  return svg_document(draw_grid(grid, {}), 10);
}

}  // namespace attend::explain
