#include "attend/explain/image_draw.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "attend/explain/labels.h"
#include "attend/explain/raster.h"

namespace attend::explain {
namespace {

constexpr int64_t kFew = 100;                                     // pixels of a side that are enlarged as squares
constexpr double kSharp = 2;                                      // pixels that are kept per unit of the picture
constexpr std::string_view kPath = "#ffb000", kDark = "#1b2027";  // a line that is seen on every image has a dark edge

std::string image_element(const data::Image& image, const ShownSize& size) {
  return "<image" + attribute("width", size.width) + attribute("height", size.height) +
         attribute("preserveAspectRatio", "none") + attribute("href", data_uri(image)) + "/>\n";
}

/// As many pixels as the picture needs. Few are repeated, in whole steps, as librsvg smooths whatever it enlarges.
data::Image sharp_enough(const data::Image& image, double box) {
  const int64_t longer = std::max(image.height, image.width), wanted = std::lround(std::ceil(kSharp * box));
  if (longer > kFew) return reduced(image, wanted);
  const int64_t times = std::max<int64_t>(1, (wanted + longer - 1) / longer);
  return resampled(image, times * image.height, times * image.width);
}

/// A rectangle of the veil's colour, as opaque as `veil` says. Masks have names, which must be there once on a page: they are
/// made of what is masked.
std::string veil_element(const data::Image& veil, const ShownSize& size) {
  const std::string uri = data_uri(veil);
  const std::string name = "veil" + std::to_string(std::hash<std::string>()(uri));
  return "<mask" + attribute("id", name) + attribute("maskUnits", "userSpaceOnUse") + attribute("x", 0.0) +
         attribute("y", 0.0) + attribute("width", size.width) + attribute("height", size.height) + ">\n<image" +
         attribute("width", size.width) + attribute("height", size.height) + attribute("preserveAspectRatio", "none") +
         attribute("href", uri) + "/>\n</mask>\n<rect" + attribute("class", "veil") + attribute("width", size.width) +
         attribute("height", size.height) + attribute("fill", hex(kVeil)) + attribute("mask", "url(#" + name + ")") +
         "/>\n";
}

/// The veil's pixels: enough to be smooth, and few enough for a small file.
struct VeilSize {
  int64_t height, width;
};
VeilSize veil_size(const ShownSize& size) {
  return {std::max<int64_t>(1, std::lround(size.height)), std::max<int64_t>(1, std::lround(size.width))};
}

std::string outlined(const std::string& shape, std::string_view name, std::string_view colour, double width) {
  const auto drawn = [&](std::string_view ink, double wide, double opacity) {
    return "<" + shape + attribute("class", name) + attribute("fill", "none") + attribute("stroke", ink) +
           attribute("stroke-width", wide) + attribute("stroke-linejoin", "round") +
           (opacity < 1 ? attribute("stroke-opacity", opacity) : std::string()) + "/>\n";
  };
  return drawn(kDark, width + 2, 0.6) + drawn(colour, width, 1);
}

std::string box_shape(double x, double y, double width, double height) {
  return "rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height);
}

std::string titled(const std::string& svg, const std::string& title) {
  return "<g>\n<title>" + xml_escaped(title) + "</title>\n" + svg + "</g>\n";
}

/// Draws a path over an image that is `scale` times as large as its pixels.
class Path {
 public:
  Path(const GlimpseLook& glimpses, const data::Image& image, const ShownSize& size)
      : glimpses_(glimpses), scale_(size.width / static_cast<double>(image.width)) {}

  std::string squares(size_t number) const {
    const Glance& glance = glimpses_.glances[number];
    std::string svg;
    for (size_t s = glance.sides.size(); s-- > 0;) {
      const double side = scale_ * static_cast<double>(glance.sides[s]);
      const std::string shape = box_shape(x(number) - side / 2, y(number) - side / 2, side, side);
      svg += s == 0 ? outlined(shape, "patch", kPath, 2.2) : faint(shape, "patch", s);
    }
    return svg;
  }

  /// From one glance to the next, between their dots.
  std::string arrow(size_t number) const {
    const double dx = x(number + 1) - x(number), dy = y(number + 1) - y(number), far = std::hypot(dx, dy);
    if (far < 2 * kDot + 3) return "";
    const double ux = dx / far, uy = dy / far, end_x = x(number + 1) - ux * (kDot + 1),
                 end_y = y(number + 1) - uy * (kDot + 1);
    const auto point = [](double px, double py) { return svg_number(px) + " " + svg_number(py); };
    const std::string line = "M " + point(x(number) + ux * kDot, y(number) + uy * kDot) + " L " + point(end_x, end_y);
    const std::string head = " M " + point(end_x - kHead * (ux + 0.6 * uy), end_y - kHead * (uy - 0.6 * ux)) + " L " +
                             point(end_x, end_y) + " L " +
                             point(end_x - kHead * (ux - 0.6 * uy), end_y - kHead * (uy + 0.6 * ux));
    return outlined("path" + attribute("d", line + head), "arrow", kPath, 1.8);
  }

  std::string dot(size_t number) const { return numbered(number, x(number), y(number)); }

