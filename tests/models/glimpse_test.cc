// The glimpse network: what its gradient may know of a location (nothing but ln p), and that REINFORCE is unbiased where the
// truth can be enumerated or integrated.
#include "attend/models/glimpse.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <iostream>
#include <map>

#include "attend/autograd/ops.h"
#include "attend/kernels/glimpse.h"
#include "attend/kernels/parallel.h"
#include "attend/train/optimiser.h"
#include "tests/attention/cases.h"

namespace attend::models {
namespace {

using test::expect_near;
using test::expect_refusal;
using test::kDouble;

GlimpseOptions small_options(const std::string& policy, int64_t glimpses = 2) {
  GlimpseOptions o;
  o.labels = 3, o.glimpses = glimpses, o.hidden = 6, o.core = "tanh";
  o.eye.patch = 2, o.eye.what = 4, o.eye.where = 4, o.eye.glimpse = 5, o.eye.deviation = 0.3;
  o.eye.policy = policy;
  o.reward = "likelihood";
  o.reinforce.baseline = "none";
  return o;
}

data::Batch random_batch(int64_t count, uint64_t seed = 4, int64_t side = 4, double brightest = 2) {
  Random random(seed);
  Tensor images({count, 1, side, side});
  for (real& x : images.values()) x = static_cast<real>(brightest * random.uniform());
  std::vector<std::vector<int32_t>> labels;
  for (int64_t b = 0; b < count; ++b) labels.push_back({static_cast<int32_t>(b % 3)});
  return {data::Source::of_images(images), data::Sequences(labels)};
}

/// A network whose parameters are all away from 0, and its parameters by name.
struct Subject {
  explicit Subject(const GlimpseOptions& options, uint64_t seed = 1) : random(seed), network(options, random) {
    for (nn::NamedParam& p : nn::parameters(network)) {
      if (p.name == "reinforce.averages") continue;
      all.emplace(p.name, p.var);
      for (real& x : p.var.value().values()) x += static_cast<real>(0.4 * random.normal());
    }
  }
  /// −∂policy/∂p, or ∂classification/∂p, for every parameter that it reaches; others are not in it.
  std::map<std::string, Tensor> gradients(const data::Batch& batch, uint64_t seed, bool policy) {
    Training training{Random(seed), 0};
    Tape tape;
    const GlimpseLoss parts = network.losses(batch, training);
    rewards = parts.rewards;
    tape.backward(policy ? -parts.policy : parts.classification);
    std::map<std::string, Tensor> result;
    for (auto& [name, var] : all) {
      if (var.gradient().defined()) result.emplace(name, var.gradient());
      var.clear_gradient();
    }
    return result;
  }
  Random random;
  GlimpseNetwork network;
  std::map<std::string, Var> all;
  Tensor rewards;
};

/// A learned baseline that says the same of every state.
void constant_baseline(Subject& subject, double value) {
  auto saved = nn::parameters(subject.network);
  test::set(saved, "reinforce.baseline_weight", Tensor::zeros({1, 6}));
  test::set(saved, "reinforce.baseline_bias", Tensor::full({1}, static_cast<real>(value)));
}

bool starts_with_any(const std::string& name, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const char* part) { return name.starts_with(part); });
}

TEST(GlimpsePatches, ALocationMeansWhatItsCommentSays) {
  EXPECT_EQ(kernels::patch_begin(0, 28, 8), 10);
  EXPECT_EQ(kernels::patch_begin(-1, 28, 8), -4);
  EXPECT_EQ(kernels::patch_begin(1, 28, 8), 24);
  EXPECT_EQ(kernels::patch_begin(0, 5, 1), 2) << "the middle pixel covers [2, 3), whose middle is 0";
  EXPECT_EQ(patch_pixels({.patch = 12, .scales = 3}, 2), 48);
}

TEST(Glimpse, TheClassificationNeverReachesThePolicy) {
  for (const char* first : {"centre", "random", "coarse"}) {
    GlimpseOptions options = small_options("learned", 4);
    options.eye.first = first;
    options.eye.learned_width = true;
    for (const auto& [name, gradient] : Subject(options).gradients(random_batch(3), 5, false)) {
      EXPECT_FALSE(starts_with_any(name, {"location.", "coarse.", "reinforce."})) << name << ", first " << first;
    }
  }
}

