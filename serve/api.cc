#include "serve/api.h"

#include <future>
#include <iostream>
#include <new>

#include "serve/history.h"

namespace attend::serve {
namespace {

constexpr std::string_view kLate =
    "request: expected an answer in time, it took longer; ask for fewer or shorter texts, a narrower beam or a "
    "smaller "
    "max_length";

constexpr std::string_view kNoMemory = "memory: there is not enough for this now; ask for less, or try again";
constexpr std::string_view kStopping =
    "request: the server is being stopped, and there was no time left for this; try again in a moment";
constexpr std::string_view kDisplaced =
    "requests: this one waited behind others of yours, and its place went to another client; try again in a second";

constexpr Endpoint kEndpoints[] = {
    {"GET", "/healthz", &Api::health, Access::everyone, true},
    {"GET", "/readyz", &Api::ready, Access::everyone, true},
    {"GET", "/metrics", &Api::metrics, Access::watchers, true},
    {"GET", "/v1/models", &Api::models},
    {"GET", "/v1/models/{name}/curves", &Api::curves},
    {"GET", "/v1/models/{name}/gallery", &Api::gallery},
    {"GET", "/v1/models/{name}", &Api::model},
    {"GET", "/v1/lab", &Api::lab},
    {"GET", "/v1/lab/{name}", &Api::story},
    {"GET", "/v1/lab/{name}/figures/{figure}", &Api::figure},
    {"POST", "/v1/run", &Api::run},
    {"POST", "/v1/explain", &Api::explain},
    {"PUT", "/v1/models/{name}", &Api::load, Access::admins},
    {"DELETE", "/v1/models/{name}", &Api::unload, Access::admins},
};

std::shared_ptr<Job> job_for(const Call& call, bool is_long) {
  auto job = std::make_shared<Job>();
  job->client = call.client, job->is_long = is_long;
  const auto give_up = [job = std::weak_ptr(job)] {
    if (const auto there = job.lock()) there->cancelled = true;
  };
  if (call.when_gone) call.when_gone(give_up);
  return job;
}

double seconds_since(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }

/// The same, and tells what it took.
template <class Compute>
auto measured(const Call& call, const ServedModel& served, Compute compute) {
  call.effort->model = served.name;
  return [effort = call.effort, asked = Clock::now(), compute = std::move(compute)](const Watch& watch) {
    effort->waited = seconds_since(asked);
    const auto begun = Clock::now();
    Watch counting = watch;
    counting.said = [&effort](int64_t tokens) { effort->tokens += tokens; };
    std::string result = compute(counting);
    effort->computed = seconds_since(begun);
    return result;
  };
}

void end_if_cancelled(const Job& job) {
  if (job.cancelled) throw Cancelled{.stopping = job.stopping, .displaced = job.displaced};
}

Reply error_reply(int status, std::string_view code, std::string_view message) {
  Reply reply;
  reply.status = status;
  reply.body = error_json(code, message);
  reply.retry = status == 503;
  return reply;
}

}  // namespace

std::span<const Endpoint> endpoints() { return kEndpoints; }

Reply reply_to(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const Refusal& refusal) {
    return error_reply(refusal.status(), refusal.code(), refusal.what());
  } catch (const Cancelled& cancelled) {
    if (cancelled.stopping) return error_reply(503, "stopping", kStopping);
    if (cancelled.displaced) return error_reply(503, "busy", kDisplaced);
    return error_reply(504, "timeout", kLate);
  } catch (const std::bad_alloc&) {
    return error_reply(503, "busy", kNoMemory);
  } catch (const std::exception& fault) {  // what was asked wrongly is refused before it is computed
    if (std::string_view(fault.what()).starts_with("memory:")) return error_reply(503, "busy", kNoMemory);
    std::cerr << "attend serve: " << fault.what() << '\n';
  } catch (...) {
    std::cerr << "attend serve: an error without a name\n";
  }
  return error_reply(500, "internal", "the server made a mistake; its log says which");
}

void Live::partial(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    partial_ = text;
  }
  came_.notify_one();
}

void Live::last(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    last_ = std::move(line);
  }
  came_.notify_one();
}

std::pair<std::string, bool> Live::next() {
  std::unique_lock lock(mutex_);
  const bool came = came_.wait_until(lock, deadline_, [&] { return partial_ || last_; });
  // A beginning may always be there: it is no reason to go on after the time is over.
  if (!came || (!last_ && Clock::now() >= deadline_)) {
    cancel();
    return {error_json("timeout", kLate) + "\n", true};
  }
  if (partial_) return {dumped({{"partial", *std::exchange(partial_, std::nullopt)}}) + "\n", false};
  return {*last_ + "\n", true};
}

Clock::time_point Api::deadline() const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits_.seconds));
}

void Api::submit(const std::shared_ptr<Job>& job) const {
  if (workers_.submit(job)) return;
  if (workers_.cancelled()) throw Cancelled{.stopping = true};
  refuse(503, "busy", "requests: at most so many may wait, and ", workers_.waiting(), " do; try again in a second");
}

