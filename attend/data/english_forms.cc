#include "attend/data/english_forms.h"

namespace attend::data {
namespace {

bool is_vowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

/// "carry", but not "play".
bool ends_in_consonant_y(std::string_view stem) {
  return stem.size() > 1 && stem.back() == 'y' && !is_vowel(stem[stem.size() - 2]);
}

/// One vowel followed by one consonant, in a word of one syllable: "hop", but not "help", "cook", "show" or "open".
bool doubles(std::string_view stem) {
  if (stem.size() < 3 || is_vowel(stem.back()) || std::string_view("wxy").find(stem.back()) != std::string_view::npos)
    return false;
  size_t vowels = 0;
  for (const char c : stem) vowels += is_vowel(c);
  return vowels == 1 && is_vowel(stem[stem.size() - 2]);
}

std::string without_last(std::string_view stem) { return std::string(stem.substr(0, stem.size() - 1)); }

/// In front of -ed, -er and -est.
std::string before_e(std::string_view stem) {
  if (stem.ends_with('e')) return without_last(stem);
  if (ends_in_consonant_y(stem)) return without_last(stem) + "i";
  return doubles(stem) ? std::string(stem) + stem.back() : std::string(stem);
}

}  // namespace

std::string with_s(std::string_view stem) {
  if (ends_in_consonant_y(stem)) return without_last(stem) + "ies";
  for (const std::string_view hiss : {"s", "x", "z", "ch", "sh"}) {
    if (stem.ends_with(hiss)) return std::string(stem) + "es";
  }
  return std::string(stem) + "s";
}

std::string with_ed(std::string_view stem) { return before_e(stem) + "ed"; }
std::string with_er(std::string_view stem) { return before_e(stem) + "er"; }
std::string with_est(std::string_view stem) { return before_e(stem) + "est"; }

std::string with_ing(std::string_view stem) {
  if (stem.ends_with('e') && !stem.ends_with("ee")) return without_last(stem) + "ing";
  return (doubles(stem) ? std::string(stem) + stem.back() : std::string(stem)) + "ing";
}

std::string with_ly(std::string_view stem) {
  if (stem.ends_with("le") || stem.ends_with("ll")) return without_last(stem) + (stem.ends_with("ll") ? "ly" : "y");
  return (ends_in_consonant_y(stem) ? without_last(stem) + "i" : std::string(stem)) + "ly";
}

}  // namespace attend::data
