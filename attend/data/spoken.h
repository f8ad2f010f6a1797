// Built-in speech: numbers and short commands in the voices of a small synthesiser, of which every phoneme's and word's
// time is known, so that what a recogniser hears and where it listens can be measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/formant_voice.h"
#include "attend/data/sound.h"

namespace attend::data {

struct SpokenOptions {
  int64_t least_words = 1, most_words = 10;  ///< of an utterance: 1 to 60
  bool digits_only = false;                  ///< only strings of zero … nine
  int64_t rate = 16000;                      ///< samples a second, 8000 to 48000
  double least_snr = 15, most_snr = 40;      ///< of white or pink noise, in dB
};

/// Each part has voices of its own. Texts of three words or more are in one part only; shorter ones may be in all.
enum class SpokenPart { kTrain, kValid, kTest };

struct SpokenUtterance {
  Sound sound;
  std::string text;      ///< words separated by single blanks
  std::string phonemes;  ///< ARPAbet without stress, separated by single blanks
  /// In the order of `phonemes` and of the words of `text`. Phonemes are contiguous within a word; before, between and
  /// after words there may be pauses, which have no label.
  std::vector<TimedLabel> phoneme_times, word_times;
  std::string voice;  ///< "man 3", "woman 12": one of spoken_voices(part)
};

/// The text and the phonemes alone, which cost next to nothing.
SpokenUtterance spoken_text(SpokenPart part, uint64_t seed, int64_t index, const SpokenOptions& options = {});
/// A pure function of its arguments.
SpokenUtterance spoken_utterance(SpokenPart part, uint64_t seed, int64_t index, const SpokenOptions& options = {});

struct SpokenVoice {
  std::string name;
  FormantVoice voice;
};
/// The voices of a part, for every seed the same.
std::span<const SpokenVoice> spoken_voices(SpokenPart part);

struct SpokenWord {
  std::string_view word, phonemes;  ///< "1" after a vowel accents it
};
/// All words that occur, and how they are pronounced; "the" is DH IY before a vowel.
std::span<const SpokenWord> spoken_lexicon();

/// A number as it is said: 241 is "two hundred and forty one". From 0 to 9999.
std::string spoken_number(int64_t number);

}  // namespace attend::data
