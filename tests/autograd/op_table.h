// The op table: one row per way of calling an op. Every row is checked in its value (against plain double loops), in its
// gradient (directional, with a random cotangent) and in its refusals.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/autograd/ops.h"
#include "tests/support/array.h"

namespace attend::test {

using Arrays = std::vector<Array>;
using Vars = std::vector<Var>;

struct Refusal {
  std::function<void()> call;
  std::string says;  // part of the message
};

struct OpRow {
  std::string name;
  std::vector<Shape> inputs;
  std::function<Vars(const Vars&)> run;
  std::function<Arrays(const Arrays&)> reference;
  std::vector<Refusal> refusals = {};
  /// Turns standard normal numbers into valid inputs (positive ones for log).
  std::function<double(double)> prepare = {};
  /// Step of the numeric slope; small for functions with corners, so that none lies within it.
  double step = 1e-3;
};

const std::vector<OpRow>& op_table();

// The rows come from several files, by subject.
void add_elementwise_rows(std::vector<OpRow>& table);
void add_matrix_rows(std::vector<OpRow>& table);
void add_row_rows(std::vector<OpRow>& table);
void add_shape_rows(std::vector<OpRow>& table);
void add_recurrent_rows(std::vector<OpRow>& table);
void add_attention_rows(std::vector<OpRow>& table);
void add_convolution_rows(std::vector<OpRow>& table);
void add_glimpse_rows(std::vector<OpRow>& table);
void add_ctc_rows(std::vector<OpRow>& table);
void add_crf_rows(std::vector<OpRow>& table);
void add_copy_rows(std::vector<OpRow>& table);
void add_span_rows(std::vector<OpRow>& table);

}  // namespace attend::test
