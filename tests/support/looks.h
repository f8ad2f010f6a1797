// Images drawn by hand, and what networks might have seen of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attend/explain/image_trace.h"

namespace attend::test {

/// White strokes like those of a 7, to the right of the middle of 60 × 60 black.
inline data::Image digit_image() {
  data::Image image(60, 60, 1);
  const auto stroke = [&](double x0, double y0, double x1, double y1) {
    for (int64_t y = 0; y < 60; ++y) {
      for (int64_t x = 0; x < 60; ++x) {
        const double dx = x1 - x0, dy = y1 - y0, px = static_cast<double>(x) - x0, py = static_cast<double>(y) - y0;
        const double t = std::clamp((px * dx + py * dy) / (dx * dx + dy * dy), 0.0, 1.0);
        const double distance = std::hypot(px - t * dx, py - t * dy);
        const auto ink = static_cast<uint8_t>(255 * std::clamp(2.2 - distance, 0.0, 1.0));
        image.at(y, x) = std::max(image.at(y, x), ink);
      }
    }
  };
  stroke(30, 20, 46, 19), stroke(46, 19, 36, 42), stroke(35, 31, 45, 30);
  return image;
}

/// A red circle above a blue square, and a green triangle, on light ground of 64 × 64.
inline data::Image scene_image() {
  data::Image image(64, 64, 3);
  const auto put = [&](int64_t y, int64_t x, uint8_t r, uint8_t g, uint8_t b) {
    image.at(y, x, 0) = r, image.at(y, x, 1) = g, image.at(y, x, 2) = b;
  };
  for (int64_t y = 0; y < 64; ++y) {
    for (int64_t x = 0; x < 64; ++x) {
      put(y, x, 236, 236, 228);
      if ((x - 18) * (x - 18) + (y - 16) * (y - 16) <= 100) put(y, x, 214, 48, 49);
      if (x >= 10 && x < 27 && y >= 38 && y < 55) put(y, x, 40, 84, 190);
      if (y >= 24 && y < 42 && std::abs(x - 48) * 2 <= y - 24) put(y, x, 46, 150, 70);
    }
  }
  return image;
}

/// One row per word: a bell around (x, y), which are shares of the grid's sides.
struct Bell {
  double x, y, wide;
};
inline Tensor bells(const std::vector<Bell>& words, int64_t rows, int64_t columns) {
  Tensor weights({static_cast<int64_t>(words.size()), rows * columns});
  real* at = weights.data();
  for (const Bell& bell : words) {
    real* const begin = at;
    real sum = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const double dx = (static_cast<double>(c) + 0.5) / static_cast<double>(columns) - bell.x;
        const double dy = (static_cast<double>(r) + 0.5) / static_cast<double>(rows) - bell.y;
        sum += * at++ = static_cast<real>(std::exp(-(dx * dx + dy * dy) / (bell.wide * bell.wide)) + 1e-3);
      }
    }
    for (real* value = begin; value < at; ++value) *value /= sum;
  }
  return weights;
}

/// "a red circle above a blue square" over 8 × 8 cells.
inline explain::ImageLook caption_look() {
  explain::ImageLook look{"shapes", "caption", "captioner", 812345, "scene.png", scene_image(), {}};
  explain::CaptionLook caption;
  caption.words = {"a", "red", "circle", "above", "a", "blue", "square"};
  caption.rows = caption.columns = 8;
  caption.weights = bells({{0.5, 0.5, 0.6},
                           {0.28, 0.25, 0.15},
                           {0.28, 0.25, 0.2},
                           {0.3, 0.5, 0.3},
                           {0.5, 0.6, 0.5},
                           {0.28, 0.72, 0.12},
                           {0.28, 0.72, 0.2}},
                          8, 8);
  caption.log_probabilities = {-0.3, -0.02, -0.01, -0.7, -0.1, -0.05, -0.01};
  caption.references = {"a red circle above a blue square", "the blue square is below a red circle"};
  look.seen = caption;
  return look;
}

/// The same with one cell chosen for each word.
inline explain::ImageLook hard_caption_look() {
  explain::ImageLook look = caption_look();
  auto& caption = std::get<explain::CaptionLook>(look.seen);
  caption.hard = true;
  constexpr int64_t kChosen[] = {27, 18, 10, 26, 36, 42, 50};
  caption.weights = Tensor::zeros({7, 64});
  for (int64_t i = 0; i < 7; ++i) caption.weights.data()[i * 64 + kChosen[i]] = 1;
  return look;
}

