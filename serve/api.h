// The endpoints: what each answers to a body, whoever carries it. Knows no HTTP library.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/crowds.h"
#include "serve/journal.h"
#include "serve/metrics.h"
#include "serve/models.h"
#include "serve/options.h"
#include "serve/workers.h"

namespace attend::serve {

/// How a stream is written: JSON, a line each, or server-sent events (`event: partial`, `answer` or `error`).
enum class StreamForm { lines, events };

/// An answer that comes in parts while it is made. A client that reads slowly gets fewer partial ones: only the newest waits for
/// it, and the worker waits for nobody.
class Live {
 public:
  Live(std::shared_ptr<Job> job, Clock::time_point deadline, StreamForm form = StreamForm::lines)
      : job_(std::move(job)), deadline_(deadline), form_(form) {}
  ~Live() { cancel(); }

  // The worker's side. What takes time to say may be left to the client's thread.
  void partial(std::function<std::string()> text);
  void partial(const std::string& text);
  void last(std::function<std::string()> json);
  void last(std::string json);
  // The client's side: the next part, and whether it is the last one.
  std::pair<std::string, bool> next();
  void cancel() { job_->cancelled = true; }

 private:
  const std::shared_ptr<Job> job_;
  std::string written(std::string_view event, const std::string& json) const;
  std::pair<std::string, bool> late();

  const Clock::time_point deadline_;
  const StreamForm form_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::function<std::string()> partial_, last_;
};

struct Reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  bool retry = false;          ///< worth trying again in a second
  std::shared_ptr<Live> live;  ///< in place of a body
};

/// What a request brings: the parts of the path that are names, its body, and who sent it.
struct Call {
  std::string name;
  std::string part;  ///< of what has that name: a figure
  std::string_view body;
  std::string client;                                             ///< who asks
  std::string_view accept = {};                                   ///< the types of answers that it takes
  std::shared_ptr<Effort> effort = std::make_shared<Effort>();    ///< told of what it costs
  std::function<void(std::function<void()> act)> when_gone = {};  ///< has `act` called should the client hang up
};

class Api {
 public:
  /// `models`, `workers` and `metrics` must outlive it.
  Api(Models& models, Workers& workers, Metrics& metrics, const TurnOptions& turns, const Limits& limits);
  /// Who sends requests here is told to send them elsewhere (/readyz) while `stopping()`.
  void unready_when(std::function<bool()> stopping) { stopping_ = std::move(stopping); }
  /// All that was asked for and has not ended.
  CrowdsState requests() const;

  Reply health(const Call&) const;
  Reply ready(const Call&) const;
  Reply metrics(const Call&) const;
  Reply models(const Call&) const;
  Reply model(const Call& call) const;
  Reply curves(const Call& call) const;
  Reply gallery(const Call& call) const;
  Reply lab(const Call&) const;
  Reply story(const Call& call) const;
  Reply figure(const Call& call) const;
  Reply run(const Call& call) const;
  Reply explain(const Call& call) const;
  Reply load(const Call& call) const;
  Reply unload(const Call& call) const;

 private:
  using Compute = std::function<std::string(const Watch& watch)>;
  struct Asking;
  Reply computed(const Asking& asking, Compute compute) const;
  Reply streamed(const Asking& asking, Compute compute) const;
  Reply in_crowd(const Asking& asking, const std::shared_ptr<const ServedModel>& served,
                 const std::shared_ptr<const RunRequest>& request) const;
  Reply streamed_from_crowd(const Asking& asking, const std::shared_ptr<const ServedModel>& served,
                            const std::shared_ptr<const RunRequest>& request) const;
  void submit(const std::shared_ptr<Job>& job) const;
  Clock::time_point deadline(double seconds) const;
  Asking asking(const Call& call, bool is_long, double seconds = 0) const;

  Models& models_;
  Workers& workers_;
  const Metrics& metrics_;
  mutable Crowds crowds_;
  const Limits limits_;
  std::function<bool()> stopping_ = [] { return false; };
};

/// The table of endpoints; "{name}" in a path stands for one part of it, or for a model of the lab. The first that fits answers.
enum class Access { everyone, holders, watchers, admins };  ///< of a key; watchers: --open-metrics lets everyone in
struct Endpoint {
  std::string_view method, path;
  Reply (Api::*answer)(const Call&) const;
  Access access = Access::holders;
  bool quick = false;  ///< reads no file and computes nothing
};
std::span<const Endpoint> endpoints();

/// What a client is told of an error: a Refusal as it is, all else without its details, which are logged.
Reply reply_to(std::exception_ptr error);

}  // namespace attend::serve