TEST(Glimpse, ThePolicyReachesNothingElseWhereItIsCut) {
  GlimpseOptions options = small_options("learned", 4);
  options.reinforce.baseline = "learned";
  for (const bool cut : {true, false}) {
    options.cut = cut;
    bool core = false, location = false, baseline = false;
    for (const auto& [name, gradient] : Subject(options).gradients(random_batch(3), 5, true)) {
      EXPECT_FALSE(name.starts_with("output.")) << name;
      core |= name.starts_with("core.");
      location |= name.starts_with("location.");
      baseline |= name.starts_with("reinforce.");
    }
    EXPECT_EQ(core, !cut);
    EXPECT_TRUE(location && baseline);
  }
}

TEST(Glimpse, PolicyGradientIsTheAdvantageTimesTheScore) {
  // One choice per image: ∂(−policy)/∂bias = mean of (R − b)·(l − μ)/σ²·(1 − μ²), with l − μ = σ·ε.
  GlimpseOptions options = small_options("learned");
  options.reinforce.baseline = "learned";
  Subject subject(options);
  constant_baseline(subject, 0.25);
  const data::Batch batch = random_batch(3);
  const auto got = subject.gradients(batch, 5, true);
  const auto paths = subject.network.look(batch.source.pixels());
  Random random(5);
  Dice dice = Dice::training(3, random, 0);
  std::array<double, 2> wanted{};
  for (size_t b = 0; b < 3; ++b) {
    for (size_t d = 0; d < 2; ++d) {
      const double mean = paths[b].locations.data()[2 + d], epsilon = dice.rows[b].normal();
      const double advantage = static_cast<double>(subject.rewards.data()[b]) - 0.25;
      wanted[d] += advantage * epsilon / options.eye.deviation * (1 - mean * mean) / 3;
    }
  }
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_NEAR(got.at("location.mean.bias").data()[d], wanted[d], kDouble ? 1e-10 : 1e-5 * (1 + std::abs(wanted[d])));
  }
}

/// A direction in the space of some parameters.
std::map<std::string, Tensor> direction(const Subject& subject, uint64_t seed) {
  Random random(seed);
  std::map<std::string, Tensor> all;
  for (const auto& [name, var] : subject.all) all.emplace(name, test::random_tensor(var.shape(), random));
  return all;
}

double along(const std::map<std::string, Tensor>& gradients, const std::map<std::string, Tensor>& direction) {
  double total = 0;
  for (const auto& [name, g] : gradients) {
    for (size_t i = 0; i < g.size(); ++i) {
      total += static_cast<double>(g.data()[i]) * static_cast<double>(direction.at(name).data()[i]);
    }
  }
  return total;
}

void move(Subject& subject, const std::map<std::string, Tensor>& direction, double step) {
  for (auto& [name, var] : subject.all) {
    for (size_t i = 0; i < var.size(); ++i) {
      var.value().data()[i] += static_cast<real>(step * static_cast<double>(direction.at(name).data()[i]));
    }
  }
}

/// d f/d step, by central differences.
template <class Function>
double slope(Subject& subject, const std::map<std::string, Tensor>& direction, Function f) {
  const double h = kDouble ? 1e-6 : 5e-4;  // short, as rectified units have corners
  move(subject, direction, h);
  const double above = f();
  move(subject, direction, -2 * h);
  const double below = f();
  move(subject, direction, h);
  return (above - below) / (2 * h);
}

/// How far a slope may be from the truth, as a share of it.
constexpr double kSlope = kDouble ? 1e-6 : 1e-2;

TEST(Glimpse, GradientByDirectionsThroughTheDifferentiablePart) {
  for (const CoreRow& core : cores()) {
    for (const char* policy : {"random", "tiles"}) {
      SCOPED_TRACE(std::string(core.name) + " " + policy);
      GlimpseOptions options = small_options(policy, 3);
      options.core = core.name;
      options.eye.scales = 2;
      options.eye.attention.align = "softmax";
      Subject subject(options);
      const data::Batch batch = random_batch(3);
      for (const uint64_t seed : {1, 2}) {
        const auto way = direction(subject, seed);
        const double analytic = along(subject.gradients(batch, 5, false), way);
        const double numeric = slope(subject, way, [&] {
          Training training{Random(5), 0};
          return static_cast<double>(subject.network.losses(batch, training).classification.item());
        });
        EXPECT_NEAR(analytic, numeric, kSlope * (0.1 + std::abs(numeric)));
      }
    }
  }
}

