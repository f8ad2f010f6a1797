#include "attend/data/spoken.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <set>

#include "attend/base/error.h"
#include "tests/support/text.h"

namespace attend::data {
namespace {

constexpr SpokenPart kSpokenParts[] = {SpokenPart::kTrain, SpokenPart::kValid, SpokenPart::kTest};

TEST(Spoken, IsAFunctionOfPartSeedAndIndex) {
  const SpokenUtterance one = spoken_utterance(SpokenPart::kTrain, 1, 7);
  const SpokenUtterance same = spoken_utterance(SpokenPart::kTrain, 1, 7);
  EXPECT_EQ(one.sound.samples, same.sound.samples);
  EXPECT_EQ(one.text, same.text);
  EXPECT_EQ(one.phoneme_times, same.phoneme_times);
  EXPECT_NE(one.sound.samples, spoken_utterance(SpokenPart::kTrain, 1, 8).sound.samples);
  EXPECT_NE(one.sound.samples, spoken_utterance(SpokenPart::kTrain, 2, 7).sound.samples);
  EXPECT_NE(one.sound.samples, spoken_utterance(SpokenPart::kValid, 1, 7).sound.samples);
}

void expect_times(const SpokenUtterance& spoken) {
  std::string phonemes;
  size_t at = 0;
  double now = 0;
  const std::vector<std::string> words = test::words_of(spoken.text);
  ASSERT_EQ(spoken.word_times.size(), words.size());
  for (size_t w = 0; w < words.size(); ++w) {
    const TimedLabel& word = spoken.word_times[w];
    EXPECT_EQ(word.label, words[w]);
    EXPECT_GE(word.begin, now);
    now = word.begin;
    for (; at < spoken.phoneme_times.size() && spoken.phoneme_times[at].begin < word.end; ++at) {
      const TimedLabel& phoneme = spoken.phoneme_times[at];
      phonemes += (phonemes.empty() ? "" : " ") + phoneme.label;
      EXPECT_EQ(phoneme.begin, now) << "contiguous within a word";
      EXPECT_GE(phoneme.end - phoneme.begin, 0.02);
      EXPECT_LE(phoneme.end - phoneme.begin, 0.6);
      now = phoneme.end;
    }
    EXPECT_EQ(now, word.end);
  }
  EXPECT_EQ(at, spoken.phoneme_times.size());
  EXPECT_EQ(phonemes, spoken.phonemes);
  EXPECT_LT(now, spoken.sound.seconds());
}

TEST(Spoken, KnowsWhenEachPhonemeAndWordIsSaid) {
  for (const SpokenPart part : kSpokenParts) {
    for (int64_t i = 0; i < 40; ++i) {
      SCOPED_TRACE(i);
      const SpokenUtterance spoken = spoken_utterance(part, 3, i);
      EXPECT_EQ(spoken.sound.rate, 16000);
      expect_times(spoken);
      for (const float x : spoken.sound.samples) ASSERT_TRUE(std::abs(x) <= 1);
    }
  }
}

TEST(Spoken, HasOtherVoicesAndOtherLongTextsInEachPart) {
  std::map<std::string, SpokenPart> voices, texts;
  for (const SpokenPart part : kSpokenParts) {
    std::set<std::string> names;
    for (const SpokenVoice& voice : spoken_voices(part)) names.insert(voice.name);
    EXPECT_EQ(names.size(), part == SpokenPart::kTrain ? 32u : 8u);
    for (const std::string& name : names) EXPECT_TRUE(voices.emplace(name, part).second) << name;
    for (int64_t i = 0; i < 150; ++i) {
      const SpokenUtterance spoken = spoken_utterance(part, 1, i, {.rate = 8000});
      EXPECT_TRUE(names.contains(spoken.voice)) << spoken.voice;
      if (spoken.word_times.size() < 3) continue;
      EXPECT_EQ(texts.emplace(spoken.text, part).first->second, part) << spoken.text;
    }
  }
}

TEST(Spoken, SaysEveryWordOfTheLexiconInTraining) {
  std::set<std::string> words;
  for (int64_t i = 0; i < 800; ++i) {
    for (const TimedLabel& word : spoken_utterance(SpokenPart::kTrain, 1, i, {.rate = 8000}).word_times) {
      words.insert(word.label);
    }
  }
  for (const SpokenWord& entry : spoken_lexicon()) EXPECT_TRUE(words.contains(std::string(entry.word))) << entry.word;
  EXPECT_EQ(words.size(), spoken_lexicon().size());
}

TEST(Spoken, HasAsManyWordsAsAskedFor) {
  for (const bool digits : {false, true}) {
    std::set<size_t> counts;
    for (int64_t i = 0; i < 60; ++i) {
      const SpokenUtterance spoken = spoken_utterance(
          SpokenPart::kTest, 1, i, {.least_words = 12, .most_words = 14, .digits_only = digits, .rate = 8000});
      counts.insert(test::words_of(spoken.text).size());
      EXPECT_TRUE(!digits || spoken.text.find_first_of("ad") == std::string::npos) << spoken.text;
    }
    EXPECT_EQ(counts, (std::set<size_t>{12, 13, 14}));
  }
}

TEST(Spoken, IsAsLongInEveryPart) {
  double words[3] = {};
  for (const SpokenPart part : kSpokenParts) {
    for (int64_t i = 0; i < 200; ++i) {
      const SpokenUtterance spoken = spoken_utterance(part, 2, i, {.rate = 8000});
      words[static_cast<int>(part)] += static_cast<double>(spoken.word_times.size()) / 200;
    }
  }
  EXPECT_NEAR(words[1], words[0], 0.8);
  EXPECT_NEAR(words[2], words[0], 0.8);
}

TEST(Spoken, SaysNumbersInWords) {
  EXPECT_EQ(spoken_number(0), "zero");
  EXPECT_EQ(spoken_number(13), "thirteen");
  EXPECT_EQ(spoken_number(70), "seventy");
  EXPECT_EQ(spoken_number(241), "two hundred and forty one");
  EXPECT_EQ(spoken_number(3006), "three thousand and six");
  EXPECT_EQ(spoken_number(9900), "nine thousand nine hundred");
  EXPECT_THROW(spoken_number(10000), Error);
}

constexpr size_t kSpokenWindow = 128, kSpokenBands = 20;

/// Waves of each band's frequency under a Hann window; bands are evenly spaced in mel.
std::vector<std::complex<float>> windowed_waves() {
  std::vector<std::complex<float>> waves;
  for (size_t b = 0; b < kSpokenBands; ++b) {
    const double mel = 150 + 130 * static_cast<double>(b), hertz = 700 * (std::exp(mel / 1127) - 1);
    for (size_t i = 0; i < kSpokenWindow; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i);
      waves.emplace_back(std::polar(0.5 - 0.5 * std::cos(angle / kSpokenWindow), angle * hertz / 16000));
    }
  }
  return waves;
}

/// Log power in bands, in thirds of the phoneme.
std::vector<double> spectrum_of(const Sound& sound, const TimedLabel& time) {
  static const std::vector<std::complex<float>> waves = windowed_waves();
  constexpr size_t kPlaces = 3;
  std::vector<double> features;
  for (size_t place = 0; place < kPlaces; ++place) {
    std::vector<double> power(kSpokenBands, 1e-8);
    for (size_t k = 0; k < 3; ++k) {
      const double share = (static_cast<double>(place) + 0.25 * static_cast<double>(k + 1)) / kPlaces;
      const auto at = static_cast<size_t>((time.begin + share * (time.end - time.begin)) * 16000) - kSpokenWindow / 2;
      for (size_t b = 0; b < kSpokenBands; ++b) {
        std::complex<float> sum = 0;
        for (size_t i = 0; i < kSpokenWindow; ++i) sum += sound.samples[at + i] * waves[b * kSpokenWindow + i];
        power[b] += std::norm(sum);
      }
    }
    for (const double p : power) features.push_back(std::log(p));
  }
  return features;
}

// A crude recogniser that knows only each phoneme's mean spectrum in the voices of training: the phonemes differ enough
// for it to be right most of the time about unseen voices (71 %), yet not always.
TEST(Spoken, HasPhonemesThatCanBeToldApartInUnseenVoices) {
  const SpokenOptions clean{.least_snr = 35, .most_snr = 40};
  std::map<std::string, std::pair<std::vector<double>, double>> sums;
  for (int64_t i = 0; i < 100; ++i) {
    const SpokenUtterance spoken = spoken_utterance(SpokenPart::kTrain, 1, i, clean);
    for (const TimedLabel& time : spoken.phoneme_times) {
      const std::vector<double> spectrum = spectrum_of(spoken.sound, time);
      auto& [sum, count] = sums[time.label];
      sum.resize(spectrum.size());
      for (size_t k = 0; k < sum.size(); ++k) sum[k] += spectrum[k];
      count += 1;
    }
  }
  double right = 0, all = 0;
  for (int64_t i = 0; i < 30; ++i) {
    const SpokenUtterance spoken = spoken_utterance(SpokenPart::kTest, 1, i, clean);
    for (const TimedLabel& time : spoken.phoneme_times) {
      const std::vector<double> spectrum = spectrum_of(spoken.sound, time);
      double nearest = INFINITY;
      std::string heard;
      for (const auto& [label, mean] : sums) {
        double distance = 0;
        for (size_t k = 0; k < spectrum.size(); ++k) distance += std::pow(spectrum[k] - mean.first[k] / mean.second, 2);
        if (distance < nearest) nearest = distance, heard = label;
      }
      right += heard == time.label, all += 1;
    }
  }
  EXPECT_GT(right / all, 0.6);
  EXPECT_LT(right / all, 0.97);
}

TEST(Spoken, RejectsInvalidOptions) {
  EXPECT_THROW(spoken_utterance(SpokenPart::kTrain, 1, -1), Error);
  EXPECT_THROW(spoken_utterance(SpokenPart::kTrain, 1, 0, {.least_words = 0}), Error);
  EXPECT_THROW(spoken_utterance(SpokenPart::kTrain, 1, 0, {.least_words = 3, .most_words = 2}), Error);
  EXPECT_THROW(spoken_utterance(SpokenPart::kTrain, 1, 0, {.rate = 100}), Error);
  EXPECT_THROW(spoken_utterance(SpokenPart::kTrain, 1, 0, {.least_snr = 30, .most_snr = 20}), Error);
}

}  // namespace
}  // namespace attend::data
