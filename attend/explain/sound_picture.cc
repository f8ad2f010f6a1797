#include "attend/explain/sound_picture.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "attend/explain/draw.h"
#include "attend/explain/heard.h"
#include "attend/explain/labels.h"
#include "attend/explain/plot.h"
#include "attend/explain/raster.h"

namespace attend::explain {
namespace {

constexpr double kStripSeconds = 6, kStripWidth = 960, kWidestSecond = 480;
constexpr size_t kMostStrips = 20;
constexpr double kMargin = 84;  // left of the time axis, for what a row is
constexpr double kSoundHigh = 116, kCurvesHigh = 62;
constexpr double kBandHigh = 18, kGoldHigh = 20;    // of rows of letters and words, and of gold ones
constexpr double kRowHigh = 12, kWordRowHigh = 16;  // of the map
constexpr double kLayerGap = 6, kStripGap = 26;
constexpr double kLeastPosterior = 0.02, kNamedPeak = 0.25;
constexpr size_t kMostCells = 20000;  // with tooltips
constexpr std::string_view kGold = "#a66a00", kRule = "#d9dfe6", kWrong = "#b3401f";

/// What is drawn of one strip: a time t is at x(t).
struct Timeline {
  Strip strip;
  double second;  ///< its width

  double x(double seconds) const {
    return kMargin + (std::clamp(seconds, strip.begin, strip.end) - strip.begin) * second;
  }
  double left() const { return kMargin; }
  double right() const { return kMargin + strip.seconds() * second; }
};

std::string upright_line(double x, double top, double bottom, std::string_view colour, double thick,
                         const std::string& more = "") {
  return "<line" + attribute("x1", x) + attribute("x2", x) + attribute("y1", top) + attribute("y2", bottom) +
         attribute("stroke", colour) + attribute("stroke-width", thick) + more + "/>\n";
}

/// What a row is, left of it.
std::string caption(const std::string& text, double middle, std::string_view colour = kFaint) {
  const std::string seen = shortened_picture(text, (kMargin - 10) / kSmall);
  return svg_text(seen, kMargin - 8, middle + 0.36 * kSmall, kSmall, colour, attribute("text-anchor", "end"));
}

std::string range_of(double begin, double end) { return seconds_name(begin) + "–" + seconds_name(end) + " s"; }

std::string with_title(const std::string& svg, const std::string& title, std::string_view name) {
  return "<g" + attribute("class", name) + "><title>" + xml_escaped(title) + "</title>" + svg + "</g>\n";
}

/// The colour of a loudness where the answer depended on the sound by that share: paper where not at all, blue where most.
Colour veiled_colour(const Colour& colour, double share) {
  const Colour paper = loudness_colour(0), most = sequential(0.35);
  const auto part = [share](int own, int veil, int tint) {
    const double seen = veil + (own - veil) * (0.25 + 0.75 * share);
    return static_cast<int>(std::lround(seen * (1 - share + share * tint / 255.0)));
  };
  return {part(colour.red, paper.red, most.red), part(colour.green, paper.green, most.green),
          part(colour.blue, paper.blue, most.blue)};
}

/// What was depended on in the middle of a frame; between the middles of places it changes evenly.
double depended_at(const Heard& heard, int64_t frame) {
  const TraceSound& sound = *heard.sound;
  const double middle = (static_cast<double>(frame) + 0.5) * sound.frame_seconds;
  const double at = (middle - sound.place_offset) / sound.place_seconds - 0.5;
  const auto last = static_cast<double>(heard.depended.size() - 1);
  const auto low = static_cast<size_t>(std::clamp(std::floor(at), 0.0, last));
  const size_t high = std::min(low + 1, heard.depended.size() - 1);
  const double rest = std::clamp(at - static_cast<double>(low), 0.0, 1.0);
  return heard.depended[low] + rest * (heard.depended[high] - heard.depended[low]);
}

/// The frames of a strip as an image: quiet is paper, loud is ink; low pitches at the bottom. What a saliency does not depend on
/// is veiled.
data::Image spectrogram_image(const Heard& heard, int64_t first, int64_t last) {
  const TraceSound& sound = *heard.sound;
  const int64_t bands = sound.spectrogram.dim(1);
  data::Image image(bands, last - first, 3);
  for (int64_t f = first; f < last; ++f) {
    const double share = heard.depended.empty() ? 0 : depended_at(heard, f);
    for (int64_t b = 0; b < bands; ++b) {
      Colour colour = loudness_colour(static_cast<double>(sound.spectrogram.data()[f * bands + b]));
      if (!heard.depended.empty()) colour = veiled_colour(colour, share);
      const int parts[] = {colour.red, colour.green, colour.blue};
      for (int64_t c = 0; c < 3; ++c) image.at(bands - 1 - b, f - first, c) = static_cast<uint8_t>(parts[c]);
    }
  }
  return image;
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

/// Ticks of pitch, where it is known which bands are which.
std::string pitch_axis(const TraceSound& sound) {
  std::string svg;
  for (const double khz : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    const double share = (mel_of(1000 * khz) - mel_of(sound.low)) / (mel_of(sound.high) - mel_of(sound.low));
    if (!(sound.high > 0) || share < 0.12 || share > 1.001) continue;
    const double y = kSoundHigh * (1 - share);
    svg += svg_line(kMargin - 4, y, 4, kFaint, 1, "tick") + svg_text(svg_number(khz) + (khz >= 8 ? " kHz" : ""),
                                                                     kMargin - 7, y + (share > 0.95 ? 7 : 3.5), 9,
                                                                     kFaint, attribute("text-anchor", "end"));
  }
  return svg;
}

Fragment spectrogram_layer(const Heard& heard, const Timeline& time) {
  const TraceSound& sound = *heard.sound;
  const int64_t frames = sound.spectrogram.dim(0);
  const auto frame_at = [&](double seconds) {
    return static_cast<int64_t>(std::floor(seconds / sound.frame_seconds + 1e-6));
  };
  const int64_t first = std::clamp<int64_t>(frame_at(time.strip.begin), 0, frames - 1);
  const int64_t last = std::clamp<int64_t>(frame_at(time.strip.end - 1e-6) + 1, first + 1, frames);
  const double wide = static_cast<double>(last - first) * sound.frame_seconds * time.second;
  const std::string clip = "strip" + svg_number(std::round(1000 * time.strip.begin));
  Fragment layer{"", time.right(), kSoundHigh};
  layer.svg = "<clipPath" + attribute("id", clip) + ">" +
              svg_box(time.left(), 0, time.right() - time.left(), kSoundHigh, "") + "</clipPath>\n<image" +
              attribute("class", "spectrogram") +
              attribute("x", time.x(time.strip.begin) +
                                 (static_cast<double>(first) * sound.frame_seconds - time.strip.begin) * time.second) +
              attribute("y", 0.0) + attribute("width", wide) + attribute("height", kSoundHigh) +
              attribute("preserveAspectRatio", "none") + attribute("clip-path", "url(#" + clip + ")") +
              attribute("href", data_uri(spectrogram_image(heard, first, last))) + "/>\n" +
              svg_box(time.left(), 0, time.right() - time.left(), kSoundHigh,
                      attribute("fill", "none") + attribute("stroke", kRule)) +
              pitch_axis(sound);
  return layer;
}

/// A letter or word over what it heard.
struct BandPart {
  std::string label;
  double begin = 0, end = 0;
  Colour ground;
  double told_begin = begin, told_end = end;  ///< as it was heard, also where neighbours overlap
};

/// Where two overlap, they meet halfway.
void part_neighbours(std::vector<BandPart>& parts) {
  for (size_t i = 1; i < parts.size(); ++i) {
    BandPart &before = parts[i - 1], &after = parts[i];
    if (before.end <= after.begin) continue;
    const double low = (before.begin + before.end) / 2, high = std::max(low, (after.begin + after.end) / 2);
    before.end = after.begin = std::clamp((before.end + after.begin) / 2, low, high);
  }
}

/// Grounds with their labels in the middle; a label that would touch the one before is left out.
Fragment band_layer(std::vector<BandPart> parts, const Timeline& time, const std::string& name, double font) {
  part_neighbours(parts);
  Fragment layer{caption(name, kBandHigh / 2), time.right(), kBandHigh};
  double taken = time.left() - 20;
  for (const BandPart& part : parts) {
    if (!time.strip.overlaps(part.begin, part.end)) continue;
    const double from = time.x(part.begin), to = std::max(time.x(part.end), from + 1);
    std::string svg =
        svg_box(from, 0, to - from, kBandHigh,
                attribute("fill", hex(part.ground)) + attribute("rx", "2") + attribute("stroke", "#ffffff"));
    const double room = std::max(to - from + 2, 1.2 * font), wide = font * text_width(part.label);
    const std::string seen = wide <= room ? part.label : shortened_picture(part.label, room / font);
    const double left = (from + to) / 2 - font * text_width(seen) / 2;
    if (left > taken && seen != "…") {
      svg += svg_text(seen, (from + to) / 2, kBandHigh / 2 + 0.36 * font, font, hex(ink_on(part.ground)),
                      attribute("text-anchor", "middle"));
      taken = left + font * text_width(seen);
    }
    layer.svg += with_title(svg, isolated(part.label) + ", " + range_of(part.told_begin, part.told_end), "heard");
  }
  return layer;
}

/// Stretches of words or tokens in one light blue, by turns a little darker, so that neighbours are told apart. Spaces
/// between words are nothing that is heard.
std::vector<BandPart> heard_parts(const std::vector<std::string>& labels, const std::vector<Stretch>& stretches) {
  std::vector<BandPart> parts;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!stretches[i].known || labels[i] == kSpace) continue;
    parts.push_back({labels[i], stretches[i].begin, stretches[i].end, sequential(parts.size() % 2 ? 0.22 : 0.1)});
  }
  return parts;
}

/// Gold times: thin bars with ends, their labels below.
Fragment gold_layer(const std::vector<data::TimedLabel>& times, const Timeline& time, const std::string& name) {
  constexpr double kFont = 9, kBar = 4;
  Fragment layer{caption(name, kGoldHigh / 2 + 1, kGold), time.right(), kGoldHigh};
  double taken = time.left() - 20;
  for (const data::TimedLabel& one : times) {
    if (!time.strip.overlaps(one.begin, one.end)) continue;
    const double from = time.x(one.begin) + 0.5, to = time.x(one.end) - 0.5, middle = (from + to) / 2;
    std::string svg = svg_line(from, kBar, std::max(0.0, to - from), kGold, 1.5, "bar") +
                      upright_line(from, kBar - 3, kBar + 3, kGold, 1) + upright_line(to, kBar - 3, kBar + 3, kGold, 1);
    const double half = kFont * text_width(one.label) / 2;
    if (middle - half > taken) {
      svg += svg_text(one.label, middle, kBar + 4 + kFont, kFont, kGold, attribute("text-anchor", "middle"));
      taken = middle + half + 1;
    }
    layer.svg += with_title(svg, "gold: " + isolated(one.label) + ", " + range_of(one.begin, one.end), "gold");
  }
  return layer;
}

/// CTC: a hill for each label, named at its peak; the blank as a dashed line.
class CurvesLayer {
 public:
  CurvesLayer(const TraceSound& sound, const Timeline& time) : sound_(sound), time_(time) {}

