#include "attend/train/optimiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/random.h"
#include "attend/kernels/parallel.h"
#include "tests/support/message.h"

namespace attend::train {
namespace {

using test::message_of;

using nn::NamedParam;

Tensor random_tensor(const Shape& shape, Random& random, double scale = 1) {
  Tensor t(shape);
  for (real& x : t.values()) x = static_cast<real>(scale * (4 * random.uniform() - 2));
  return t;
}

std::vector<real> numbers(const Tensor& t) { return {t.begin(), t.end()}; }

std::vector<NamedParam> parameters_of(const std::vector<Shape>& shapes, uint64_t seed) {
  Random random(seed);
  std::vector<NamedParam> parameters;
  for (const Shape& shape : shapes) {
    parameters.push_back({"p" + std::to_string(parameters.size()), Var::leaf(random_tensor(shape, random))});
  }
  return parameters;
}

/// The gradients of one step, the same for the same step.
void give_gradients(std::vector<NamedParam>& parameters, int step, double scale = 1) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    Random random(static_cast<uint64_t>(step), i);
    Var& p = parameters[i].var;
    p.clear_gradient();
    p.slot().add(random_tensor(p.shape(), random, scale));
  }
}

const std::vector<Shape>& some_shapes() {
  static const std::vector<Shape> shapes = {{}, {0}, {1}, {7}, {8}, {9}, {3, 5}, {100003}};
  return shapes;
}

// One number and its history in double precision, written after the papers.
struct Reference {
  double p = 0, a = 0, b = 0;
  int t = 0;
};
using Rule = void (*)(Reference& x, double g, double rate, const OptimiserOptions& o);

void reference_sgd(Reference& x, double g, double rate, const OptimiserOptions& o) {
  g += o.weight_decay.value_or(0) * x.p;
  x.a = o.momentum * x.a + g;
  if (o.momentum == 0) {
    x.p -= rate * g;
  } else if (o.nesterov) {
    x.p -= rate * (g + o.momentum * x.a);
  } else {
    x.p -= rate * x.a;
  }
}

void reference_moments(Reference& x, double g, double rate, const OptimiserOptions& o) {
  ++x.t;
  x.a = o.beta1 * x.a + (1 - o.beta1) * g;
  x.b = o.beta2 * x.b + (1 - o.beta2) * g * g;
  const double m = x.a / (1 - std::pow(o.beta1, x.t)), v = x.b / (1 - std::pow(o.beta2, x.t));
  x.p -= rate * m / (std::sqrt(v) + o.epsilon.value_or(1e-8));
}

void reference_adam(Reference& x, double g, double rate, const OptimiserOptions& o) {
  reference_moments(x, g + o.weight_decay.value_or(0) * x.p, rate, o);
}

void reference_adamw(Reference& x, double g, double rate, const OptimiserOptions& o) {
  x.p -= rate * o.weight_decay.value_or(0.01) * x.p;
  reference_moments(x, g, rate, o);
}

void reference_adadelta(Reference& x, double g, double rate, const OptimiserOptions& o) {
  const double epsilon = o.epsilon.value_or(1e-6);
  g += o.weight_decay.value_or(0) * x.p;
  x.a = o.rho * x.a + (1 - o.rho) * g * g;
  const double change = std::sqrt(x.b + epsilon) / std::sqrt(x.a + epsilon) * g;
  x.b = o.rho * x.b + (1 - o.rho) * change * change;
  x.p -= rate * change;
}

struct OptimiserCase {
  const char* name;
  OptimiserOptions options;
  double rate;
  Rule rule;
};
const std::vector<OptimiserCase>& optimiser_cases() {
  static const std::vector<OptimiserCase> all = {
      {"sgd", {}, 0.1, reference_sgd},
      {"sgd", {.weight_decay = 0.1}, 0.1, reference_sgd},
      {"sgd", {.momentum = 0.9}, 0.05, reference_sgd},
      {"sgd", {.momentum = 0.9, .weight_decay = 0.1}, 0.05, reference_sgd},
      {"sgd", {.momentum = 0.9, .nesterov = true, .weight_decay = 0.1}, 0.05, reference_sgd},
      {"adam", {}, 0.01, reference_adam},
      {"adam", {.beta1 = 0, .beta2 = 0.9, .epsilon = 0.1, .weight_decay = 0.1}, 0.01, reference_adam},
      {"adamw", {}, 0.01, reference_adamw},
      {"adamw", {.beta1 = 0.5, .epsilon = 1e-3, .weight_decay = 0.3}, 0.01, reference_adamw},
      {"adadelta", {}, 1, reference_adadelta},
      {"adadelta", {.rho = 0.7, .epsilon = 1e-4, .weight_decay = 0.1}, 0.5, reference_adadelta},
  };
  return all;
}