/// Takes the given tiles, and returns how likely that was.
struct Forced : Align {
  static inline std::vector<int32_t> tiles;  // by glance
  static inline size_t at = 0;
  static inline double log_probability = 0;
  Aligned operator()(const Var& energies, const Tensor& mask, const AttentionStep&) const override {
    const Var log_p = log_softmax(energies, mask);
    const Ids chosen(energies.shape().without(energies.rank() - 1), {tiles.at(at++)});
    Tensor weights = Tensor::zeros(energies.shape());
    weights.data()[chosen.values[0]] = 1;
    const Var picked = gather(log_p, chosen);
    log_probability += static_cast<double>(picked.value().data()[0]);
    return {weights, picked, -sum(multiply(exp(log_p), log_p), -1)};
  }
};

void add_forced() {
  static const bool added = [] {
    add_align({"test_forced", "what a test says", "", "as sample",
               [](const AlignOptions&) -> std::unique_ptr<Align> { return std::make_unique<Forced>(); }, true, true});
    return true;
  }();
  EXPECT_TRUE(added);
}

constexpr int32_t kTiles = 4;

/// Everything two glimpses of four tiles can do, each with its probability.
template <class Body>
void over_paths(Body body) {
  for (int32_t path = 0; path < kTiles * kTiles; ++path) {
    Forced::tiles = {path / kTiles, path % kTiles};
    Forced::at = 0;
    Forced::log_probability = 0;
    body(static_cast<size_t>(path));
  }
}

TEST(GlimpseReinforce, TilesAreUnbiasedByEnumerationAndBySampling) {
  add_forced();
  GlimpseOptions options = small_options("tiles");
  options.cut = false;
  options.eye.attention.align = "test_forced";
  options.reinforce.baseline = "learned";  // here a constant, which lowers the variance and nothing else
  Subject forced(options);
  constant_baseline(forced, 0.4);
  const data::Batch batch = random_batch(1, 4, 4, 8);
  std::array<double, kTiles * kTiles> reward{};
  auto way = direction(forced, 3);
  for (auto& [name, x] : way) {
    if (name.starts_with("reinforce.")) x.fill(0);
  }
  double enumerated = 0;
  over_paths([&](size_t path) {
    const double g = along(forced.gradients(batch, 1, true), way);
    reward[path] = static_cast<double>(forced.rewards.data()[0]);
    enumerated += std::exp(Forced::log_probability) * g;
  });
  const double truth = slope(forced, way, [&] {
    double expected = 0;
    over_paths([&](size_t path) {
      Training training{Random(1), 0};
      forced.network.losses(batch, training);
      expected += std::exp(Forced::log_probability) * reward[path];
    });
    return expected;
  });
  ASSERT_GT(std::abs(truth), 1e-2) << "too flat to tell";
  // The loss is a mean over two choices.
  EXPECT_NEAR(2 * enumerated, truth, kSlope * std::abs(truth));

  options.eye.attention.align = "sample";
  Subject sampled(options);
  constant_baseline(sampled, 0.4);
  constexpr int kDraws = 6000;
  double sum = 0, squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double g = 2 * along(sampled.gradients(batch, 100 + static_cast<uint64_t>(draw), true), way);
    sum += g, squares += g * g;
  }
  const double mean = sum / kDraws, error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  std::cout << "truth " << truth << ", enumerated " << 2 * enumerated << ", sampled " << mean << " ± " << error << '\n';
  EXPECT_LE(std::abs(mean - truth), 4 * error);
  EXPECT_LT(error, 0.2 * std::abs(truth)) << "too coarse to tell";
}