  Fragment drawn() const {
    Fragment layer{caption("CTC", kTop + (kCurvesHigh - kTop) / 2), time_.right(), kCurvesHigh};
    for (const auto& [share, name] : {std::pair{1.0, "1"}, std::pair{0.0, "0"}}) {
      layer.svg += svg_line(time_.left(), y(share), time_.right() - time_.left(), kRule, 1, "rule") +
                   svg_text(name, kMargin - 4, y(share) + 3, 9, kFaint, attribute("text-anchor", "end"));
    }
    layer.svg += blank();
    double taken = time_.left() - 20;
    for (const Peak& peak : peaks_of(sound_, kLeastPosterior)) layer.svg += hill(peak, taken);
    return layer;
  }

 private:
  static constexpr double kTop = 14;  // above 1, for labels

  double y(double share) const { return kCurvesHigh - 1 - (kCurvesHigh - 1 - kTop) * std::clamp(share, 0.0, 1.0); }
  double middle(int64_t place) const { return sound_.begin_of(place) + sound_.place_seconds / 2; }
  double value(int64_t place, int64_t label) const {
    return static_cast<double>(sound_.posteriors.data()[place * sound_.posteriors.dim(1) + label]);
  }
  std::string point(double seconds, double share) const {
    return svg_number(time_.x(seconds)) + "," + svg_number(y(share)) + " ";
  }

