#include "tests/autograd/op_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "attend/base/error.h"
#include "tests/support/targets.h"

namespace attend::test {
namespace {

constexpr bool kDouble = sizeof(real) == sizeof(double);

Arrays inputs_of(const OpRow& row) {
  Random random = Random(7).named(row.name);
  Arrays inputs;
  for (const Shape& shape : row.inputs) {
    inputs.push_back(random_array(shape, random));
    if (row.prepare) {
      for (double& x : inputs.back().v) x = static_cast<float>(row.prepare(x));
    }
  }
  return inputs;
}

Vars to_vars(const Arrays& arrays, bool leaves) {
  Vars vars;
  for (const Array& a : arrays) vars.push_back(leaves ? Var::leaf(to_tensor(a)) : Var(to_tensor(a)));
  return vars;
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a.v[i] * b.v[i];
  return sum;
}

/// Σ cotangent∘outputs at x + step·direction.
double objective(const OpRow& row, const Arrays& x, size_t moved, const Array& direction, double step,
                 const Arrays& cotangents) {
  Arrays at = x;
  for (size_t i = 0; i < direction.size(); ++i) at[moved].v[i] += step * direction.v[i];
  double sum = 0;
  if (kDouble) {
    const Vars outputs = row.run(to_vars(at, false));
    for (size_t o = 0; o < outputs.size(); ++o) sum += dot(cotangents[o], to_array(outputs[o].value()));
  } else {
    const Arrays outputs = row.reference(at);
    for (size_t o = 0; o < outputs.size(); ++o) sum += dot(cotangents[o], outputs[o]);
  }
  return sum;
}

/// Fourth-order central difference.
double slope(const OpRow& row, const Arrays& x, size_t moved, const Array& direction, const Arrays& cotangents) {
  const double h = row.step;
  const auto f = [&](double step) { return objective(row, x, moved, direction, step, cotangents); };
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

class OpTable : public testing::TestWithParam<size_t> {
 protected:
  const OpRow& row() const { return op_table()[GetParam()]; }
};

void check_value(const OpRow& row) {
  const Arrays x = inputs_of(row);
  const Arrays expected = row.reference(x);
  const Vars got = row.run(to_vars(x, false));
  ASSERT_EQ(got.size(), expected.size());
  const double tolerance = kDouble ? 1e-11 : 1e-5;
  for (size_t o = 0; o < got.size(); ++o) {
    ASSERT_EQ(got[o].shape(), expected[o].shape) << "output " << o;
    for (size_t i = 0; i < expected[o].size(); ++i) {
      const double y = got[o].value().data()[i], r = expected[o].v[i];
      ASSERT_NEAR(y, r, tolerance * (1 + std::abs(r))) << "output " << o << " element " << i;
    }
    EXPECT_FALSE(got[o].tracked()) << "nothing may be recorded without a tape";
  }
}

TEST_P(OpTable, ValueEqualsPlainLoops) {
  on_every_instruction_set([&] { check_value(row()); });
}

void check_gradient(const OpRow& row) {
  const Arrays x = inputs_of(row);
  Random random = Random(11).named(row.name);
  Vars leaves = to_vars(x, true);
  Arrays cotangents;
  {
    Tape tape;
    const Vars outputs = row.run(leaves);
    Var loss(Tensor::scalar(0));
    for (const Var& y : outputs) {
      cotangents.push_back(random_array(y.shape(), random));
      loss = add(loss, sum(multiply(y, to_tensor(cotangents.back()))));
    }
    tape.backward(loss);
    EXPECT_EQ(tape.size(), 0u);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    ASSERT_TRUE(leaves[i].gradient().defined()) << "no gradient reached input " << i;
    ASSERT_EQ(leaves[i].gradient().shape(), x[i].shape);
    const Array gradient = to_array(leaves[i].gradient());
    for (int direction = 0; direction < 2; ++direction) {
      const Array d = random_array(x[i].shape, random);
      const double analytic = dot(gradient, d), numeric = slope(row, x, i, d, cotangents);
      const double size = std::max({std::abs(analytic), std::abs(numeric), 1e-2});
      // In float the library's gradient meets the slope of the double reference.
      EXPECT_LE(std::abs(analytic - numeric) / size, kDouble ? 1e-6 : 2e-3)
          << "input " << i << ": analytic " << analytic << ", numeric " << numeric;
    }
  }
}

TEST_P(OpTable, GradientByDirections) {
  on_every_instruction_set([&] { check_gradient(row()); });
}

TEST_P(OpTable, RefusesBadShapes) {
  for (const Refusal& refusal : row().refusals) {
    try {
      refusal.call();
      ADD_FAILURE() << "accepted; expected an error that says \"" << refusal.says << "\"";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.says), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTable, testing::Range<size_t>(0, op_table().size()), [](const auto& info) {
  std::string name = op_table()[info.param].name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

/// The op that a row calls: the word before the first space.
std::string op_of(const OpRow& row) { return row.name.substr(0, row.name.find(' ')); }

TEST(OpTableItself, EveryOpRefusesSomething) {
  // One row of each op carries its refusals.
  std::set<std::string> ops, refusing;
  for (const OpRow& row : op_table()) {
    ops.insert(op_of(row));
    if (!row.refusals.empty()) refusing.insert(op_of(row));
  }
  EXPECT_EQ(ops, refusing);
}

/// Functions of attend/autograd/ops/ that have no row, and why.
const std::map<std::string, const char*> kWithoutRow{
    {"broadcast_shape", "a shape, of which no gradient exists; the rows of ops that broadcast check it"},
    {"sum_to_shape", "is itself part of gradients: those of the ops that broadcast"},
    {"patch_pixels", "a number of pixels"},
    {"copy_log_probabilities", "not recorded; copy_test.cc compares it with copy_loss"},
    {"copied_shares", "not recorded; copy_test.cc compares it with copy_loss"},
    {"operator", "calls add, subtract, multiply, divide or affine"},
};

/// Functions declared at the start of a line of the ops' headers: "Var name(", "inline Var operator+(".
std::set<std::string> declared_ops() {
  const std::regex declaration(R"(^(?:inline )?(?:[A-Z]\w*|\w+_t) )"), name(R"(\b([a-z]\w*)\s*[-+*/]?\()");
  std::set<std::string> ops;
  for (const auto& entry : std::filesystem::directory_iterator(ATTEND_SOURCE_DIR "/attend/autograd/ops")) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch found;
      if (std::regex_search(line, declaration) && std::regex_search(line, found, name)) ops.insert(found[1]);
    }
  }
  return ops;
}

TEST(OpTableItself, EveryDeclaredOpHasARow) {
  const std::set<std::string> declared = declared_ops();
  EXPECT_GE(declared.size(), 40u) << "or the headers were not read";
  std::set<std::string> rows;
  for (const OpRow& row : op_table()) rows.insert(op_of(row));
  for (const std::string& op : declared) {
    EXPECT_TRUE(rows.contains(op) || kWithoutRow.contains(op)) << op << " has no row in the op table";
  }
  for (const std::string& op : rows) EXPECT_TRUE(declared.contains(op)) << op << " has a row, but no declaration";
  for (const auto& [op, why] : kWithoutRow) {
    EXPECT_TRUE(declared.contains(op) && !rows.contains(op)) << op << " is no exception any more";
  }
}

}  // namespace

const std::vector<OpRow>& op_table() {
  static const std::vector<OpRow> table = [] {
    std::vector<OpRow> rows;
    add_elementwise_rows(rows);
    add_matrix_rows(rows);
    add_row_rows(rows);
    add_shape_rows(rows);
    add_recurrent_rows(rows);
    add_attention_rows(rows);
    add_convolution_rows(rows);
    add_glimpse_rows(rows);
    add_ctc_rows(rows);
    add_crf_rows(rows);
    add_copy_rows(rows);
    add_span_rows(rows);
    return rows;
  }();
  return table;
}

}  // namespace attend::test