Reply Api::computed(const std::shared_ptr<Job>& job, Compute compute) const {
  const auto result = std::make_shared<std::promise<std::string>>();
  // What runs on a worker may outlive this, and not the workers.
  job->run = [&workers = workers_, job = std::weak_ptr(job), result, compute = std::move(compute)] {
    Watch watch;
    watch.check = [&workers, job = job.lock()] {
      end_if_cancelled(*job);
      workers.pause(job);
      end_if_cancelled(*job);
    };
    try {
      watch.check();
      result->set_value(compute(watch));
    } catch (...) {
      result->set_exception(std::current_exception());
    }
  };
  std::future<std::string> future = result->get_future();
  submit(job);
  if (future.wait_until(deadline()) == std::future_status::timeout) {
    job->cancelled = true;
    throw Cancelled{};
  }
  Reply reply;
  reply.body = future.get();
  return reply;
}

Reply Api::streamed(const std::shared_ptr<Job>& job, Compute compute) const {
  Reply reply;
  reply.type = "application/x-ndjson";
  reply.live = std::make_shared<Live>(job, deadline());
  // The worker holds the stream weakly: without a client there is nobody to tell, and the job is cancelled.
  job->run = [&workers = workers_, weak = std::weak_ptr(job), live = std::weak_ptr(reply.live),
              compute = std::move(compute)] {
    const std::shared_ptr<Job> own = weak.lock();
    const auto tell = [&](auto&& say) {
      const std::shared_ptr<Live> there = live.lock();
      end_if_cancelled(*own);
      if (!there) throw Cancelled{};
      say(*there);
    };
    const auto nothing = [](Live&) {};
    Watch watch;
    watch.check = [&] {
      tell(nothing);
      workers.pause(own);
      tell(nothing);
    };
    watch.partial = [&](const std::string& text) { tell([&](Live& to) { to.partial(text); }); };
    std::string line;
    try {
      watch.check();
      line = compute(watch);
    } catch (...) {
      line = reply_to(std::current_exception()).body;
    }
    if (const std::shared_ptr<Live> there = live.lock()) there->last(std::move(line));
  };
  submit(job);
  return reply;
}

Reply Api::health(const Call&) const {
  Reply reply;
  reply.body = dumped({{"status", "ok"},
                       {"models", models_.all().size()},
                       {"running", workers_.running()},
                       {"waiting", workers_.waiting()}});
  return reply;
}

Reply Api::ready(const Call&) const {
  if (stopping_()) refuse(503, "stopping", "the server is being stopped; try again in a moment");
  const size_t models = models_.all().size();
  if (models == 0 && models_.lab().empty())
    refuse(503, "no_models", "models: expected at least one, got none that is loaded");
  Reply reply;
  reply.body = dumped({{"status", "ready"}, {"models", models}});
  return reply;
}

Reply Api::metrics(const Call&) const {
  Reply reply;
  reply.type = "text/plain; version=0.0.4";
  reply.body = metrics_.text();
  return reply;
}

Reply Api::load(const Call& call) const {
  Reply reply;
  reply.body = dumped(models_.load(call.name, parse_folder(call.body))->description);
  return reply;
}

Reply Api::unload(const Call& call) const {
  models_.unload(call.name);
  Reply reply;
  reply.status = 204;
  return reply;
}

Reply Api::models(const Call&) const {
  Json all = Json::array();
  for (const auto& served : models_.all()) all.push_back(served->description);
  Reply reply;
  reply.body = dumped({{"models", std::move(all)}, {"experiments", models_.lab().size()}});
  return reply;
}

Reply Api::model(const Call& call) const {
  Reply reply;
  reply.body = dumped(models_.at(call.name)->description);
  return reply;
}

Reply Api::lab(const Call&) const {
  Reply reply;
  reply.body = dumped(models_.lab().list());
  return reply;
}

Reply Api::story(const Call& call) const {
  Reply reply;
  reply.body = dumped(models_.lab().story(call.name));
  return reply;
}

Reply Api::figure(const Call& call) const {
  Reply reply;
  reply.body = models_.lab().figure(call.name, call.part);
  reply.type = "image/svg+xml";
  return reply;
}

Reply Api::curves(const Call& call) const {
  const std::shared_ptr<const ServedModel> served = models_.at(call.name);
  return computed(job_for(call, false),
                  measured(call, *served, [served](const Watch&) { return dumped(serve::curves(served->folder)); }));
}

Reply Api::gallery(const Call& call) const {
  const std::shared_ptr<const ServedModel> served = models_.at(call.name);
  const std::shared_ptr<Job> job = job_for(call, served->gallery_takes_long());
  return computed(job, measured(call, *served, [served](const Watch&) { return dumped(served->gallery()); }));
}

Reply Api::run(const Call& call) const {
  const auto request = std::make_shared<const RunRequest>(parse_run(call.body, limits_));
  const std::shared_ptr<const ServedModel> served = models_.at(request->model);
  const std::shared_ptr<Job> job = job_for(call, !served->check(*request, limits_).is_short());
  Compute compute = measured(call, *served, [served, request, limits = limits_](const Watch& watch) {
    return served->run(*request, limits, watch);
  });
  return request->stream ? streamed(job, std::move(compute)) : computed(job, std::move(compute));
}

Reply Api::explain(const Call& call) const {
  const auto request = std::make_shared<const ExplainRequest>(parse_explain(call.body, limits_));
  const std::shared_ptr<const ServedModel> served = models_.at(request->model);
  const std::shared_ptr<Job> job = job_for(call, !served->check(*request, limits_).is_short());
  return computed(job, measured(call, *served, [served, request, limits = limits_](const Watch& watch) {
                    return served->explain(*request, limits, watch);
                  }));
}

}  // namespace attend::serve
