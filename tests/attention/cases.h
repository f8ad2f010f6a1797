// What tests of attention share: small problems, and a sink that keeps what it receives.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "tests/support/array.h"

namespace attend::test {

/// How far two ways of computing the same may be apart.
constexpr double kSame = kDouble ? 1e-12 : 2e-5;
/// Of queries, keys and values.
constexpr int64_t kWidth = 8;

inline Tensor random_tensor(const Shape& shape, Random& random) { return to_tensor(random_array(shape, random)); }

/// Small, with all that a score, a window or an align may ask for.
inline AttentionConfig small_config(std::string_view score, std::string_view window, std::string_view align,
                                    int64_t heads) {
  AttentionConfig config;
  config.query = config.key = config.value = kWidth;
  config.score = score, config.window = window, config.align = align;
  config.heads = heads;
  config.hidden = 3, config.longest = 12, config.radius = 2, config.width = 1;
  config.temperature = 0.7;
  return config;
}

/// Nothing is left at 0, where a factor would hide what comes after it.
inline void randomise(Attention& attention, Random& random) {
  for (nn::NamedParam& p : nn::parameters(attention)) {
    for (real& x : p.var.value().values()) x = static_cast<real>(0.7 * random.normal());
  }
}

inline Attention random_attention(const AttentionConfig& config, uint64_t seed = 1) {
  Random random(seed);
  Attention attention(config, random);
  randomise(attention, random);
  return attention;
}

inline Var& parameter(std::vector<nn::NamedParam>& all, const std::string& name) {
  for (nn::NamedParam& p : all) {
    if (p.name == name) return p.var;
  }
  throw Error("no parameter is called " + name);
}

inline void set(std::vector<nn::NamedParam>& all, const std::string& name, const Tensor& value) {
  Tensor& to = parameter(all, name).value();
  ASSERT_EQ(to.shape(), value.shape()) << name;
  std::copy(value.begin(), value.end(), to.data());
}

inline void expect_near(const Tensor& got, const Tensor& expected, double tolerance = kSame) {
  ASSERT_TRUE(got.defined() && expected.defined());
  ASSERT_EQ(got.shape(), expected.shape());
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = got.data()[i], w = expected.data()[i];
    ASSERT_TRUE(std::abs(g - w) <= tolerance * (1 + std::abs(w))) << "element " << i << ": " << g << ", not " << w;
  }
}

inline void expect_same_bits(const Tensor& got, const Tensor& expected) { expect_near(got, expected, 0); }

/// `call` throws an Error that says `says`.
template <class Call>
void expect_refusal(Call&& call, const std::string& says) {
  try {
    call();
    ADD_FAILURE() << "accepted; expected an error that says \"" << says << "\"";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
  }
}

/// Keeps all observations, with copies of what they only refer to.
struct Recorder : Sink {
  struct Seen {
    std::string site;
    Purpose purpose;
    int64_t layer, step;
    Tensor weights, centres;
    bool hard;
    std::vector<int32_t> key_lengths, sentence, beam;
  };
  std::vector<Seen> seen;

  void observe(const Observation& o) override {
    const auto copy = [](std::span<const int32_t> x) { return std::vector<int32_t>(x.begin(), x.end()); };
    seen.push_back({std::string(o.site), o.purpose, o.layer, o.step, o.weights.clone(),
                    o.centres.defined() ? o.centres.clone() : Tensor(), o.hard, copy(o.key_lengths), copy(o.sentence),
                    copy(o.beam)});
  }
};

}  // namespace attend::test
