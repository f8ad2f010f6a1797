#include "serve/crowds.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "serve/refusal.h"

namespace attend::serve {

struct Crowds::Entry {
  std::shared_ptr<CrowdRequest> request;
  Lane* lane;
};

/// All requests that have not ended, in the order in which they came.
struct Crowds::Queue {
  mutable std::mutex mutex;
  std::vector<Entry> entries;

  template <class Wanted>
  size_t count(Wanted&& wanted) const {
    return static_cast<size_t>(std::ranges::count_if(entries, [&](const Entry& one) { return wanted(*one.request); }));
  }

  bool has_place(const CrowdRequest& request, size_t places) const {
    if (count([](const CrowdRequest& one) { return !one.begun; }) >= places) return false;
    return !request.job->is_long ||
           count([](const CrowdRequest& one) { return one.job->is_long; }) < std::max<size_t>(1, places / 2);
  }

  /// The newest request of the client that has the most waiting, if that is two more than this one's client has.
  std::shared_ptr<CrowdRequest> displaced_by(const CrowdRequest& request) {
    const bool is_long = request.job->is_long;
    const auto waiting = [&](const std::string& client) {
      return count([&](const CrowdRequest& one) {
        return !one.begun && one.job->client == client && (!is_long || one.job->is_long);
      });
    };
    size_t most = waiting(request.job->client) + 1;
    auto from = entries.end();
    for (auto at = entries.begin(); at != entries.end(); ++at) {
      const Job& job = *at->request->job;
      if (at->request->begun || (is_long && !job.is_long)) continue;
      const size_t own = waiting(job.client);
      if (own > most || (own == most && from != entries.end())) most = own, from = at;
    }
    if (from == entries.end() || !from->lane->take_out(*from->request)) return nullptr;
    std::shared_ptr<CrowdRequest> displaced = from->request;
    entries.erase(from);
    return displaced;
  }

  void leave(const CrowdRequest& request) {
    const std::lock_guard lock(mutex);
    std::erase_if(entries, [&](const Entry& one) { return one.request.get() == &request; });
  }
};

Crowds::Crowds(Workers& workers, const TurnOptions& options, std::function<void(int64_t rows)> stepped, Now now)
    : workers_(workers),
      options_(options),
      stepped_(std::move(stepped)),
      now_(std::move(now)),
      queue_(std::make_shared<Queue>()) {}

CrowdsState Crowds::state() const {
  const std::lock_guard lock(queue_->mutex);
  const size_t begun = queue_->count([](const CrowdRequest& one) { return one.begun.load(); });
  return {static_cast<int64_t>(begun), static_cast<int64_t>(queue_->entries.size() - begun)};
}

/// Has the lane take a turn, and another one after it, until nothing is left.
void Crowds::drive(Workers& workers, const std::shared_ptr<const ServedModel>& model, bool is_long,
                   const LaneOptions& options, const Now& now) {
  auto job = std::make_shared<Job>();
  job->client = "model " + model->name, job->is_long = is_long, job->is_crowd = true;
  job->run = [&workers, weak = std::weak_ptr(job), model, is_long, options, now] {
    if (model->lane(is_long).turn(*weak.lock(), options, now)) drive(workers, model, is_long, options, now);
  };
  if (!workers.submit(job)) {
    job->stopping = job->cancelled = true;
    model->lane(is_long).turn(*job, options, now);
  }
}

void Crowds::enter(const std::shared_ptr<const ServedModel>& model, const std::shared_ptr<CrowdRequest>& request) {
  if (workers_.cancelled()) throw Cancelled{.stopping = true};
  const bool is_long = request->job->is_long;
  Lane& lane = model->lane(is_long);
  request->done = [queue = queue_, done = std::move(request->done)](CrowdRequest& one, std::exception_ptr error) {
    queue->leave(one);
    done(one, std::move(error));
  };
  std::shared_ptr<CrowdRequest> displaced;
  bool idle = false;
  {
    const std::lock_guard lock(queue_->mutex);
    if (!queue_->has_place(*request, options_.places) && !(displaced = queue_->displaced_by(*request))) {
      const size_t waiting = queue_->count([](const CrowdRequest& one) { return !one.begun; });
      refuse(503, "busy", "requests: at most so many may wait, and ", waiting, " do; try again in a second");
    }
    queue_->entries.push_back({request, &lane});
    idle = lane.add(request);
  }
  if (displaced) {
    displaced->job->displaced = displaced->job->cancelled = true;
    displaced->done(*displaced, std::make_exception_ptr(Cancelled{.displaced = true}));
  }
  if (!idle) return;
  const LaneOptions options{
      .most_begun = is_long ? options_.most_long : 0, .slice = options_.slice, .stepped = stepped_};
  drive(workers_, model, is_long, options, now_);
}

}  // namespace attend::serve
