// What the formant synthesiser does from one moment to the next: words as tracks of formants, sources and pitch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/formant_phonemes.h"
#include "attend/data/formant_voice.h"

namespace attend::data {

/// Seconds between two settings of the filters; all times are multiples of it.
constexpr double kFormantFrame = 0.002;

/// Values at each frame, for a tract of scale 1.
struct FormantTracks {
  std::array<std::vector<float>, 3> formants;            ///< Hz
  std::vector<float> voicing, aspiration, nasal, pitch;  ///< pitch: semitones above the voice's mean
  std::vector<NoiseBand> noise;
  std::vector<TimedLabel> phonemes, words;

  size_t size() const { return voicing.size(); }
};

FormantTracks formant_tracks(std::span<const FormantWord> words, const FormantVoice& voice, double tail,
                             Random& random);

}  // namespace attend::data
