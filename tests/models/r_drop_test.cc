// R-Drop: two passes with other dropout, and how far apart their answers are.
#include <gtest/gtest.h>

#include <cmath>

#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

std::unique_ptr<Model> dropping(const std::string& name, const std::string& r_drop, const Settings& more = {}) {
  Settings settings =
      name == "recurrent"
          ? Settings{{"embedding", "6"}, {"hidden", "8"}}
          : Settings{{"size", "8"}, {"heads", "2"}, {"hidden", "12"}, {"encoder_layers", "1"}, {"decoder_layers", "1"}};
  if (name == "encoder_decoder") settings = {{"encoder.size", "8"}, {"encoder.dropout", "0.3"}, {"decoder.size", "8"}};
  if (name != "encoder_decoder") settings["dropout"] = "0.3";
  settings["source_vocabulary"] = settings["target_vocabulary"] = "9";
  settings["label_smoothing"] = "0.1";
  settings["r_drop"] = r_drop;
  for (const auto& [option, value] : more) settings[option] = value;
  Random random(5);
  return make_model(name, settings, random);
}

const data::Batch& sentences_to_drop() {
  static const data::Batch batch{rows({{4, 5, 6, 7}, {8, 4}, {6}}), rows({{7, 6, 5, 4}, {4, 8}, {5, 5, 5}})};
  return batch;
}

double loss_in(const Model& model, Training& training) {
  return static_cast<double>(model.loss(sentences_to_drop(), &training).item());
}

TEST(RDrop, AddsTheDivergenceOfTwoPassesToTheirMean) {
  for (const char* name : {"recurrent", "transformer", "encoder_decoder", "language_model"}) {
    const auto once = dropping(name, "0");
    Training training{Random(1), 0, 0};
    const double first = loss_in(*once, training), second = loss_in(*once, training);
    EXPECT_GT(std::abs(first - second), 1e-4) << name << ": dropout differs from pass to pass";
    const auto apart = [&](const char* weight) {
      Training same{Random(1), 0, 0};
      return loss_in(*dropping(name, weight), same) - (first + second) / 2;
    };
    const double by_one = apart("1"), by_five = apart("5");
    EXPECT_NEAR(apart("1e-7"), 1e-7 * by_one, kTolerance) << name;
    EXPECT_GT(by_one, 1e-4) << name;
    EXPECT_NEAR(by_five, 5 * by_one, 10 * kTolerance) << name;
  }
}

TEST(RDrop, IsForTrainingAlone) {
  for (const char* name : {"recurrent", "transformer", "encoder_decoder", "language_model"}) {
    EXPECT_EQ(dropping(name, "5")->loss(sentences_to_drop()).item(),
              dropping(name, "0")->loss(sentences_to_drop()).item())
        << name;
  }
}

TEST(RDrop, IsRefusedWhereItCannotBe) {
  for (const char* name : {"recurrent", "transformer", "encoder_decoder", "language_model"}) {
    const char* const dropout = std::string_view(name) == "encoder_decoder" ? "encoder.dropout" : "dropout";
    EXPECT_NE(test::message_of([&] {
                dropping(name, "1", {{dropout, "0"}});
              }).find("r_drop: expected 0 without dropout"),
              std::string::npos)
        << name;
  }
  const Settings copying{{"decoder.copy", "true"}, {"label_smoothing", "0"}};
  EXPECT_NE(test::message_of([&] {
              dropping("recurrent", "1", copying);
            }).find("r_drop: expected 0 where words are copied (copy), got 1"),
            std::string::npos);
}

}  // namespace
}  // namespace attend::models