  std::string blank() const {
    std::string points;
    for (int64_t p = 0; p < sound_.posteriors.dim(0); ++p) {
      if (time_.strip.overlaps(sound_.begin_of(p), sound_.begin_of(p + 1))) points += point(middle(p), value(p, 0));
    }
    return "<polyline" + attribute("class", "blank") + attribute("points", points) + attribute("fill", "none") +
           attribute("stroke", "#9aa5b1") + attribute("stroke-dasharray", "2 3") + "/>\n";
  }

  std::string hill(const Peak& peak, double& taken) const {
    const double begin = middle(peak.first) - sound_.place_seconds, end = middle(peak.last) + sound_.place_seconds;
    if (!time_.strip.overlaps(begin, end)) return "";
    std::string points = point(begin, 0);
    for (int64_t p = peak.first; p <= peak.last; ++p) points += point(middle(p), value(p, peak.label));
    points += point(end, 0);
    const std::string label = shown_token(sound_.labels[static_cast<size_t>(peak.label)]);
    std::string svg = "<polygon" + attribute("points", points) + attribute("fill", hex(sequential(0.35))) +
                      attribute("fill-opacity", "0.55") + attribute("stroke", kAccent) +
                      attribute("stroke-width", 1.2) + "/>";
    const double x = time_.x(middle(peak.place)), half = kSmall * text_width(label) / 2;
    if (peak.value >= kNamedPeak && x - half > taken) {
      svg += svg_text(label, x, y(peak.value) - 3, kSmall, kInk, attribute("text-anchor", "middle"));
      taken = x + half;
    }
    return with_title(svg,
                      isolated(label) + " " + percent(peak.value) + " at " + seconds_name(middle(peak.place)) + " s",
                      "posterior");
  }

