// Pictures of what was heard of a sound: whether places, letters and seconds are where they belong.
#include "attend/explain/sound_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "attend/data/display_width.h"
#include "attend/explain/heard.h"
#include "attend/explain/page.h"
#include "attend/explain/picture.h"
#include "attend/explain/sound_text.h"
#include "tests/support/message.h"
#include "tests/support/sound_traces.h"
#include "tests/support/text.h"
#include "tests/support/xml.h"

namespace attend::explain {
namespace {

using test::message_of;
using test::says;

/// Two seconds, four places of half a second, from `offset` on; a row for each place that is looked at.
Trace half_seconds(const std::vector<int64_t>& looked, double offset = 0) {
  TraceSound sound;
  sound.seconds = 2, sound.place_seconds = 0.5, sound.place_offset = offset;
  sound.frame_seconds = 0.1, sound.spectrogram = Tensor::full({20, 8}, real{0.5});
  Trace trace;
  trace.target.text = std::string("abcdefgh").substr(0, looked.size());
  Tensor weights = Tensor::zeros({static_cast<int64_t>(looked.size()), 4});
  for (size_t r = 0; r < looked.size(); ++r) {
    weights.data()[r * 4 + static_cast<size_t>(looked[r])] = 1;
    trace.target.tokens.push_back(trace.target.text.substr(r, 1));
    trace.target.word_of.push_back(static_cast<int32_t>(r));
  }
  trace.target.words = trace.target.tokens;
  trace.maps.push_back({"attention", "attention", "decoder.memory", -1, -1, false, weights, weights});
  trace.source = sound_side(std::move(sound), "two.wav", 4);
  return trace;
}

double number_after(const std::string& text, const std::string& what, size_t from = 0) {
  const size_t at = text.find(what, from);
  EXPECT_NE(at, text.npos) << what;
  return at == text.npos ? NAN : std::stod(text.substr(at + what.size()));
}

/// Where the text of the axis is.
double x_of_tick(const std::string& svg, const std::string& name) {
  const size_t at = svg.find(">" + name + "</text>");
  EXPECT_NE(at, svg.npos) << name;
  return number_after(svg, " x=\"", svg.rfind("<text", at));
}

TEST(SoundPicture, PlacesStandAboveTheirSeconds) {
  const std::string svg = draw_sound(half_seconds({0, 2, 3}), "tokens").svg;
  const size_t map = svg.find("class=\"map\"");
  const size_t second = svg.find("<rect", svg.find("<rect", map) + 1);
  EXPECT_NEAR(number_after(svg, " x=\"", map), x_of_tick(svg, "0 s"), 0.02);
  EXPECT_NEAR(number_after(svg, " x=\"", second), x_of_tick(svg, "1 s"), 0.02) << "b looked at the third place";
  EXPECT_NEAR(number_after(svg, " width=\"", second), (x_of_tick(svg, "2 s") - x_of_tick(svg, "1 s")) / 2, 0.02);
  const size_t heard = svg.find("<title>b, 1.05–1.45 s</title>");
  ASSERT_NE(heard, svg.npos);
  EXPECT_NEAR(number_after(svg, " x=\"", heard),
              x_of_tick(svg, "1 s") + 0.05 * (x_of_tick(svg, "2 s") - x_of_tick(svg, "1 s")), 0.02);
  const std::string later = draw_sound(half_seconds({0, 2, 3}, 0.25), "tokens").svg;
  const double quarter = 0.75 * x_of_tick(later, "0 s") + 0.25 * x_of_tick(later, "1 s");
  EXPECT_NEAR(number_after(later, " x=\"", later.find("class=\"map\"")), quarter, 0.02)
      << "places from a quarter of a second on";
}

TEST(SoundPicture, ARowListenedWhereItsWeightIs) {
  const Trace trace = half_seconds({0});
  const TraceSound& sound = *trace.source.sound;
  const auto at = [&](std::vector<real> row) { return listened(row, sound); };
  const Stretch one = at({0, 0, 1, 0});
  EXPECT_TRUE(one.known);
  EXPECT_NEAR(one.begin, 1.05, 1e-9);
  EXPECT_NEAR(one.end, 1.45, 1e-9);
  const Stretch two = at({0, real{0.5}, real{0.5}, 0});
  EXPECT_NEAR(two.begin, 0.6, 1e-9);
  EXPECT_NEAR(two.end, 1.4, 1e-9);
  EXPECT_EQ(at({0, -2, -2, 0}).begin, two.begin) << "what speaks against it was listened to as well";
  EXPECT_FALSE(at({0, 0, 0, 0}).known);
  EXPECT_NEAR(at({real{NAN}, 0, 1, 0}).begin, 1.05, 1e-9);
}

TEST(SoundPicture, TimesComeBeforeWeights) {
  Trace trace = half_seconds({0, 1});
  trace.target.times = {{"a", 1, 1.25}, {"b", 1.25, 2}};
  const Heard heard = heard_of(trace, "words");
  EXPECT_EQ(heard.words[0].begin, 1);
  EXPECT_EQ(heard.words[1].end, 2);
  trace.target.times.clear();
  EXPECT_NEAR(heard_of(trace, "words").words[0].begin, 0.05, 1e-9);
}

TEST(SoundPicture, WordsAreHeardFromTheirFirstLetterToTheirLast) {
  const Trace trace = test::listen_trace();
  const Heard heard = heard_of(trace, "words");
  ASSERT_EQ(heard.words.size(), trace.source.sound->words.size());
  for (size_t w = 0; w < heard.words.size(); ++w) {
    EXPECT_NEAR(heard.words[w].begin, trace.source.sound->words[w].begin, 0.12) << w;
    EXPECT_NEAR(heard.words[w].end, trace.source.sound->words[w].end, 0.12) << w;
  }
  EXPECT_EQ(heard.rows.size(), heard.words.size());
}

TEST(SoundPicture, StripsFollowEachOtherAndAreCutWhereItIsQuiet) {
  const Trace trace = test::listen_trace(5);
  const TraceSound& sound = *trace.source.sound;
  const std::vector<Strip> strips = strips_of(sound, 3, 20);
  ASSERT_GE(strips.size(), 3u);
  EXPECT_EQ(strips.front().begin, 0);
  EXPECT_EQ(strips.back().end, sound.seconds);
  for (size_t i = 1; i < strips.size(); ++i) {
    EXPECT_EQ(strips[i].begin, strips[i - 1].end);
    EXPECT_NEAR(strips[i].begin, sound.seconds * static_cast<double>(i) / static_cast<double>(strips.size()), 0.3);
  }
  EXPECT_EQ(strips_of(sound, 0.1, 4).size(), 4u) << "never more than asked for";
  TraceSound quiet = sound;
  quiet.spectrogram = Tensor::full({200, 4}, 1), quiet.seconds = 2, quiet.frame_seconds = 0.01;
  std::fill_n(quiet.spectrogram.data() + 4 * 104, 4, real{0});
  EXPECT_NEAR(strips_of(quiet, 1, 9)[0].end, 1.04, 1e-9);
}

TEST(SoundPicture, EachStripHasTheRowsThatListenThere) {
  const Trace trace = half_seconds({0, 1, 2, 3});
  const Heard heard = heard_of(trace, "tokens");
  EXPECT_EQ(rows_in(heard, {0, 1}), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(rows_in(heard, {1, 2}), (std::vector<size_t>{2, 3}));
}

TEST(SoundPicture, OfASaliencyWhatItDidNotDependOnIsVeiled) {
  Trace trace = half_seconds({0, 2});
  EXPECT_TRUE(heard_of(trace, "words").depended.empty()) << "attention is read row by row";
  const std::string looked = draw_sound(trace, "words").svg;
  trace.maps[0].method = "saliency", trace.maps[0].words = trace.maps[0].words.clone();
  trace.maps[0].words.data()[0] = -2, trace.maps[0].is_signed = true;
  EXPECT_EQ(heard_of(trace, "words").depended, (std::vector<double>{1, 0, 0.5, 0}));
  const std::string depended = draw_sound(trace, "words").svg;
  const auto picture = [](const std::string& svg) { return svg.substr(svg.find("data:image"), 400); };
  EXPECT_NE(picture(looked), picture(depended));
  EXPECT_NE(depended.find("veiled"), depended.npos);
}

TEST(SoundPicture, PeaksOfCtcAreNamedInOrder) {
  const Trace trace = test::ctc_trace();
  const TraceSound& sound = *trace.source.sound;
  std::string named;
  for (const Peak& peak : peaks_of(sound, 0.25)) named += sound.labels[static_cast<size_t>(peak.label)];
  std::string once;  // twice the same letter at one peak
  for (const std::string& token : trace.target.tokens) {
    if (!once.ends_with(token)) once += token;
  }
  EXPECT_EQ(named, once);
  const std::string svg = svg_picture(trace, {.level = "tokens"});
  EXPECT_EQ(test::count(svg, "class=\"posterior\""), peaks_of(sound, 0.02).size());
}

TEST(SoundPicture, LabelsOfPlacesAreStretchesBesideGoldOnes) {
  const Trace trace = test::frames_trace();
  const Heard heard = heard_of(trace, "words");
  ASSERT_GT(heard.labelled.size(), 5u);
  for (size_t i = 1; i < heard.labelled.size(); ++i) {
    EXPECT_GE(heard.labelled[i].begin, heard.labelled[i - 1].end - 1e-9);
    EXPECT_NE(heard.labelled[i].label, heard.labelled[i - 1].label);
  }
  EXPECT_EQ(heard.labelled[0].label, "SIL");
  const std::string svg = svg_picture(trace, {});
  EXPECT_NE(svg.find(">gold</text>"), svg.npos);
  EXPECT_GT(test::count(svg, "class=\"differs\""), 0u);
  const std::string& label = heard.labelled[1].label;
  const auto ground = [&](size_t from) {
    return svg.substr(svg.find("fill=\"#", svg.find("<title>" + label + ", ", from)), 14);
  };
  EXPECT_EQ(ground(0), ground(svg.find(">gold</text>"))) << "one label, one colour";
}

TEST(SoundPicture, IsXmlOfEveryKindOfTrace) {
  for (const Trace& trace : {test::listen_trace(), test::listen_trace(3), test::ctc_trace(),
                             test::sound_saliency_trace(), test::frames_trace(), half_seconds({3, 1})}) {
    for (const char* level : {"words", "tokens"}) {
      EXPECT_EQ(test::xml_complaint(svg_picture(trace, {.level = level})), "") << trace.network;
      EXPECT_FALSE(text_sound(trace, level, {}).empty());
      EXPECT_NE(html_picture({trace}, {.level = level}), "");
    }
  }
  EXPECT_EQ(test::xml_complaint(svg_picture(test::listen_trace(), {.heads = true})), "");
}

TEST(SoundPicture, APageOfSeveralCallsThemSounds) {
  const std::vector<Trace> two{half_seconds({0}), half_seconds({1})};
  EXPECT_TRUE(test::has(html_picture(two, {}), "<title>2 sounds</title>"));
}

TEST(SoundPicture, PartsThatDisagreeAreRefused) {
  const auto refused = [](auto&& damage) {
    Trace trace = half_seconds({0, 2});
    TraceSound sound = *trace.source.sound;
    damage(trace, sound);
    trace.source.sound = std::make_shared<const TraceSound>(std::move(sound));
    const std::string message = message_of([&] { svg_picture(trace, {}); });
    EXPECT_EQ(message_of([&] { text_sound(trace, "words", {}); }), message);
    EXPECT_EQ(message_of([&] { html_picture({trace}, {}); }), message);
    return message;
  };
  EXPECT_EQ(refused([](Trace& trace, TraceSound&) { trace.maps.clear(); }),
            "picture: expected a trace with a map, times or posteriors over its sound, got one without");
  EXPECT_EQ(refused([](Trace& trace, TraceSound&) {
              trace.maps[0].words = Tensor::zeros({2, 3});
            }),
            "trace: map: expected weights [2,4], got [2, 3]");
  EXPECT_EQ(refused([](Trace&, TraceSound& sound) { sound.seconds = 3; }),
            "trace: sound: expected a spectrogram of 3 seconds, got 20 frames of 0.1");
  EXPECT_EQ(refused([](Trace&, TraceSound& sound) { sound.place_seconds = 2; }),
            "trace: sound: expected places within 2 seconds, got 4 of 2 from 0 on");
  EXPECT_EQ(refused([](Trace&, TraceSound& sound) {
              sound.posteriors = Tensor::zeros({4, 2});
            }),
            "trace: sound: expected posteriors [4, 0], got [4, 2]");
  EXPECT_TRUE(says(refused([](Trace&, TraceSound& sound) { sound.spectrogram.data()[3] = real{NAN}; }), "from 0 to 1"));
  EXPECT_TRUE(says(refused([](Trace&, TraceSound& sound) {
                     sound.words = {{"b", 1, 1.5}, {"a", 0, 0.5}};
                   }),
                   "in order"));
  EXPECT_TRUE(says(refused([](Trace& trace, TraceSound&) { trace.target.times = {{"a", 1, 9}}; }), "in order within"));
  EXPECT_TRUE(says(refused([](Trace& trace, TraceSound&) { trace.target.word_of[0] = 7; }), "word_of"));
  EXPECT_TRUE(says(message_of([] { heard_of({}, "words"); }), "expected a trace of a sound"));
}

TEST(SoundText, FitsTheTerminalAndKeepsTime) {
  for (const size_t width : {0, 40, 80, 500}) {
    const std::string text = text_sound(test::listen_trace(2), "tokens", {.width = width});
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      EXPECT_LE(data::display_width(text.substr(begin, end - begin)), width == 40 || width == 80 ? width : 100);
    }
  }
  const std::string text = text_sound(half_seconds({0, 2}), "tokens", {});
  const auto line = [&](const std::string& name) {
    const size_t at = text.find(name);
    return text.substr(at + name.size(), text.find('\n', at) - at - name.size());
  };
  const std::string axis = line("seconds "), row = line("\n       b ");
  const size_t one = axis.find("|1.00");
  ASSERT_NE(one, axis.npos);
  EXPECT_EQ(data::display_width(row.substr(0, row.find("█"))), one) << text;
}

TEST(TraceOfSound, AToneIsAtItsPitchAndAClickAtItsTime) {
  data::Sound tone{16000, std::vector<float>(16000)};
  for (size_t i = 0; i < tone.samples.size(); ++i) {
    tone.samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 1000 * static_cast<double>(i) / 16000));
  }
  const TraceSound drawn = trace_sound(tone);
  EXPECT_EQ(drawn.spectrogram.shape(), (Shape{100, 64}));
  EXPECT_NEAR(drawn.frame_seconds, 0.01, 1e-12);
  EXPECT_EQ(drawn.seconds, 1);
  const real* frame = drawn.spectrogram[50].data();
  const auto band = std::max_element(frame, frame + 64) - frame;
  const auto mel = [](double hertz) { return std::log10(1 + hertz / 700); };
  EXPECT_NEAR(static_cast<double>(band + 1) / 65, (mel(1000) - mel(20)) / (mel(8000) - mel(20)), 0.02);

