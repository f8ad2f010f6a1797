#include "attend/explain/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "attend/base/error.h"
#include "attend/data/display_width.h"
#include "attend/explain/labels.h"

namespace attend::explain {
namespace {

constexpr double kWidth = 760, kHeight = 330;            // of one plot, its texts included
constexpr double kTop = 34, kBottom = 52, kLeft = 58;    // room for title, x's texts, y's texts
constexpr double kLetter = 6.6, kLine = 15, kFont = 12;  // a letter's width, a line's height, of texts of kFont
constexpr double kMostLabel = 150, kLegendLine = 20;     // room for names at the ends; height of a legend's line
constexpr double kMark = 4;                              // half of a marker's width

/// Colours that colour-blind people can tell apart (after Okabe & Ito 2008), darker for light pages and lighter for
/// dark ones; each with a dash and a marker, so that none is recognised by colour alone.
struct Look {
  const char *light, *dark, *dash;
};
constexpr std::array<Look, 8> kLooks = {{{"#0b62a4", "#6cb6f0", ""},
                                         {"#c2410c", "#ff9a62", "7 3"},
                                         {"#00795a", "#3fd0a4", "2 3"},
                                         {"#a83a82", "#f09ad0", "9 3 2 3"},
                                         {"#8a6100", "#f2c14e", "4 2"},
                                         {"#4b4bb8", "#a9a9ff", "12 4"},
                                         {"#4f4f4f", "#c4c4c4", "5 2 1 2"},
                                         {"#a11d33", "#ff8a9a", "8 2 1 2 1 2"}}};

/// "12.5": as few digits as needed, at most two after the point.
std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  std::string shown = text.data();
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.ends_with('.')) shown.pop_back();
  return shown == "-0" ? "0" : shown;
}

/// A tick's label: as many digits as the spacing of the ticks needs.
std::string tick_text(double value, double apart) {
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(apart) - 1e-9)), 0, 9);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, std::abs(value) < apart / 1e6 ? 0.0 : value);
  std::string shown = text.data();
  const size_t whole = std::min(shown.find('.'), shown.size());
  for (size_t at = whole; digits == 0 && at > 3 + (shown[0] == '-' ? 1 : 0); at -= 3) shown.insert(at - 3, ",");
  return shown;
}

/// A tick of an axis of ratios: "200", "0.05", and from 10,000 on and below 0.001 as a power of ten: "2·10⁵".
std::string power_text(double value) {
  constexpr std::array<const char*, 10> kRaised = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const int power = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  if (power >= -3 && power < 4) return tick_text(value, std::pow(10, std::min(power, 0)));
  const long front = std::lround(value / std::pow(10, power));
  std::string raised = power < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(power))) raised += kRaised[static_cast<size_t>(digit - '0')];
  return (front == 1 ? "10" : std::to_string(front) + "·10") + raised;
}

std::string cut(const std::string& text, double room) {
  return shortened(text, static_cast<size_t>(std::max(1.0, room / kLetter)));
}

/// The marker of a series at a place; none is transparent.
std::string marker(size_t index, double x, double y) {
  const double r = kMark;
  std::ostringstream svg;
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    svg << "<polygon class=\"ap-f\" points=\"";
    for (const auto& [dx, dy] : corners) svg << number(x + r * dx) << ',' << number(y + r * dy) << ' ';
    svg << "\"/>";
  };
  switch (index % 8) {
    case 0:
      svg << "<circle class=\"ap-f\" cx=\"" << number(x) << "\" cy=\"" << number(y) << "\" r=\"" << r << "\"/>";
      break;
    case 1: polygon({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}}); break;
    case 2: polygon({{0, -1.2}, {1.1, .8}, {-1.1, .8}}); break;
    case 3: polygon({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}}); break;
    case 4: polygon({{0, 1.2}, {1.1, -.8}, {-1.1, -.8}}); break;
    case 5:
      polygon({{-.4, -1.2},
               {.4, -1.2},
               {.4, -.4},
               {1.2, -.4},
               {1.2, .4},
               {.4, .4},
               {.4, 1.2},
               {-.4, 1.2},
               {-.4, .4},
               {-1.2, .4},
               {-1.2, -.4},
               {-.4, -.4}});
      break;
    case 6: polygon({{-1.2, -.5}, {1.2, -.5}, {1.2, .5}, {-1.2, .5}}); break;
    default:
      polygon({{0, -1.4},
               {.4, -.5},
               {1.3, -.4},
               {.6, .2},
               {.8, 1.1},
               {0, .6},
               {-.8, 1.1},
               {-.6, .2},
               {-1.3, -.4},
               {-.4, -.5}});
      break;
  }
  return svg.str();
}