  const TraceSound& sound_;
  const Timeline& time_;
};

/// Rows of letters or words over the places of the sound.
class MapLayer {
 public:
  MapLayer(const Heard& heard, const Timeline& time, double row)
      : heard_(heard), time_(time), row_(row), scale_(scale_of(*heard.map)), rows_(rows_in(heard, time.strip)) {}

  Fragment drawn() const {
    if (rows_.empty()) return {};
    const double high = row_ * static_cast<double>(rows_.size());
    Fragment layer{
        svg_box(time_.left(), 0, time_.right() - time_.left(), high, attribute("fill", hex(scale_.colour(0)))),
        time_.right(), high};
    layer.svg += "<g" + attribute("class", "map") + attribute("shape-rendering", "crispEdges") + ">\n";
    for (size_t at = 0; at < rows_.size(); ++at) layer.svg += cells(rows_[at], static_cast<double>(at) * row_);
    layer.svg += "</g>\n";
    for (size_t at = 0; at < rows_.size(); ++at) {
      const double top = static_cast<double>(at) * row_;
      layer.svg += caption(shown_token(heard_.map->rows[rows_[at]]), top + row_ / 2, kInk);
      if (at > 0) layer.svg += svg_line(time_.left(), top, time_.right() - time_.left(), "#ffffff", 1, "rule");
    }
    for (const data::TimedLabel& word : heard_.sound->words) {
      for (const double t : {word.begin, word.end}) {
        if (t > time_.strip.begin && t < time_.strip.end) {
          layer.svg += upright_line(time_.x(t), 0, high, kGold, 0.75, attribute("stroke-opacity", "0.5"));
        }
      }
    }
    return layer;
  }

