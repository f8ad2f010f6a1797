#include "attend/base/options.h"

#include <gtest/gtest.h>

namespace attend {
namespace {

struct Inner {
  std::string score = "dot";
  double rate = 0.5;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("score", score, "how a query is compared with a key");
    visit("rate", rate, "share");
  }
};

struct Outer {
  int64_t size = 3;
  bool tied = false;
  Inner attention;
  template <class Visit>
  void fields(Visit&& visit) {
    visit("size", size, "width");
    visit("tied", tied, "one table");
    visit("attention", attention, "");
  }
};

std::string set_error(const Settings& settings) {
  Outer options;
  try {
    set_options("model", options, settings);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Options, AreSetByName) {
  Outer options;
  set_options("model", options, {{"size", "7"}, {"tied", "true"}, {"attention.rate", "0.25"}});
  EXPECT_EQ(options.size, 7);
  EXPECT_TRUE(options.tied);
  EXPECT_EQ(options.attention.rate, 0.25);
  EXPECT_EQ(options.attention.score, "dot");
}

TEST(Options, PrintedAndSetAgainAreTheSame) {
  Outer options{.size = 9, .tied = true, .attention = {"additive", 1.0 / 3}}, again;
  set_options("model", again, settings_of(options));
  EXPECT_EQ(settings_of(again), settings_of(options));
  EXPECT_EQ(again.attention.rate, 1.0 / 3);
}

TEST(Options, WhatIsWrongIsNamed) {
  EXPECT_EQ(set_error({{"attention.scor", "dot"}}),
            "model: expected one of size, tied, attention.score, attention.rate, got \"attention.scor\"; the nearest is "
            "\"attention.score\"");
  EXPECT_EQ(set_error({{"size", "many"}}), "size: expected a whole number, got \"many\"");
  EXPECT_EQ(set_error({{"size", "3x"}}), "size: expected a whole number, got \"3x\"");
  EXPECT_EQ(set_error({{"size", ""}}), "size: expected a whole number, got \"\"");
  EXPECT_EQ(set_error({{"tied", "yes"}}), "tied: expected true or false, got \"yes\"");
  EXPECT_EQ(set_error({{"attention.rate", "half"}}), "attention.rate: expected a number, got \"half\"");
}

}  // namespace
}  // namespace attend
