#include "attend/data/digit_scenes.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "attend/base/error.h"
#include "attend/base/random.h"

namespace attend::data {
namespace {

/// A byte as a value of an image, or of a tensor in 0…1.
template <class Value>
constexpr std::array<Value, 256> kValues = [] {
  std::array<Value, 256> values{};
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::is_same_v<Value, uint8_t> ? static_cast<Value>(i) : static_cast<Value>(i) / Value(255);
  }
  return values;
}();

int64_t draw_below(Random& random, int64_t count) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(count)));
}

/// The box `from` of an image at (top, left) of a scene, where it is brighter.
template <class Value>
void brighten(std::span<Value> scene, int64_t size, const Image& image, Box from, int64_t top, int64_t left) {
  for (int64_t y = 0; y < from.height; ++y) {
    const uint8_t* in = &image.pixels[static_cast<size_t>((from.top + y) * image.width + from.left)];
    Value* out = &scene[static_cast<size_t>((top + y) * size + left)];
    for (int64_t x = 0; x < from.width; ++x) out[x] = std::max(out[x], kValues<Value>[in[x]]);
  }
}

}  // namespace

DigitScenes::DigitScenes(std::shared_ptr<const LabelledImages> digits, SceneOptions options, uint64_t seed)
    : digits_(std::move(digits)), options_(options), seed_(seed) {
  require(digits_ != nullptr && !digits_->empty(), "digit scenes: expected digits, got none");
  const Image& first = digits_->front().image;
  require(options_.size >= std::max(first.height, first.width),
          "digit scenes: expected a size of at least that of a digit, ", first.height, "×", first.width, ", got ",
          options_.size);
  const bool fits = options_.piece >= 1 && options_.piece <= std::min(first.height, first.width);
  require(options_.pieces == 0 || (options_.pieces > 0 && fits),
          "digit scenes: expected pieces no larger than a digit, ", first.height, "×", first.width, ", got ",
          options_.pieces, " of ", options_.piece, "×", options_.piece);
  require(options_.pieces == 0 || digits_->size() > 1,
          "digit scenes: expected pieces of other digits, got one digit");
  for (const LabelledImage& digit : *digits_) {
    require(digit.image.channels == 1 && digit.image.height == first.height && digit.image.width == first.width,
            "digit scenes: expected grey digits of one size, ", first.height, "×", first.width, ", got ",
            digit.image.height, "×", digit.image.width, "×", digit.image.channels);
  }
}

template <class Value>
DigitScenes::Drawn DigitScenes::draw_into(int64_t index, std::span<Value> into) const {
  const int64_t size = options_.size, piece = options_.piece;
  require(index >= 0, "digit scenes: expected an index of at least 0, got ", index);
  require(static_cast<int64_t>(into.size()) == size * size, "digit scenes: expected room for ", size, "×", size,
          ", got ", into.size());
  std::fill(into.begin(), into.end(), Value(0));
  Random random = Random(seed_, static_cast<uint64_t>(index)).named("digit scenes");
  const int64_t shown = index % this->size();
  const LabelledImage& digit = (*digits_)[static_cast<size_t>(shown)];
  const int64_t height = digit.image.height, width = digit.image.width;
  const Box box{draw_below(random, size - height + 1), draw_below(random, size - width + 1), height, width};
  brighten(into, size, digit.image, {0, 0, height, width}, box.top, box.left);
  for (int64_t i = 0; i < options_.pieces; ++i) {
    const int64_t other = (shown + 1 + draw_below(random, this->size() - 1)) % this->size();
    const Box cut{draw_below(random, height - piece + 1), draw_below(random, width - piece + 1), piece, piece};
    const int64_t top = draw_below(random, size - piece + 1), left = draw_below(random, size - piece + 1);
    brighten(into, size, (*digits_)[static_cast<size_t>(other)].image, cut, top, left);
  }
  return {digit.label, box};
}

DigitScenes::Drawn DigitScenes::draw(int64_t index, std::span<uint8_t> into) const { return draw_into(index, into); }

DigitScenes::Drawn DigitScenes::draw(int64_t index, std::span<real> into) const { return draw_into(index, into); }

LabelledImage DigitScenes::at(int64_t index) const {
  LabelledImage scene{Image(options_.size, options_.size, 1)};
  const Drawn drawn = draw(index, scene.image.pixels);
  scene.label = drawn.label, scene.box = drawn.digit;
  scene.name = "scene " + std::to_string(index);
  return scene;
}

}  // namespace attend::data