std::string group_of(size_t index) {
  const Look& look = kLooks[index % kLooks.size()];
  std::string dash = look.dash;
  if (index >= kLooks.size()) dash = kLooks[(index + 3) % kLooks.size()].dash;  // the colour again, with another dash
  return "<g class=\"ap-s" + std::to_string(index % kLooks.size()) + "\" fill=\"none\" stroke-width=\"2\"" +
         (dash.empty() ? "" : " stroke-dasharray=\"" + dash + "\"") + ">";
}

std::string text(double x, double y, const char* style, const std::string& shown, const char* anchor = "start") {
  return "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
         anchor + "\">" + escaped_markup(shown) + "</text>\n";
}

std::string line(const char* style, double x1, double y1, double x2, double y2) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

struct AxisRange {
  double low = 0, high = 1;
  bool any = false;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = any ? std::min(low, value) : value, high = any ? std::max(high, value) : value, any = true;
  }
};

/// Room around a range that is a single value: a tenth of the distance between the bounds, and nothing beyond them.
AxisRange within(AxisRange range, const std::pair<double, double>& bounds) {
  if (range.any && range.high > range.low) return range;
  const double room = 0.05 * (bounds.second - bounds.first), middle = range.any ? range.low : bounds.first;
  range.low = std::max(bounds.first, std::min(middle - room, bounds.second - 2 * room));
  range.high = std::min(bounds.second, range.low + 2 * room);
  return range;
}

size_t index_of_name(std::span<const std::string> names, const std::string& name) {
  return static_cast<size_t>(std::ranges::find(names, name) - names.begin());
}

/// A plot at a height of the picture.
class PlotPanel {
 public:
  PlotPanel(const Plot& plot, std::span<const std::string> names, double top) : plot_(plot), names_(names), top_(top) {
    double longest = 0;
    for (const Series& s : plot.series)
      longest = std::max(longest, kLetter * static_cast<double>(data::display_width(s.name)));
    right_ = kWidth - 22 - std::min(kMostLabel, longest);
    bottom_ = top + kHeight - kBottom;
    AxisRange xs, ys;
    for (const Series& s : plot.series) {
      require(s.xs.size() == s.ys.size(), "svg_plot: expected as many xs as ys in ", s.name, ", got ", s.xs.size(),
              " and ", s.ys.size());
      for (size_t i = 0; i < s.xs.size(); ++i) {
        if (shown(s, i)) xs.take(s.xs[i]), ys.take(s.ys[i]);
      }
    }
    if (plot.bounds) ys = within(ys, *plot.bounds);
    y_ticks_ = plot.log_y ? ratio_ticks(ys.low, ys.high) : round_ticks(ys.low, ys.high, 5);
    if (plot.log_x) {
      x_ticks_ = ratio_ticks(xs.low, xs.high);
      x_low_ = xs.any ? xs.low : x_ticks_.front(), x_high_ = xs.any && xs.high > xs.low ? xs.high : x_ticks_.back();
    } else if (plot.categories.empty()) {
      // A single point is drawn at the end of an axis from 0, next to its name.
      if (xs.low >= 0 && (xs.low == xs.high || xs.low < (xs.high - xs.low) * 0.5)) xs.low = 0;
      x_ticks_ = round_ticks(xs.low, xs.high, 7);
      x_low_ = xs.any ? xs.low : x_ticks_.front(),
      x_high_ = xs.any ? std::max(xs.high, xs.low + 1e-9) : x_ticks_.back();
    } else {
      x_low_ = -0.35, x_high_ = static_cast<double>(plot.categories.size()) - 0.75;
    }
  }

  std::string svg() const {
    std::string out = "<text class=\"ap-t\" x=\"" + number(kLeft) + "\" y=\"" + number(top_ + 18) +
                      "\" font-size=\"14\" font-weight=\"600\">" + escaped_markup(plot_.title) + "</text>\n";
    out += axes();
    for (const Series& s : plot_.series) out += drawn(s);
    return out + labels();
  }

