// Scheduled sampling: a decoder that reads its own guesses in training; and what the loss without training leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attend/decode/search.h"
#include "attend/models/rows.h"
#include "attend/models/zoo.h"
#include "tests/models/small.h"
#include "tests/support/message.h"

namespace attend::models {
namespace {

std::unique_ptr<Model> make(const std::string& name, const Settings& more = {}) {
  Settings settings = name == "recurrent" ? Settings{{"embedding", "6"}, {"hidden", "8"}}
                                          : Settings{{"size", "8"},           {"heads", "2"},          {"hidden", "12"},
                                                     {"encoder_layers", "1"}, {"decoder_layers", "1"}, {"dropout", "0"},
                                                     {"label_smoothing", "0"}};
  settings["source_vocabulary"] = settings["target_vocabulary"] = "9";
  for (const auto& [option, value] : more) settings[option] = value;
  Random random(5);
  return make_model(name, settings, random);
}

const data::Batch& pairs() {
  static const data::Batch batch{rows({{4, 5, 6, 7}, {8, 4}, {6}}), rows({{7, 6, 5, 4}, {4, 8}, {5, 5, 5}})};
  return batch;
}

/// Logits of all steps when the decoder reads `inputs`.
std::vector<Tensor> logits_after(const Model& model, const std::vector<int32_t>& source,
                                 const std::vector<int32_t>& inputs) {
  const auto state = model.begin(rows({source}));
  std::vector<Tensor> all;
  for (const int32_t id : inputs) all.push_back(model.next(*state, std::span(&id, 1)));
  return all;
}

int32_t likeliest(const Tensor& logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double minus_log_p(const Tensor& logits, int32_t id) {
  double sum = 0;
  for (const real value : logits) sum += std::exp(static_cast<double>(value));
  return std::log(sum) - static_cast<double>(logits.data()[id]);
}

/// Mean loss when every word that the decoder reads is what it guessed in its place after the right ones.
double loss_of_own_words(const Model& model, const data::Batch& batch) {
  double sum = 0, count = 0;
  for (int64_t b = 0; b < batch.source.count(); ++b) {
    std::vector<int32_t> inputs{data::kBegin}, targets = batch.target.row(b);
    inputs.insert(inputs.end(), targets.begin(), targets.end());
    targets.push_back(data::kEnd);
    const std::vector<Tensor> first = logits_after(model, batch.source.text().row(b), inputs);
    for (size_t t = 1; t < inputs.size(); ++t) inputs[t] = likeliest(first[t - 1]);
    const std::vector<Tensor> second = logits_after(model, batch.source.text().row(b), inputs);
    for (size_t t = 0; t < targets.size(); ++t) sum += minus_log_p(second[t], targets[t]), count += 1;
  }
  return sum / count;
}

TEST(OwnWords, TakeThePlaceOfTheRightOnes) {
  // [B,T] = [2,3], V = 6: after each place the likeliest is 4 or 5.
  const Ids inputs({2, 3}, {data::kBegin, 4, 5, data::kBegin, 5, data::kPad});
  Tensor logits = Tensor::zeros({2, 3, 6});
  const int32_t guesses[] = {5, 4, 4, 4, 5, 5};
  for (int64_t i = 0; i < 6; ++i) logits.data()[i * 6 + guesses[i]] = 1;
  Random random(1);
  EXPECT_EQ(with_own_words(inputs, logits, 1, 0, random).values, inputs.values);
  const std::vector<int32_t> all{data::kBegin, 5, 4, data::kBegin, 4, data::kPad};
  EXPECT_EQ(with_own_words(inputs, logits, 1, 1, random).values, all);
  // The same by time, [T,B].
  const Ids by_time = data::transposed(inputs);
  Tensor turned = Tensor::zeros({3, 2, 6});
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t t = 0; t < 3; ++t) turned.data()[(t * 2 + b) * 6 + guesses[b * 3 + t]] = 1;
  }
  EXPECT_EQ(data::transposed(with_own_words(by_time, turned, 2, 1, random)).values, all);
}

TEST(OwnWords, AreDrawnByTheirShare) {
  constexpr size_t kPlaces = 2000;
  std::vector<int32_t> ids(kPlaces, 4);
  ids[0] = data::kBegin;
  Tensor logits = Tensor::zeros({1, kPlaces, 6});
  for (size_t i = 0; i < kPlaces; ++i) logits.data()[i * 6 + 5] = 1;
  Random random(7), same(7);
  const Ids mixed = with_own_words(Ids({1, kPlaces}, ids), logits, 1, 0.3, random);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(mixed.values, 5)) / kPlaces, 0.3, 0.04);
  EXPECT_EQ(mixed.values, with_own_words(Ids({1, kPlaces}, ids), logits, 1, 0.3, same).values);
}

