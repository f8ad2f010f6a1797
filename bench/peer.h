// Peers to compare with: each measured by its own script (bench/peers), in its own process, once per group of rows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/row.h"
#include "bench/run.h"

namespace attend::bench {

/// What a peer's script reports for one row.
struct PeerFigure {
  double milliseconds = 0;  // of one run; 0: not measured
  double mebibytes = 0;     // peak of a process that does nothing else; 0: not measured
};
/// By the peer's name, then by the row's.
using PeerFigures = std::map<std::string, std::map<std::string, PeerFigure>>;

class Peers {
 public:
  explicit Peers(const RunOptions& options);
  /// Runs the scripts of all peers that these rows are compared with.
  PeerFigures measure(const Group& group, const std::vector<Row>& rows);
  /// Which peers were measured and, for the others that rows name, why not.
  std::string state() const;

 private:
  bool available(const std::string& module);

  RunOptions options_;
  std::string python_;
  std::map<std::string, bool> imported_;      // by Python module
  std::map<std::string, std::string> state_;  // by peer
};

}  // namespace attend::bench