 private:
  /// How far along [low, high] a value is, 0 to 1.
  static double along(double value, double low, double high, bool log) {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double x(double value) const { return kLeft + along(value, x_low_, x_high_, plot_.log_x) * (right_ - kLeft); }
  double y(double value) const {
    return bottom_ - along(value, y_ticks_.front(), y_ticks_.back(), plot_.log_y) * (bottom_ - top_ - kTop);
  }
  /// Whether a point has a place on both axes.
  bool shown(const Series& s, size_t i) const {
    return std::isfinite(s.ys[i]) && !(plot_.log_y && s.ys[i] <= 0) && !(plot_.log_x && s.xs[i] <= 0);
  }

  std::string axes() const {
    std::string out;
    const double apart = y_ticks_[1] - y_ticks_[0];
    for (const double tick : y_ticks_) {
      out += line(tick == y_ticks_.front() ? "ap-a" : "ap-g", kLeft, y(tick), right_, y(tick));
      out += text(kLeft - 8, y(tick) + 4, "ap-q", plot_.log_y ? power_text(tick) : tick_text(tick, apart), "end");
    }
    if (plot_.categories.empty()) {
      for (const double tick : x_ticks_) {
        if (tick < x_low_ || tick > x_high_ * (1 + 1e-9)) continue;
        out += line("ap-a", x(tick), bottom_, x(tick), bottom_ + 4);
        out += text(x(tick), bottom_ + 17, "ap-q",
                    plot_.log_x ? power_text(tick) : tick_text(tick, x_ticks_[1] - x_ticks_[0]), "middle");
      }
    }
    for (size_t i = 0; i < plot_.categories.size(); ++i) {
      const double room = (right_ - kLeft) / (x_high_ - x_low_);
      out += text(x(static_cast<double>(i)), bottom_ + 17, "ap-q", cut(plot_.categories[i], room), "middle");
    }
    out += text((kLeft + right_) / 2, bottom_ + 38, "ap-q", plot_.x_label, "middle");
    const double middle = (top_ + kTop + bottom_) / 2;
    out += "<text class=\"ap-q\" x=\"14\" y=\"" + number(middle) +
           "\" text-anchor=\"middle\" transform=\"rotate(-90 14 " + number(middle) + ")\">" +
           escaped_markup(plot_.y_label) + "</text>\n";
    return out;
  }

  std::string drawn(const Series& s) const {
    const size_t index = index_of_name(names_, s.name);
    std::string path, marks;
    bool gap = true;
    for (size_t i = 0; i < s.xs.size(); ++i) {
      if (!shown(s, i)) {
        gap = true;
        continue;
      }
      path += (gap ? "M" : "L") + number(x(s.xs[i])) + " " + number(y(s.ys[i]));
      gap = false;
      marks += "<g class=\"ap-h\" stroke-width=\"1\" stroke-dasharray=\"none\">" +
               marker(index, x(s.xs[i]), y(s.ys[i])) + "<title>" + escaped_markup(s.name + ": " + number(s.ys[i])) +
               "</title></g>";
    }
    if (path.empty()) return "";
    return group_of(index) + "<path stroke-linejoin=\"round\" d=\"" + path + "\"/>" + marks + "</g>\n";
  }

  struct End {
    double y = 0;
    double from = 0;
    double x = 0;
    std::string name;
  };

  /// Names at the ends of lines, from above: moved down a little if they would touch, left out if that is not enough.
  /// Dots lead to a name that is not next to its end; they are grey, as they are not data.
  std::string labels() const {
    constexpr double kMoved = 100;
    std::vector<End> ends;
    for (const Series& s : plot_.series) {
      for (size_t i = s.xs.size(); i-- > 0;) {
        if (!shown(s, i)) continue;
        ends.push_back({y(s.ys[i]), y(s.ys[i]), x(s.xs[i]), s.name});
        break;
      }
    }
    std::ranges::stable_sort(ends, {}, &End::y);
    spread(ends);
    std::string out;
    double last = -1e9;
    for (const End& end : ends) {
      if (end.y - last < kLine - 1.5 || std::abs(end.y - end.from) > kMoved) continue;
      last = end.y;
      const double at = right_ + 14;
      if (end.x < right_ - 1 || std::abs(end.y - end.from) > 1) {
        out += "<g stroke-dasharray=\"1 3\">" + line("ap-a", end.x + 6, end.from, at - 3, end.y) + "</g>\n";
      }
      out += text(at, end.y + 4, "ap-t", cut(end.name, kMostLabel));
    }
    return out;
  }

  /// Pushes neighbours apart until none touch, each of a touching pair by half, and keeps them beside the panel: the
  /// next one has its own names.
  void spread(std::vector<End>& ends) const {
    for (int round = 0; round < 200; ++round) {
      for (End& end : ends) end.y = std::clamp(end.y, top_ + kTop, bottom_);
      for (size_t i = 1; i < ends.size(); ++i) {
        const double missing = kLine - (ends[i].y - ends[i - 1].y);
        if (missing > 0) ends[i - 1].y -= missing / 2, ends[i].y += missing / 2;
      }
    }
  }

  const Plot& plot_;
  std::span<const std::string> names_;
  double top_, right_ = 0, bottom_ = 0, x_low_ = 0, x_high_ = 1;
  std::vector<double> x_ticks_, y_ticks_;
};

/// Line, marker and name of each series, in as many rows as it takes; `height` grows by them.
std::string legend(std::span<const std::string> names, double& height) {
  std::string out;
  double x = kLeft;
  height += 14;
  for (size_t i = 0; i < names.size(); ++i) {
    const double width = 44 + kLetter * static_cast<double>(data::display_width(names[i])) + 16;
    if (x > kLeft && x + width > kWidth) x = kLeft, height += kLegendLine;
    out += group_of(i) + "<path d=\"M" + number(x) + " " + number(height) +
           "h32\"/><g class=\"ap-h\" stroke-width=\"1\" " + "stroke-dasharray=\"none\">" + marker(i, x + 16, height) +
           "</g></g>" + text(x + 40, height + 4, "ap-t", cut(names[i], kWidth - kLeft - 60));
    x += width;
  }
  height += 12;
  return out;
}

}  // namespace

