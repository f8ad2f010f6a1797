#include "attend/data/formant_phonemes.h"

#include <algorithm>
#include <iterator>

#include "attend/base/error.h"

namespace attend::data {
namespace {

constexpr FormantPhoneme formant_vowel(std::string_view name, float seconds, Formants from, Formants to) {
  return {name, Manner::kVowel, seconds, from, to, 1, 0, {}};
}
constexpr FormantPhoneme formant_vowel(std::string_view name, float seconds, Formants steady) {
  return formant_vowel(name, seconds, steady, steady);
}
constexpr FormantPhoneme formant_consonant(std::string_view name, Manner manner, float seconds, Formants at,
                                           float voicing, float follow, NoiseBand noise = {}) {
  return {name, manner, seconds, at, at, voicing, follow, noise};
}

// Formants of vowels are near those of men in Peterson and Barney 1952, table II, and those of diphthongs and consonants
// near Klatt 1980, tables II and III; durations near Klatt 1979. Bands of noise are our own, wide apart to be distinct.
constexpr FormantPhoneme kPhonemes[] = {
    formant_vowel("IY", 0.125F, {280, 2250, 2960}),
    formant_vowel("IH", 0.085F, {400, 1950, 2550}),
    formant_vowel("EH", 0.105F, {545, 1820, 2480}),
    formant_vowel("AE", 0.150F, {680, 1700, 2410}),
    formant_vowel("AA", 0.150F, {740, 1100, 2440}),
    formant_vowel("AO", 0.150F, {580, 840, 2410}),
    formant_vowel("UH", 0.090F, {440, 1020, 2240}),
    formant_vowel("UW", 0.125F, {310, 900, 2240}),
    formant_vowel("AH", 0.100F, {640, 1200, 2390}),
    formant_vowel("AX", 0.060F, {500, 1450, 2450}),
    formant_vowel("ER", 0.130F, {490, 1350, 1690}),
    formant_vowel("EY", 0.145F, {480, 1780, 2520}, {330, 2120, 2650}),
    formant_vowel("AY", 0.180F, {690, 1180, 2550}, {390, 1950, 2500}),
    formant_vowel("OY", 0.190F, {550, 880, 2400}, {360, 1880, 2450}),
    formant_vowel("AW", 0.185F, {690, 1260, 2550}, {410, 900, 2350}),
    formant_vowel("OW", 0.155F, {530, 1060, 2300}, {390, 820, 2300}),
    formant_consonant("W", Manner::kGlide, 0.065F, {290, 620, 2150}, 0.65F, 0.05F),
    formant_consonant("Y", Manner::kGlide, 0.060F, {260, 2150, 3020}, 0.65F, 0.05F),
    formant_consonant("R", Manner::kGlide, 0.070F, {330, 1100, 1420}, 0.7F, 0.05F),
    formant_consonant("L", Manner::kGlide, 0.065F, {330, 1050, 2880}, 0.65F, 0.1F),
    formant_consonant("M", Manner::kNasal, 0.075F, {480, 1150, 2130}, 0.6F, 0.25F),
    formant_consonant("N", Manner::kNasal, 0.070F, {480, 1500, 2470}, 0.6F, 0.2F),
    formant_consonant("NG", Manner::kNasal, 0.085F, {480, 2050, 2700}, 0.6F, 0.4F),
    formant_consonant("HH", Manner::kBreath, 0.065F, {500, 1500, 2500}, 0, 1),
    formant_consonant("F", Manner::kFricative, 0.100F, {340, 1100, 2080}, 0, 0.4F, {3300, 4500, 0.11F}),
    formant_consonant("V", Manner::kFricative, 0.065F, {220, 1100, 2080}, 0.5F, 0.4F, {3300, 4500, 0.06F}),
    formant_consonant("TH", Manner::kFricative, 0.095F, {320, 1350, 2600}, 0, 0.25F, {6300, 2600, 0.1F}),
    formant_consonant("DH", Manner::kFricative, 0.055F, {270, 1350, 2600}, 0.5F, 0.25F, {6300, 2600, 0.05F}),
    formant_consonant("S", Manner::kFricative, 0.110F, {320, 1500, 2530}, 0, 0.2F, {5400, 1500, 0.34F}),
    formant_consonant("Z", Manner::kFricative, 0.080F, {240, 1500, 2530}, 0.4F, 0.2F, {5400, 1500, 0.2F}),
    formant_consonant("SH", Manner::kFricative, 0.115F, {300, 1840, 2750}, 0, 0.1F, {3000, 1100, 0.38F}),
    formant_consonant("ZH", Manner::kFricative, 0.075F, {300, 1840, 2750}, 0.4F, 0.1F, {3000, 1100, 0.2F}),
    formant_consonant("P", Manner::kStop, 0.085F, {400, 950, 2150}, 0, 0.4F, {900, 1400, 0.3F}),
    formant_consonant("B", Manner::kStop, 0.075F, {200, 950, 2150}, 0.12F, 0.4F, {900, 1400, 0.2F}),
    formant_consonant("T", Manner::kStop, 0.080F, {400, 1750, 2650}, 0, 0.25F, {4300, 2200, 0.42F}),
    formant_consonant("D", Manner::kStop, 0.065F, {200, 1750, 2650}, 0.12F, 0.25F, {4300, 2200, 0.28F}),
    formant_consonant("K", Manner::kStop, 0.085F, {300, 1990, 2450}, 0, 0.6F, {0, 500, 0.42F}),
    formant_consonant("G", Manner::kStop, 0.075F, {200, 1990, 2450}, 0.12F, 0.6F, {0, 500, 0.28F}),
    formant_consonant("CH", Manner::kAffricate, 0.120F, {350, 1800, 2820}, 0, 0.1F, {3100, 1200, 0.36F}),
    formant_consonant("JH", Manner::kAffricate, 0.095F, {260, 1800, 2820}, 0.15F, 0.1F, {3100, 1200, 0.24F}),
};

}  // namespace

std::span<const FormantPhoneme> formant_phonemes() { return kPhonemes; }

const FormantPhoneme& formant_phoneme(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPhonemes), std::end(kPhonemes),
                                   [&](const FormantPhoneme& phoneme) { return phoneme.name == name; });
  require(found != std::end(kPhonemes), "formant_phoneme: expected a phoneme of ARPAbet such as IY or K, got \"", name,
          "\"");
  return *found;
}

}  // namespace attend::data