 private:
  std::string cells(size_t row, double top) const {
    const TraceSound& sound = *heard_.sound;
    const auto places = heard_.map->values.dim(1);
    const bool tooltips = heard_.map->values.size() <= kMostCells;
    std::string svg;
    for (int64_t p = 0; p < places; ++p) {
      const double begin = sound.begin_of(p), end = sound.begin_of(p + 1);
      const auto value = static_cast<double>(heard_.map->values.data()[static_cast<int64_t>(row) * places + p]);
      const Colour colour = scale_.colour(value);
      if (colour == scale_.colour(0) || !time_.strip.overlaps(begin, end)) continue;
      const std::string box = "<rect" + attribute("x", time_.x(begin)) + attribute("y", top) +
                              attribute("width", time_.x(end) - time_.x(begin)) + attribute("height", row_) +
                              attribute("fill", hex(colour));
      svg += tooltips ? box + "><title>" +
                            xml_escaped(phrase(*heard_.map, scale_, row, static_cast<size_t>(p)) + " at " +
                                        range_of(begin, end)) +
                            "</title></rect>\n"
                      : box + "/>\n";
    }
    return svg;
  }

  const Heard& heard_;
  const Timeline& time_;
  const double row_;
  const Scale scale_;
  const std::vector<size_t> rows_;
};

/// Seconds below everything.
Fragment time_axis(const Timeline& time) {
  Fragment axis{"", time.right(), 22};
  const double most = std::max(2.0, (time.right() - time.left()) / 90);
  for (const double tick : round_ticks(time.strip.begin, time.strip.end, static_cast<int>(most))) {
    if (tick < time.strip.begin - 1e-9 || tick > time.strip.end + 1e-9) continue;
    axis.svg += upright_line(time.x(tick), 0, 4, kFaint, 1) +
                svg_text(svg_number(tick) + " s", time.x(tick), 15, kSmall, kFaint, attribute("text-anchor", "middle"));
  }
  axis.svg += svg_line(time.left(), 0, time.right() - time.left(), kFaint, 1, "axis");
  return axis;
}

/// A colour for each label, that of its turn; the gold ones' too, so that the same label has the same colour.
class LabelColours {
 public:
  Colour of(const std::string& label) {
    return label_colour(static_cast<int>(turns_.try_emplace(label, turns_.size()).first->second));
  }
  std::vector<BandPart> parts(const std::vector<data::TimedLabel>& times) {
    std::vector<BandPart> parts;
    for (const data::TimedLabel& one : times) parts.push_back({one.label, one.begin, one.end, of(one.label)});
    return parts;
  }

