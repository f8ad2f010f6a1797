// Every score × every window × every align × heads, from the menus: shapes, weights, masks and gradients.
#include <functional>
#include <map>

#include "tests/attention/cases.h"

namespace attend::test {
namespace {

constexpr int64_t kBatch = 2;

/// One way of calling one attention. `tall` is long enough for the tiled kernel, and does not ask for weights.
struct Case {
  AttentionConfig config;
  bool step = false;  // one query at position 2, with coverage and the weights of the step before
  bool tall = false;

  int64_t queries() const { return step || needs_previous(config) ? 1 : tall ? 9 : 4; }
  int64_t keys() const { return tall ? 11 : 5; }
  int64_t position() const { return step ? 2 : 0; }
  std::vector<int32_t> lengths() const { return {static_cast<int32_t>(keys()), 2}; }
};

struct MatrixInputs {
  Var queries, keys, values, coverage, previous;
};

/// Weights of each sequence that sum to one; the median of the first is its key 3, of the second its key 1.
Tensor weights_before(const Case& c, Random& random) {
  Tensor weights = Tensor::zeros({kBatch, c.keys()});
  for (int64_t b = 0; b < kBatch; ++b) {
    const int64_t length = c.lengths()[static_cast<size_t>(b)], median = b == 0 ? 3 : 1;
    for (int64_t j = 0; j < length; ++j) {
      const double least = j == median ? 0.6 : 0.0, most = 0.4 / static_cast<double>(length);
      weights.data()[b * c.keys() + j] = static_cast<real>(least + most * (0.5 + 0.5 * random.uniform()));
    }
  }
  return weights;
}

MatrixInputs inputs_of(const Case& c) {
  Random random(3);
  MatrixInputs in;
  in.queries = Var::leaf(random_tensor({kBatch, c.queries(), kWidth}, random));
  in.keys = Var::leaf(random_tensor({kBatch, c.keys(), kWidth}, random));
  in.values = Var::leaf(random_tensor({kBatch, c.keys(), kWidth}, random));
  if (c.step) {
    Tensor read = random_tensor({kBatch, c.keys()}, random);
    for (real& x : read.values()) x = std::abs(x);
    in.coverage = Var::leaf(read);
    in.previous = Var::leaf(weights_before(c, random));
  }
  return in;
}

/// With the same noise at every call.
AttentionRead run(const Case& c, const Attention& attention, const MatrixInputs& in, bool noise) {
  Random random(17);
  const AttentionMemory memory = attention.prepare(in.keys, in.values, c.lengths());
  return attention(in.queries, memory,
                   {.position = c.position(),
                    .random = noise ? &random : nullptr,
                    .weights = !c.tall,
                    .coverage = in.coverage,
                    .previous = in.previous});
}

/// May a query at p, at most the last key, meet key j? Written once more, as the papers have it.
using Sees = std::function<bool(int64_t p, int64_t j, double centre, int64_t width)>;
const std::map<std::string_view, Sees> kSees = {
    {"none", [](int64_t, int64_t, double, int64_t) { return true; }},
    {"causal", [](int64_t p, int64_t j, double, int64_t width) { return j <= p && j >= p - width; }},
    {"sliding", [](int64_t p, int64_t j, double, int64_t width) { return j >= p - width && j <= p + width; }},
    {"others", [](int64_t p, int64_t j, double, int64_t) { return j != p; }},
    {"local_m", [](int64_t p, int64_t j, double, int64_t width) { return j >= p - width && j <= p + width; }},
    {"local_p", [](int64_t, int64_t j, double centre,
                   int64_t width) { return std::abs(static_cast<double>(j) - centre) <= static_cast<double>(width); }},
    {"median", [](int64_t, int64_t j, double centre,
                  int64_t width) { return std::abs(static_cast<double>(j) - centre) <= static_cast<double>(width); }},
};

void check_weights(const Case& c, const Tensor& weights, const Tensor& centres) {
  const WindowRow& window = window_named(c.config.window);
  const bool shares = align_named(c.config.align).shares;
  const int64_t H = c.config.heads, Tq = c.queries(), Tk = c.keys();
  ASSERT_EQ(weights.shape(), (Shape{kBatch, H, Tq, Tk}));
  ASSERT_TRUE(kSees.contains(window.name)) << "say here which pairs meet";
  const std::vector<int32_t> lengths = c.lengths();
  const real* w = weights.data();
  for (int64_t b = 0; b < kBatch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    for (int64_t h = 0; h < H; ++h) {
      for (int64_t q = 0; q < Tq; ++q, w += Tk) {
        double centre = 0, sum = 0;
        if (centres.defined()) centre = centres.data()[(b * H + h) * Tq + q];
        if (window.name == "median") {
          ASSERT_EQ(centre, !c.step ? 0 : b == 0 ? 3 : 1) << "where half of the weights before is reached";
        }
        int64_t seen = 0;
        for (int64_t j = 0; j < Tk; ++j) {
          sum += w[j];
          if (shares) {
            ASSERT_GE(w[j], 0);
          }
          const int64_t p = std::min(q + c.position(), length - 1);
          if (j < length && kSees.at(window.name)(p, j, centre, c.config.width)) {
            ++seen;
          } else {
            ASSERT_EQ(w[j], 0) << "query " << q << " meets key " << j << " of sequence " << b;
          }
        }
        ASSERT_GT(seen, 0) << "query " << q << " of sequence " << b << " has run out of keys";
        if (!shares) continue;
        if (window.sums_to_one) {
          ASSERT_NEAR(sum, 1, kDouble ? 1e-12 : 1e-5) << "query " << q << " of sequence " << b;
        } else {
          ASSERT_GT(sum, 0);
          ASSERT_LE(sum, 1 + 1e-5);
        }
      }
    }
  }
}

void check_values(const Case& c, bool noise) {
  const Attention attention = random_attention(c.config);
  const MatrixInputs in = inputs_of(c);
  Recorder recorder;
  const Observing observing(recorder);
  const AttentionRead read = run(c, attention, in, noise);
  ASSERT_EQ(read.context.shape(), (Shape{kBatch, c.queries(), kWidth}));
  ASSERT_EQ(recorder.seen.size(), 1u);
  ASSERT_EQ(read.weights.defined(), !c.tall);
  check_weights(c, c.tall ? recorder.seen[0].weights : read.weights.value(), recorder.seen[0].centres);
  const bool draws = c.config.align == "sample" && noise;
  ASSERT_EQ(read.log_probability.defined(), draws);
  ASSERT_EQ(read.entropy.defined(), draws);
  if (draws) {
    ASSERT_EQ(read.log_probability.shape(), (Shape{kBatch, c.config.heads, c.queries()}));
    ASSERT_EQ(read.entropy.shape(), (Shape{kBatch, c.config.heads, c.queries()}));
  }
}

/// ⟨outputs, random cotangents⟩.
Var objective(const AttentionRead& read) {
  Random random(29);
  Var loss(Tensor::scalar(0));
  for (const Var& y : {read.context, read.weights, read.log_probability, read.entropy}) {
    if (y.defined()) loss = add(loss, sum(multiply(y, random_tensor(y.shape(), random))));
  }
  return loss;
}

void check_gradients(const Case& c) {
  Attention attention = random_attention(c.config);
  MatrixInputs in = inputs_of(c);
  {
    Tape tape;
    const Var loss = objective(run(c, attention, in, true));
    ASSERT_TRUE(loss.tracked());
    tape.backward(loss);
  }
  std::vector<nn::NamedParam> leaves = nn::parameters(attention);
  leaves.push_back({"queries", in.queries});
  leaves.push_back({"keys", in.keys});
  leaves.push_back({"values", in.values});
  if (c.step) leaves.push_back({"coverage", in.coverage});
  if (c.step) leaves.push_back({"previous", in.previous});
  Random random(31);
  const TapePause pause;
  for (nn::NamedParam& leaf : leaves) {
    const Tensor gradient = leaf.var.gradient().defined() ? leaf.var.gradient() : Tensor::zeros(leaf.var.shape());
    for (const real g : gradient.values()) ASSERT_TRUE(std::isfinite(g)) << leaf.name;
    if (!kDouble) continue;  // differences of floats say nothing
    const Tensor direction = random_tensor(leaf.var.shape(), random), at = leaf.var.value().clone();
    const auto f = [&](double h) {
      real* x = leaf.var.value().data();
      for (size_t i = 0; i < at.size(); ++i) x[i] = at.data()[i] + static_cast<real>(h) * direction.data()[i];
      return static_cast<double>(objective(run(c, attention, in, true)).item());
    };
    // Small, so that no corner (sparsemax, the edge of a window) and no other draw lies within it.
    const double h = 1e-5, numeric = (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
    f(0);
    double analytic = 0;
    for (size_t i = 0; i < at.size(); ++i) analytic += gradient.data()[i] * direction.data()[i];
    ASSERT_LE(std::abs(analytic - numeric), 1e-6 * std::max({std::abs(analytic), std::abs(numeric), 1e-2}))
        << leaf.name << ": analytic " << analytic << ", numeric " << numeric;
  }
}

/// All cases of one score.
std::vector<Case> cases_of(const ScoreRow& score) {
  std::vector<Case> all;
  for (const WindowRow& window : windows()) {
    for (const AlignRow& align : aligns()) {
      for (const int64_t heads : {1, 2, 4}) {
        Case c{small_config(score.name, window.name, align.name, heads)};
        all.push_back(c);
        if (score.fused && align.fused && window.by_place) {
          c.tall = true;
          all.push_back(c);
        }
        c.tall = false, c.step = c.config.coverage = true;
        all.push_back(c);
      }
    }
  }
  return all;
}

std::string name_of(const Case& c) {
  return c.config.score + " " + c.config.window + " " + c.config.align + ", heads " + std::to_string(c.config.heads) +
         (c.step   ? ", one step with coverage and the weights before"
          : c.tall ? ", tall"
                   : "");
}

class AttentionMatrix : public testing::TestWithParam<size_t> {
 protected:
  const ScoreRow& score() const { return scores()[GetParam()]; }
};

TEST_P(AttentionMatrix, ShapesWeightsAndMasks) {
  for (const Case& c : cases_of(score())) {
    SCOPED_TRACE(name_of(c));
    check_values(c, false);
    check_values(c, true);
    if (HasFatalFailure()) return;
  }
}

TEST_P(AttentionMatrix, Gradients) {
  for (const Case& c : cases_of(score())) {
    SCOPED_TRACE(name_of(c));
    if (align_named(c.config.align).trains) {
      check_gradients(c);
    } else {
      const Attention attention = random_attention(c.config);
      const Tape tape;
      expect_refusal([&] { run(c, attention, inputs_of(c), true); }, "train with \"sample\"");
    }
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Scores, AttentionMatrix, testing::Range<size_t>(0, scores().size()),
                         [](const auto& info) { return std::string(scores()[info.param].name); });

/// What every projection adds.
TEST(AttentionProjections, Gradients) {
  for (const ProjectionRow& projection : projections()) {
    Case c{small_config("scaled_dot", "none", "softmax", 2)};
    c.config.query_projection = c.config.key_projection = c.config.value_projection = projection.name;
    c.config.output_projection = true;
    for (const bool tall : {false, true}) {
      SCOPED_TRACE(std::string(projection.name) + (tall ? ", tall" : ""));
      c.tall = tall;
      check_values(c, false);
      check_gradients(c);
    }
  }
}

}  // namespace
}  // namespace attend::test