TEST(GlimpseReinforce, GaussianIsUnbiasedByQuadrature) {
  GlimpseOptions options = small_options("learned");
  options.reinforce.baseline = "learned";
  Subject subject(options);
  const data::Batch batch = random_batch(1, 4, 4, 8);
  const Tensor& images = batch.source.pixels();
  const double sigma = 0.3, step = 0.06;
  const Tensor mean = subject.network.look(images)[0].locations.rows(1, 2);
  std::array<double, 2> truth{};
  double mean_reward = 0;
  for (double u = -5 * sigma; u <= 5 * sigma; u += step) {
    for (double v = -5 * sigma; v <= 5 * sigma; v += step) {
      const std::array<double, 2> off{u, v};
      Tensor path = Tensor::zeros({2, 2});
      for (size_t d = 0; d < 2; ++d) {
        path.data()[2 + d] = static_cast<real>(std::clamp(static_cast<double>(mean.data()[d]) + off[d], -1.0, 1.0));
      }
      const double reward = subject.network.look(images, path)[0].probabilities.data()[3];  // label 0, the last glance
      const double density = std::exp(-(u * u + v * v) / (2 * sigma * sigma)) / (2 * M_PI * sigma * sigma);
      mean_reward += step * step * density * reward;
      for (size_t d = 0; d < 2; ++d) {
        const double m = mean.data()[d];
        truth[d] += step * step * density * reward * off[d] / (sigma * sigma) * (1 - m * m);
      }
    }
  }
  constant_baseline(subject, mean_reward);
  constexpr int kDraws = 6000;
  std::array<double, 2> sum{}, squares{};
  for (int draw = 0; draw < kDraws; ++draw) {
    const Tensor g = subject.gradients(batch, 100 + static_cast<uint64_t>(draw), true).at("location.mean.bias");
    for (size_t d = 0; d < 2; ++d) {
      const double x = g.data()[d];
      sum[d] += x, squares[d] += x * x;
    }
  }
  for (size_t d = 0; d < 2; ++d) {
    const double got = sum[d] / kDraws, error = std::sqrt((squares[d] / kDraws - got * got) / kDraws);
    std::cout << "truth " << truth[d] << ", sampled " << got << " ± " << error << '\n';
    EXPECT_LE(std::abs(got - truth[d]), 4 * error + 0.01 * std::abs(truth[d]));
    EXPECT_LT(error, 0.2 * std::max(std::abs(truth[0]), std::abs(truth[1]))) << "too coarse to tell";
  }
}

TEST(GlimpseReinforce, StoppingIsUnbiased) {
  GlimpseOptions options = small_options("centre", 3);
  options.reward = "correct_minus_cost";
  options.cost = 0.3;
  Subject subject(options);
  const data::Batch batch = random_batch(1);
  const auto rewarded = subject.network.look(batch.source.pixels())[0];
  std::array<double, 3> reward{};
  for (size_t t = 0; t < 3; ++t) {
    const real* p = rewarded.probabilities.data() + 3 * t;
    reward[t] = (p[0] > p[1] && p[0] > p[2] ? 1.0 : 0.0) - 0.3 * static_cast<double>(t + 1);
  }
  auto way = direction(subject, 3);
  for (auto& [name, x] : way) {
    if (!name.starts_with("stop.")) x.fill(0);
  }
  const double truth = slope(subject, way, [&] {
    const Tensor stop = subject.network.look(batch.source.pixels())[0].stop;
    const double first = stop.data()[0], second = stop.data()[1];
    return first * reward[0] + (1 - first) * (second * reward[1] + (1 - second) * reward[2]);
  });
  ASSERT_GT(std::abs(truth), 1e-2) << "too flat to tell";
  constexpr int kDraws = 6000;
  double sum = 0, squares = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double g = 2 * along(subject.gradients(batch, 100 + static_cast<uint64_t>(draw), true), way);
    sum += g, squares += g * g;
  }
  const double mean = sum / kDraws, error = std::sqrt((squares / kDraws - mean * mean) / kDraws);
  std::cout << "truth " << truth << ", sampled " << mean << " ± " << error << '\n';
  EXPECT_LE(std::abs(mean - truth), 4 * error);
  EXPECT_LT(error, 0.2 * std::abs(truth)) << "too coarse to tell";
}

