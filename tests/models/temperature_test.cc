// The temperature of Gumbel attention after training is the one that training reached, and is saved with the weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "attend/models/zoo.h"
#include "attend/nn/layer.h"
#include "attend/tensor/safetensors.h"
#include "tests/models/small.h"
#include "tests/support/folder.h"

namespace attend::models {
namespace {

constexpr const char* kName = "attention.temperature";

const Settings kGumbel{{"source_vocabulary", "11"}, {"target_vocabulary", "11"},       {"embedding", "6"},
                       {"hidden", "8"},             {"attention.align", "gumbel"},     {"attention.temperature", "2"},
                       {"attention.cooling", "0.1"}, {"attention.coldest", "0.25"}};

/// With energies that are far enough apart for a temperature to matter.
std::unique_ptr<Model> gumbel_model(const Settings& more = {}) {
  Random random(3);
  auto model = make_model("recurrent", kGumbel + more, random);
  for (nn::NamedParam& p : nn::parameters(*model)) {
    if (!p.name.starts_with("attention") || p.name == kName) continue;
    for (real& x : p.var.value().values()) x *= 10;
  }
  return model;
}

data::Batch two_pairs() { return {rows({{4, 5, 6, 7}, {8, 9}}), rows({{5, 6, 7}, {4, 4}})}; }

Tensor temperature(Model& model) {
  for (const nn::NamedParam& p : nn::parameters(model)) {
    if (p.name != kName) continue;
    EXPECT_FALSE(p.var.tracked()) << "it is saved and never optimised";
    return p.var.value();
  }
  ADD_FAILURE() << "no parameter is called " << kName;
  return Tensor::zeros({1});
}

/// A model that trained for that many updates.
std::unique_ptr<Model> trained_for(int64_t updates, const Settings& more = {}) {
  auto model = gumbel_model(more);
  Training training{Random(1)};
  training.update = updates;
  (void)model->loss(two_pairs(), &training);
  return model;
}

TEST(GumbelTemperature, AfterTrainingIsTheOneThatTrainingReached) {
  const double reached = 2 * std::exp(-0.1 * 7);
  const auto model = trained_for(7);
  EXPECT_NEAR(temperature(*model).data()[0], reached, 1e-6);
  char same[32];
  std::snprintf(same, sizeof(same), "%.17g", static_cast<double>(temperature(*model).data()[0]));
  const auto constant = trained_for(0, {{"attention.temperature", same}, {"attention.cooling", "0"}});
  EXPECT_NEAR(loss_of(*model, two_pairs()), loss_of(*constant, two_pairs()), kTolerance);
  EXPECT_GT(std::abs(loss_of(*model, two_pairs()) - loss_of(*trained_for(0), two_pairs())), 10 * kTolerance)
      << "or the temperature would not matter";
  EXPECT_NEAR(temperature(*trained_for(1000)).data()[0], 0.25, 1e-6) << "never below the coldest";
}

TEST(GumbelTemperature, IsSavedWithTheWeights) {
  const test::TestFolder folder;
  const auto model = trained_for(7), other = gumbel_model();
  save_weights(*model, folder.path() / "weights.safetensors");
  load_weights(*other, folder.path() / "weights.safetensors");
  const double rounding = sizeof(real) == 4 ? 0 : 1e-6;  // files have 32 bits
  EXPECT_NEAR(temperature(*other).data()[0], temperature(*model).data()[0], rounding);
  EXPECT_NEAR(loss_of(*other, two_pairs()), loss_of(*model, two_pairs()), 10 * rounding);
}

TEST(GumbelTemperature, OfWeightsThatDoNotSayIsTheColdest) {
  const test::TestFolder folder;
  const auto model = trained_for(7), other = gumbel_model();
  std::vector<NamedTensor> tensors;
  for (const nn::NamedParam& p : nn::parameters(*model)) {
    if (p.name != kName) tensors.push_back({p.name, p.var.value()});
  }
  write_safetensors(folder.path() / "weights.safetensors", tensors);
  load_weights(*other, folder.path() / "weights.safetensors");
  const auto coldest = trained_for(1000);
  const double rounding = std::max<double>(kTolerance, 1e-6);  // files have 32 bits
  EXPECT_NEAR(loss_of(*other, two_pairs()), loss_of(*coldest, two_pairs()), rounding);
}

}  // namespace
}  // namespace attend::models
