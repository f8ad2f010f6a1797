// `attend bench`: this machine's limit, and how close we come to it.
#include <iostream>

#include "bench/run.h"
#include "cli/commands.h"
#include "cli/flags.h"

namespace attend::cli {
namespace {

struct BenchOptions {
  attend::bench::RunOptions run;
  std::string json, training_peak;
  bool no_peer = false;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("json", json, "write the rows to this file too", bounds::file_to_write());
    visit("match", run.match, "only rows whose name contains this regular expression");
    visit("seconds", run.seconds, "time for each row", bounds::above(0));
    visit("no_peer", no_peer, "measure no peers beside it");
    visit("compiled", run.compiled, "measure compiled PyTorch too, which takes minutes to warm up");
    visit("peer_scripts", run.peer_scripts, "folder of the scripts that measure peers");
    visit("training_peak", training_peak,
          "only print the peak memory of this row: what a row memory/… starts a process for");
  }
};

}  // namespace

int bench(int argc, char** argv) {
  BenchOptions options;
  Flags flags("bench", "measures this machine's limit, and how close we come to it");
  flags.options("bench", options);
  if (const auto code = flags.parse(argc, argv)) return *code;
  flags.check_files();
  if (!options.training_peak.empty()) {
    std::cout << attend::bench::training_peak(options.training_peak) << std::endl;
    return 0;
  }
  options.run.peer = !options.no_peer;
  const attend::bench::Report report = attend::bench::run(options.run, std::cout);
  if (!options.json.empty()) attend::bench::write_json(report, options.json);
  return 0;
}

}  // namespace attend::cli