TEST(Optimiser, TenStepsOfEachAgainstDoubleLoops) {
  const double tolerance = sizeof(real) == sizeof(float) ? 1e-6 : 1e-13;
  for (const OptimiserCase& c : optimiser_cases()) {
    auto parameters = parameters_of(some_shapes(), 1);
    std::vector<std::vector<Reference>> expected;
    for (const NamedParam& p : parameters) {
      auto& row = expected.emplace_back();
      for (const real x : p.var.value()) row.push_back({.p = x});
    }
    const auto optimiser = make_optimiser(c.name, c.options, parameters);
    for (int step = 1; step <= 10; ++step) {
      const double rate = c.rate / step, scale = step % 2 == 0 ? 0.25 : 1;
      give_gradients(parameters, step);
      optimiser->step(rate, scale);
      for (size_t k = 0; k < parameters.size(); ++k) {
        const Var& p = parameters[k].var;
        for (size_t i = 0; i < p.size(); ++i) {
          c.rule(expected[k][i], scale * p.gradient().data()[i], rate, c.options);
          const double got = p.value().data()[i], want = expected[k][i].p;
          ASSERT_NEAR(got, want, tolerance * std::max(1.0, std::abs(want)))
              << c.name << ", case " << &c - optimiser_cases().data() << ", step " << step << ", shape " << p.shape()
              << ", " << i;
        }
      }
    }
  }
}

TEST(Optimiser, AParameterWithoutGradientStaysAndItsStepsDoNotCount) {
  for (const OptimiserCase& c : optimiser_cases()) {
    auto parameters = parameters_of({{9}, {9}}, 2), apart = parameters_of({{9}, {9}}, 2);
    const auto optimiser = make_optimiser(c.name, c.options, parameters);
    const auto alone = make_optimiser(c.name, c.options, {apart[1]});
    for (int step = 1; step <= 6; ++step) {
      give_gradients(parameters, step);
      if (step % 2 == 0) {
        give_gradients(apart, step);
        alone->step(c.rate);
      } else {
        parameters[1].var.clear_gradient();
      }
      optimiser->step(c.rate);
      EXPECT_EQ(numbers(parameters[1].var.value()), numbers(apart[1].var.value())) << c.name << ", step " << step;
    }
    const auto count = [](Optimiser& o) {
      std::map<std::string, double> counts;
      o.state([](const std::string&, Tensor&) {},
              [&](const std::string& name, double& value) { counts[name] = value; });
      return counts;
    };
    const std::string prefix = std::string(c.name) + ".step.";
    EXPECT_EQ(count(*optimiser), (std::map<std::string, double>{{prefix + "p0", 6}, {prefix + "p1", 3}}));
  }
}

TEST(Optimiser, OneThreadAndTwoGiveTheSameBits) {
  const int threads = kernels::threads();
  const std::vector<Shape> shapes = {{300, 700}, {7}, {100003}, {}, {65536}, {1}};
  for (const OptimiserCase& c : optimiser_cases()) {
    std::vector<std::vector<real>> results[2];
    double norms[2] = {};
    for (const int count : {1, 2}) {
      kernels::set_threads(count);
      auto parameters = parameters_of(shapes, 3);
      const auto optimiser = make_optimiser(c.name, c.options, parameters);
      for (int step = 1; step <= 3; ++step) {
        give_gradients(parameters, step);
        norms[count - 1] = gradient_norm(parameters);
        optimiser->step(c.rate, clip_scale(norms[count - 1], 1));
      }
      for (const NamedParam& p : parameters) results[count - 1].push_back(numbers(p.var.value()));
    }
    EXPECT_EQ(results[0], results[1]) << c.name;
    EXPECT_EQ(norms[0], norms[1]);
  }
  kernels::set_threads(threads);
}

