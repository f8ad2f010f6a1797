#include "attend/data/formant_tracks.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "attend/base/error.h"
#include "attend/data/utf8.h"

namespace attend::data {
namespace {

/// A phoneme in its sentence.
struct Spoken {
  const FormantPhoneme* phoneme = nullptr;
  bool accented = false, after_pause = false, before_pause = false;
  size_t word = 0;
};

/// What the tract aims at for some time.
struct Segment {
  float seconds = 0;
  Formants from{}, to{};
  float voicing = 0, aspiration = 0, nasal = 0;
  NoiseBand noise{};
};

std::vector<Spoken> phonemes_of(std::span<const FormantWord> words) {
  std::vector<Spoken> all;
  for (size_t w = 0; w < words.size(); ++w) {
    const std::vector<std::string_view> names = split_words(words[w].phonemes);
    require(!names.empty(), "speak: expected phonemes, got none for \"", words[w].text, "\"");
    require(words[w].pause >= 0 && words[w].pause <= 10, "speak: expected a pause of 0 to 10 seconds, got ",
            words[w].pause);
    const bool paused = w == 0 || words[w].pause > 0;
    if (paused && !all.empty()) all.back().before_pause = true;
    for (size_t i = 0; i < names.size(); ++i) {
      std::string_view name = names[i];
      const bool accented = name.ends_with('1');
      if (accented) name.remove_suffix(1);
      all.push_back({&formant_phoneme(name), accented, paused && i == 0, false, w});
    }
  }
  all.back().before_pause = true;
  return all;
}

/// Formants of the vowel or glide beside phoneme i, the next one first; its own where there is none.
Formants vowel_beside(std::span<const Spoken> all, size_t i) {
  const auto sounds = [&](size_t k) { return all[k].phoneme->is_vowel() || all[k].phoneme->manner == Manner::kGlide; };
  if (i + 1 < all.size() && sounds(i + 1) && !all[i].before_pause) return all[i + 1].phoneme->from;
  if (i > 0 && sounds(i - 1) && !all[i].after_pause) return all[i - 1].phoneme->to;
  if (i + 2 < all.size() && sounds(i + 2)) return all[i + 2].phoneme->from;
  return all[i].phoneme->from;
}

Formants toward(Formants own, Formants other, float share) {
  for (size_t k = 0; k < own.size(); ++k) own[k] += share * (other[k] - own[k]);
  return own;
}

/// The formants of a phoneme as this speaker says it: F2 and F3 within some 3 percent and F1 within 5 of the table.
void say_with_accent(Segment& segment, std::string_view name, uint64_t accent) {
  if (accent == 0) return;
  Random random = Random(accent).named(name);
  for (size_t k = 0; k < segment.from.size(); ++k) {
    const float most = k == 0 ? 0.1F : 0.06F, factor = 1 + most * (random.uniform() - 0.5F);
    segment.from[k] *= factor, segment.to[k] *= factor;
  }
}

/// Longer at the end of a word and before a pause, shorter without accent (after Klatt 1979), and a little random.
float seconds_of(const Spoken& spoken, const FormantVoice& voice, Random& random) {
  double factor = std::exp(0.12 * std::clamp(random.normal(), -2.0, 2.0)) / voice.rate;
  if (spoken.phoneme->is_vowel() && spoken.accented) factor *= 1.1;
  if (spoken.phoneme->is_vowel() && !spoken.accented) factor *= 0.85;
  if (spoken.before_pause) factor *= spoken.phoneme->is_vowel() ? 1.4 : 1.2;
  return spoken.phoneme->seconds * static_cast<float>(factor);
}

/// Closure, burst and, if voiceless, the breath until the voice sets in: short after S, as in "stop", and long before
/// an accented vowel.
void add_stop(std::vector<Segment>& segments, std::span<const Spoken> all, size_t i, Segment base, float seconds) {
  const Spoken& spoken = all[i];
  const bool voiceless = spoken.phoneme->voicing == 0;
  const bool after_s = i > 0 && !spoken.after_pause && all[i - 1].phoneme->name == "S";
  const bool before_sound = !spoken.before_pause && i + 1 < all.size() && all[i + 1].phoneme->voicing > 0.4F;
  Segment closure = base, burst = base, breath = base;
  closure.noise.level = 0, closure.seconds = 0.7F * seconds;
  burst.voicing = 0, burst.seconds = 0.012F;
  breath.voicing = 0, breath.noise.level *= 0.2F, breath.aspiration = 0.5F;
  breath.seconds = !voiceless || after_s ? 0.006F : before_sound ? 0.5F * seconds : 0.3F * seconds;
  if (!voiceless) breath.aspiration = 0.1F;
  if (spoken.before_pause) breath.aspiration *= 0.5F;
  segments.insert(segments.end(), {closure, burst, breath});
}

void add_affricate(std::vector<Segment>& segments, const Segment& base, float seconds) {
  Segment closure = base, noise = base;
  closure.noise.level = 0, closure.seconds = 0.4F * seconds;
  noise.voicing *= 1.5F, noise.seconds = 0.6F * seconds;
  segments.insert(segments.end(), {closure, noise});
}

/// The segments of phoneme i.
void add_phoneme(std::vector<Segment>& segments, std::span<const Spoken> all, size_t i, const FormantVoice& voice,
                 Random& random) {
  const FormantPhoneme& phoneme = *all[i].phoneme;
  const float seconds = seconds_of(all[i], voice, random);
  Segment base{seconds, phoneme.from, phoneme.to, phoneme.voicing, 0, 0, phoneme.noise};
  if (!phoneme.is_vowel()) {
    const float first = base.from[0];
    base.from = toward(base.from, vowel_beside(all, i), phoneme.follow);
    if (phoneme.manner != Manner::kBreath) base.from[0] = first;
    base.to = base.from;
  }
  say_with_accent(base, phoneme.name, voice.accent);
  if (phoneme.noise.level > 0 && phoneme.noise.centre == 0) base.noise.centre = 1.05F * base.from[1];
  if (phoneme.manner == Manner::kNasal) base.nasal = 1;
  if (phoneme.manner == Manner::kBreath) base.aspiration = 0.6F;
  if (phoneme.is_vowel() && !all[i].accented) base.voicing = 0.8F;
  if (phoneme.manner == Manner::kStop) return add_stop(segments, all, i, base, seconds);
  if (phoneme.manner == Manner::kAffricate) return add_affricate(segments, base, seconds);
  segments.push_back(base);
}

int64_t frames_of(double seconds) { return static_cast<int64_t>(std::lround(seconds / kFormantFrame)); }

/// A diphthong stays at both ends for a quarter of its time.
float glided(float from, float to, float at) { return from + (to - from) * std::clamp(2 * at - 0.5F, 0.0F, 1.0F); }

void append_segment(FormantTracks& tracks, const Segment& segment) {
  const int64_t count = std::max<int64_t>(1, frames_of(segment.seconds));
  NoiseBand band = segment.noise;
  if (band.width == 0) band = tracks.noise.empty() ? NoiseBand{1000, 1000, 0} : tracks.noise.back(), band.level = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float at = (static_cast<float>(i) + 0.5F) / static_cast<float>(count);
    for (size_t k = 0; k < 3; ++k) tracks.formants[k].push_back(glided(segment.from[k], segment.to[k], at));
    tracks.voicing.push_back(segment.voicing);
    tracks.aspiration.push_back(segment.aspiration);
    tracks.nasal.push_back(segment.nasal);
    tracks.noise.push_back(band);
  }
}

/// Silence: the tract rests as it is.
void append_pause(FormantTracks& tracks, double seconds, const Formants& rest) {
  if (frames_of(seconds) > 0) append_segment(tracks, {static_cast<float>(seconds), rest, rest, 0, 0, 0, {}});
}

/// The mean of 2·reach + 1 values around each; twice, for a bend without corners.
void smooth_track(std::vector<float>& track, int64_t reach) {
  const auto size = static_cast<int64_t>(track.size());
  std::vector<double> sums(track.size() + 1);  // of the first i values
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < track.size(); ++i) sums[i + 1] = sums[i] + track[i];
    for (int64_t i = 0; i < size; ++i) {
      const int64_t low = std::max<int64_t>(0, i - reach), high = std::min(size, i + reach + 1);
      const double sum = sums[static_cast<size_t>(high)] - sums[static_cast<size_t>(low)];
      track[static_cast<size_t>(i)] = static_cast<float>(sum / static_cast<double>(high - low));
    }
  }
}