TEST(Glimpse, StopsInUseWhereThatIsLikelier) {
  GlimpseOptions options = small_options("learned", 4);
  options.reward = "correct_minus_cost";
  Subject subject(options);
  const data::Batch batch = random_batch(2);
  for (const bool stop : {true, false}) {
    subject.all.at("stop.weight").value().fill(0);
    auto saved = nn::parameters(subject.network);
    test::set(saved, "stop.bias", Tensor::of({2}, {0, stop ? real{1} : real{-1}}));
    double nats = 0;
    for (int64_t b = 0; b < 2; ++b) {
      const GlimpsePath path = subject.network.look(batch.source.pixels())[static_cast<size_t>(b)];
      EXPECT_EQ(path.steps, stop ? 1 : 4);
      EXPECT_NEAR(path.stop.data()[0], stop ? 0.7310586 : 0.2689414, 1e-5);
      nats -= std::log(static_cast<double>(path.probabilities.data()[(path.steps - 1) * 3 + b])) / 2;
    }
    EXPECT_NEAR(subject.network.loss(batch, nullptr).item(), nats, 1e-5);
  }
}

TEST(Glimpse, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  GlimpseOptions options = small_options("learned", 3);
  options.copies = 3;
  options.eye.patch = 8;
  options.hidden = options.eye.glimpse = 64;
  Subject subject(options);
  const data::Batch batch = random_batch(40, 4, 24);
  std::map<std::string, Tensor> one, many;
  const int before = kernels::threads();
  kernels::set_threads(1);
  one = subject.gradients(batch, 5, true);
  kernels::set_threads(2);
  many = subject.gradients(batch, 5, true);
  kernels::set_threads(before);
  for (const auto& [name, g] : one) test::expect_same_bits(many.at(name), g);
  EXPECT_NE(subject.gradients(batch, 6, true).at("location.mean.bias").data()[0],
            one.at("location.mean.bias").data()[0]);
}

TEST(Glimpse, CopiesThatSeeTheSameAddNothing) {
  for (const char* policy : {"centre", "tiles"}) {
    GlimpseOptions options = small_options(policy, 3);
    options.eye.attention.align = "softmax";
    const data::Batch batch = random_batch(3);
    Training training{Random(5), 0};
    const double once = Subject(options).network.loss(batch, &training).item();
    options.copies = 4;
    EXPECT_NEAR(Subject(options).network.loss(batch, &training).item(), once, 1e-5) << policy;
  }
}

TEST(Glimpse, LooksAndTellsWhere) {
  for (const PolicyRow& policy : policies()) {
    SCOPED_TRACE(std::string(policy.name));
    GlimpseOptions options = small_options(std::string(policy.name), 4);
    options.eye.scales = 2;
    Subject subject(options);
    const data::Batch batch = random_batch(3);
    const auto paths = subject.network.look(batch.source.pixels());
    ASSERT_EQ(paths.size(), 3u);
    for (int64_t b = 0; b < 3; ++b) {
      const GlimpsePath& path = paths[static_cast<size_t>(b)];
      EXPECT_EQ(path.steps, 4);
      EXPECT_EQ(path.pixels, (std::vector<int64_t>{2, 4}));
      EXPECT_FALSE(path.stop.defined());
      for (const real x : path.locations.values()) EXPECT_TRUE(x >= -1 && x <= 1);
      for (int64_t t = 0; t < 4; ++t) {
        const real* p = path.probabilities.data() + 3 * t;
        EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-5);
      }
      // Alone it looks as it does in a batch.
      const auto alone = subject.network.look(batch.source.pixels().rows(b, b + 1));
      expect_near(alone[0].locations, path.locations);
      expect_near(alone[0].probabilities, path.probabilities);
    }
    const real *first = paths[0].locations.data(), *second = paths[1].locations.data();
    const bool same = std::equal(first, first + 8, second);
    EXPECT_EQ(same, policy.name == "centre") << "what an image is decides where it is looked at";
  }
}

TEST(Glimpse, WithoutALearnedPolicyTheFirstGlanceIsLikeTheOthers) {
  for (const char* first : {"centre", "random", "coarse"}) {
    for (const char* policy : {"centre", "random"}) {
      GlimpseOptions options = small_options(policy, 2);
      options.eye.first = first;
      Subject subject(options);
      const Tensor at = subject.network.look(random_batch(1).source.pixels()).at(0).locations;
      const bool centred = at.data()[0] == 0 && at.data()[1] == 0;
      EXPECT_EQ(centred, policy == std::string("centre")) << policy << ", first " << first;
    }
  }
}