  data::Sound click{16000, std::vector<float>(16000)};
  click.samples[8000] = 1;
  const TraceSound clicked = trace_sound(click);
  double most = 0;
  int64_t loudest = 0;
  for (int64_t f = 0; f < clicked.spectrogram.dim(0); ++f) {
    const auto value = static_cast<double>(clicked.spectrogram[f].data()[60]);
    if (value > most) most = value, loudest = f;
  }
  EXPECT_GE(loudest, 49);
  EXPECT_LE(loudest, 50) << "the frame in which it is";
  EXPECT_TRUE(drawn.wav.starts_with("RIFF"));
}

TEST(TraceOfSound, EveryLengthAndRateIsDrawn) {
  const auto frames = [](int64_t rate, size_t samples) {
    data::Sound sound{rate, std::vector<float>(samples)};
    for (size_t i = 0; i < samples; ++i)
      sound.samples[i] = static_cast<float>(0.1 * std::sin(0.3 * static_cast<double>(i)));
    const TraceSound drawn = trace_sound(sound);
    check_sound(drawn, 0);
    EXPECT_GE(static_cast<double>(drawn.spectrogram.dim(0)) * drawn.frame_seconds, drawn.seconds - 1e-9);
    EXPECT_EQ(drawn.wav.empty(), drawn.seconds > 120);
    return drawn.spectrogram.dim(0);
  };
  EXPECT_EQ(frames(16000, 1), 1);
  EXPECT_EQ(frames(1000, 1000), 100);
  EXPECT_EQ(frames(11025, 11025), 101);
  EXPECT_EQ(frames(192000, 192000), 100);
  EXPECT_LE(frames(8000, 8000 * 200), 1500);
  const TraceSound silent = trace_sound(data::Sound{16000, std::vector<float>(16000)});
  for (const real x : silent.spectrogram.values()) EXPECT_EQ(x, 0);
  EXPECT_NE(message_of([] { trace_sound(data::Sound{16000, {}}); }), "");
}

TEST(TraceOfSound, FeaturesAloneAreDrawnNumberByNumber) {
  Tensor features({400, 2});
  for (int64_t f = 0; f < 400; ++f)
    features.data()[2 * f] = static_cast<real>(f), features.data()[2 * f + 1] = real{-7};
  const TraceSound drawn = trace_sound(features, 0.01, {.frames = 100});
  EXPECT_EQ(drawn.spectrogram.shape(), (Shape{100, 2}));
  EXPECT_NEAR(drawn.seconds, 4, 1e-9);
  EXPECT_NEAR(drawn.frame_seconds, 0.04, 1e-12);
  EXPECT_NEAR(static_cast<double>(drawn.spectrogram.data()[2 * 50]), 0.5, 0.02);
  EXPECT_EQ(drawn.spectrogram.data()[1], 0) << "what never changes";
  EXPECT_TRUE(drawn.wav.empty());
}

}  // namespace
}  // namespace attend::explain
