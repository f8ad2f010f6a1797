// `attend bench`: this machine's limit, and how close we come to it.
#include <iostream>

#include "bench/run.h"
#include "cli/arguments.h"
#include "cli/commands.h"

namespace attend::cli {

int bench(int argc, char** argv) {
  CLI::App app("Measures this machine's limit, and how close we come to it", "attend bench");
  std::string json;
  attend::bench::RunOptions options;
  bool no_peer = false;
  std::string peak_of;
  app.add_option("--json", json, "Write the rows to this file too");
  app.add_option("--match", options.match, "Only rows whose name contains this regular expression");
  app.add_option("--seconds", options.seconds, "Time for each row")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--no-peer", no_peer, "Measure no peers beside it");
  app.add_flag("--compiled", options.compiled, "Measure compiled PyTorch too, which takes minutes to warm up");
  app.add_option("--peer-scripts", options.peer_scripts, "Folder of the scripts that measure peers")
      ->capture_default_str();
  app.add_option("--training-peak", peak_of)->group("");  // hidden: what a row memory/… starts a process for
  if (const auto code = parse_arguments(app, argc, argv)) return *code;
  if (!peak_of.empty()) {
    std::cout << attend::bench::training_peak(peak_of) << std::endl;
    return 0;
  }
  options.peer = !no_peer;
  const attend::bench::Report report = attend::bench::run(options, std::cout);
  if (!json.empty()) attend::bench::write_json(report, json);
  return 0;
}

}  // namespace attend::cli
