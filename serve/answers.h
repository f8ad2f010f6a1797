// What requests compute: answers and traces, as JSON text. Runs on a worker.
#pragma once

#include <functional>
#include <string>

#include "serve/models.h"
#include "serve/request.h"

namespace attend::serve {

/// Why nobody wants an answer any more: it took too long, or the server stops.
struct Cancelled {
  bool stopping = false;
};

/// Told how far it is; throws to stop it (Cancelled). Asked between groups of texts and, where answers come step by step
/// (`explain`, streams), after each step of the search.
struct Watch {
  std::function<void()> check = [] {};
  std::function<void(const std::string& text)> partial;  ///< wanted where it is set
};

/// {"model","answers":[[{"text","score","log_probability","ended"}]],"notes":[…]}
std::string run_json(const ServedModel& served, const RunRequest& request, const Limits& limits, const Watch& watch);
/// The trace of docs/traces.md.
std::string explain_json(const ServedModel& served, const ExplainRequest& request, const Limits& limits,
                         const Watch& watch);
/// Refuses what the limits and the model forbid, before it is queued.
void check_run(const ServedModel& served, const RunRequest& request, const Limits& limits);
void check_explain(const ServedModel& served, const ExplainRequest& request, const Limits& limits);

}  // namespace attend::serve
