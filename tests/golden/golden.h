// One file of numbers from PyTorch, and comparisons with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/autograd/var.h"
#include "attend/tensor/safetensors.h"

namespace attend {

constexpr double kValue = 1e-5, kGradient = 1e-4;

/// One subject's file.
class Golden {
 public:
  explicit Golden(const std::string& subject) : file_(ATTEND_SOURCE_DIR "/tests/golden/" + subject + ".safetensors") {}

  Tensor operator()(const std::string& name) const { return file_.read(name); }
  Var leaf(const std::string& name) const { return Var::leaf(file_.read(name)); }
  std::vector<int32_t> integers(const std::string& name) const {
    const Tensor t = file_.read(name);
    return {t.begin(), t.end()};
  }
  nlohmann::json settings() const { return nlohmann::json::parse(file_.metadata().at("settings")); }

  /// |got − expected| ≤ tolerance·max(1, |expected|) for every element.
  void expect_near(const Tensor& got, const std::string& name, double tolerance) const {
    const Tensor expected = file_.read(name);
    ASSERT_TRUE(got.defined()) << name << " has not been computed";
    ASSERT_EQ(got.shape(), expected.shape()) << name;
    for (size_t i = 0; i < got.size(); ++i) {
      const double g = got.data()[i], w = expected.data()[i];
      // Written so that NaN fails, too.
      ASSERT_TRUE(std::abs(g - w) <= tolerance * std::max(1.0, std::abs(w)))
          << name << ", element " << i << ": got " << g << ", PyTorch has " << w;
    }
  }
  void expect_value(const Var& got, const std::string& name) const { expect_near(got.value(), name, kValue); }
  void expect_gradient(const Var& input, const std::string& name) const {
    expect_near(input.gradient(), name, kGradient);
  }

 private:
  SafetensorsFile file_;
};

}  // namespace attend