TEST(OwnWords, NoneOfThemIsTeacherForcingAllOfThemIsASecondPass) {
  for (const char* name : {"recurrent", "transformer"}) {
    const auto model = make(name);
    Training none{Random(1), 0, 0}, all{Random(1), 0, 1};
    const double forced = static_cast<double>(model->loss(pairs()).item());
    const double own = loss_of_own_words(*model, pairs());
    EXPECT_GT(std::abs(own - forced), 100 * kTolerance) << name << ": there is something to tell apart";
    EXPECT_NEAR(static_cast<double>(model->loss(pairs(), &none).item()), forced, kTolerance) << name;
    EXPECT_NEAR(static_cast<double>(model->loss(pairs(), &all).item()), own, kTolerance) << name;
  }
}

TEST(OwnWords, AreRefusedByNetworksWithoutADecoderThatReadsWords) {
  Random random(1);
  for (const ModelRow& row : zoo()) {
    if (row.name == "recurrent" || row.name == "transformer" || !can_read(row.reads, Reads::words)) continue;
    if (can_read(row.reads, Reads::images)) continue;  // it may have such a decoder
    Settings settings;
    for (const OptionInfo& option : row.options({}, "")) {
      if (option.name == "source_vocabulary" || option.name == "target_vocabulary" || option.name == "labels" ||
          option.name == "encoder.vocabulary") {
        settings[option.name] = "9";
      }
    }
    const auto model = row.make(settings, random);
    const bool asks = row.answers == Answers::span || row.sentences;
    data::Batch batch{{}, rows({row.answers == Answers::label  ? std::vector<int32_t>{4}
                                : row.answers == Answers::span ? std::vector<int32_t>{0, 2}
                                : row.name == "ctc"            ? std::vector<int32_t>{4, 5}
                                                               : std::vector<int32_t>{4, 5, 6}})};
    batch.source.add(asks ? "document" : "text", rows({{4, 5, 6}}));
    if (asks) batch.source.add("question", rows({{4}})).add("document.sentence", rows({{0, 0, 1}}));
    Training training{Random(1), 0, 0};
    EXPECT_NO_THROW(model->loss(batch, &training)) << row.name;
    training.own_words = 0.5;
    const std::string message = test::message_of([&] { model->loss(batch, &training); });
    EXPECT_NE(message.find("scheduled sampling"), std::string::npos) << row.name << ": " << message;
  }
}

TEST(LossWithoutTraining, HasNoLabelSmoothing) {
  for (const char* name : {"recurrent", "transformer", "language_model"}) {
    const auto model = make(name, {{"label_smoothing", "0.3"}});
    double sum = 0, count = 0;
    for (const decode::Hypothesis& one : decode::score(*model, pairs())) {
      sum -= one.log_probability, count += static_cast<double>(one.token_log_probabilities.size());
    }
    EXPECT_NEAR(static_cast<double>(model->loss(pairs()).item()), sum / count, kTolerance) << name;
    Training training{Random(1), 0, 0};
    EXPECT_GT(std::abs(static_cast<double>(model->loss(pairs(), &training).item()) - sum / count), 100 * kTolerance)
        << name;
  }
}

}  // namespace
}  // namespace attend::models
