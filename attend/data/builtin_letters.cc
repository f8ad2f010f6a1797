// Words that do not exist, and how they are pronounced (in the phonemes of CMUdict) by spelling rules of our own, which
// are regular but not letter by letter: digraphs (sh, igh, oa), letters that depend on their neighbours (c and g before
// e, i and y; s between vowels; n before k), a silent e that lengthens the vowel before it, doubled consonants that
// keep it short, and a stress that depends on the whole word and weakens the unstressed vowels.
//
// Stress falls on the last syllable if its vowel is long, and not that of a final y or of er, ir, ur; otherwise on the
// last but one if that is heavy (its vowel is long, or two consonants follow it); otherwise on the first. Unstressed
// short vowels become AH0, and those of i and y IH0. A final -ow is OW, and AW is equally correct.
#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/builtin_split.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr size_t kLettersTrain = 20000, kLettersLongest = 12;

bool one_in(std::string_view letters, char c) { return letters.find(c) != letters.npos; }

/// A place in a word: the letters [at, end) are to be pronounced.
struct Place {
  std::string_view word;
  size_t at, end;

  char before() const { return at > 0 ? word[at - 1] : '\0'; }
  char after() const { return end < word.size() ? word[end] : '\0'; }
};

bool may_be_vowel(char c) { return one_in("aeiouy", c); }
bool has_vowel_before(const Place& p) { return p.word.substr(0, p.at).find_first_of("aeiouy") != p.word.npos; }

bool anywhere(const Place&) { return true; }
bool at_start(const Place& p) { return p.at == 0; }
bool at_end(const Place& p) { return p.end == p.word.size(); }
bool before_vowel(const Place& p) { return may_be_vowel(p.after()); }
bool before_front(const Place& p) { return one_in("eiy", p.after()) && p.after() != '\0'; }
bool before_back(const Place& p) { return one_in("kxq", p.after()) && p.after() != '\0'; }
bool between_vowels(const Place& p) { return may_be_vowel(p.before()) && may_be_vowel(p.after()); }
bool at_voiced_end(const Place& p) { return at_end(p) && one_in("bdglmnrv", p.before()) && p.before() != '\0'; }
/// ar, er, …: the r belongs to the vowel unless another vowel claims it.
bool with_closing_r(const Place& p) { return !may_be_vowel(p.after()) && p.after() != 'r'; }
/// One consonant and a final e follow.
bool before_silent_e(const Place& p) {
  return p.end + 2 == p.word.size() && p.word[p.end + 1] == 'e' && !may_be_vowel(p.after()) && !one_in("xw", p.after());
}
bool silent(const Place& p) { return at_end(p) && has_vowel_before(p); }
bool at_end_after_consonant(const Place& p) { return silent(p) && !may_be_vowel(p.before()); }

/// Sounds separated by blanks. Those in lower case are short vowels, which depend on the stress; those with a capital
/// and a lower-case letter are long ones that draw no stress to the end of a word.
struct Rule {
  std::string_view letters, sounds;
  bool (*fits)(const Place&) = anywhere;
};

