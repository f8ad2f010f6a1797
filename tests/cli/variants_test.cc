// What --vary and --variant make of a recipe.
#include "cli/variants.h"

#include <gtest/gtest.h>

#include "attend/tasks/config.h"
#include "tests/support/message.h"

namespace attend::cli {
namespace {

using test::message_of;

std::vector<std::string> names(const std::vector<Variant>& variants) {
  std::vector<std::string> all;
  for (const Variant& variant : variants) all.push_back(variant.name);
  return all;
}

using Texts = std::vector<std::string>;

std::string value(const SettingList& settings, std::string_view name) {
  const Setting* found = find_setting(settings, name);
  return found == nullptr ? "(none)" : found->value;
}

TEST(Variants, AreTheProductOfAllValuesAndThenTheOthers) {
  const Texts vary{"attention.score=dot,general", "model.hidden=8, 16"}, variant{"other: a=1 b=2"};
  const std::vector<Variant> all = make_variants(vary, variant);
  EXPECT_EQ(names(all), (Texts{"dot, hidden 8", "dot, hidden 16", "general, hidden 8", "general, hidden 16", "other"}));
  EXPECT_EQ(value(all[2].settings, "attention.score"), "general");
  EXPECT_EQ(value(all[2].settings, "model.hidden"), "8");
  EXPECT_EQ(value(all[4].settings, "b"), "2");
  EXPECT_EQ(value(all[4].settings, "model.hidden"), "(none)");
}

TEST(Variants, WithoutAnyItIsTheRecipe) {
  const std::vector<Variant> alone = make_variants({}, {});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].name, "");
  const Texts one{"the recipe"};
  EXPECT_EQ(names(make_variants({}, one)), one) << "not the recipe once more";
  EXPECT_TRUE(make_variants({}, one)[0].settings.empty());
}

TEST(Variants, ValuesMayHaveBlanksInQuotes) {
  const Texts variant{"  my own :  tsv=\"a file.tsv\"   train.rate=1e-3 "};
  const std::vector<Variant> all = make_variants({}, variant);
  EXPECT_EQ(all[0].name, "my own");
  ASSERT_EQ(all[0].settings.size(), 2u);
  EXPECT_EQ(value(all[0].settings, "tsv"), "a file.tsv");
  EXPECT_EQ(value(all[0].settings, "train.rate"), "1e-3");
}

TEST(Variants, WhatDoesNotReadSoIsRefused) {
  const auto vary = [](const std::string& text) { return message_of([&] { make_variants(Texts{text}, {}); }); };
  const auto variant = [](const std::string& text) { return message_of([&] { make_variants({}, Texts{text}); }); };
  EXPECT_NE(vary("attention.score").find("expected KEY=A,B"), std::string::npos);
  EXPECT_NE(vary("=dot").find("expected KEY=A,B"), std::string::npos);
  EXPECT_NE(vary("a=b,,c").find("values with commas"), std::string::npos);
  EXPECT_NE(vary("a=").find("values with commas"), std::string::npos);
  EXPECT_NE(vary("a=b,b").find("two called \"b\""), std::string::npos);
  EXPECT_NE(variant("attention.score=dot").find("NAME: KEY=VALUE"), std::string::npos);
  EXPECT_NE(variant(": a=b").find("NAME: KEY=VALUE"), std::string::npos);
  EXPECT_NE(variant("x: dot").find("expected KEY=VALUE, got \"dot\""), std::string::npos);
  EXPECT_NE(variant("x: a=\"b c").find("second quotation mark"), std::string::npos);
}

const SettingList kRecipe{{"tsv", "pairs.tsv", "r.yml:1"},
                          {"model.name", "recurrent", "r.yml:2"},
                          {"model.hidden", "24", "r.yml:3"},
                          {"train.epochs", "3", "r.yml:4"}};

Variant variant_of(const std::string& text) { return make_variants({}, Texts{text})[0]; }

TEST(SettingsOver, TakeKeysWithoutTheirFirstPart) {
  const SettingList settings = settings_over(kRecipe, variant_of("x: attention.score=dot hidden=8 train.epochs=1"));
  EXPECT_EQ(value(settings, "model.attention.score"), "dot");
  EXPECT_EQ(value(settings, "model.hidden"), "8");
  EXPECT_EQ(value(settings, "train.epochs"), "1");
  EXPECT_EQ(tasks::TaskConfig(settings).model.name, "recurrent");
}

TEST(SettingsOver, AnotherNetworkTakesNothingFromTheRecipesNetwork) {
  const SettingList settings = settings_over(kRecipe, variant_of("x: model.name=transformer heads=2"));
  const tasks::TaskConfig config(settings);
  EXPECT_EQ(config.model.name, "transformer");
  EXPECT_EQ(value(settings, "model.heads"), "2");
  EXPECT_EQ(value(settings, "model.hidden"), "(none)");
  EXPECT_EQ(config.options.train.epochs, 3) << "all else stays";
  EXPECT_EQ(value(settings_over(kRecipe, variant_of("x: model.name=recurrent")), "model.hidden"), "24");
}

TEST(SettingsOver, UnknownKeysAreRefusedWithTheNearest) {
  const std::string said = message_of([] { settings_over(kRecipe, variant_of("x: attention.scor=dot")); });
  EXPECT_NE(said.find("--variant \"x\": attention.scor: there is no option \"attention.scor\""), std::string::npos) << said;
  EXPECT_NE(said.find("model.attention.score"), std::string::npos) << said;
  EXPECT_NE(message_of([] { settings_over(kRecipe, variant_of("x: name=transformr")); }).find("transformer"),
            std::string::npos);
  EXPECT_NE(message_of([] { settings_over(kRecipe, variant_of("x: model.name=transformer cell=gru")); }), "");
}

TEST(Slug, IsANameForAFolder) {
  EXPECT_EQ(slug("No attention, 2 heads"), "no-attention-2-heads");
  EXPECT_EQ(slug("../../etc"), "etc");
  EXPECT_EQ(slug("größe"), "gr-e");
  EXPECT_EQ(slug("local_m"), "local_m");
  EXPECT_EQ(slug("…"), "model");
}

}  // namespace
}  // namespace attend::cli
