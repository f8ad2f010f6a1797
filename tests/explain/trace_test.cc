// Traces as JSON: how exact their numbers are, and what becomes of those that are not finite.
#include "attend/explain/trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/message.h"
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

}  // namespace
}  // namespace attend::explain
