// How the benchmarks measure: the best of many runs, and the limits of the machine found in the same run.
#pragma once

#include <functional>
#include <string>

namespace attend::bench {

double now();
/// The fastest of the runs that fit into `seconds` (at least `least_runs`, after a warm-up).
double best_seconds(const std::function<void()>& run, double seconds, int least_runs = 3);

/// The most this machine can do now, with the threads in use.
struct Limits {
  double gflops = 0;        // best f32 product that oneDNN achieves, packed or not
  std::string product;      // which one it was
  double copy_gbs = 0;      // memcpy by all threads at once, bytes read + bytes written
  double streamed_gbs = 0;  // the same with stores past the caches
  /// Measures again and keeps the better figure: other tenants of the machine make all of them too low, never too high.
  void refresh(double seconds);
  void keep_better(const Limits& other);
};

}  // namespace attend::bench