 private:
  std::map<std::string, size_t> turns_;
};

/// The gold times that an answer with a label for each place is compared with.
const std::vector<data::TimedLabel>& gold_labels(const TraceSound& sound) {
  return sound.phonemes.empty() ? sound.words : sound.phonemes;
}

/// Where labels differ from the gold ones.
Fragment differences_layer(const Heard& heard, const Timeline& time) {
  Fragment layer{caption("differs", 4), time.right(), 8};
  for (const data::TimedLabel& gold : gold_labels(*heard.sound)) {
    for (const data::TimedLabel& found : heard.labelled) {
      const double begin = std::max(gold.begin, found.begin), end = std::min(gold.end, found.end);
      if (end - begin < 1e-6 || gold.label == found.label || !time.strip.overlaps(begin, end)) continue;
      layer.svg += with_title(
          svg_box(time.x(begin), 1, std::max(1.0, time.x(end) - time.x(begin)), 5, attribute("fill", kWrong)),
          isolated(found.label) + ", gold " + isolated(gold.label) + ", " + range_of(begin, end), "differs");
    }
  }
  return layer;
}

std::vector<Fragment> labelled_layers(const Heard& heard, const Timeline& time) {
  LabelColours colours;
  const std::vector<BandPart> gold = colours.parts(gold_labels(*heard.sound));
  std::vector<Fragment> layers{band_layer(colours.parts(heard.labelled), time, "heard", kSmall)};
  if (gold.empty()) return layers;
  layers.push_back(band_layer(gold, time, "gold", kSmall));
  layers.push_back(differences_layer(heard, time));
  return layers;
}

/// Tokens that are shown over the sound: not the end.
std::vector<std::string> letters_of(const TraceSide& target) {
  std::vector<std::string> letters = target.tokens;
  if (!letters.empty() && letters.back() == "</s>") letters.pop_back();
  return letters;
}

std::vector<Fragment> heard_layers(const Trace& trace, const Heard& heard, const Timeline& time) {
  const TraceSound& sound = *heard.sound;
  const std::vector<std::string> letters = letters_of(trace.target);
  std::vector<Fragment> layers;
  if (letters.size() != trace.target.words.size()) {
    layers.push_back(band_layer(heard_parts(letters, heard.tokens), time, "heard", kSmall));
  }
  layers.push_back(
      band_layer(heard_parts(trace.target.words, heard.words), time, layers.empty() ? "heard" : "words", kText));
  if (!sound.words.empty()) layers.push_back(gold_layer(sound.words, time, "gold words"));
  if (!sound.phonemes.empty()) layers.push_back(gold_layer(sound.phonemes, time, "phonemes"));
  if (sound.posteriors.defined()) layers.push_back(CurvesLayer(sound, time).drawn());
  if (heard.map) {
    const double row = heard.map->rows.size() == trace.target.words.size() ? kWordRowHigh : kRowHigh;
    layers.push_back(MapLayer(heard, time, row).drawn());
  }
  return layers;
}

Fragment strip_fragment(const Trace& trace, const Heard& heard, const Timeline& time) {
  std::vector<Fragment> layers{spectrogram_layer(heard, time)};
  const std::vector<Fragment> below =
      heard.labelled.empty() ? heard_layers(trace, heard, time) : labelled_layers(heard, time);
  layers.insert(layers.end(), below.begin(), below.end());
  layers.push_back(time_axis(time));
  return stacked(layers, kLayerGap);
}

Fragment sound_legend(const Heard& heard) {
  Fragment key{"", 0, kSwatch + 4};
  if (heard.map) {
    const Scale scale = scale_of(*heard.map);
    add_ramp(key, scale, "", [&](double value) { return scale.colour(value); });
  }
  if (!heard.depended.empty()) {
    add_key_text(key, "veiled: what the answer did not depend on");
    key.width += 12;
  }
  if (heard.labelled.empty() && (!heard.sound->words.empty() || !heard.sound->phonemes.empty())) {
    key.svg += svg_line(key.width, kSwatch / 2, 16, kGold, 1.5, "key");
    key.width += 22;
    add_key_text(key, "gold times");
  }
  return key;
}

}  // namespace

Fragment draw_sound(const Trace& trace, const std::string& level) {
  const Heard heard = heard_of(trace, level);
  std::vector<Fragment> all;
  const std::vector<Strip> strips = strips_of(*heard.sound, kStripSeconds, kMostStrips);
  double longest = 0;
  for (const Strip& strip : strips) longest = std::max(longest, strip.seconds());
  for (const Strip& strip : strips) {
    all.push_back(
        strip_fragment(trace, heard, {strip, std::min(kWidestSecond, kStripWidth / std::max(longest, 1e-3))}));
  }
  return stacked({stacked(all, kStripGap), sound_legend(heard)}, 12);
}

}  // namespace attend::explain
