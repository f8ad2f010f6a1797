// The gradient of a whole network's logits: by the tape, and by differences along a random direction of all parameters.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "attend/autograd/tape.h"
#include "attend/models/model.h"

namespace attend::test {

/// ⟨cotangent, logits⟩ with a random cotangent. Every parameter must have a gradient. Sharp in grad64 alone.
inline void expect_right_gradient(models::Model& model, const std::function<Var()>& logits, const std::string& what) {
  Random random(3);
  Tensor cotangent(logits().shape());
  for (real& x : cotangent.values()) x = static_cast<real>(random.normal());
  std::vector<nn::NamedParam> all = nn::parameters(model);
  {
    Tape tape;
    tape.backward(logits(), cotangent);
  }
  std::vector<Tensor> start, direction;
  double analytic = 0, length = 0;
  for (nn::NamedParam& p : all) {
    start.push_back(p.var.value().clone());
    direction.push_back(Tensor(p.var.shape()));
    ASSERT_TRUE(p.var.gradient().defined()) << what << ": " << p.name << " learns nothing";
    for (size_t i = 0; i < direction.back().size(); ++i) {
      const double d = random.normal();
      direction.back().data()[i] = static_cast<real>(d);
      length += d * d;
      analytic += d * static_cast<double>(p.var.gradient().data()[i]);
    }
  }
  const auto objective = [&](double step) {
    for (size_t p = 0; p < all.size(); ++p) {
      for (size_t i = 0; i < start[p].size(); ++i) {
        all[p].var.value().data()[i] = start[p].data()[i] + static_cast<real>(step) * direction[p].data()[i];
      }
    }
    const Tensor said = logits().value();
    double sum = 0;
    for (size_t i = 0; i < said.size(); ++i) {
      sum += static_cast<double>(said.data()[i]) * static_cast<double>(cotangent.data()[i]);
    }
    return sum;
  };
  const double step = (sizeof(real) == 8 ? 1e-6 : 0.02) / std::sqrt(length);
  const double numeric = (objective(step) - objective(-step)) / (2 * step);
  EXPECT_NEAR(analytic, numeric, (sizeof(real) == 8 ? 1e-6 : 0.02) * (std::abs(numeric) + std::sqrt(length))) << what;
}

}  // namespace attend::test
