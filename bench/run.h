// Runs the rows, and their peers if they can be imported, and reports the outcome as a table and as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/row.h"

namespace attend::bench {

struct RunOptions {
  double seconds = 1.0;     // for each row
  std::string match = "";   // regular expression: rows whose name contains it
  bool peer = true;         // measure the peers too
  bool compiled = false;    // compiled PyTorch among them, which takes minutes to warm up
  std::string peer_python;  // "" : ATTEND_PEER_PYTHON in the environment, else python3
  std::string peer_scripts = "bench/peers";
};

struct Report {
  Limits limits;
  std::string processor, instruction_set, peer;  // peer: "PyTorch 2.15.0, 2 threads; …", or why there is none
  int threads = 1;
  std::vector<Result> results;
};

/// Measures every row that matches; writes the table's lines to `out` as they come.
Report run(const RunOptions& options, std::ostream& out);
/// A list of {name, value, unit, percent_of_limit, peer_ratio, peers, target, holds}, the limits first. `peer_ratio` is to
/// PyTorch; `peers` has it again beside the others, as {name, value, ratio, target}.
void write_json(const Report& report, const std::string& path);

}  // namespace attend::bench