TEST(Glimpse, FollowsAPathThatItIsGiven) {
  Subject subject(small_options("learned", 3));
  const Tensor images = random_batch(2).source.pixels();
  const GlimpsePath own = subject.network.look(images)[1];
  expect_near(subject.network.look(images, own.locations)[1].probabilities, own.probabilities);
  const GlimpsePath other = subject.network.look(images, Tensor::full({2, 2}, real(-0.5)))[1];
  EXPECT_EQ(other.probabilities.dim(0), 2);
  EXPECT_EQ(other.locations.data()[3], real(-0.5));
}

TEST(Glimpse, TilesAreObserved) {
  Subject subject(small_options("tiles", 3));
  test::Recorder seen;
  const Observing observing(seen);
  const auto paths = subject.network.look(random_batch(2).source.pixels());
  ASSERT_EQ(seen.seen.size(), 3u);
  for (size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(seen.seen[t].site, "glimpse");
    EXPECT_EQ(seen.seen[t].step, static_cast<int64_t>(t));
    EXPECT_TRUE(seen.seen[t].hard);
    ASSERT_EQ(seen.seen[t].weights.shape(), (Shape{2, 1, 1, 4}));
    const real* w = seen.seen[t].weights.data();
    const size_t tile = static_cast<size_t>(std::max_element(w, w + 4) - w);
    EXPECT_EQ(w[tile], 1);
    EXPECT_NEAR(paths[0].locations.data()[2 * t], tile % 2 == 0 ? -0.5 : 0.5, 1e-6);
    EXPECT_NEAR(paths[0].locations.data()[2 * t + 1], tile < 2 ? -0.5 : 0.5, 1e-6);
  }
}

TEST(Glimpse, SeveralDrawsInUseAreAveraged) {
  GlimpseOptions options = small_options("learned", 3);
  options.copies_in_use = 64;
  const data::Batch batch = random_batch(2);
  Subject many(options);
  const double first = many.network.loss(batch, nullptr).item();
  EXPECT_EQ(many.network.loss(batch, nullptr).item(), first) << "the same again";
  options.copies_in_use = 1;
  const double mean = Subject(options).network.loss(batch, nullptr).item();
  EXPECT_NE(mean, first);
  EXPECT_NEAR(mean, first, 0.5);
  many.network.set_copies_in_use(1);
  EXPECT_EQ(many.network.loss(batch, nullptr).item(), mean) << "as if it had been made so";
  expect_refusal([&] { many.network.set_copies_in_use(0); }, "copies_in_use: expected at least 1");
}

TEST(GlimpseRewards, AreATableThatMayBeAddedTo) {
  add_reward({"test_half", "½", "",
              [](const GlimpseOutcome& o) { return Tensor::full({o.log_probabilities.dim(0)}, real(0.5)); }});
  GlimpseOptions options = small_options("learned");
  options.reward = "test_half";
  Training training{Random(5), 0};
  Subject subject(options);
  expect_near(subject.network.losses(random_batch(2), training).rewards, Tensor::full({2}, real(0.5)));
  expect_refusal([] { add_reward({"correct", "", "", nullptr}); }, "\"correct\", which is taken");
  expect_refusal([] { add_reward({"none", "", "", nullptr}); }, "needs a function");
  expect_refusal([] { reward_named("corect"); }, "the nearest is \"correct\"");
  const std::vector<int32_t> labels{2, 0}, glimpses{1, 3};
  const GlimpseOutcome outcome{.log_probabilities = Tensor::of({2, 3}, {-3, -2, -1, -2, -1, -3}),
                               .labels = labels,
                               .glimpses = glimpses,
                               .cost = 0.125};
  expect_near(reward_named("correct").reward(outcome), Tensor::of({2}, {1, 0}));
  expect_near(reward_named("likelihood").reward(outcome), Tensor::of({2}, {std::exp(real{-1}), std::exp(real{-2})}));
  expect_near(reward_named("correct_minus_cost").reward(outcome), Tensor::of({2}, {real(0.875), real(-0.375)}));
  expect_near(reward_named("correct_while_early").reward(outcome), Tensor::of({2}, {real(0.875), 0}));
  expect_near(reward_named("near").reward(outcome), Tensor::of({2}, {1, real(0.5)}));
}

