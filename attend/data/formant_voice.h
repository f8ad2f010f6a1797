// A small formant synthesiser (Klatt 1980, "Software for a cascade/parallel formant synthesizer"): pulses and noise
// through resonators whose targets come from a table of phonemes. It knows when each phoneme begins and ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/sound.h"

namespace attend::data {

/// Who speaks.
struct FormantVoice {
  double pitch = 110;   ///< mean, in Hz: 50 to 400
  double range = 4;     ///< from the highest to the lowest pitch of a sentence, in semitones: 0 to 12
  double tract = 1;     ///< factor of all formants, 0.7 to 1.4: 1 for a man, about 1.17 for a woman
  double rate = 1;      ///< speed, 0.4 to 2.5
  double breath = 0.2;  ///< 0 … 1: noise among the pulses, and a duller voice
  uint64_t accent = 0;  ///< moves the formants of each phoneme by a few percent; 0: not at all
};

/// A word to be spoken.
struct FormantWord {
  std::string text;
  std::string phonemes;  ///< ARPAbet, separated by blanks; "1" after a vowel accents it: "S EH1 V AX N"
  double pause = 0;      ///< seconds of silence before it
};

struct FormantSpeech {
  Sound sound;  ///< with a peak of 1
  /// Without gaps within a word; in pauses there is none. Both ends are exact: they are where targets change, in the
  /// middle of the transition. The closure, burst and breath of a stop belong to it.
  std::vector<TimedLabel> phonemes, words;
};

/// Speaks the words, with `tail` seconds of silence after them, at 8000 to 48000 samples a second. Durations, pitch and
/// noise vary with `random`; the same arguments give the same samples.
FormantSpeech speak(std::span<const FormantWord> words, const FormantVoice& voice, double tail, int64_t rate,
                    Random random);

enum class NoiseColour { kWhite, kPink };

/// Adds noise of which the power is `snr` dB below that of the whole sound.
void add_noise(Sound& sound, NoiseColour colour, double snr, Random random);

/// Scales the sound to that peak; silence stays as it is.
void scale_to_peak(Sound& sound, double peak);

}  // namespace attend::data
