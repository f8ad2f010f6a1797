// What a network that looks at an image saw, as plain data in one format for every picture of it. See docs/traces.md for its
// JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attend/data/image.h"
#include "attend/tensor/tensor.h"

namespace attend::explain {

/// A caption, and where each of its words looked.
struct CaptionLook {
  std::vector<std::string> words;
  Tensor weights;                         ///< [words, rows·columns]: of the cells of a grid over the image, row by row
  int64_t rows = 0, columns = 0;          ///< of that grid
  std::vector<double> log_probabilities;  ///< one per word, or none
  bool hard = false;                      ///< each word chose one cell
  std::vector<std::string> references;    ///< what people said of the image; may be none
  std::string method = "attention";       ///< or what each word depended on: "gradcam", "saliency", "jacobian" …
  std::string label = {};                 ///< … and that in words
};

/// One look at a small part of the image.
struct Glance {
  double x = 0, y = 0;                ///< its centre in pixels: (0, 0) is the upper left corner of the image
  std::vector<int64_t> sides;         ///< in pixels, of the square of each scale, small ones first
  std::vector<data::Image> patches;   ///< what it saw, one per scale, or none
  std::vector<double> probabilities;  ///< of each label, after it
  std::optional<double> stop;         ///< probability of stopping after it, where that is learned
  std::vector<double> tiles = {};     ///< P(tile | state) of each tile, row by row; none where it chooses no tile
  std::vector<int64_t> drawn = {};    ///< the tiles that it read alone; none: all, by their share
};

struct GlimpseLook {
  std::vector<Glance> glances;
  std::vector<std::string> labels;
  std::string answer, right;  ///< labels; `right` may be unknown: ""
  int64_t rows = 0, columns = 0, side = 0;  ///< of the tiles, and their pixels; 0: it looks anywhere
};

/// How much an answer depended on each pixel.
struct SaliencyLook {
  Tensor map;                         ///< [height, width] of the image, or of a coarser grid over it; none below 0
  std::string method, label;          ///< "gradcam", and in words: "Grad-CAM of the last convolution"
  std::string answer, right;          ///< `right` may be unknown: ""
  std::optional<double> probability;  ///< of the answer
};

struct ImageLook {
  std::string model, task, network;
  int64_t parameters = 0;
  std::string name;  ///< of the image
  data::Image image;
  std::variant<CaptionLook, GlimpseLook, SaliencyLook> seen;
};

/// Its words, with spaces between them; its label.
std::string answer_of(const ImageLook& look);
/// The classes after a glance, likeliest first, `most` of them.
std::vector<size_t> likeliest(const Glance& glance, size_t most);
/// How many steps there are to show: words, glances; of a map 1.
size_t steps_of(const ImageLook& look);

/// Throws Error ("where: …") where there is no image, or where parts disagree in their sizes.
void check_look(const char* where, const ImageLook& look);

/// As JSON text, compact; numbers have 4 digits that count, images are PNG in base64.
std::string look_json(const ImageLook& look);
/// Throws Error where it is no look.
ImageLook parse_look(const std::string& json);

}  // namespace attend::explain