  static std::string numbered(size_t number, double x, double y) {
    return "<circle" + attribute("class", "glance") + attribute("cx", x) + attribute("cy", y) + attribute("r", kDot) +
           attribute("fill", kPath) + attribute("stroke", kDark) + "/>\n<text" + attribute("x", x) +
           attribute("y", y + 3.6) + attribute("font-size", 10.0) + attribute("font-weight", "bold") +
           attribute("text-anchor", "middle") + attribute("fill", kDark) + ">" + std::to_string(number + 1) +
           "</text>\n";
  }

  static constexpr double kDot = 8, kHead = 6;

 private:
  static std::string faint(const std::string& shape, std::string_view name, size_t scale) {
    const auto thin = static_cast<double>(scale);
    return "<" + shape + attribute("class", name) + attribute("fill", "none") + attribute("stroke", kPath) +
           attribute("stroke-width", 1.5 / thin) + attribute("stroke-opacity", 1 / (1 + 0.6 * thin)) + "/>\n";
  }

  double x(size_t number) const { return scale_ * glimpses_.glances[number].x; }
  double y(size_t number) const { return scale_ * glimpses_.glances[number].y; }

  const GlimpseLook& glimpses_;
  const double scale_;
};

/// Cuts off what lies outside.
std::string nested_svg(const ShownSize& size, const std::string& svg) {
  return "<svg" + attribute("width", size.width) + attribute("height", size.height) + ">\n" + svg + "</svg>\n";
}

Fragment patches_of(const Glance& glance, double wide) {
  constexpr double kGap = 4;
  Fragment row;
  const auto count = static_cast<double>(std::max<size_t>(1, glance.patches.size()));
  const double side = std::floor(std::min(56.0, (wide - kGap * (count - 1)) / count));
  for (size_t s = 0; s < glance.patches.size(); ++s) {
    const Fragment patch = draw_image(glance.patches[s], side);
    const std::string pixels = std::to_string(glance.sides[s]) + " × " + std::to_string(glance.sides[s]) + " pixels";
    row.svg += placed({titled(patch.svg, pixels), patch.width, patch.height}, row.width, 0);
    row.width += patch.width + kGap;
    row.height = std::max(row.height, patch.height);
  }
  return row;
}

/// A label, a bar as long as its probability, and the number.
Fragment bar(const std::string& label, double share, double wide, std::string_view colour, bool bold) {
  constexpr double kFont = 11, kLabel = 46, kNumber = 46, kHigh = 15;
  const double room = std::max(0.0, wide - kLabel - kNumber);
  const auto text = [&](const std::string& words, double x, const char* anchor) {
    return "<text" + attribute("x", x) + attribute("y", 11.0) + attribute("font-size", kFont) +
           attribute("fill", kInk) + attribute("text-anchor", anchor) +
           (bold ? attribute("font-weight", "bold") : std::string()) + ">" + xml_escaped(words) + "</text>\n";
  };
  const std::string name = shortened_picture(label, (kLabel - 4) / kFont / 1.12);
  return {text(name, kLabel - 6, "end") + "<rect" + attribute("x", kLabel) + attribute("y", 2.0) +
              attribute("width", room) + attribute("height", kHigh - 5) + attribute("fill", "#eef1f5") + "/>\n<rect" +
              attribute("x", kLabel) + attribute("y", 2.0) + attribute("width", room * std::clamp(share, 0.0, 1.0)) +
              attribute("height", kHigh - 5) + attribute("fill", colour) + "/>\n" + text(percent(share), wide, "end"),
          wide, kHigh};
}

}  // namespace

ShownSize shown_size(const data::Image& image, double box) {
  const auto wide = static_cast<double>(image.width), high = static_cast<double>(image.height);
  const double scale = box / std::max(wide, high);
  return {std::max(1.0, std::round(wide * scale)), std::max(1.0, std::round(high * scale))};
}

Fragment draw_image(const data::Image& image, double box) {
  const ShownSize size = shown_size(image, box);
  return {image_element(sharp_enough(image, box), size), size.width, size.height};
}

Fragment draw_word(const ImageLook& look, const CaptionLook& caption, size_t word, double box) {
  const ShownSize size = shown_size(look.image, box);
  const auto [high, wide] = veil_size(size);
  const Tensor cells = caption.weights[static_cast<int64_t>(word)].reshape({caption.rows, caption.columns});
  const auto best = static_cast<int64_t>(std::ranges::max_element(cells) - cells.begin());
  const int64_t row = best / caption.columns, column = best % caption.columns;
  const double cell_wide = size.width / static_cast<double>(caption.columns);
  const double cell_high = size.height / static_cast<double>(caption.rows);
  const double x = cell_wide * static_cast<double>(column), y = cell_high * static_cast<double>(row);
  std::string svg = image_element(sharp_enough(look.image, box), size);
  svg += veil_element(veil_of(caption.hard ? cell_shares(cells, high, wide) : smooth_shares(cells, high, wide)), size);
  if (caption.hard) svg += outlined(box_shape(x + 1, y + 1, cell_wide - 2, cell_high - 2), "choice", kPath, 2);
  const std::string where = place_name((x + cell_wide / 2) / size.width, (y + cell_high / 2) / size.height);
  const std::string most = caption.hard ? "" : ", " + percent(static_cast<double>(cells.data()[best])) + " in one cell";
  return {titled(svg, caption.words[word] + ": " + where + most), size.width, size.height};
}

Fragment draw_path(const ImageLook& look, const GlimpseLook& glimpses, size_t count, double box, bool only_last) {
  const ShownSize size = shown_size(look.image, box);
  const Path path(glimpses, look.image, size);
  std::string svg = image_element(sharp_enough(look.image, box), size);
  for (size_t i = only_last && count > 0 ? count - 1 : 0; i < count; ++i) svg += path.squares(i);
  for (size_t i = 0; i + 1 < count; ++i) svg += path.arrow(i);
  for (size_t i = 0; i < count; ++i) svg += path.dot(i);
  return {nested_svg(size, svg), size.width, size.height};
}

Fragment draw_tiles(const ImageLook& look, const GlimpseLook& glimpses, size_t number, double box) {
  const ShownSize size = shown_size(look.image, box);
  const auto [high, wide] = veil_size(size);
  const Glance& glance = glimpses.glances[number];
  const double side = size.width / static_cast<double>(look.image.width) * static_cast<double>(glimpses.side);
  std::string svg = image_element(sharp_enough(look.image, box), size);
  svg +=
      veil_element(veil_of(tile_shares(glance.tiles, glimpses.columns, glimpses.side, look.image, high, wide)), size);
  for (const int64_t tile : glance.drawn) {
    const auto row = static_cast<double>(tile / glimpses.columns),
               column = static_cast<double>(tile % glimpses.columns);
    const double x = side * column, y = side * row;  // the last tiles may reach beyond the image
    svg += outlined(box_shape(x + 1, y + 1, std::min(side, size.width - x) - 2, std::min(side, size.height - y) - 2),
                    "choice", kPath, 2);
  }
  const auto best = std::ranges::max_element(glance.tiles) - glance.tiles.begin();
  const auto at = [&](int64_t tile, int64_t pixels) {
    return std::min(
        1.0, (static_cast<double>(tile) + 0.5) * static_cast<double>(glimpses.side) / static_cast<double>(pixels));
  };
  const std::string where =
      place_name(at(best % glimpses.columns, look.image.width), at(best / glimpses.columns, look.image.height));
  const std::string title = "glance " + std::to_string(number + 1) + ": likeliest the tile at the " + where + ", " +
                            percent(glance.tiles[static_cast<size_t>(best)]);
  return {titled(nested_svg(size, svg), title), size.width, size.height};
}

/// "read one tile of p = 34 %", "read all tiles, the most 34 %".
std::string tiles_read(const Glance& glance) {
  if (glance.drawn.empty()) return "read all tiles, one up to " + percent(*std::ranges::max_element(glance.tiles));
  double chance = 0;
  for (const int64_t tile : glance.drawn) chance += glance.tiles[static_cast<size_t>(tile)];
  return (glance.drawn.size() == 1 ? "read one tile, of " : "read a tile per head, of ") + percent(chance);
}

Fragment draw_glance(const GlimpseLook& glimpses, size_t number, double wide) {
  const Glance& glance = glimpses.glances[number];
  std::vector<Fragment> parts{
      {Path::numbered(number, Path::kDot + 1, Path::kDot + 1), 2 * Path::kDot + 2, 2 * Path::kDot + 2}};
  if (!glance.patches.empty()) parts.push_back(patches_of(glance, wide));
  std::vector<Fragment> bars;
  for (const size_t label : likeliest(glance, 3)) {
    const bool said = glimpses.labels[label] == glimpses.answer;
    bars.push_back(bar(glimpses.labels[label], glance.probabilities[label], wide, said ? kAccent : "#9aa6b4", said));
  }
  parts.push_back(stacked(bars, 1));
  if (!glance.tiles.empty()) parts.push_back(text_lines(std::vector<std::string>{tiles_read(glance)}, {11, kFaint}));
  if (glance.stop) {
    const std::vector<std::string> stop{"stops here: " + percent(*glance.stop)};
    parts.push_back(text_lines(stop, {11, kFaint}));
  }
  Fragment all = stacked(parts, 6);
  all.width = wide;
  return all;
}

Fragment draw_map_over(const ImageLook& look, const SaliencyLook& saliency, double box) {
  const ShownSize size = shown_size(look.image, box);
  const auto [high, wide] = veil_size(size);
  return {image_element(sharp_enough(look.image, box), size) +
              veil_element(veil_of(smooth_shares(saliency.map, high, wide)), size),
          size.width, size.height};
}

Fragment draw_map(const ImageLook& look, const SaliencyLook& saliency, double box) {
  const ShownSize size = shown_size(look.image, box);
  const auto [high, wide] = veil_size(size);
  const data::Image heat =
      heat_of(cell_shares(saliency.map, std::min(high, saliency.map.dim(0)), std::min(wide, saliency.map.dim(1))));
  return {image_element(heat, size), size.width, size.height};
}

}  // namespace attend::explain
