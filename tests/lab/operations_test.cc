// Counts of multiply-adds agree with the weights that networks have: one for each weight and each place where it is used.
#include "lab/operations.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace attend::lab {
namespace {

/// Numbers in the weights of a network by name, without biases.
std::map<std::string, int64_t> weights_of(models::Model& model) {
  std::map<std::string, int64_t> all;
  model.params([&](const std::string& name, Var& parameter) {
    if (parameter.value().rank() >= 2) all[name] = static_cast<int64_t>(parameter.value().size());
  });
  return all;
}

TEST(MultiplyAdds, OfAGlanceAreItsWeightsAndWhatTheRetinaReads) {
  models::GlimpseOptions options{.labels = 7, .glimpses = 1};
  options.eye.patch = 5, options.eye.scales = 2, options.eye.what = 11, options.eye.where = 13,
  options.eye.glimpse = 17;
  options.hidden = 19, options.reinforce.baseline = "none";
  Random random(1);
  models::GlimpseNetwork network(options, random);
  int64_t weights = 0;
  for (const auto& [name, size] : weights_of(network)) weights += size;
  const int64_t read = 5 * 5 + 10 * 10;
  EXPECT_EQ(multiply_adds(options), weights + read);
  const int64_t once = multiply_adds(options) - 19 * 7;
  options.glimpses = 4;
  EXPECT_EQ(multiply_adds(options), 4 * once + 19 * 7) << "one answer, whatever the number of glances";
}

TEST(MultiplyAdds, OfClassifiersAreTheirWeightsAtEveryPlace) {
  models::ImageClassifierOptions options;
  options.labels = 10;
  options.encoder.channels = 1, options.encoder.stages = "4,6", options.encoder.height = options.encoder.width = 12;
  Random random(1);
  models::ImageClassifier convolutional(options, random);
  const auto weights = weights_of(convolutional);
  EXPECT_EQ(multiply_adds(options, 12),
            weights.at("encoder.0.weight") * 144 + weights.at("encoder.1.weight") * 36 + weights.at("output.weight"));
  options.encoder.kind = "dense";
  models::ImageClassifier dense(options, random);
  int64_t all = 0;
  for (const auto& [name, size] : weights_of(dense)) all += size;
  EXPECT_EQ(multiply_adds(options, 12), all);
}

}  // namespace
}  // namespace attend::lab
