#include "serve/api.h"

#include <algorithm>
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

/// The same of a request to a crowd.
void measure(const std::shared_ptr<Effort>& effort, CrowdRequest& request) {
  const auto asked = Clock::now();
  request.starts = [effort, asked] { effort->waited = seconds_since(asked); };
  request.done = [effort, asked, done = std::move(request.done)](CrowdRequest& one, std::exception_ptr error) {
    effort->computed = seconds_since(asked) - effort->waited;
    for (const auto& piece : one.found) {
      for (const decode::Hypothesis& answer : piece) effort->tokens += static_cast<int64_t>(answer.tokens.size());
    }
    done(one, std::move(error));
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

void Live::partial(std::function<std::string()> text) {
  {
    const std::lock_guard lock(mutex_);
    partial_ = std::move(text);
  }
  came_.notify_one();
}

void Live::partial(const std::string& text) {
  partial([text] { return text; });
}

void Live::last(std::function<std::string()> json) {
  {
    const std::lock_guard lock(mutex_);
    last_ = std::move(json);
  }
  came_.notify_one();
}

void Live::last(std::string json) {
  last([json = std::move(json)] { return json; });
}

/// JSON has no line feeds outside its texts, and none in them: an event is one line of data.
std::string Live::written(std::string_view event, const std::string& json) const {
  if (form_ == StreamForm::lines) return json + "\n";
  return "event: " + std::string(event) + "\ndata: " + json + "\n\n";
}

std::pair<std::string, bool> Live::late() {
  cancel();
  return {written("error", error_json("timeout", kLate)), true};
}

std::pair<std::string, bool> Live::next() {
  std::unique_lock lock(mutex_);
  const bool came = came_.wait_until(lock, deadline_, [&] { return partial_ || last_; });
  // A beginning may always be there: it is no reason to go on after the time is over.
  if (!came || (!last_ && Clock::now() >= deadline_)) return late();
  if (partial_) {
    const auto text = std::exchange(partial_, nullptr);
    lock.unlock();
    return {written("partial", dumped({{"partial", text()}})), false};
  }
  const std::string json = last_();
  return {written(json.starts_with("{\"error\"") ? "error" : "answer", json), true};
}

/// What is common to all that is asked for: whose job it is, until when, in which form, and who is told what it takes.
struct Api::Asking {
  std::shared_ptr<Job> job;
  Clock::time_point deadline;
  StreamForm form = StreamForm::lines;
  std::shared_ptr<Effort> effort;
};

Api::Api(Models& models, Workers& workers, Metrics& metrics, const TurnOptions& turns, const Limits& limits)
    : models_(models),
      workers_(workers),
      metrics_(metrics),
      crowds_(
          workers, turns,
          [&sizes = metrics.histogram("attend_batch_rows", "hypotheses that a step was computed for",
                                      Metrics::sizes())](int64_t rows) { sizes.observe(static_cast<double>(rows)); }),
      limits_(limits) {}

Clock::time_point Api::deadline(double seconds) const {
  const double most = seconds > 0 ? std::min(seconds, limits_.seconds) : limits_.seconds;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(most));
}

Api::Asking Api::asking(const Call& call, bool is_long, double seconds) const {
  const bool events = call.accept.find("text/event-stream") != std::string_view::npos;
  Asking asking{std::make_shared<Job>(), deadline(seconds), events ? StreamForm::events : StreamForm::lines,
                call.effort};
  asking.job->client = call.client, asking.job->is_long = is_long;
  const auto give_up = [job = std::weak_ptr(asking.job)] {
    if (const auto there = job.lock()) there->cancelled = true;
  };
  if (call.when_gone) call.when_gone(give_up);
  return asking;
}

void Api::submit(const std::shared_ptr<Job>& job) const {
  if (workers_.submit(job)) return;
  if (workers_.cancelled()) throw Cancelled{.stopping = true};
  refuse(503, "busy", "requests: at most so many may wait, and ", workers_.waiting(), " do; try again in a second");
}

Reply Api::computed(const Asking& asking, Compute compute) const {
  const std::shared_ptr<Job>& job = asking.job;
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
  if (future.wait_until(asking.deadline) == std::future_status::timeout) {
    job->cancelled = true;
    throw Cancelled{};
  }
  Reply reply;
  reply.body = future.get();
  return reply;
}

namespace {

Reply live_reply(std::shared_ptr<Live> live, StreamForm form) {
  Reply reply;
  reply.type = form == StreamForm::events ? "text/event-stream" : "application/x-ndjson";
  reply.live = std::move(live);
  return reply;
}

}  // namespace

Reply Api::streamed(const Asking& asking, Compute compute) const {
  const std::shared_ptr<Job>& job = asking.job;
  Reply reply = live_reply(std::make_shared<Live>(job, asking.deadline, asking.form), asking.form);
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

Reply Api::in_crowd(const Asking& asking, const std::shared_ptr<const ServedModel>& served,
                    const std::shared_ptr<const RunRequest>& request) const {
  const std::shared_ptr<CrowdRequest> asked = served->for_crowd(*request, limits_);
  const auto result = std::make_shared<std::promise<void>>();
  asked->job = asking.job;
  asked->done = [result](CrowdRequest&, std::exception_ptr error) {
    error ? result->set_exception(std::move(error)) : result->set_value();
  };
  measure(asking.effort, *asked);
  std::future<void> future = result->get_future();
  crowds_.enter(served, asked);
  if (future.wait_until(asking.deadline) == std::future_status::timeout) {
    asking.job->cancelled = true;
    throw Cancelled{};
  }
  future.get();
  Reply reply;
  reply.body = served->said(*request, *asked);
  return reply;
}

/// The crowd holds the stream weakly: without a client there is nobody to tell.
Reply Api::streamed_from_crowd(const Asking& asking, const std::shared_ptr<const ServedModel>& served,
                               const std::shared_ptr<const RunRequest>& request) const {
  const std::shared_ptr<CrowdRequest> asked = served->for_crowd(*request, limits_);
  Reply reply = live_reply(std::make_shared<Live>(asking.job, asking.deadline, asking.form), asking.form);
  asked->job = asking.job;
  asked->partial = [live = std::weak_ptr(reply.live), served,
                    weak = std::weak_ptr(asked)](const std::vector<int32_t>& tokens) {
    const std::shared_ptr<Live> there = live.lock();
    if (!there) throw Cancelled{};
    there->partial([served, asked = weak.lock(), tokens] { return served->beginning(*asked, tokens); });
  };
  asked->done = [live = std::weak_ptr(reply.live), served, request, weak = std::weak_ptr(asked)](
                    CrowdRequest&, std::exception_ptr error) {
    const std::shared_ptr<Live> there = live.lock();
    if (!there) return;
    there->last([served, request, error, asked = weak.lock()] {
      try {
        if (error) std::rethrow_exception(error);
        return served->said(*request, *asked);
      } catch (...) {
        return reply_to(std::current_exception()).body;
      }
    });
  };
  measure(asking.effort, *asked);
  crowds_.enter(served, asked);
  return reply;
}

CrowdsState Api::requests() const {
  CrowdsState all = crowds_.state();
  all.computing += static_cast<int64_t>(workers_.running());
  all.waiting += static_cast<int64_t>(workers_.waiting());
  return all;
}

Reply Api::health(const Call&) const {
  const CrowdsState asked = requests();
  Reply reply;
  reply.body = dumped(
      {{"status", "ok"}, {"models", models_.all().size()}, {"running", asked.computing}, {"waiting", asked.waiting}});
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
  return computed(asking(call, false),
                  measured(call, *served, [served](const Watch&) { return dumped(serve::curves(served->folder)); }));
}

Reply Api::gallery(const Call& call) const {
  const std::shared_ptr<const ServedModel> served = models_.at(call.name);
  return computed(asking(call, served->gallery_takes_long()),
                  measured(call, *served, [served](const Watch&) { return dumped(served->gallery()); }));
}

Reply Api::run(const Call& call) const {
  const auto request = std::make_shared<const RunRequest>(parse_run(call.body, limits_));
  const std::shared_ptr<const ServedModel> served = models_.at(request->model);
  const Asking asked = asking(call, !served->check(*request, limits_).is_short(), request->seconds);
  if (served->has_crowds()) {
    call.effort->model = served->name;
    return request->stream ? streamed_from_crowd(asked, served, request) : in_crowd(asked, served, request);
  }
  Compute compute = measured(call, *served, [served, request, limits = limits_](const Watch& watch) {
    return served->run(*request, limits, watch);
  });
  return request->stream ? streamed(asked, std::move(compute)) : computed(asked, std::move(compute));
}

Reply Api::explain(const Call& call) const {
  const auto request = std::make_shared<const ExplainRequest>(parse_explain(call.body, limits_));
  const std::shared_ptr<const ServedModel> served = models_.at(request->model);
  const Asking asked = asking(call, !served->check(*request, limits_).is_short(), request->seconds);
  return computed(asked, measured(call, *served, [served, request, limits = limits_](const Watch& watch) {
                    return served->explain(*request, limits, watch);
                  }));
}

}  // namespace attend::serve
