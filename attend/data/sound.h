// Sound as samples: what is read from files, made by the built-in synthesiser, and turned into features.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attend::data {

/// One channel of samples, −1 … 1.
struct Sound {
  int64_t rate = 0;  ///< samples a second
  std::vector<float> samples;

  double seconds() const { return rate > 0 ? static_cast<double>(samples.size()) / static_cast<double>(rate) : 0; }
};

/// A stretch of a sound, in seconds, and what is said there: a phoneme, a letter or a word.
struct TimedLabel {
  std::string label;
  double begin = 0, end = 0;
  bool operator==(const TimedLabel&) const = default;
};

}  // namespace attend::data
