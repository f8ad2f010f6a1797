#include "attend/data/spoken.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/random.h"
#include "attend/data/builtin_split.h"
#include "attend/data/formant_phonemes.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

constexpr SpokenWord kLexicon[] = {
    {"zero", "Z IH1 R OW"},           {"one", "W AH1 N"},
    {"two", "T UW1"},                 {"three", "TH R IY1"},
    {"four", "F AO1 R"},              {"five", "F AY1 V"},
    {"six", "S IH1 K S"},             {"seven", "S EH1 V AX N"},
    {"eight", "EY1 T"},               {"nine", "N AY1 N"},
    {"ten", "T EH1 N"},               {"eleven", "IH L EH1 V AX N"},
    {"twelve", "T W EH1 L V"},        {"thirteen", "TH ER T IY1 N"},
    {"fourteen", "F AO R T IY1 N"},   {"fifteen", "F IH F T IY1 N"},
    {"sixteen", "S IH K S T IY1 N"},  {"seventeen", "S EH V AX N T IY1 N"},
    {"eighteen", "EY T IY1 N"},       {"nineteen", "N AY N T IY1 N"},
    {"twenty", "T W EH1 N T IY"},     {"thirty", "TH ER1 T IY"},
    {"forty", "F AO1 R T IY"},        {"fifty", "F IH1 F T IY"},
    {"sixty", "S IH1 K S T IY"},      {"seventy", "S EH1 V AX N T IY"},
    {"eighty", "EY1 T IY"},           {"ninety", "N AY1 N T IY"},
    {"hundred", "HH AH1 N D R AX D"}, {"thousand", "TH AW1 Z AX N D"},
    {"and", "AE N D"},                {"the", "DH AX"},
    {"to", "T UW"},                   {"then", "DH EH1 N"},
    {"please", "P L IY1 Z"},          {"turn", "T ER1 N"},
    {"on", "AA1 N"},                  {"off", "AO1 F"},
    {"up", "AH1 P"},                  {"down", "D AW1 N"},
    {"play", "P L EY1"},              {"stop", "S T AA1 P"},
    {"call", "K AO1 L"},              {"set", "S EH1 T"},
    {"read", "R IY1 D"},              {"open", "OW1 P AX N"},
    {"shut", "SH AH1 T"},             {"next", "N EH1 K S T"},
    {"light", "L AY1 T"},             {"radio", "R EY1 D IY OW"},
    {"song", "S AO1 NG"},             {"volume", "V AA1 L Y UW M"},
    {"channel", "CH AE1 N AX L"},     {"message", "M EH1 S AX JH"},
    {"timer", "T AY1 M ER"},          {"alarm", "AX L AA1 R M"},
    {"door", "D AO1 R"},              {"window", "W IH1 N D OW"},
    {"minutes", "M IH1 N AX T S"},    {"seconds", "S EH1 K AX N D Z"},
    {"game", "G EY1 M"},              {"garage", "G ER AA1 ZH"},
};

constexpr size_t kTrainVoices = 32, kHeldOutVoices = 8;  // in validation and in the test each

/// Voice number k of all: spread evenly over the ranges (multiples of irrational numbers), men and women in turn.
SpokenVoice make_voice(size_t k) {
  const auto spread = [k](double step) { return std::fmod(0.37 + step * static_cast<double>(k), 1.0); };
  const bool man = k % 2 == 0;
  const double size = spread(0.6180340);  // a smaller tract goes with a higher pitch, but not always
  SpokenVoice made;
  made.name = (man ? "man " : "woman ") + std::to_string(k / 2 + 1);
  FormantVoice& voice = made.voice;
  voice.tract = (man ? 0.87 : 1.03) + 0.17 * size;
  voice.pitch = (man ? 85 : 160) + (man ? 60 : 95) * (0.4 * size + 0.6 * spread(0.7548777));
  voice.range = 2 + 6 * spread(0.5698403);
  voice.rate = 0.85 + 0.4 * spread(0.4142136);
  voice.breath = 0.05 + 0.6 * spread(0.7320508) * (man ? 0.7 : 1);
  voice.accent = k + 1;
  return made;
}

std::vector<SpokenVoice> make_voices() {
  std::vector<SpokenVoice> voices;
  for (size_t k = 0; k < kTrainVoices + 2 * kHeldOutVoices; ++k) voices.push_back(make_voice(k));
  return voices;
}

std::string digit_string(Random& random, int64_t words) {
  std::string text;
  for (int64_t i = 0; i < words; ++i) {
    if (i > 0) text += ' ';
    text += kLexicon[random.below(10)].word;
  }
  return text;
}

/// Mostly short ones.
std::string draw_number(Random& random) {
  constexpr int64_t kMost[] = {20, 100, 100, 1000, 10000};
  return spoken_number(static_cast<int64_t>(random.below(static_cast<uint64_t>(one_of(random, kMost)))));
}