TEST(Glimpse, RefusesWhatItCannotUse) {
  const auto refused = [](auto change, const std::string& says) {
    GlimpseOptions options = small_options("learned");
    change(options);
    Random random(1);
    expect_refusal([&] { GlimpseNetwork(options, random); }, says);
  };
  refused([](GlimpseOptions& o) { o.eye.policy = "learnt"; }, "the nearest is \"learned\"");
  refused([](GlimpseOptions& o) { o.eye.first = "center"; }, "the nearest is \"centre\"");
  refused([](GlimpseOptions& o) { o.core = "gru"; }, "core");
  refused([](GlimpseOptions& o) { o.labels = 0; }, "labels: expected at least 1");
  refused([](GlimpseOptions& o) { o.glimpses = 0; }, "glimpses: expected at least 1");
  refused([](GlimpseOptions& o) { o.eye.deviation = 0; }, "deviation: expected more than 0, got 0");
  refused([](GlimpseOptions& o) { o.eye.scales = 60; }, "squares of at most 65536 pixels");
  refused([](GlimpseOptions& o) { o.eye.policy = "tiles", o.copies_in_use = 2; }, "copies_in_use");
  Subject subject(small_options("learned"));
  const std::vector<std::vector<int32_t>> words{{4, 5}};
  expect_refusal([&] { subject.network.begin(data::Sequences(words)); }, "expected images [B,1,H,W]");
  expect_refusal([&] { subject.network.look(Tensor::zeros({1, 3, 4, 4})); }, "got [1, 3, 4, 4]");
  expect_refusal([&] { subject.network.look(Tensor::zeros({1, 1, 4, 4}), Tensor::zeros({2, 3})); }, "a path [T,2]");
}

/// 16 × 16 pixels with one of three figures of four pixels in one of four corners. From the centre the coarsest of three
/// squares shows the corner but not the figure: a finer one must be placed on it.
data::Batch corners(int64_t count, Random& random) {
  constexpr const char* kFigures[] = {"####............", "#...#...#...#...", "#....#....#....#"};
  Tensor images = Tensor::zeros({count, 1, 16, 16});
  std::vector<std::vector<int32_t>> labels;
  for (int64_t b = 0; b < count; ++b) {
    const size_t figure = random.below(3), left = random.below(2) * 12, top = random.below(2) * 12;
    for (size_t i = 0; i < 16; ++i) {
      if (kFigures[figure][i] == '#')
        images.data()[b * 256 + static_cast<int64_t>((top + i / 4) * 16 + left + i % 4)] = 1;
    }
    labels.push_back({static_cast<int32_t>(figure)});
  }
  return {data::Source::of_images(images), data::Sequences(labels)};
}

double share_right(const GlimpseNetwork& network) {
  Random random(77);
  const data::Batch batch = corners(600, random);
  const auto paths = network.look(batch.source.pixels());
  int right = 0;
  for (int64_t b = 0; b < 600; ++b) {
    const GlimpsePath& path = paths[static_cast<size_t>(b)];
    const real* p = path.probabilities.data() + (path.steps - 1) * 3;
    right += std::max_element(p, p + 3) - p == batch.target.row(b)[0];
  }
  return right / 600.0;
}

double learnt(const std::string& policy) {
  GlimpseOptions options;
  options.labels = 3, options.glimpses = 3, options.hidden = 48, options.copies = 4;
  options.eye.patch = 4, options.eye.scales = 3, options.eye.what = options.eye.where = 32, options.eye.glimpse = 48;
  options.eye.policy = policy;
  Random random(1), draws(2);
  GlimpseNetwork network(options, random);
  const auto adam = train::make_optimiser("adam", {}, nn::parameters(network));
  for (Training training{Random(3), 0}; training.update < 1500; ++training.update) {
    Tape tape;
    tape.backward(network.loss(corners(32, draws), &training));
    adam->step(2e-3, train::clip_scale(train::gradient_norm(adam->parameters()), 5.0));
    adam->clear_gradients();
  }
  return share_right(network);
}

TEST(GlimpseSlow, LearnsToLookWhereTheFigureIs) {
  const double learned = learnt("learned"), centre = learnt("centre");
  std::cout << "learned " << learned << ", centre " << centre << '\n';
  EXPECT_GT(learned, 0.8);
  EXPECT_LT(centre, 0.5);
}

}  // namespace
}  // namespace attend::models
