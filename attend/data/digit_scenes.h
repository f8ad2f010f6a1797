// Digits somewhere on a larger image, alone or among pieces of others, for a network that looks around to find (Mnih et
// al. 2014, "Recurrent models of visual attention", section 4.1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/base/real.h"
#include "attend/data/image.h"

namespace attend::data {

struct SceneOptions {
  int64_t size = 60;   ///< height and width
  int64_t pieces = 0;  ///< of clutter
  int64_t piece = 8;   ///< height and width of one
};

/// Scene i shows digit i mod n at a random place, and pieces cut from other digits elsewhere; where ink overlaps, the
/// brighter wins. All randomness is a pure function of (seed, i), so that scenes never run out and any thread can make
/// them.
class DigitScenes {
 public:
  /// Grey digits of one size, no larger than the scene.
  DigitScenes(std::shared_ptr<const LabelledImages> digits, SceneOptions options, uint64_t seed);

  int64_t size() const { return static_cast<int64_t>(digits_->size()); }
  const SceneOptions& options() const { return options_; }

  struct Drawn {
    int32_t label = 0;
    Box digit;  ///< the frame of the digit as it was placed
  };
  /// Overwrites `into`, which has size·size values: as 0…255, or as 0…1 for a row of a batch.
  Drawn draw(int64_t index, std::span<uint8_t> into) const;
  Drawn draw(int64_t index, std::span<real> into) const;
  LabelledImage at(int64_t index) const;

 private:
  template <class Value>
  Drawn draw_into(int64_t index, std::span<Value> into) const;

  std::shared_ptr<const LabelledImages> digits_;
  SceneOptions options_;
  uint64_t seed_;
};

}  // namespace attend::data