// Words of one letter are slots: n a number from 2 to 99, D 2 to 4 digits, the others a word of a list below.
constexpr std::string_view kCommands[] = {
    "turn the A S",       "turn S the A",          "turn the volume U",    "turn U the volume", "set the volume to n",
    "play the next song", "play song n",           "play channel n",       "play the game",     "stop the B",
    "call D",             "set the timer to n M",  "set the alarm to n M", "open the C",        "shut the C",
    "read message n",     "read the next message", "open C n",             "open message n",    "turn on A n",
};
constexpr std::string_view kSwitched[] = {"light", "radio", "timer", "alarm"};
constexpr std::string_view kStoppable[] = {"radio", "song", "timer", "alarm", "game"};
constexpr std::string_view kClosable[] = {"door", "window", "garage"};
constexpr std::string_view kOnOff[] = {"on", "off"}, kUpDown[] = {"up", "down"}, kUnits[] = {"minutes", "seconds"};

std::string fill_slot(Random& random, char slot) {
  switch (slot) {
    case 'A': return std::string(one_of(random, kSwitched));
    case 'B': return std::string(one_of(random, kStoppable));
    case 'C': return std::string(one_of(random, kClosable));
    case 'S': return std::string(one_of(random, kOnOff));
    case 'U': return std::string(one_of(random, kUpDown));
    case 'M': return std::string(one_of(random, kUnits));
    case 'D': return digit_string(random, 2 + static_cast<int64_t>(random.below(3)));
    default: return spoken_number(2 + static_cast<int64_t>(random.below(98)));
  }
}

std::string draw_command(Random& random) {
  std::string text;
  for (const std::string_view word : split_words(one_of(random, kCommands))) {
    if (!text.empty()) text += ' ';
    text += word.size() == 1 ? fill_slot(random, word[0]) : std::string(word);
  }
  const uint64_t polite = random.below(8);
  return polite == 0 ? text + " please" : polite == 1 ? "please " + text : text;
}

int64_t word_count(std::string_view text) { return 1 + std::count(text.begin(), text.end(), ' '); }

/// Digits, a number, or a command or two; more commands until there are enough words.
std::string draw_text(Random& random, const SpokenOptions& options) {
  const auto span = static_cast<uint64_t>(options.most_words - options.least_words + 1);
  const int64_t words = options.least_words + static_cast<int64_t>(random.below(span));
  const uint64_t kind = random.below(10);
  if (options.digits_only || kind < 3) return digit_string(random, words);
  std::string text = kind < 5 ? draw_number(random) : draw_command(random);
  while (word_count(text) < options.least_words || (kind >= 5 && chance(random, 0.2))) {
    text += chance(random, 0.5) ? " then " : " and ";
    text += draw_command(random);
  }
  return text;
}

/// A tenth of all longer texts is only in validation, another tenth only in the test.
bool fits_part(SpokenPart part, std::string_view text) {
  if (word_count(text) < 3) return true;
  const SpokenPart only = is_withheld(text, 0.1)   ? SpokenPart::kValid
                          : is_withheld(text, 0.2) ? SpokenPart::kTest
                                                   : SpokenPart::kTrain;
  return part == only;
}

/// Redraws only texts of the same length, so that lengths are distributed alike in all parts.
std::string draw_text(Random& random, SpokenPart part, const SpokenOptions& options) {
  int64_t words = 0;
  for (;;) {
    std::string text = draw_text(random, options);
    const int64_t count = word_count(text);
    if (count > options.most_words || (words > 0 && count != words)) continue;
    if (fits_part(part, text)) return text;
    words = count;
  }
}

std::string_view phonemes_in(std::string_view word) {
  const auto* found = std::find_if(std::begin(kLexicon), std::end(kLexicon),
                                   [&](const SpokenWord& entry) { return entry.word == word; });
  require(found != std::end(kLexicon), "spoken: expected a word of the lexicon, got \"", word, "\"");
  return found->phonemes;
}

bool starts_with_vowel(std::string_view phonemes) {
  std::string_view first = phonemes.substr(0, phonemes.find(' '));
  if (first.ends_with('1')) first.remove_suffix(1);
  return formant_phoneme(first).is_vowel();
}

/// A pause at the start, and after one word in seven.
std::vector<FormantWord> words_to_speak(std::string_view text, Random& random) {
  std::vector<FormantWord> words;
  for (const std::string_view word : split_words(text)) {
    const double long_pause = between(random, 0.05F, 0.3F);
    const bool paused = words.empty() || chance(random, 1.0 / 7);
    words.push_back({std::string(word), std::string(phonemes_in(word)), paused ? long_pause : 0});
    const bool after_the = words.size() > 1 && words[words.size() - 2].text == "the";
    if (after_the && starts_with_vowel(words.back().phonemes)) words[words.size() - 2].phonemes = "DH IY";
  }
  return words;
}