TEST(Optimiser, GoesOnFromItsStateWithTheSameBits) {
  for (const OptimiserCase& c : optimiser_cases()) {
    auto whole = parameters_of(some_shapes(), 4);
    const auto without_pause = make_optimiser(c.name, c.options, whole);
    const auto stopped = make_optimiser(c.name, c.options, whole);
    std::map<std::string, Tensor> tensors;
    std::map<std::string, double> counts;
    for (int step = 1; step <= 4; ++step) {
      give_gradients(whole, step);
      without_pause->step(c.rate);
    }
    // The visitor keeps the tensors themselves; the steps that follow must not change what it holds.
    without_pause->state([&](const std::string& name, Tensor& value) { tensors[name] = value; },
                         [&](const std::string& name, double& value) { counts[name] = value; });
    auto again = parameters_of(some_shapes(), 0);
    for (size_t k = 0; k < whole.size(); ++k) again[k].var = Var::leaf(whole[k].var.value().clone());
    for (int step = 5; step <= 7; ++step) {
      give_gradients(whole, step);
      without_pause->step(c.rate);
    }
    const auto resumed = make_optimiser(c.name, c.options, again);
    resumed->state([&](const std::string& name, Tensor& value) { value = tensors.at(name); },
                   [&](const std::string& name, double& value) { value = counts.at(name); });
    for (int step = 5; step <= 7; ++step) {
      give_gradients(again, step);
      resumed->step(c.rate);
    }
    for (size_t k = 0; k < whole.size(); ++k) {
      EXPECT_EQ(numbers(again[k].var.value()), numbers(whole[k].var.value())) << c.name << " " << whole[k].var.shape();
    }
    std::map<std::string, Tensor> second;
    std::map<std::string, double> second_counts;
    without_pause->state([&](const std::string& name, Tensor& value) { second[name] = value; },
                         [&](const std::string& name, double& value) { second_counts[name] = value; });
    resumed->state([&](const std::string& name, Tensor& value) { EXPECT_EQ(numbers(value), numbers(second.at(name))); },
                   [&](const std::string& name, double& value) { EXPECT_EQ(value, second_counts.at(name)); });
  }
}

TEST(Optimiser, StateIsNamedByMethodAndParameter) {
  const std::map<std::string, std::vector<std::string>> expected = {
      {"sgd", {"sgd.momentum.p0"}},
      {"adam", {"adam.m.p0", "adam.v.p0"}},
      {"adamw", {"adamw.m.p0", "adamw.v.p0"}},
      {"adadelta", {"adadelta.square.p0", "adadelta.delta.p0"}},
  };
  for (const auto& [name, entries] : expected) {
    const auto optimiser = make_optimiser(name, {.momentum = 0.9}, parameters_of({{2, 3}}, 5));
    std::vector<std::string> found;
    optimiser->state(
        [&](const std::string& entry, Tensor& value) {
          found.push_back(entry);
          EXPECT_EQ(value.shape(), (Shape{2, 3}));
        },
        [&](const std::string& entry, double& value) {
          EXPECT_EQ(entry, name + ".step.p0");
          EXPECT_EQ(value, 0);
        });
    EXPECT_EQ(found, entries);
  }
  make_optimiser("sgd", {}, parameters_of({{2}}, 5))
      ->state([](const std::string& entry, Tensor&) { ADD_FAILURE() << entry; }, [](const std::string&, double&) {});
}

TEST(Optimiser, AStateThatCannotBeIsRefused) {
  const auto optimiser = make_optimiser("adam", {}, parameters_of({{2, 3}}, 6));
  const auto put = [&](const Tensor& tensor, double steps) {
    return message_of([&] {
      optimiser->state([&](const std::string&, Tensor& value) { value = tensor; },
                       [&](const std::string&, double& value) { value = steps; });
    });
  };
  EXPECT_EQ(put(Tensor::zeros({2, 3}), 4), "");
  EXPECT_EQ(put(Tensor::zeros({3, 2}), 4), "optimiser: expected adam.m.p0 of shape [2, 3], got [3, 2]");
  EXPECT_EQ(put(Tensor(), 4), "optimiser: expected adam.m.p0 of shape [2, 3], got [] (undefined)");
  EXPECT_EQ(put(Tensor::zeros({2, 3}), -1), "optimiser: expected a count of steps in adam.step.p0, got -1");
  EXPECT_EQ(put(Tensor::zeros({2, 3}), 1.5), "optimiser: expected a count of steps in adam.step.p0, got 1.5");
  EXPECT_EQ(put(Tensor::zeros({2, 3}), std::nan("")), "optimiser: expected a count of steps in adam.step.p0, got nan");
}