// The first that fits is taken, so the specific rules come before the general ones.
constexpr Rule kRules[] = {
    {"tch", "CH"},
    {"ch", "CH"},
    {"sh", "SH"},
    {"th", "TH"},
    {"ph", "F"},
    {"qu", "K W"},
    {"ck", "K"},
    {"kn", "N", at_start},
    {"wr", "R", at_start},
    {"mb", "M", at_end},
    {"ng", "NG G", before_vowel},
    {"ng", "NG"},
    {"n", "NG", before_back},
    {"cc", "K S", before_front},
    {"cc", "K"},
    {"c", "S", before_front},
    {"c", "K"},
    {"gg", "G"},
    {"g", "JH", before_front},
    {"g", "G"},
    {"ss", "S"},
    {"s", "Z", between_vowels},
    {"s", "Z", at_voiced_end},
    {"s", "S"},
    {"x", "Z", at_start},
    {"x", "K S"},
    {"le", "ah L", at_end_after_consonant},
    {"bb", "B"},
    {"dd", "D"},
    {"ff", "F"},
    {"ll", "L"},
    {"mm", "M"},
    {"nn", "N"},
    {"pp", "P"},
    {"rr", "R"},
    {"tt", "T"},
    {"zz", "Z"},
    {"igh", "AY"},
    {"ai", "EY"},
    {"ay", "EY"},
    {"ee", "IY"},
    {"ea", "IY"},
    {"oa", "OW"},
    {"oo", "UW"},
    {"ou", "AW"},
    {"ow", "OW", at_end},
    {"ow", "AW"},
    {"oi", "OY"},
    {"oy", "OY"},
    {"au", "AO"},
    {"aw", "AO"},
    {"ew", "UW"},
    {"ar", "AA R", with_closing_r},
    {"or", "AO R", with_closing_r},
    {"er", "Er", with_closing_r},
    {"ir", "Er", with_closing_r},
    {"ur", "Er", with_closing_r},
    {"a", "EY", before_silent_e},
    {"e", "IY", before_silent_e},
    {"i", "AY", before_silent_e},
    {"o", "OW", before_silent_e},
    {"u", "UW", before_silent_e},
    {"e", "", silent},
    {"y", "Iy", silent},
    {"y", "AY", at_end},
    {"a", "ah", at_end},
    {"i", "IY", at_end},
    {"o", "OW", at_end},
    {"u", "UW", at_end},
    {"y", "Y", before_vowel},
    {"y", "ih"},
    {"a", "ae"},
    {"e", "eh"},
    {"i", "ih"},
    {"o", "aa"},
    {"u", "ah"},
    {"b", "B"},
    {"d", "D"},
    {"f", "F"},
    {"h", "HH"},
    {"j", "JH"},
    {"k", "K"},
    {"l", "L"},
    {"m", "M"},
    {"n", "N"},
    {"p", "P"},
    {"q", "K"},
    {"r", "R"},
    {"t", "T"},
    {"v", "V"},
    {"w", "W"},
    {"z", "Z"},
};

const Rule& rule_at(std::string_view word, size_t at) {
  for (const Rule& rule : kRules) {
    if (word.substr(at).starts_with(rule.letters) && rule.fits({word, at, at + rule.letters.size()})) return rule;
  }
  fail("letters: expected a word of the letters a to z, got \"", word, "\"");
}

