// Traces of sounds as a listener might leave them: built-in speech with gold times, and weights around where each letter is
// said.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/spoken.h"
#include "attend/explain/trace.h"

namespace attend::test {

/// Utterances of the test voices one after another, with their gold times.
struct Speech {
  data::Sound sound{16000, {}};
  std::string text;
  std::vector<data::TimedLabel> words, phonemes;
};
inline Speech speech(int64_t utterances, int64_t first = 3) {
  Speech all;
  for (int64_t i = 0; i < utterances; ++i) {
    const data::SpokenUtterance one = data::spoken_utterance(data::SpokenPart::kTest, 1, first + i,
                                                             {.least_words = 4, .most_words = 7, .least_snr = 30});
    const double at = all.sound.seconds();
    const auto add = [at](auto& to, const auto& times) {
      for (const data::TimedLabel& t : times) to.push_back({t.label, t.begin + at, t.end + at});
    };
    add(all.words, one.word_times), add(all.phonemes, one.phoneme_times);
    all.sound.samples.insert(all.sound.samples.end(), one.sound.samples.begin(), one.sound.samples.end());
    all.text += (all.text.empty() ? "" : " ") + one.text;
  }
  return all;
}

/// Each letter's equal part of its word, and "▁" between words, part of the word after it; the end last.
struct SpelledOut {
  std::vector<std::string> letters;
  std::vector<int32_t> word_of;
  std::vector<data::TimedLabel> times;
};
inline SpelledOut spelled(const Speech& speech) {
  SpelledOut out;
  const auto add = [&](const std::string& letter, int32_t word, double begin, double end) {
    out.letters.push_back(letter), out.word_of.push_back(word), out.times.push_back({letter, begin, end});
  };
  for (size_t w = 0; w < speech.words.size(); ++w) {
    const auto& [word, begin, end] = speech.words[w];
    const double each = (end - begin) / static_cast<double>(word.size());
    for (size_t i = 0; i < word.size(); ++i) {
      const double from = begin + each * static_cast<double>(i);
      add(std::string(1, word[i]), static_cast<int32_t>(w), from, from + each);
    }
    const double next = w + 1 < speech.words.size() ? speech.words[w + 1].begin : speech.sound.seconds();
    const bool last = w + 1 == speech.words.size();
    add(last ? "</s>" : "▁", last ? -1 : static_cast<int32_t>(w) + 1, end, std::max(end, next));
  }
  return out;
}

/// Rows that look at the places around the middle of their times, a little late and never quite sure.
inline Tensor listening(const std::vector<data::TimedLabel>& times, const explain::TraceSound& sound, int64_t places) {
  Random random(7);
  Tensor weights({static_cast<int64_t>(times.size()), places});
  for (size_t r = 0; r < times.size(); ++r) {
    const double middle = (times[r].begin + times[r].end) / 2 + 0.015 * random.normal();
    const double width = 0.3 * (times[r].end - times[r].begin) + 0.02;
    real* row = weights[static_cast<int64_t>(r)].data();
    double sum = 0;
    for (int64_t p = 0; p < places; ++p) {
      const double far = (sound.begin_of(p) + sound.place_seconds / 2 - middle) / width;
      row[p] = static_cast<real>(std::exp(-far * far / 2) + 0.002 * random.uniform());
      sum += static_cast<double>(row[p]);
    }
    for (int64_t p = 0; p < places; ++p) row[p] /= static_cast<real>(sum);
  }
  return weights;
}

/// Means of the rows of each word.
inline Tensor by_word(const Tensor& rows, const std::vector<int32_t>& word_of, size_t words) {
  Tensor means = Tensor::zeros({static_cast<int64_t>(words), rows.dim(1)});
  std::vector<real> counts(words);
  for (const int32_t word : word_of) {
    if (word >= 0) ++counts[static_cast<size_t>(word)];
  }
  for (size_t r = 0; r < word_of.size(); ++r) {
    if (word_of[r] < 0) continue;
    const auto word = static_cast<size_t>(word_of[r]);
    for (int64_t p = 0; p < rows.dim(1); ++p) {
      means[word_of[r]].data()[p] += rows[static_cast<int64_t>(r)].data()[p] / counts[word];
    }
  }
  return means;
}

/// A listener with a stride of four frames, its sound and gold times, spelled out by attention.
inline explain::Trace listen_trace(int64_t utterances = 1) {
  const Speech said = speech(utterances);
  const SpelledOut out = spelled(said);
  explain::TraceSound sound = explain::trace_sound(said.sound);
  sound.place_seconds = 0.04, sound.words = said.words, sound.phonemes = said.phonemes;
  const auto places = static_cast<int64_t>(std::ceil(sound.seconds / sound.place_seconds));
  explain::Trace trace;
  trace.model = "spoken", trace.task = "listen", trace.network = "listener", trace.parameters = 812345;
  trace.target.text = said.text, trace.target.tokens = out.letters, trace.target.word_of = out.word_of;
  for (const data::TimedLabel& word : said.words) trace.target.words.push_back(word.label);
  trace.token_log_probabilities.assign(out.letters.size(), -0.02);
  const Tensor weights = listening(out.times, sound, places);
  trace.maps.push_back({"attention", "attention, mean of 1 layer × 1 head", "decoder.memory", -1, -1, false, weights,
                        by_word(weights, out.word_of, said.words.size())});
  explain::TraceSite site{"decoder.memory", Purpose::source, 0, 1, "target", "source"};
  site.weights = weights.reshape({1, weights.dim(0), places});
  trace.sites.push_back(site);
  trace.source = explain::sound_side(std::move(sound), "data/seven-four.wav", places);
  return trace;
}

/// CTC alone: no attention, but a posterior of each letter at each place, and the times that follow from it.
inline explain::Trace ctc_trace(int64_t utterances = 1) {
  explain::Trace trace = listen_trace(utterances);
  const SpelledOut out = spelled(speech(utterances));
  explain::TraceSound sound = *trace.source.sound;
  const int64_t places = static_cast<int64_t>(trace.source.tokens.size());
  sound.labels = {"ε"};
  for (const std::string& letter : out.letters) {
    if (letter != "</s>" && std::ranges::find(sound.labels, letter) == sound.labels.end())
      sound.labels.push_back(letter);
  }
  const auto labels = static_cast<int64_t>(sound.labels.size());
  sound.posteriors = Tensor::zeros({places, labels});
  trace.target.tokens.pop_back(), trace.target.word_of.pop_back(), trace.token_log_probabilities.pop_back();
  for (size_t t = 0; t < trace.target.tokens.size(); ++t) {
    const double middle = (out.times[t].begin + out.times[t].end) / 2;
    const auto place = std::min(places - 1, static_cast<int64_t>(middle / sound.place_seconds));
    const int64_t label = std::ranges::find(sound.labels, out.letters[t]) - sound.labels.begin();
    sound.posteriors.data()[place * labels + label] =
        static_cast<real>(0.75 + 0.2 * std::sin(1.7 * static_cast<double>(t)));
    if (place + 1 < places) sound.posteriors.data()[(place + 1) * labels + label] = static_cast<real>(0.15);
    trace.target.times.push_back({out.letters[t], sound.begin_of(place), sound.begin_of(place + 1)});
  }
  for (int64_t p = 0; p < places; ++p) {
    real others = 0;
    for (int64_t l = 1; l < labels; ++l) others += sound.posteriors.data()[p * labels + l];
    sound.posteriors.data()[p * labels] = std::max(real{0}, 1 - others);
  }
  trace.network = "ctc", trace.maps.clear(), trace.sites.clear();
  trace.source.sound = std::make_shared<const explain::TraceSound>(std::move(sound));
  return trace;
}

/// What speaks for and against each letter, over the sound.
inline explain::Trace sound_saliency_trace() {
  explain::Trace trace = listen_trace();
  explain::TraceMap map = trace.maps[0];
  map.method = "saliency", map.label = "saliency: gradient × features", map.site = "", map.is_signed = true;
  map.tokens = map.tokens.clone(), map.words = map.words.clone();
  for (Tensor* values : {&map.tokens, &map.words}) {
    for (size_t i = 0; i < values->size(); ++i) values->data()[i] *= i % 4 == 1 ? -2 : 3;
  }
  trace.maps.insert(trace.maps.begin(), map);
  return trace;
}

/// A phoneme for each frame of 20 ms, now and then a wrong one.
inline explain::Trace frames_trace() {
  const Speech said = speech(1);
  explain::TraceSound sound = explain::trace_sound(said.sound);
  sound.place_seconds = 0.02, sound.words = said.words, sound.phonemes = said.phonemes;
  const auto places = static_cast<int64_t>(std::ceil(sound.seconds / sound.place_seconds));
  explain::Trace trace;
  trace.model = "spoken", trace.task = "frames", trace.network = "frame_tagger", trace.parameters = 312345;
  trace.target.kind = "tags";
  for (int64_t p = 0; p < places; ++p) {
    const double middle = sound.begin_of(p) + (p % 9 == 4 ? 0.03 : 0.01);
    std::string label;
    for (const data::TimedLabel& one : said.phonemes) {
      if (middle >= one.begin && middle < one.end) label = one.label;
    }
    trace.target.tokens.push_back(label.empty() ? "SIL" : label);
    trace.target.word_of.push_back(static_cast<int32_t>(p));
    trace.target.text += (p > 0 ? " " : "") + trace.target.tokens.back();
  }
  trace.target.words = trace.target.tokens;
  trace.token_log_probabilities.assign(trace.target.tokens.size(), -0.1);
  trace.source = explain::sound_side(std::move(sound), "data/seven-four.wav", places);
  return trace;
}

}  // namespace attend::test
