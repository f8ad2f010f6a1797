// Attention against torch.nn.MultiheadAttention, and against the steps of Bahdanau's and Luong's decoders written out in
// PyTorch; README.md beside this file says what each tensor is.
#include "attend/attention/attention.h"

#include "attend/autograd/ops.h"
#include "tests/golden/golden.h"

namespace attend {
namespace {

/// Gives each parameter of `attention` its value in the file, and checks that none was left out.
using Names = std::map<std::string, std::string>;
void set_parameters(Attention& attention, const Golden& golden, const Names& names) {
  for (nn::NamedParam& p : nn::parameters(attention)) {
    ASSERT_TRUE(names.contains(p.name)) << p.name;
    const Tensor value = golden(names.at(p.name));
    ASSERT_EQ(value.shape(), p.var.shape()) << p.name;
    std::copy(value.begin(), value.end(), p.var.value().data());
  }
}

void expect_gradients(Attention& attention, const Golden& golden, const Names& names) {
  const auto all = nn::parameters(attention);
  EXPECT_EQ(all.size(), names.size());
  for (const nn::NamedParam& p : all) golden.expect_gradient(p.var, "d" + names.at(p.name));
}

TEST(GoldenAttention, Multihead) {
  const Golden golden("multihead");
  Random random(1);
  Attention attention({.query = 8,
                       .key = 6,
                       .value = 10,
                       .query_projection = "linear",
                       .key_projection = "linear",
                       .value_projection = "linear",
                       .output_projection = true,
                       .heads = golden.settings().at("num_heads")},
                      random);
  const Names weights{{"query.0.weight", "q_proj_weight"},
                      {"key.0.weight", "k_proj_weight"},
                      {"value.0.weight", "v_proj_weight"},
                      {"output.weight", "out_proj.weight"},
                      {"output.bias", "out_proj.bias"}};
  const std::vector<std::string> biases{"query.0.bias", "key.0.bias", "value.0.bias"};  // in_proj_bias, in this order
  const Tensor in_bias = golden("in_proj_bias");
  std::vector<nn::NamedParam> all = nn::parameters(attention);
  ASSERT_EQ(all.size(), weights.size() + biases.size());
  for (nn::NamedParam& p : all) {
    const auto bias = std::find(biases.begin(), biases.end(), p.name) - biases.begin();
    const Tensor value = bias < 3 ? in_bias.rows(8 * bias, 8 * bias + 8) : golden(weights.at(p.name));
    ASSERT_EQ(value.shape(), p.var.shape()) << p.name;
    std::copy(value.begin(), value.end(), p.var.value().data());
  }
  for (const bool composed : {false, true}) {
    SCOPED_TRACE(composed ? "composed" : "by tiles");
    const Var q = golden.leaf("q"), k = golden.leaf("k"), v = golden.leaf("v");
    for (nn::NamedParam& p : all) p.var.clear_gradient();
    Tape tape;
    const AttentionRead read = attention(q, attention.prepare(k, v, golden.integers("lengths")), {.weights = composed});
    golden.expect_value(read.context, "y");
    ASSERT_EQ(read.weights.defined(), composed);
    if (composed) golden.expect_value(read.weights, "weights");
    tape.backward(read.context, golden("dy"));
    golden.expect_gradient(q, "dq");
    golden.expect_gradient(k, "dk");
    golden.expect_gradient(v, "dv");
    Tensor in_bias_gradient({24});
    for (const nn::NamedParam& p : all) {
      const auto bias = std::find(biases.begin(), biases.end(), p.name) - biases.begin();
      if (bias < 3) {
        std::copy_n(p.var.gradient().data(), 8, in_bias_gradient.data() + 8 * bias);
      } else {
        golden.expect_gradient(p.var, "d" + weights.at(p.name));
      }
    }
    golden.expect_near(in_bias_gradient, "din_proj_bias", kGradient);
  }
}

/// One step that reads `h` with the query `s`; `finish` makes the output of that name from context and state.
template <class Finish>
void check_step(const std::string& subject, const AttentionConfig& config, const Names& names,
                const std::string& output, Finish finish) {
  const Golden golden(subject);
  Random random(1);
  Attention attention(config, random);
  set_parameters(attention, golden, names);
  const Var s = golden.leaf("s"), h = golden.leaf("h");
  Tape tape;
  const AttentionRead read =
      attention(reshape(s, {3, 1, 6}), attention.prepare(h, h, golden.integers("lengths")), {.weights = true});
  const Var weights = reshape(read.weights, {3, 5}), y = finish(reshape(read.context, {3, 4}), s);
  golden.expect_value(weights, "weights");
  golden.expect_value(y, output);
  tape.backward(sum(weights * Var(golden("dweights"))) + sum(y * Var(golden("d" + output))));
  golden.expect_gradient(s, "ds");
  golden.expect_gradient(h, "dh");
  expect_gradients(attention, golden, names);
}

TEST(GoldenAttention, BahdanauStep) {
  check_step("bahdanau", {.query = 6, .key = 4, .score = "additive", .hidden = 7},
             {{"score.query.weight", "w"}, {"score.keys.weight", "u"}, {"score.keys.bias", "b"}, {"score.vector", "v"}},
             "context", [](const Var& context, const Var&) { return context; });
}

TEST(GoldenAttention, LuongStep) {
  const Golden golden("luong");
  const Var wc = golden.leaf("wc");
  check_step("luong", {.query = 6, .key = 4, .score = "general"}, {{"score.keys.weight", "w"}}, "attentional",
             [&](const Var& context, const Var& s) {
               const Var parts[] = {context, s};
               return linear(concat(parts, 1), wc, {}, Activation::tanh);
             });
  golden.expect_gradient(wc, "dwc");
}

}  // namespace
}  // namespace attend