TEST(Optimiser, ASharedParameterStepsOnceAndConstantsNever) {
  auto parameters = parameters_of({{4}}, 7), apart = parameters_of({{4}}, 7);
  const Tensor fixed = Tensor::full({3}, 2);
  const auto optimiser =
      make_optimiser("sgd", {}, {parameters[0], {"tied", parameters[0].var}, {"fixed", Var(fixed.clone())}});
  ASSERT_EQ(optimiser->parameters().size(), 1u);
  EXPECT_EQ(optimiser->parameters()[0].name, "p0");
  give_gradients(parameters, 1), give_gradients(apart, 1);
  optimiser->step(0.1);
  make_optimiser("sgd", {}, apart)->step(0.1);
  EXPECT_EQ(numbers(parameters[0].var.value()), numbers(apart[0].var.value()));
  EXPECT_EQ(gradient_norm(std::vector<NamedParam>{parameters[0], {"tied", parameters[0].var}}), gradient_norm(apart));
}

TEST(Optimiser, ClearsGradients) {
  auto parameters = parameters_of({{4}, {2, 2}}, 8);
  const auto optimiser = make_optimiser("adam", {}, parameters);
  give_gradients(parameters, 1);
  optimiser->clear_gradients();
  for (const NamedParam& p : parameters) EXPECT_FALSE(p.var.gradient().defined());
  const auto before = numbers(parameters[0].var.value());
  optimiser->step(0.1);
  EXPECT_EQ(numbers(parameters[0].var.value()), before);
}

TEST(Optimiser, ClippingBringsTheNormDown) {
  auto parameters = parameters_of({{3}, {2}, {2}}, 9);
  parameters[0].var.slot().add(Tensor::of({3}, {1, 2, 2}));
  parameters[1].var.slot().add(Tensor::of({2}, {0, 4}));  // the norm is √(1+4+4+16) = 5; the third has no gradient
  EXPECT_EQ(gradient_norm(parameters), 5);
  EXPECT_EQ(clip_norm(parameters, 10), 5);
  EXPECT_EQ(numbers(parameters[1].var.gradient()), (std::vector<real>{0, 4}));
  EXPECT_EQ(clip_norm(parameters, 2), 5);
  EXPECT_NEAR(gradient_norm(parameters), 2, 2e-6);
  EXPECT_NEAR(parameters[0].var.gradient().data()[1], 0.8, 1e-6);
  EXPECT_FALSE(parameters[2].var.gradient().defined());
  EXPECT_EQ(gradient_norm({}), 0);
}

TEST(Optimiser, ClippingDoesNotTouchWhatOthersHold) {
  auto parameters = parameters_of({{2}}, 10);
  const Tensor held = Tensor::of({2}, {3, 4});
  parameters[0].var.slot().add(held);
  EXPECT_EQ(clip_norm(parameters, 1), 5);
  EXPECT_EQ(numbers(held), (std::vector<real>{3, 4}));
  EXPECT_NEAR(parameters[0].var.gradient().data()[0], 0.6, 1e-6);
}

TEST(Optimiser, ANormThatIsNotFiniteIsReturnedAndNothingScaled) {
  const real inf = std::numeric_limits<real>::infinity();
  auto parameters = parameters_of({{2}}, 11);
  parameters[0].var.slot().add(Tensor::of({2}, {inf, 4}));
  EXPECT_EQ(clip_norm(parameters, 1), inf);
  EXPECT_EQ(numbers(parameters[0].var.gradient()), (std::vector<real>{inf, 4}));
  parameters[0].var.clear_gradient();
  parameters[0].var.slot().add(Tensor::of({2}, {std::numeric_limits<real>::quiet_NaN(), 4}));
  EXPECT_TRUE(std::isnan(clip_norm(parameters, 1)));
  EXPECT_EQ(parameters[0].var.gradient().data()[1], 4);
  EXPECT_EQ(clip_scale(inf, 1), 1);
  EXPECT_EQ(clip_scale(std::nan(""), 1), 1);
}

