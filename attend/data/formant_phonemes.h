// What the tract does in each phoneme of English: the targets of the formant synthesiser.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace attend::data {

enum class Manner { kVowel, kGlide, kNasal, kBreath, kFricative, kStop, kAffricate };

/// Noise of a band, in Hz for a tract of scale 1; `level` is its RMS, where that of a loud vowel is about 1.
struct NoiseBand {
  float centre = 0, width = 0, level = 0;  ///< a centre of 0 is F2, as in velar stops
};

using Formants = std::array<float, 3>;  ///< F1, F2, F3 in Hz

/// Targets for an adult man. A consonant moves F2 and F3 by the share `follow` of the way to those of the vowel beside
/// it (locus equations, Sussman et al. 1991).
struct FormantPhoneme {
  std::string_view name;  ///< ARPAbet without stress; AX is schwa
  Manner manner = Manner::kVowel;
  float seconds = 0;  ///< at a rate of 1, in the middle of a sentence
  Formants from{}, to{};
  float voicing = 0;  ///< amplitude of the glottal pulses; of a stop, in its closure
  float follow = 0;
  NoiseBand noise{};

  bool is_vowel() const { return manner == Manner::kVowel; }
  bool has_closure() const { return manner == Manner::kStop || manner == Manner::kAffricate; }
};

/// All phonemes that can be spoken.
std::span<const FormantPhoneme> formant_phonemes();
/// The one of that name; others are rejected.
const FormantPhoneme& formant_phoneme(std::string_view name);

}  // namespace attend::data
