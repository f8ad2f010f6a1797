// Traces as JSON: how exact their numbers are, and what becomes of those that are not finite.
#include "attend/explain/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/folder.h"
#include "tests/support/message.h"
#include "tests/support/sound_traces.h"
#include "tests/support/traces.h"

namespace attend::explain {
namespace {

using nlohmann::json;

TEST(TraceJson, WhatIsNotFiniteIsNullAndReadAsNoNumber) {
  Trace trace = test::hindi_trace();
  trace.sites[0].weights.data()[3] = std::numeric_limits<real>::quiet_NaN();
  trace.maps[0].words.data()[0] = std::numeric_limits<real>::infinity();
  trace.token_log_probabilities[1] = -std::numeric_limits<double>::infinity();
  trace.score = std::numeric_limits<double>::quiet_NaN();
  const std::string text = trace_json(trace);
  const json read = json::parse(text);
  EXPECT_TRUE(read["sites"][0]["weights"][0][0][3].is_null()) << text;
  EXPECT_TRUE(read["maps"][0]["words"][0][0].is_null());
  EXPECT_TRUE(read["target"]["log_probabilities"][1].is_null());
  const Trace again = parse_trace(text);
  EXPECT_TRUE(std::isnan(again.sites[0].weights.data()[3]));
  EXPECT_FALSE(std::isnan(again.sites[0].weights.data()[2]));
  EXPECT_TRUE(std::isnan(again.maps[0].words.data()[0]));
  EXPECT_TRUE(std::isnan(again.token_log_probabilities[1]));
  EXPECT_TRUE(std::isnan(again.score));
  EXPECT_EQ(trace_json(again), text);
}

TEST(TraceJson, LogProbabilitiesHaveSixDigitsAndWeightsFour) {
  Trace trace = test::hindi_trace();
  trace.log_probability = -123.4567891, trace.token_log_probabilities[0] = -0.001234567;
  trace.sites[0].weights.data()[0] = static_cast<real>(0.123456);
  const json read = json::parse(trace_json(trace));
  EXPECT_EQ(read["target"]["log_probability"], -123.457);
  EXPECT_EQ(read["target"]["log_probabilities"][0], -0.00123457);
  EXPECT_EQ(read["sites"][0]["weights"][0][0][0], 0.1235);
}

TEST(TraceJson, ASiteSaysWhatItIsForAndOldTracesLetItFollow) {
  Trace trace = test::heads_trace(1);
  trace.sites.push_back(trace.sites.back());
  trace.sites.back().site = "pooling", trace.sites.back().purpose = Purpose::pooling;
  json read = json::parse(trace_json(trace));
  EXPECT_EQ(read["sites"][3]["purpose"], "pooling");
  EXPECT_EQ(parse_trace(read.dump()).sites[3].purpose, Purpose::pooling);
  read["sites"].erase(3);
  for (json& site : read["sites"]) site.erase("purpose");
  const Trace old = parse_trace(read.dump());
  for (size_t i = 0; i < old.sites.size(); ++i) EXPECT_EQ(old.sites[i].purpose, trace.sites[i].purpose) << i;
  read["sites"][0]["purpose"] = "seeing";
  EXPECT_NE(test::message_of([&] { (void)parse_trace(read.dump()); }).find("purpose"), std::string::npos);
}

TEST(TraceJson, RefusesWhatIsNeitherANumberNorNull) {
  json read = json::parse(trace_json(test::hindi_trace()));
  read["sites"][0]["weights"][0][0][0] = "much";
  EXPECT_EQ(test::message_of([&] { (void)parse_trace(read.dump()); }), "trace: expected a number or null, got string");
}

TEST(TraceJson, ASoundIsReadBackAsItWasWritten) {
  for (const Trace& trace : {test::listen_trace(), test::ctc_trace(), test::frames_trace()}) {
    const std::string text = trace_json(trace);
    const Trace again = parse_trace(text);
    EXPECT_EQ(trace_json(again), text) << trace.network;
    const TraceSound &wrote = *trace.source.sound, &read = *again.source.sound;
    EXPECT_EQ(read.wav, wrote.wav);
    EXPECT_EQ(read.labels, wrote.labels);
    EXPECT_EQ(read.posteriors.defined(), wrote.posteriors.defined());
    ASSERT_EQ(read.phonemes.size(), wrote.phonemes.size());
    for (size_t i = 0; i < read.phonemes.size(); ++i) {
      EXPECT_EQ(read.phonemes[i].label, wrote.phonemes[i].label);
      EXPECT_NEAR(read.phonemes[i].begin, wrote.phonemes[i].begin, 5.1e-5);
    }
    ASSERT_EQ(read.spectrogram.shape(), wrote.spectrogram.shape());
    for (size_t i = 0; i < read.spectrogram.size(); ++i) {
      ASSERT_NEAR(read.spectrogram.data()[i], wrote.spectrogram.data()[i], 0.5 / 255 + 1e-6);
    }
    EXPECT_EQ(again.target.times.size(), trace.target.times.size());
    EXPECT_NEAR(read.begin_of(7), wrote.begin_of(7), 1e-9);
  }
}

TEST(TraceJson, PosteriorsOfManyPlacesGoToAFileBeside) {
  const test::TestFolder folder;
  const Trace trace = test::ctc_trace();
  TraceWriter(folder.path() / "t.jsonl", 100).add(trace);
  const Trace again = read_traces(folder.path() / "t.jsonl").at(0);
  const Tensor &wrote = trace.source.sound->posteriors, &read = again.source.sound->posteriors;
  ASSERT_EQ(read.shape(), wrote.shape());
  for (size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(static_cast<float>(read.data()[i]), static_cast<float>(wrote.data()[i])) << "files have 32 bits";
  }
}

TEST(TraceJson, RefusesASoundWhoseSizesDisagree) {
  const json whole = json::parse(trace_json(test::ctc_trace()));
  const auto refused = [&](auto&& damage) {
    json read = whole;
    damage(read["source"]["sound"]);
    return test::message_of([&] { (void)parse_trace(read.dump()); });
  };
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["spectrogram"]["frames"] = 7; }), "levels of 7 frames"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["spectrogram"]["frames"] = int64_t{1} << 60; }),
                         "1 to 100000 frames"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["spectrogram"]["levels"] = "%%"; }), "levels"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["seconds"] = 1e9; }), "seconds"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["seconds"] = nullptr; }), "seconds"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["place_seconds"] = 0; }), "places within"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["posteriors"].erase(0); }), "expected posteriors"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["labels"].erase(0); }), "expected posteriors"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["words"][0] = {"a", 1}; }), "[label, begin, end]"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["words"][0][2] = 99; }), "times in order"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound["wav"] = "a"; }), "wav"));
  EXPECT_TRUE(test::says(refused([](json& sound) { sound.erase("spectrogram"); }), "spectrogram"));
}

}  // namespace
}  // namespace attend::explain
