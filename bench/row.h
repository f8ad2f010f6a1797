// One row of the benchmark table: what is run, how it is checked, what it has to reach.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attend::bench {

enum class Unit { gflops, gbs, nanoseconds, mebibytes, milliseconds };
const char* name_of(Unit unit);

struct Row {
  std::string name;  // the same as the peer's, where it has one (bench/peers/torch_ops.py)
  Unit unit = Unit::gflops;
  double work = 0;                      // FLOP or bytes of one run; operations of one run for nanoseconds
  std::optional<double> percent = {};   // of the machine's limit, at least
  std::optional<double> peer = {};      // times PyTorch's speed, at least
  std::optional<double> composed = {};  // times the speed of our own composed ops, at least
  std::optional<double> most = {};      // for units where less is better
  /// Makes the inputs, checks the result (throws Error where it is wrong) and returns what is timed.
  std::function<std::function<void()>()> prepare = {};
  /// The same work out of small ops.
  std::function<std::function<void()>()> prepare_composed = {};
  /// Instead of timing: the value itself, already checked.
  std::function<double()> value = {};
};

struct Result {
  std::string name;
  double value = 0;
  Unit unit = Unit::gflops;
  std::optional<double> percent_of_limit = {}, peer_ratio = {}, composed_ratio = {};
  std::string target;
  std::optional<bool> holds = {};  // nothing where there is no target
};

/// Rows by group; a group is measured together with its peers.
struct Group {
  std::string name;
  std::vector<Row> rows;
};
std::vector<Group> all_groups();

std::vector<Row> product_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> attention_rows();
std::vector<Row> element_rows();
std::vector<Row> training_rows();
std::vector<Row> convolution_rows();
std::vector<Row> overhead_rows();

}  // namespace attend::bench
