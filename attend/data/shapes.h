// Built-in images with captions: small scenes of coloured shapes about which everything is known, so that what a
// captioner says and where it looks can be measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/image.h"

namespace attend::data {

struct ShapesOptions {
  int64_t size = 64;         ///< height and width, at least 48
  int64_t most_objects = 2;  ///< 1 to 3
};

/// In training and validation no object has a held-out pair of colour and shape; in the test at least one object of
/// every scene does. Each colour and each shape by itself occurs in training.
enum class ShapesPart { kTrain, kValid, kTest };

struct ShapeObject {
  int32_t colour = 0, shape = 0;  ///< places in colour_names() and shape_names()
  Box box;                        ///< the pixels that it touches
};

struct ShapeCaption {
  std::string text;  ///< words separated by single spaces
  /// The object that each word describes by its colour or shape; −1: none.
  std::vector<int32_t> speaks_of;
};

struct ShapeScene {
  Image image;                       ///< size×size, red, green, blue
  std::vector<ShapeObject> objects;  ///< no two with the same colour and shape; top to bottom or left to right
  bool upright = false;              ///< arranged one above the other; otherwise side by side
  std::vector<ShapeCaption> captions;  ///< all correct ones, each once
};

/// A pure function of its arguments.
ShapeScene shape_scene(ShapesPart part, uint64_t seed, int64_t index, const ShapesOptions& options = {});

/// The texts of all correct captions.
std::vector<std::string> references(const ShapeScene& scene);

std::span<const std::string_view> colour_names();
std::span<const std::string_view> shape_names();
/// Whether this pair occurs only in the test.
bool held_out(int32_t colour, int32_t shape);

}  // namespace attend::data