/// A hump of `height` semitones over the frames [begin, end) and as far again on both sides.
void add_hump(std::vector<float>& pitch, int64_t begin, int64_t end, float height) {
  const int64_t wide = 3 * (end - begin), first = begin - (end - begin);
  for (int64_t i = std::max<int64_t>(0, first); i < std::min<int64_t>(first + wide, std::ssize(pitch)); ++i) {
    const float at = (static_cast<float>(i - first) + 0.5F) / static_cast<float>(wide);
    pitch[static_cast<size_t>(i)] += height * 0.5F * (1 - std::cos(2 * std::numbers::pi_v<float> * at));
  }
}

/// Falls by half the voice's range from first to last word, with a hump on accented vowels; at the end it falls once
/// more, or rises in one of six sentences. On top, the slow flutter of Klatt and Klatt 1990, equation 1.
void draw_pitch(FormantTracks& tracks, std::span<const Spoken> all, const FormantVoice& voice, Random& random) {
  const auto range = static_cast<float>(voice.range), size = static_cast<float>(tracks.size());
  const float end = random.below(6) == 0 ? 0.5F : -0.4F, phase = 10 * random.uniform();
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto frame = static_cast<float>(i), seconds = static_cast<float>(kFormantFrame);
    const float at = frame / size, t = 2 * std::numbers::pi_v<float> * (phase + frame * seconds);
    const float flutter = std::sin(12.7F * t) + std::sin(7.1F * t) + std::sin(4.7F * t);
    const float last = std::clamp(1 - (size - frame) * seconds / 0.4F, 0.0F, 1.0F);
    tracks.pitch.push_back(range * (0.15F - 0.5F * at + end * last) + 0.08F * flutter);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const float height = range * (0.3F + 0.4F * random.uniform());
    if (!all[i].accented) continue;
    add_hump(tracks.pitch, frames_of(tracks.phonemes[i].begin), frames_of(tracks.phonemes[i].end), height);
  }
}

