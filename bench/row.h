// One row of the benchmark table: what is run, how it is checked, what it must reach.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attend::bench {

enum class Unit { gflops, gbs, tokens, nanoseconds, mebibytes, milliseconds, percent };
const char* name_of(Unit unit);

/// Peers by their names in the table. "PyTorch" is plain PyTorch, without compiling.
constexpr const char *kPyTorch = "PyTorch", *kCompiled = "compiled PyTorch", *kCTranslate2 = "CTranslate2",
                     *kLibrosa = "librosa";

struct OtherPeer {
  std::string name;
  double least = 0;  // times its speed
};

struct Row {
  std::string name;  // the same as the peer's, if it has one (bench/peers)
  Unit unit = Unit::gflops;
  double work = 0;                      // FLOP, bytes or tokens of one run; operations of one run for nanoseconds
  std::optional<double> percent = {};   // of the machine's limit, at least
  std::optional<double> peer = {};      // times PyTorch's speed, at least; for memory, this many times less than its
  std::vector<OtherPeer> others = {};   // peers besides PyTorch
  std::optional<double> composed = {};  // times the speed of our own composed ops, at least
  std::optional<double> most = {};      // for units where less is better
  std::optional<double> least = {};     // of the value itself
  int least_runs = 3;                   // timed, however long they take
  /// Makes the inputs, checks the result (throws Error if it is wrong) and returns what is timed.
  std::function<std::function<void()>()> prepare = {};
  /// The same work out of small ops.
  std::function<std::function<void()>()> prepare_composed = {};
  /// Instead of timing: the value itself, already checked.
  std::function<double()> value = {};

  /// The target against the peer of that name; nothing if the row is not compared with it.
  std::optional<double> against(const std::string& peer_name) const {
    if (peer_name == kPyTorch) return peer;
    for (const OtherPeer& other : others) {
      if (other.name == peer_name) return other.least;
    }
    return {};
  }
};

/// A row compared with one peer.
struct PeerResult {
  std::string name;
  double value = 0;  // the peer's, in the row's unit
  double ratio = 0;  // above 1: we are better
  double target = 0;
};

struct Result {
  std::string name;
  double value = 0;
  Unit unit = Unit::gflops;
  std::optional<double> percent_of_limit = {}, peer_ratio = {}, composed_ratio = {};
  std::vector<PeerResult> peers = {};  // those that were measured, PyTorch first
  std::string target;
  std::optional<bool> holds = {};  // nothing if there is no target
};

/// Rows by group; a group is measured together with its peers.
struct Group {
  std::string name;
  std::vector<Row> rows;
  std::string torch_script = "torch_ops.py";  // what measures PyTorch
};
std::vector<Group> all_groups();

std::vector<Row> product_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> attention_rows();
std::vector<Row> element_rows();
std::vector<Row> training_rows();
std::vector<Row> convolution_rows();
std::vector<Row> overhead_rows();
std::vector<Row> model_rows();
std::vector<Row> label_rows();
std::vector<Row> decoding_rows();
std::vector<Row> glimpse_rows();
std::vector<Row> photo_rows();
std::vector<Row> reader_rows();
std::vector<Row> copying_rows();
std::vector<Row> sound_rows();
std::vector<Row> speech_rows();
/// The peak memory of a few training steps of a network, in a process that does nothing else.
Row memory_row(const std::string& network);

/// Three training steps of a row `memory/…`, then this process's peak in MiB: for a process that does nothing else.
double training_peak(const std::string& row);

}  // namespace attend::bench
