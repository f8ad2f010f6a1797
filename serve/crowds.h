// The crowds of a server: each model has two, of short requests and of long ones, so that a sentence never waits for a book. Both
// compute on workers, slice by slice, and share these with everything else (serve/turns.h): the crowd of short requests is a short
// job, the one of long requests a long job that leaves the workers to short ones. So turns go from model to model.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "serve/lane.h"
#include "serve/served_model.h"
#include "serve/workers.h"

namespace attend::serve {

/// Requests of all models, by whether they have begun.
struct CrowdsState {
  int64_t computing = 0, waiting = 0;
};

class Crowds {
 public:
  /// `workers` must outlive it. Places are those of the turns: so many requests may wait, of long ones half as many at all.
  /// `stepped` is told after each step of any model for how many hypotheses it was computed.
  Crowds(Workers& workers, const TurnOptions& options, std::function<void(int64_t rows)> stepped = {},
         Now now = Clock::now);

  /// Queues a request, of a length that its job says. Refuses (503) where too many wait; a client that has far fewer waiting than
  /// another takes a place over from it. Throws Cancelled where the server stops.
  void enter(const std::shared_ptr<const ServedModel>& model, const std::shared_ptr<CrowdRequest>& request);
  CrowdsState state() const;

 private:
  struct Queue;
  struct Entry;
  static void drive(Workers& workers, const std::shared_ptr<const ServedModel>& model, bool is_long,
                    const LaneOptions& options, const Now& now);

  Workers& workers_;
  const TurnOptions options_;
  const std::function<void(int64_t)> stepped_;
  const Now now_;
  const std::shared_ptr<Queue> queue_;  // outlives this where requests do
};

}  // namespace attend::serve
