// Our ops and optimisers against numbers from PyTorch; README.md beside this file says what each tensor is.
#include "tests/golden/golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/autograd/ops/attention.h"
#include "attend/autograd/ops/convolution.h"
#include "attend/autograd/ops/ctc.h"
#include "attend/autograd/ops/elementwise.h"
#include "attend/autograd/ops/recurrent.h"
#include "attend/autograd/ops/rows.h"
#include "attend/autograd/tape.h"
#include "attend/tensor/safetensors.h"
#include "attend/train/optimiser.h"

namespace attend {
namespace {

// Recurrent networks.

struct RecurrentCase {
  std::string name;
  bool lengths, reverse;
};
const RecurrentCase kRecurrentCases[] = {
    {"full", false, false}, {"lengths", true, false}, {"reverse_full", false, true}, {"reverse", true, true}};

/// Runs one case with these weights and checks everything but the gradients of the biases, which are left in `weights`.
void check_recurrent(const Golden& golden, const RecurrentCase& c, Cell cell, const RecurrentWeights& weights) {
  const Var x = golden.leaf("x");
  const RecurrentState initial{golden.leaf("h0"), cell == Cell::lstm ? golden.leaf("c0") : Var()};
  const std::vector<int32_t> lengths = c.lengths ? golden.integers("lengths") : std::vector<int32_t>();
  Tape tape;
  const RecurrentOutput out = recurrent(cell, weights, x, initial, lengths, c.reverse);
  golden.expect_value(out.y, c.name + ".y");
  golden.expect_value(out.last.h, c.name + ".h_last");
  Var objective = sum(out.y * Var(golden("dy"))) + sum(out.last.h * Var(golden("dh_last")));
  if (cell == Cell::lstm) {
    golden.expect_value(out.last.c, c.name + ".c_last");
    objective = objective + sum(out.last.c * Var(golden("dc_last")));
  }
  tape.backward(objective);
  golden.expect_gradient(x, c.name + ".dx");
  golden.expect_gradient(weights.input, c.name + ".dw_ih");
  golden.expect_gradient(weights.state, c.name + ".dw_hh");
  golden.expect_gradient(initial.h, c.name + ".dh0");
  if (cell == Cell::lstm) golden.expect_gradient(initial.c, c.name + ".dc0");
}

void check_one_bias(const Golden& golden, Cell cell) {
  for (const RecurrentCase& c : kRecurrentCases) {
    SCOPED_TRACE(c.name);
    const RecurrentWeights weights{golden.leaf("w_ih"), golden.leaf("w_hh"), golden.leaf("b"), {}};
    check_recurrent(golden, c, cell, weights);
    golden.expect_gradient(weights.bias, c.name + ".db");
  }
}

TEST(Golden, Lstm) { check_one_bias(Golden("lstm"), Cell::lstm); }
TEST(Golden, Rnn) { check_one_bias(Golden("rnn"), Cell::rnn); }

// PyTorch has b_ih and b_hh for all three gates. For r and z only their sum counts, and is our bias; n has both apart.
TEST(Golden, Gru) {
  const Golden golden("gru");
  const Tensor b_ih = golden("b_ih"), b_hh = golden("b_hh");
  const int64_t hidden = b_ih.dim(0) / 3;
  for (const RecurrentCase& c : kRecurrentCases) {
    SCOPED_TRACE(c.name);
    Tensor bias = b_ih.clone();
    for (int64_t i = 0; i < 2 * hidden; ++i) bias.data()[i] += b_hh.data()[i];
    const Tensor candidate_bias = b_hh.rows(2 * hidden, 3 * hidden).clone();
    const RecurrentWeights weights{golden.leaf("w_ih"), golden.leaf("w_hh"), Var::leaf(bias),
                                   Var::leaf(candidate_bias)};
    check_recurrent(golden, c, Cell::gru, weights);
    golden.expect_gradient(weights.bias, c.name + ".db_ih");
    Tensor db_hh = weights.bias.gradient().clone();
    const Tensor& dcandidate = weights.candidate_bias.gradient();
    std::copy(dcandidate.begin(), dcandidate.end(), db_hh.data() + 2 * hidden);
    golden.expect_near(db_hh, c.name + ".db_hh", kGradient);
  }
}

// Attention.

TEST(Golden, Attention) {
  struct Mask {
    std::string name;
    bool padding, causal, window;
  };
  const Mask masks[] = {{"none", false, false, false},       {"padding", true, false, false},
                        {"causal", false, true, false},      {"causal_padding", true, true, false},
                        {"window", false, false, true},      {"window_padding", true, false, true},
                        {"causal_window", false, true, true}};
  const Golden golden("attention");
  for (const std::string group : {"wide.", "tall.", "long."}) {
    for (const Mask& mask : masks) {
      const std::string name = group + mask.name;
      SCOPED_TRACE(name);
      const Var q = golden.leaf(group + "q"), k = golden.leaf(group + "k"), v = golden.leaf(group + "v");
      AttentionOptions options;
      options.heads = golden.integers(group + "heads")[0];
      if (mask.padding) options.key_lengths = golden.integers(group + "lengths");
      options.causal = mask.causal;
      if (mask.window) options.window = golden.integers(group + "window")[0];
      Tape tape;
      const Var y = scaled_dot_product_attention(q, k, v, options);
      golden.expect_value(y, name + ".y");
      tape.backward(y, golden(group + "dy"));
      golden.expect_gradient(q, name + ".dq");
      golden.expect_gradient(k, name + ".dk");
      golden.expect_gradient(v, name + ".dv");
    }
  }
}

// Layers and losses.

/// An op with one input and one output: the file has x and dy for all cases, and `name`.y and `name`.dx.
template <class Op>
void check_map(const Golden& golden, const std::string& name, Op op) {
  SCOPED_TRACE(name);
  const Var x = golden.leaf("x");
  Tape tape;
  const Var y = op(x);
  golden.expect_value(y, name + ".y");
  tape.backward(y, golden("dy"));
  golden.expect_gradient(x, name + ".dx");
}

TEST(Golden, LayerNorm) {
  const Golden golden("layer_norm");
  const Var x = golden.leaf("x"), gain = golden.leaf("gain"), bias = golden.leaf("bias");
  Tape tape;
  const Var y = layer_norm(x, gain, bias, golden.settings().at("eps"));
  golden.expect_value(y, "y");
  tape.backward(y, golden("dy"));
  golden.expect_gradient(x, "dx");
  golden.expect_gradient(gain, "dgain");
  golden.expect_gradient(bias, "dbias");
}

TEST(Golden, CrossEntropy) {
  const Golden golden("cross_entropy");
  const nlohmann::json settings = golden.settings();
  const Ids targets(golden("targets").shape(), golden.integers("targets"));
  for (const auto& [name, smoothing] : settings.at("label_smoothing").items()) {
    SCOPED_TRACE(name);
    const Var logits = golden.leaf("logits");
    Tape tape;
    const Var loss = cross_entropy(logits, targets, {.smoothing = smoothing, .ignored = settings.at("ignore_index")});
    golden.expect_value(loss, name + ".loss");
    tape.backward(loss, golden("dloss"));
    golden.expect_gradient(logits, name + ".dlogits");
  }
}

TEST(Golden, Ctc) {
  const Golden golden("ctc");
  const nlohmann::json settings = golden.settings();
  ASSERT_EQ(settings.size(), 3u);
  for (const auto& [name, setting] : settings.items()) {
    SCOPED_TRACE(name);
    const Var logits = golden.leaf("logits");
    Tape tape;
    const bool impossible = name == "impossible";
    Var loss = ctc_loss(logits, setting.at("lengths"), setting.at("targets"),
                        {.blank = setting.at("blank"), .skip_impossible = impossible});
    // Two of the four targets do not fit: ours is the mean of the others, PyTorch's counts these two as zeros.
    if (impossible) loss = affine(loss, real(0.5));
    golden.expect_value(loss, name + ".loss");
    tape.backward(loss, golden("dloss"));
    golden.expect_gradient(logits, name + ".dlogits");
  }
}

TEST(Golden, Activations) {
  const Golden golden("activations");
  check_map(golden, "gelu", [](const Var& x) { return gelu(x); });
  check_map(golden, "softmax", [](const Var& x) { return softmax(x); });
  check_map(golden, "log_softmax", [](const Var& x) { return log_softmax(x); });
  check_map(golden, "masked_softmax", [&](const Var& x) { return softmax(x, golden("mask")); });
}

TEST(Golden, Conv2d) {
  const Golden golden("conv2d");
  const nlohmann::json settings = golden.settings();
  for (const auto& [name, setting] : settings.at("cases").items()) {
    SCOPED_TRACE(name);
    const Var x = golden.leaf("x"), w = golden.leaf("w"), b = golden.leaf("b");
    Tape tape;
    const Var y = conv2d(x, w, b, {.stride = setting.at("stride"), .padding = setting.at("padding")});
    golden.expect_value(y, name + ".y");
    tape.backward(y, golden(name + ".dy"));
    golden.expect_gradient(x, name + ".dx");
    golden.expect_gradient(w, name + ".dw");
    golden.expect_gradient(b, name + ".db");
  }
}

TEST(Golden, Pool2d) {
  const Golden golden("pool2d");
  const Pool2dOptions options{.kernel = 3, .stride = 2, .padding = 1};
  check_map(golden, "max", [&](const Var& x) { return max_pool2d(x, options); });
  check_map(golden, "average", [&](const Var& x) { return avg_pool2d(x, options); });
}

// Optimisers: every case that the file's settings name, method_and_variant.

TEST(Golden, Optimisers) {
  const Golden golden("optimisers");
  const nlohmann::json settings = golden.settings();
  ASSERT_GE(settings.size(), 11u);
  for (const auto& [name, setting] : settings.items()) {
    SCOPED_TRACE(name);
    train::OptimiserOptions options;
    options.momentum = setting.value("momentum", 0.0);
    options.nesterov = setting.value("nesterov", false);
    if (setting.contains("betas")) options.beta1 = setting["betas"][0], options.beta2 = setting["betas"][1];
    options.rho = setting.value("rho", options.rho);
    if (setting.contains("eps")) options.epsilon = setting["eps"].get<double>();
    options.weight_decay = setting.at("weight_decay").get<double>();

    const std::vector<nn::NamedParam> parameters{{"a", golden.leaf("a.start")}, {"b", golden.leaf("b.start")}};
    const auto optimiser = train::make_optimiser(name.substr(0, name.find('_')), options, parameters);
    std::vector<Tensor> paths;
    for (const auto& [parameter, var] : parameters) paths.emplace_back(golden(name + "." + parameter).shape());
    const int64_t steps = golden("a.gradients").dim(0);
    for (int64_t step = 0; step < steps; ++step) {
      optimiser->clear_gradients();
      for (const auto& [parameter, var] : parameters) var.slot().add(golden(parameter + ".gradients")[step]);
      optimiser->step(setting.at("lr"));
      for (size_t i = 0; i < parameters.size(); ++i) {
        const Tensor& value = parameters[i].var.value();
        std::copy(value.begin(), value.end(), paths[i][step].data());
      }
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      golden.expect_near(paths[i], name + "." + parameters[i].name, kValue);
    }
  }
}

}  // namespace
}  // namespace attend
