#include "attend/train/porter.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace attend::train {
namespace {

/// Whether each letter is a consonant: not a, e, i, o, u, and not a y behind a consonant.
std::vector<bool> consonants(std::string_view word) {
  std::vector<bool> flags;
  for (const char c : word) {
    const bool vowel = std::string_view("aeiou").find(c) != std::string_view::npos;
    flags.push_back(!vowel && (c != 'y' || flags.empty() || !flags.back()));
  }
  return flags;
}

/// Porter's m: how often a vowel is followed by a consonant.
int measure(std::string_view stem) {
  const std::vector<bool> consonant = consonants(stem);
  int count = 0;
  for (size_t i = 1; i < consonant.size(); ++i) count += consonant[i] && !consonant[i - 1];
  return count;
}

bool has_vowel(std::string_view stem) { return std::ranges::count(consonants(stem), false) > 0; }

/// Porter's *d.
bool ends_in_double_consonant(std::string_view word) {
  return word.size() >= 2 && word.back() == word[word.size() - 2] && consonants(word).back();
}

/// Porter's *o: consonant, vowel, consonant other than w, x, y; with NLTK, also a word of a vowel and a consonant.
bool ends_short(std::string_view word) {
  const std::vector<bool> consonant = consonants(word);
  const size_t n = word.size();
  if (n == 2) return !consonant[0] && consonant[1];
  return n >= 3 && consonant[n - 3] && !consonant[n - 2] && consonant[n - 1] &&
         std::string_view("wxy").find(word.back()) == std::string_view::npos;
}

struct SuffixRule {
  std::string_view suffix, replacement;
};

/// The first suffix that the word has is replaced if m of what is before it exceeds `above`.
std::string replaced(std::string word, std::span<const SuffixRule> rules, int above) {
  for (const SuffixRule& rule : rules) {
    if (!word.ends_with(rule.suffix)) continue;
    const std::string_view stem = std::string_view(word).substr(0, word.size() - rule.suffix.size());
    return measure(stem) > above ? std::string(stem).append(rule.replacement) : word;
  }
  return word;
}

constexpr int kAny = -1;  // m exceeds it

/// Plurals. NLTK: "dies" → "die".
std::string step_1a(std::string word) {
  constexpr SuffixRule kRules[] = {{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}};
  if (word.size() == 4 && word.ends_with("ies")) return word.substr(0, 3);
  return replaced(std::move(word), kRules, kAny);
}

/// -ed and -ing. NLTK: "died" → "die", "spied" → "spi".
std::string step_1b(std::string word) {
  constexpr SuffixRule kEed[] = {{"eed", "ee"}}, kEnds[] = {{"at", "ate"}, {"bl", "ble"}, {"iz", "ize"}};
  if (word.ends_with("ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed")) return replaced(std::move(word), kEed, 0);
  const size_t cut = word.ends_with("ed") ? 2 : word.ends_with("ing") ? 3 : 0;
  if (cut == 0 || !has_vowel(std::string_view(word).substr(0, word.size() - cut))) return word;
  word.resize(word.size() - cut);
  for (const SuffixRule& rule : kEnds) {
    if (word.ends_with(rule.suffix)) return replaced(std::move(word), kEnds, kAny);
  }
  if (ends_in_double_consonant(word)) {
    if (std::string_view("lsz").find(word.back()) == std::string_view::npos) word.pop_back();
  } else if (measure(word) == 1 && ends_short(word)) {
    word += 'e';
  }
  return word;
}

/// y → i behind a consonant (NLTK), unless that is all.
std::string step_1c(std::string word) {
  const size_t n = word.size();
  if (n > 2 && word.ends_with('y') && consonants(word)[n - 2]) word.back() = 'i';
  return word;
}

std::string step_2(std::string word) {
  constexpr SuffixRule kRules[] = {
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},   {"izer", "ize"},
      {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},   {"eli", "e"},       {"ousli", "ous"},
      {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"},
      {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
      {"fulli", "ful"}};
  // NLTK: -alli first, and then what it leaves.
  while (word.ends_with("alli") && measure(std::string_view(word).substr(0, word.size() - 4)) > 0) {
    word.resize(word.size() - 2);
  }
  // NLTK: the l of -logi counts as part of the stem, so that "geologi" has a measure.
  if (word.ends_with("logi")) {
    return measure(std::string_view(word).substr(0, word.size() - 3)) > 0 ? word.substr(0, word.size() - 1) : word;
  }
  return replaced(std::move(word), kRules, 0);
}

std::string step_3(std::string word) {
  constexpr SuffixRule kRules[] = {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
                                   {"ical", "ic"},  {"ful", ""},   {"ness", ""}};
  return replaced(std::move(word), kRules, 0);
}

std::string step_4(std::string word) {
  constexpr SuffixRule kRules[] = {{"al", ""},    {"ance", ""}, {"ence", ""}, {"er", ""},  {"ic", ""},
                                   {"able", ""},  {"ible", ""}, {"ant", ""},  {"ement", ""}, {"ment", ""},
                                   {"ent", ""},   {"ion", ""},  {"ou", ""},   {"ism", ""}, {"ate", ""},
                                   {"iti", ""},   {"ous", ""},  {"ive", ""},  {"ize", ""}};
  if (word.ends_with("ion") && !word.ends_with("sion") && !word.ends_with("tion")) return word;
  return replaced(std::move(word), kRules, 1);
}

std::string step_5(std::string word) {
  if (word.ends_with('e')) {
    const std::string_view stem = std::string_view(word).substr(0, word.size() - 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_short(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(std::string_view(word).substr(0, word.size() - 1)) > 1) word.pop_back();
  return word;
}

/// NLTK's irregular forms.
constexpr std::pair<std::string_view, std::string_view> kIrregular[] = {
    {"sky", "sky"},         {"skies", "sky"},        {"dying", "die"},        {"lying", "lie"},    {"tying", "tie"},
    {"news", "news"},       {"innings", "inning"},   {"inning", "inning"},    {"outings", "outing"},
    {"outing", "outing"},   {"cannings", "canning"}, {"canning", "canning"},  {"howe", "howe"},
    {"proceed", "proceed"}, {"exceed", "exceed"},    {"succeed", "succeed"}};

}  // namespace

std::string porter_stem(std::string_view word) {
  const auto* const irregular =
      std::ranges::find(kIrregular, word, &std::pair<std::string_view, std::string_view>::first);
  if (irregular != std::end(kIrregular)) return std::string(irregular->second);
  if (word.size() <= 2) return std::string(word);
  return step_5(step_4(step_3(step_2(step_1c(step_1b(step_1a(std::string(word))))))));
}

}  // namespace attend::train