std::vector<std::string_view> sounds_of(std::string_view word) {
  std::vector<std::string_view> sounds;
  for (size_t at = 0; at < word.size();) {
    const Rule& rule = rule_at(word, at);
    for (const std::string_view sound : split_words(rule.sounds)) sounds.push_back(sound);
    at += rule.letters.size();
  }
  return sounds;
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_short(std::string_view sound) { return is_small(sound[0]); }
bool is_vowel_sound(std::string_view sound) { return is_short(sound) || one_in("AEIOU", sound[0]); }

bool is_heavy(const std::vector<std::string_view>& sounds, size_t vowel) {
  const auto consonant = [&](size_t i) { return i < sounds.size() && !is_vowel_sound(sounds[i]); };
  return !is_short(sounds[vowel]) || (consonant(vowel + 1) && consonant(vowel + 2));
}

/// The index of the stressed vowel among the sounds.
size_t stressed(const std::vector<std::string_view>& sounds) {
  std::vector<size_t> vowels;
  for (size_t i = 0; i < sounds.size(); ++i) {
    if (is_vowel_sound(sounds[i])) vowels.push_back(i);
  }
  if (vowels.empty()) return sounds.size();
  const std::string_view last = sounds[vowels.back()];
  if (!is_short(last) && !is_small(last[1])) return vowels.back();
  const bool before_last = vowels.size() > 1 && is_heavy(sounds, vowels[vowels.size() - 2]);
  return before_last ? vowels[vowels.size() - 2] : vowels.front();
}

std::string with_stress(std::string_view sound, bool stressed) {
  if (!is_vowel_sound(sound)) return std::string(sound);
  if (is_short(sound) && !stressed) return sound == "ih" ? "IH0" : "AH0";
  std::string said(sound);
  for (char& c : said) c = is_small(c) ? static_cast<char>(c - 'a' + 'A') : c;
  return said + (stressed ? "1" : "0");
}

constexpr std::string_view kOnsets[] = {"b",  "c",  "d",  "f",  "g",  "h",  "j",  "k",  "l",  "m",  "n",
                                        "p",  "r",  "s",  "t",  "v",  "w",  "z",  "bl", "br", "cl", "cr",
                                        "dr", "fl", "fr", "gl", "gr", "pl", "pr", "sl", "sm", "sn", "sp",
                                        "st", "tr", "tw", "sh", "ch", "th", "ph", "qu", "str"};
constexpr std::string_view kFirstOnsets[] = {"kn", "wr", "y", "", ""};
constexpr std::string_view kVowels[] = {"a", "e", "i", "o", "u"};
constexpr std::string_view kPairs[] = {"ai", "ee", "ea", "oa", "oo", "ou", "oi", "au", "igh"};
constexpr std::string_view kCodas[] = {"n",  "m",  "t",  "d",  "p",  "l",  "r",  "s", "ck",
                                       "ng", "sh", "st", "nd", "nt", "mp", "nk", "r", "x"};
constexpr std::string_view kDoubled[] = {"bb", "dd", "ff", "ll", "mm", "nn", "pp", "rr", "tt", "ss", "gg", "cc", "zz"};
constexpr std::string_view kLastCodas[] = {"tch", "mb", "ff", "ll", "ss", "lk", "ld", "ns", "ds"};
constexpr std::string_view kSilentE[] = {"b", "c", "d", "f", "g", "k", "l", "m", "n", "p", "s", "t", "v", "z", "r"};
constexpr std::string_view kLastVowels[] = {"y", "o", "a", "ow", "ay", "ew", "aw", "oy"};
constexpr std::string_view kLe[] = {"b", "d", "p", "t", "f", "g"};

/// Syllable after syllable.
std::string draw_spelling(Random& random) {
  std::string word;
  const uint64_t syllables = 1 + random.below(3);
  for (uint64_t i = 1; i <= syllables; ++i) {
    const bool doubled = !word.empty() && may_be_vowel(word.back()) && chance(random, 0.3);
    word += doubled                                ? one_of(random, kDoubled)
            : word.empty() && chance(random, 0.15) ? one_of(random, kFirstOnsets)
                                                   : one_of(random, kOnsets);
    if (i < syllables) {
      word += chance(random, 0.75) ? one_of(random, kVowels) : one_of(random, kPairs);
      if (chance(random, 0.35)) word += one_of(random, kCodas);
      continue;
    }
    const double kind = random.uniform53();
    if (kind < 0.25) {
      word.append(one_of(random, kVowels)).append(one_of(random, kSilentE)).append("e");
    } else if (kind < 0.4) {
      word += one_of(random, kLastVowels);
    } else if (kind < 0.5 && i > 1) {
      word.append(one_of(random, kVowels)).append(one_of(random, kLe)).append("le");
    } else {
      word += chance(random, 0.75) ? one_of(random, kVowels) : one_of(random, kPairs);
      word += chance(random, 0.8) ? one_of(random, kCodas) : one_of(random, kLastCodas);
    }
  }
  return word;
}

Example draw_word(Random& random) {
  for (;;) {
    std::string word = draw_spelling(random);
    if (word.size() < 2 || word.size() > kLettersLongest) continue;
    std::vector<std::string> said = letter_pronunciations(word);
    Example example{std::move(word), std::move(said[0]), {}, {}};
    example.also.assign(std::make_move_iterator(said.begin() + 1), std::make_move_iterator(said.end()));
    return example;
  }
}

}  // namespace

std::vector<std::string> letter_pronunciations(std::string_view spelling) {
  require(!spelling.empty(), "letters: expected a word, got none");
  const std::vector<std::string_view> sounds = sounds_of(spelling);
  const size_t stress = stressed(sounds);
  std::string said;
  for (size_t i = 0; i < sounds.size(); ++i) {
    said.append(i == 0 ? "" : " ").append(with_stress(sounds[i], i == stress));
  }
  if (!spelling.ends_with("ow")) return {said};
  std::string other = said;
  other.replace(other.size() - 3, 2, "AW");
  return {said, other};
}

BuiltinCorpus make_letters(uint64_t seed) {
  return drawn_corpus("letters", seed, kLettersTrain, HoldOut::kAny, draw_word);
}

}  // namespace attend::data