std::string plot_style() {
  std::string light, dark;
  for (size_t i = 0; i < kLooks.size(); ++i) {
    const std::string name = ".ap-s" + std::to_string(i);
    const auto rule = [&](const char* colour) {
      return name + "{stroke:" + colour + "}" + name + " .ap-f{fill:" + colour + "}";
    };
    light += rule(kLooks[i].light), dark += rule(kLooks[i].dark);
  }
  return "<style>.ap-t{fill:#1f2933;stroke:none}.ap-q{fill:#52606d;stroke:none}.ap-g{stroke:#d9dee4}.ap-a{stroke:#"
         "8896a5}" +
         std::string(".ap-h{stroke:#fff}") + light +
         "@media (prefers-color-scheme:dark){.ap-t{fill:#e6e9ed}.ap-q{fill:#a5b0bd}.ap-g{stroke:#38424e}" +
         ".ap-a{stroke:#77838f}.ap-h{stroke:#14181d}" + dark + "}</style>\n";
}

std::string escaped_markup(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return safe;
}

std::vector<double> round_ticks(double low, double high, int count) {
  if (!std::isfinite(low) || !std::isfinite(high)) low = 0, high = 1;
  if (high - low < 1e-9 * std::max({1.0, std::abs(low), std::abs(high)})) {
    const double room = std::abs(low) * 0.1;
    low -= room, high += low == 0 ? 1 : room;
  }
  const double rough = (high - low) / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double apart = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      apart = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  const auto first = static_cast<long long>(std::floor(low / apart + 1e-9));
  const auto last = static_cast<long long>(std::ceil(high / apart - 1e-9));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * apart);
  return ticks;
}

std::vector<double> ratio_ticks(double low, double high) {
  constexpr double kManyDecades = 2.5;
  if (!(low > 0) || !(high >= low) || !std::isfinite(high)) low = 1, high = 10;
  const bool powers_alone = std::log10(high / low) > kManyDecades;
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(low))) - 1; ticks.empty() || ticks.back() < high * (1 - 1e-9);
       ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && powers_alone) continue;
      const double tick = factor * std::pow(10, power);
      if (tick <= low * (1 + 1e-9)) ticks.clear();  // the last one below is the first that counts
      ticks.push_back(tick);
      if (ticks.size() > 1 && tick >= high * (1 - 1e-9)) return ticks;
    }
  }
  return ticks;
}

std::string svg_plots(std::span<const Plot> plots, std::span<const std::string> names) {
  require(!plots.empty(), "svg_plots: expected at least one plot, got none");
  std::vector<std::string> order(names.begin(), names.end());
  for (const Plot& plot : plots) {
    for (const Series& s : plot.series) {
      if (index_of_name(order, s.name) == order.size()) order.push_back(s.name);
    }
  }
  double height = 0;
  std::string body = legend(order, height), title;
  for (const Plot& plot : plots) {
    body += PlotPanel(plot, order, height).svg();
    height += kHeight;
    title += (title.empty() ? "" : "; ") + plot.title;
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
         "\" width=\"" + number(kWidth) + "\" height=\"" + number(height) +
         "\" role=\"img\" font-family=\"system-ui,-apple-system,'Segoe UI',Roboto,sans-serif\" font-size=\"" +
         number(kFont) + "\">\n<title>" + escaped_markup(title) + "</title>\n" + plot_style() + body + "</svg>\n";
}

std::string svg_plot(const Plot& plot) { return svg_plots(std::span(&plot, 1)); }

std::string svg_mark(size_t index) {
  return "<svg viewBox=\"0 0 34 12\" width=\"34\" height=\"12\" aria-hidden=\"true\">" + group_of(index) +
         "<path d=\"M1 6h32\"/><g class=\"ap-h\" stroke-width=\"1\" stroke-dasharray=\"none\">" + marker(index, 17, 6) +
         "</g></g></svg>";
}

}  // namespace attend::explain
