#include "serve/watched.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "attend/base/memory.h"

namespace attend::serve {
namespace {

template <class Count>
double as_number(Count count) {
  return static_cast<double>(count);
}

/// Of this process, in bytes (proc(5)); 0 where the system does not say.
double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  int64_t size = 0, resident = 0;
  in >> size >> resident;
  return as_number(resident) * as_number(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void watch(Metrics& metrics, const Connections& connections) {
  const ConnectionCounts& counts = connections.counts();
  metrics.gauge("attend_connections", "connections that are open", [&] { return as_number(counts.open.load()); });
  metrics.total("attend_connections_total", "connections that were accepted",
                [&] { return as_number(counts.accepted.load()); });
  metrics.total("attend_connections_refused_total", "connections for which there was no room",
                [&] { return as_number(counts.refused.load()); });
  metrics.total("attend_connections_dismissed_total", "clients that sent no request, not all of one, or too many",
                [&] { return as_number(counts.dismissed.load()); });
  metrics.total("attend_connections_dropped_total", "clients that did not take their answer in time",
                [&] { return as_number(counts.dropped.load()); });
  metrics.gauge("attend_unsent_bytes", "answers that wait for clients to take them",
                [&] { return as_number(counts.unsent.load()); });
  metrics.gauge("attend_requests_unhandled", "whole requests that wait for a thread",
                [&] { return as_number(connections.waiting()); });
}

void watch(Metrics& metrics, const Api& api) {
  metrics.gauge("attend_requests_running", "requests that are computed",
                [&] { return as_number(api.requests().computing); });
  metrics.gauge("attend_requests_waiting", "requests that wait for their turn",
                [&] { return as_number(api.requests().waiting); });
}

void watch(Metrics& metrics, const Models& models) {
  metrics.gauge("attend_models", "models that are loaded, without those of the lab",
                [&] { return as_number(models.all().size()); });
}

void watch_memory(Metrics& metrics) {
  metrics.gauge("attend_tensor_bytes", "memory of tensors", [] { return as_number(memory::usage().in_use); });
  metrics.gauge("attend_tensor_peak_bytes", "its peak", [] { return as_number(memory::usage().peak); });
  metrics.gauge("attend_tensor_reserve_bytes", "memory that is kept for the next ones",
                [] { return as_number(memory::usage().cached); });
  metrics.gauge("process_resident_memory_bytes", "memory of the whole program", &resident_bytes);
}

}  // namespace attend::serve
