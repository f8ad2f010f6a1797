#include "attend/explain/image_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "attend/data/display_width.h"
#include "attend/explain/blocks.h"
#include "attend/explain/colours.h"
#include "attend/explain/labels.h"
#include "attend/explain/raster.h"

namespace attend::explain {
namespace {

constexpr size_t kEndless = 100;                          // columns of a terminal that does not say
constexpr int64_t kTileColumns = 24, kStageColumns = 48;  // columns of an image
constexpr size_t kGapColumns = 2;                         // columns between tiles
struct Tile {
  Lines lines;
  std::string below;
};

/// How many columns and pixels an image has: at most `columns` wide, and not much higher than wide.
struct Pixels {
  int64_t height, width;
};
Pixels pixels_of(const data::Image& image, int64_t columns, size_t terminal) {
  const auto room = static_cast<int64_t>(terminal > 0 ? terminal : kEndless);
  const double wide = static_cast<double>(std::max<int64_t>(1, std::min(columns, room)));
  const double scale = wide / static_cast<double>(std::max(image.width, image.height));
  const auto side = [scale](int64_t pixels) {
    return std::max<int64_t>(1, std::lround(scale * static_cast<double>(pixels)));
  };
  return {2 * ((side(image.height) + 1) / 2), side(image.width)};
}

std::string centred_line(const std::string& text, size_t width) {
  const std::string fits = shortened(text, width);
  const size_t has = data::display_width(fits), before = (width - std::min(width, has)) / 2;
  return std::string(before, ' ') + fits + std::string(width - std::min(width, before + has), ' ');
}

void trim(std::string& text) {
  while (text.ends_with(' ')) text.pop_back();
}

/// Tiles of one width side by side, in as many rows as the terminal asks for.
std::string abreast(const std::vector<Tile>& tiles, size_t wide, size_t terminal) {
  const size_t each = std::max<size_t>(1, ((terminal > 0 ? terminal : kEndless) + kGapColumns) / (wide + kGapColumns));
  std::string text;
  for (size_t begin = 0; begin < tiles.size(); begin += each) {
    const size_t end = std::min(tiles.size(), begin + each);
    if (begin > 0) text += "\n";
    for (size_t line = 0; line < tiles[begin].lines.size(); ++line) {
      for (size_t i = begin; i < end; ++i)
        text += (i > begin ? std::string(kGapColumns, ' ') : "") + tiles[i].lines[line];
      text += "\n";
    }
    for (size_t i = begin; i < end; ++i)
      text += (i > begin ? std::string(kGapColumns, ' ') : "") + centred_line(tiles[i].below, wide);
    trim(text);
    text += "\n";
  }
  return text;
}

struct Draw {
  const ImageLook& look;
  const TextOptions& options;

  bool colour() const { return options.ink == Ink::true_colour; }

  std::string operator()(const CaptionLook& caption) const {
    const Pixels size = pixels_of(look.image, kTileColumns, options.width);
    const data::Image image = resampled(look.image, size.height, size.width);
    std::vector<Tile> tiles;
    for (size_t i = 0; i < caption.words.size(); ++i) {
      const Tensor cells = caption.weights[static_cast<int64_t>(i)].reshape({caption.rows, caption.columns});
      const int64_t high = colour() ? size.height : size.height / 2;
      const Tensor shares =
          caption.hard ? cell_shares(cells, high, size.width) : smooth_shares(cells, high, size.width);
      tiles.push_back({colour() ? half_blocks(veiled(image, veil_of(shares))) : shades(shares), caption.words[i]});
    }
    return abreast(tiles, static_cast<size_t>(size.width), options.width);
  }

  /// A tile of the terminal for each glance: P(tile | state), and its number where one was read alone.
  std::string tiles(const GlimpseLook& glimpses) const {
    const Pixels size = pixels_of(look.image, kTileColumns, options.width);
    const data::Image image = resampled(look.image, size.height, size.width);
    std::vector<Tile> all;
    std::string lines;
    for (size_t i = 0; i < glimpses.glances.size(); ++i) {
      const Glance& glance = glimpses.glances[i];
      const Tensor shares = tile_shares(glance.tiles, glimpses.columns, glimpses.side, look.image,
                                        colour() ? size.height : size.height / 2, size.width);
      std::vector<Mark> marks;
      if (!glance.drawn.empty()) marks.push_back(mark(glance, i, size));
      all.push_back({colour() ? half_blocks(veiled(image, veil_of(shares)), marks) : shades(shares, marks),
                     std::string("glance ") + sign_of(i)});
      lines += line_of(glimpses, i);
    }
    return abreast(all, static_cast<size_t>(size.width), options.width) + "\n" + lines;
  }