/// The square of `side` pixels around (x, y), black where there is no image, at `size` × `size`.
inline data::Image patch_of(const data::Image& image, double x, double y, int64_t side, int64_t size) {
  data::Image patch(size, size, image.channels);
  for (int64_t py = 0; py < size; ++py) {
    for (int64_t px = 0; px < size; ++px) {
      const auto from_y = static_cast<int64_t>(std::floor(y)) - side / 2 + py * side / size;
      const auto from_x = static_cast<int64_t>(std::floor(x)) - side / 2 + px * side / size;
      if (from_y < 0 || from_x < 0 || from_y >= image.height || from_x >= image.width) continue;
      for (int64_t c = 0; c < image.channels; ++c) patch.at(py, px, c) = image.at(from_y, from_x, c);
    }
  }
  return patch;
}

/// Six glances of 12 × 12 at three scales that find the 7.
inline explain::ImageLook glimpse_look() {
  explain::ImageLook look{"cluttered", "glimpse", "glimpse", 276544, "digit.png", digit_image(), {}};
  explain::GlimpseLook glimpses;
  for (int i = 0; i < 10; ++i) glimpses.labels.push_back(std::to_string(i));
  glimpses.answer = "7", glimpses.right = "7";
  constexpr double kPlaces[][2] = {{30, 30}, {44, 18}, {33, 20}, {41, 30}, {37, 41}, {9, 52}};
  double sure = 0.14;
  for (const auto& place : kPlaces) {
    explain::Glance glance{place[0], place[1], {12, 24, 48}, {}, std::vector<double>(10, 0), {}};
    for (const int64_t side : glance.sides)
      glance.patches.push_back(patch_of(look.image, place[0], place[1], side, 12));
    for (double& share : glance.probabilities) share = (1 - sure) / 12;
    glance.probabilities[7] = sure, glance.probabilities[1] = 3 * (1 - sure) / 12 + (1 - sure) / 12;
    glance.probabilities[9] = (1 - sure) / 12;
    glance.probabilities[0] = 0;
    sure = std::min(0.97, sure + 0.21);
    glimpses.glances.push_back(glance);
  }
  look.seen = glimpses;
  return look;
}

/// What spoke for "7": where strokes are bright, on and around them.
inline explain::ImageLook saliency_look() {
  explain::ImageLook look{"digits", "glimpse", "convolutional", 99999, "digit.png", digit_image(), {}};
  explain::SaliencyLook saliency{Tensor({60, 60}), "saliency", "gradient in the pixels", "7", "1", 0.93};
  for (int64_t y = 0; y < 60; ++y) {
    for (int64_t x = 0; x < 60; ++x) {
      const double near = std::exp(-std::hypot(static_cast<double>(x - 42), static_cast<double>(y - 22)) / 8);
      saliency.map.data()[y * 60 + x] = static_cast<real>(near * (0.3 + look.image.at(y, x) / 255.0) *
                                                          (0.6 + 0.4 * static_cast<double>((x * 7 + y * 13) % 5) / 4));
    }
  }
  look.seen = saliency;
  return look;
}

/// Grad-CAM over 7 × 7 cells of the scene.
inline explain::ImageLook cam_look() {
  explain::ImageLook look = caption_look();
  look.task = "glimpse", look.network = "convolutional";
  look.seen = explain::SaliencyLook{bells({{0.28, 0.25, 0.2}}, 7, 7).reshape({7, 7}),
                                    "gradcam",
                                    "Grad-CAM of the last convolution",
                                    "circle",
                                    "circle",
                                    0.81};
  return look;
}

/// Three glances at tiles of 25 pixels over 60 × 60, the last row and column beyond it; drawn, or by their share.
inline explain::ImageLook tiles_look(bool drawn) {
  explain::ImageLook look = glimpse_look();
  auto& glimpses = std::get<explain::GlimpseLook>(look.seen);
  glimpses.glances.resize(3);
  glimpses.rows = glimpses.columns = 3, glimpses.side = 25;
  for (size_t i = 0; i < 3; ++i) {
    explain::Glance& glance = glimpses.glances[i];
    glance.sides = {25};
    glance.tiles.assign(9, 0.05);
    glance.tiles[4 * i] = 0.6;
    glance.patches.clear();
    if (drawn) glance.drawn = {static_cast<int64_t>(4 * i)};
  }
  return look;
}

}  // namespace attend::test