TEST(Optimiser, ClippingWithinTheStepIsClippingBefore) {
  for (const OptimiserCase& c : optimiser_cases()) {
    auto within = parameters_of(some_shapes(), 12), before = parameters_of(some_shapes(), 12);
    const auto first = make_optimiser(c.name, c.options, within), second = make_optimiser(c.name, c.options, before);
    for (int step = 1; step <= 3; ++step) {
      give_gradients(within, step), give_gradients(before, step);
      first->step(c.rate, clip_scale(gradient_norm(within), 1));
      clip_norm(before, 1);
      second->step(c.rate);
    }
    for (size_t k = 0; k < within.size(); ++k) {
      EXPECT_EQ(numbers(within[k].var.value()), numbers(before[k].var.value())) << c.name;
    }
  }
}

TEST(Optimiser, TheTableIsComplete) {
  std::vector<std::string_view> names;
  for (const OptimiserRow& row : optimisers()) {
    names.push_back(row.name);
    EXPECT_FALSE(row.formula.empty()) << row.name;
    EXPECT_FALSE(row.paper.empty()) << row.name;
    EXPECT_GT(row.learning_rate, 0) << row.name;
    EXPECT_EQ(make_optimiser(row.name, {}, parameters_of({{2}}, 13))->parameters().size(), 1u);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"sgd", "adam", "adamw", "adadelta"}));
}

TEST(Optimiser, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_EQ(message_of([] { make_optimiser("adamm", {}, {}); }),
            "optimiser: expected one of sgd, adam, adamw, adadelta, got \"adamm\"; the nearest is \"adam\"");
  EXPECT_NE(message_of([] { make_optimiser("AdaDelta", {}, {}); }).find("the nearest is \"adadelta\""),
            std::string::npos);
}

TEST(Optimiser, BadOptionsAreRefused) {
  const double nan = std::nan("");
  struct Bad {
    const char* name;
    OptimiserOptions options;
    const char* message;
  };
  const Bad bad[] = {
      {"sgd", {.momentum = -0.5}, "optimiser sgd: the momentum must not be negative, got -0.5"},
      {"sgd", {.momentum = nan}, "optimiser sgd: the momentum must not be negative, got nan"},
      {"sgd", {.nesterov = true}, "optimiser sgd: Nesterov's update needs a momentum above 0, got 0"},
      {"sgd", {.weight_decay = -1}, "optimiser sgd: the weight decay must not be negative, got -1"},
      {"adam", {.beta1 = 1}, "optimiser adam: beta1 must be at least 0 and below 1, got 1"},
      {"adam", {.beta2 = -0.1}, "optimiser adam: beta2 must be at least 0 and below 1, got -0.1"},
      {"adamw", {.beta2 = nan}, "optimiser adamw: beta2 must be at least 0 and below 1, got nan"},
      {"adamw", {.epsilon = -1e-8}, "optimiser adamw: epsilon must not be negative, got -1e-08"},
      {"adadelta", {.rho = 1.5}, "optimiser adadelta: rho must be at least 0 and below 1, got 1.5"},
  };
  for (const Bad& b : bad) {
    EXPECT_EQ(message_of([&] { make_optimiser(b.name, b.options, parameters_of({{2}}, 14)); }), b.message);
  }
}

TEST(Optimiser, BadParametersAreRefused) {
  const std::vector<NamedParam> twins = {parameters_of({{2}}, 15)[0], parameters_of({{2}}, 16)[0]};
  const std::vector<NamedParam> nothing = {{"w", Var()}};
  EXPECT_EQ(message_of([&] { make_optimiser("adam", {}, twins); }), "optimiser adam: two parameters are called \"p0\"");
  EXPECT_EQ(message_of([&] { make_optimiser("adam", {}, nothing); }),
            "optimiser adam: the parameter \"w\" is undefined");
}

TEST(Optimiser, BadStepsAreRefused) {
  const auto optimiser = make_optimiser("adam", {}, parameters_of({{2}}, 17));
  EXPECT_EQ(message_of([&] { optimiser->step(-1); }), "optimiser adam: the learning rate must not be negative, got -1");
  EXPECT_NE(message_of([&] { optimiser->step(std::nan("")); }), "");
  EXPECT_EQ(message_of([&] { optimiser->step(1, std::nan("")); }),
            "optimiser adam: expected a finite gradient scale, got nan");
  EXPECT_EQ(message_of([&] { clip_norm({}, 0); }), "clip_scale: the largest norm must be positive, got 0");
  EXPECT_NE(message_of([&] { clip_norm({}, std::nan("")); }), "");
}

}  // namespace
}  // namespace attend::train