  std::string operator()(const GlimpseLook& glimpses) const {
    if (glimpses.rows > 0) return tiles(glimpses);
    const Pixels size = pixels_of(look.image, kStageColumns, options.width);
    const data::Image image = resampled(look.image, size.height, size.width);
    std::vector<Mark> marks;
    for (size_t i = glimpses.glances.size(); i-- > 0;) marks.insert(marks.begin(), mark(glimpses.glances[i], i, size));
    std::string text;
    for (const std::string& line : colour() ? half_blocks(image, marks) : shades(brightness(size), marks))
      text += line + "\n";
    text += "\n";
    for (size_t i = 0; i < glimpses.glances.size(); ++i) text += line_of(glimpses, i);
    return text;
  }

  std::string operator()(const SaliencyLook& saliency) const {
    const Pixels size = pixels_of(look.image, kStageColumns - 12, options.width);
    const Tensor shares = smooth_shares(saliency.map, colour() ? size.height : size.height / 2, size.width);
    std::vector<Tile> tiles;
    if (colour()) {
      const data::Image image = resampled(look.image, size.height, size.width);
      tiles = {{half_blocks(image), "the image"}, {half_blocks(veiled(image, veil_of(shares))), saliency.method}};
    } else {
      tiles = {{shades(shares), saliency.method}};
    }
    return abreast(tiles, static_cast<size_t>(size.width), options.width);
  }

 private:
  /// 1 … 9, a, b …
  static char sign_of(size_t number) {
    constexpr std::string_view kSigns = "123456789abcdefghijklmnopqrstuvwxyz";
    return kSigns[std::min(number, kSigns.size() - 1)];
  }

  Mark mark(const Glance& glance, size_t number, const Pixels& size) const {
    const auto place = [](double at, int64_t pixels, int64_t cells) {
      const double share = at / static_cast<double>(pixels) * static_cast<double>(cells);
      return static_cast<int64_t>(std::clamp(std::floor(share), 0.0, static_cast<double>(cells - 1)));
    };
    return {place(glance.y, look.image.height, size.height / 2), place(glance.x, look.image.width, size.width),
            sign_of(number)};
  }

  Tensor brightness(const Pixels& size) const {
    const data::Image small = resampled(look.image, std::max<int64_t>(1, size.height / 2), size.width);
    Tensor bright({small.height, small.width});
    for (int64_t y = 0; y < small.height; ++y) {
      for (int64_t x = 0; x < small.width; ++x) {
        const Colour c = colour_at(small, y, x);
        bright.data()[y * small.width + x] =
            static_cast<real>((0.299 * c.red + 0.587 * c.green + 0.114 * c.blue) / 255);
      }
    }
    return bright;
  }

  std::string line_of(const GlimpseLook& glimpses, size_t number) const {
    const Glance& glance = glimpses.glances[number];
    char where[64];
    if (glance.tiles.empty() || !glance.drawn.empty()) {
      std::snprintf(where, sizeof where, "%c  at (%.0f, %.0f)", sign_of(number), glance.x, glance.y);
    } else {
      std::snprintf(where, sizeof where, "%c  all tiles", sign_of(number));
    }
    std::string line = where;
    line += std::string(20 - std::min<size_t>(19, line.size()), ' ');
    for (const size_t label : likeliest(glance, 3)) {
      line += glimpses.labels[label] + " (" + percent(glance.probabilities[label]) + ")   ";
    }
    if (glance.stop) line += "stops " + percent(*glance.stop);
    if (options.width > 0) line = shortened(line, options.width);
    trim(line);
    return line + "\n";
  }
};

}  // namespace

std::string text_picture(const ImageLook& look, const TextOptions& options) {
  check_look("picture", look);
  return std::visit(Draw{look, options}, look.seen);
}

}  // namespace attend::explain
