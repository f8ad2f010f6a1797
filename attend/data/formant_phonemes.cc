#include "attend/data/formant_phonemes.h"

#include <algorithm>
#include <iterator>

#include "attend/base/error.h"

namespace attend::data {
namespace {

constexpr FormantPhoneme vowel(std::string_view name, float seconds, Formants from, Formants to) {
  return {name, Manner::kVowel, seconds, from, to, 1, 0, {}};
}
constexpr FormantPhoneme vowel(std::string_view name, float seconds, Formants steady) {
  return vowel(name, seconds, steady, steady);
}
constexpr FormantPhoneme consonant(std::string_view name, Manner manner, float seconds, Formants at, float voicing,
                                   float follow, NoiseBand noise = {}) {
  return {name, manner, seconds, at, at, voicing, follow, noise};
}

// Vowels: Peterson and Barney 1952, table II (men); diphthongs and consonants: Klatt 1980, tables II and III, with AO,
// NG and bands of noise of our own. Durations are about those of Klatt 1979.
constexpr FormantPhoneme kPhonemes[] = {
    vowel("IY", 0.125F, {280, 2250, 2960}),
    vowel("IH", 0.085F, {400, 1950, 2550}),
    vowel("EH", 0.105F, {545, 1820, 2480}),
    vowel("AE", 0.150F, {680, 1700, 2410}),
    vowel("AA", 0.150F, {740, 1100, 2440}),
    vowel("AO", 0.150F, {580, 840, 2410}),
    vowel("UH", 0.090F, {440, 1020, 2240}),
    vowel("UW", 0.125F, {310, 900, 2240}),
    vowel("AH", 0.100F, {640, 1200, 2390}),
    vowel("AX", 0.060F, {500, 1450, 2450}),
    vowel("ER", 0.130F, {490, 1350, 1690}),
    vowel("EY", 0.145F, {480, 1780, 2520}, {330, 2120, 2650}),
    vowel("AY", 0.180F, {690, 1180, 2550}, {390, 1950, 2500}),
    vowel("OY", 0.190F, {550, 880, 2400}, {360, 1880, 2450}),
    vowel("AW", 0.185F, {690, 1260, 2550}, {410, 900, 2350}),
    vowel("OW", 0.155F, {530, 1060, 2300}, {390, 820, 2300}),
    consonant("W", Manner::kGlide, 0.065F, {290, 620, 2150}, 0.65F, 0.05F),
    consonant("Y", Manner::kGlide, 0.060F, {260, 2150, 3020}, 0.65F, 0.05F),
    consonant("R", Manner::kGlide, 0.070F, {330, 1100, 1420}, 0.7F, 0.05F),
    consonant("L", Manner::kGlide, 0.065F, {330, 1050, 2880}, 0.65F, 0.1F),
    consonant("M", Manner::kNasal, 0.075F, {480, 1150, 2130}, 0.6F, 0.25F),
    consonant("N", Manner::kNasal, 0.070F, {480, 1500, 2470}, 0.6F, 0.2F),
    consonant("NG", Manner::kNasal, 0.085F, {480, 2050, 2700}, 0.6F, 0.4F),
    consonant("HH", Manner::kBreath, 0.065F, {500, 1500, 2500}, 0, 1),
    consonant("F", Manner::kFricative, 0.100F, {340, 1100, 2080}, 0, 0.4F, {3300, 4500, 0.11F}),
    consonant("V", Manner::kFricative, 0.065F, {220, 1100, 2080}, 0.5F, 0.4F, {3300, 4500, 0.06F}),
    consonant("TH", Manner::kFricative, 0.095F, {320, 1350, 2600}, 0, 0.25F, {6300, 2600, 0.1F}),
    consonant("DH", Manner::kFricative, 0.055F, {270, 1350, 2600}, 0.5F, 0.25F, {6300, 2600, 0.05F}),
    consonant("S", Manner::kFricative, 0.110F, {320, 1500, 2530}, 0, 0.2F, {5400, 1500, 0.34F}),
    consonant("Z", Manner::kFricative, 0.080F, {240, 1500, 2530}, 0.4F, 0.2F, {5400, 1500, 0.2F}),
    consonant("SH", Manner::kFricative, 0.115F, {300, 1840, 2750}, 0, 0.1F, {3000, 1100, 0.38F}),
    consonant("ZH", Manner::kFricative, 0.075F, {300, 1840, 2750}, 0.4F, 0.1F, {3000, 1100, 0.2F}),
    consonant("P", Manner::kStop, 0.085F, {400, 950, 2150}, 0, 0.4F, {900, 1400, 0.3F}),
    consonant("B", Manner::kStop, 0.075F, {200, 950, 2150}, 0.12F, 0.4F, {900, 1400, 0.2F}),
    consonant("T", Manner::kStop, 0.080F, {400, 1750, 2650}, 0, 0.25F, {4300, 2200, 0.42F}),
    consonant("D", Manner::kStop, 0.065F, {200, 1750, 2650}, 0.12F, 0.25F, {4300, 2200, 0.28F}),
    consonant("K", Manner::kStop, 0.085F, {300, 1990, 2450}, 0, 0.6F, {0, 500, 0.42F}),
    consonant("G", Manner::kStop, 0.075F, {200, 1990, 2450}, 0.12F, 0.6F, {0, 500, 0.28F}),
    consonant("CH", Manner::kAffricate, 0.120F, {350, 1800, 2820}, 0, 0.1F, {3100, 1200, 0.36F}),
    consonant("JH", Manner::kAffricate, 0.095F, {260, 1800, 2820}, 0.15F, 0.1F, {3100, 1200, 0.24F}),
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