/// Noise sets in and ends within 4 ms; frames that it newly reaches before it sets in get its band.
void smooth_noise(FormantTracks& tracks) {
  std::vector<float> levels;
  for (const NoiseBand& band : tracks.noise) levels.push_back(band.level);
  smooth_track(levels, 1);
  for (size_t i = tracks.size() - 1; i-- > 0;) {
    if (tracks.noise[i].level == 0 && levels[i] < levels[i + 1]) tracks.noise[i] = tracks.noise[i + 1];
  }
  for (size_t i = 0; i < tracks.size(); ++i) tracks.noise[i].level = levels[i];
}

/// Formants move within some 60 ms around a boundary, the velum as slowly, the glottis within 15 ms.
void smooth_tracks(FormantTracks& tracks) {
  for (std::vector<float>& formant : tracks.formants) smooth_track(formant, 8);
  smooth_track(tracks.nasal, 6);
  smooth_track(tracks.voicing, 2);
  smooth_track(tracks.aspiration, 2);
  smooth_noise(tracks);
}

}  // namespace

FormantTracks formant_tracks(std::span<const FormantWord> words, const FormantVoice& voice, double tail,
                             Random& random) {
  const std::vector<Spoken> all = phonemes_of(words);
  FormantTracks tracks;
  Formants rest = all.front().phoneme->from;
  const auto now = [&] { return static_cast<double>(tracks.size()) * kFormantFrame; };
  for (size_t i = 0; i < all.size(); ++i) {
    const bool first = i == 0 || all[i].word != all[i - 1].word;
    if (first) append_pause(tracks, words[all[i].word].pause, rest);
    if (first) tracks.words.push_back({words[all[i].word].text, now(), 0});
    std::vector<Segment> segments;
    add_phoneme(segments, all, i, voice, random);
    const double begin = now();
    for (const Segment& segment : segments) append_segment(tracks, segment);
    tracks.phonemes.push_back({std::string(all[i].phoneme->name), begin, now()});
    tracks.words.back().end = now();
    rest = segments.back().to;
  }
  append_pause(tracks, tail, rest);
  smooth_tracks(tracks);
  draw_pitch(tracks, all, voice, random);
  return tracks;
}

}  // namespace attend::data