std::string joined_labels(std::span<const TimedLabel> times) {
  std::string text;
  for (const TimedLabel& time : times) text += (text.empty() ? "" : " ") + time.label;
  return text;
}

void check_options(const SpokenOptions& options) {
  require(options.least_words >= 1 && options.least_words <= options.most_words && options.most_words <= 60,
          "spoken: expected a range of words within 1 to 60, got ", options.least_words, " to ",
          options.most_words);
  require(options.least_snr >= -10 && options.least_snr <= options.most_snr && options.most_snr <= 100,
          "spoken: expected a range of noise within -10 to 100 dB, got ", options.least_snr, " to ", options.most_snr);
}

/// What is going to be said, and the stream of random numbers behind it.
struct SpokenPlan {
  std::string text;
  FormantVoice voice;
  std::string name;  // of the voice
  std::vector<FormantWord> words;
  Random random;
};

SpokenPlan plan_of(SpokenPart part, uint64_t seed, int64_t index, const SpokenOptions& options) {
  require(index >= 0, "spoken: expected an index of at least 0, got ", index);
  check_options(options);
  constexpr std::string_view kParts[] = {"spoken: train", "spoken: valid", "spoken: test"};
  SpokenPlan plan;
  plan.random = Random(seed, static_cast<uint64_t>(index)).named(kParts[static_cast<size_t>(part)]);
  Random& random = plan.random;
  plan.text = draw_text(random, part, options);
  const SpokenVoice& speaker = one_of(random, spoken_voices(part));
  plan.voice = speaker.voice, plan.name = speaker.name;
  plan.voice.rate *= between(random, 0.8F, 1.25F), plan.voice.pitch *= between(random, 0.93F, 1.07F);
  plan.words = words_to_speak(plan.text, random);
  return plan;
}

}  // namespace

std::span<const SpokenWord> spoken_lexicon() { return kLexicon; }

std::span<const SpokenVoice> spoken_voices(SpokenPart part) {
  static const std::vector<SpokenVoice> voices = make_voices();
  const std::span<const SpokenVoice> all = voices;
  if (part == SpokenPart::kTrain) return all.first(kTrainVoices);
  return all.subspan(part == SpokenPart::kValid ? kTrainVoices : kTrainVoices + kHeldOutVoices, kHeldOutVoices);
}

std::string spoken_number(int64_t number) {
  require(number >= 0 && number <= 9999, "spoken_number: expected 0 to 9999, got ", number);
  const auto word = [](int64_t entry) { return std::string(kLexicon[entry].word); };
  const auto with_rest = [](std::string text, std::string_view link, int64_t rest) {
    return rest == 0 ? text : text + std::string(link) + spoken_number(rest);
  };
  if (number < 20) return word(number);
  if (number < 100) return with_rest(word(18 + number / 10), " ", number % 10);
  if (number < 1000) return with_rest(word(number / 100) + " hundred", " and ", number % 100);
  return with_rest(word(number / 1000) + " thousand", number % 1000 < 100 ? " and " : " ", number % 1000);
}

SpokenUtterance spoken_text(SpokenPart part, uint64_t seed, int64_t index, const SpokenOptions& options) {
  SpokenPlan plan = plan_of(part, seed, index, options);
  SpokenUtterance made{.text = std::move(plan.text), .voice = std::move(plan.name)};
  for (const FormantWord& word : plan.words) made.phonemes += (made.phonemes.empty() ? "" : " ") + word.phonemes;
  std::erase(made.phonemes, '1');  // accents
  return made;
}

SpokenUtterance spoken_utterance(SpokenPart part, uint64_t seed, int64_t index, const SpokenOptions& options) {
  SpokenPlan plan = plan_of(part, seed, index, options);
  Random& random = plan.random;
  SpokenUtterance made{.text = std::move(plan.text)};
  FormantSpeech speech =
      speak(plan.words, plan.voice, between(random, 0.05F, 0.3F), options.rate, random.named("spoken: samples"));
  made.sound = std::move(speech.sound);
  const NoiseColour colour = chance(random, 0.5) ? NoiseColour::kWhite : NoiseColour::kPink;
  const double snr = options.least_snr + (options.most_snr - options.least_snr) * random.uniform53();
  add_noise(made.sound, colour, snr, random.named("spoken: noise"));
  scale_to_peak(made.sound, between(random, 0.2F, 0.95F));
  made.phonemes = joined_labels(speech.phonemes);
  made.phoneme_times = std::move(speech.phonemes), made.word_times = std::move(speech.words);
  made.voice = std::move(plan.name);
  return made;
}

}  // namespace attend::data
