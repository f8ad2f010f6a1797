// Whose turn it is to compute. Knows no threads and no clock: its owner has a lock, and says how long a job has computed.
//
// A short request never waits for a long one: it begins as soon as one of `workers` has no short one, and long ones compute in
// what is left, but always one of them, so that nobody is starved. Long ones take turns of a slice; a short one that computes for
// longer than that is expected to becomes a long one. Who is next: clients one after the other, and of one client's jobs the one
// that has computed least.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/clock.h"

namespace attend::serve {

/// Something to compute. Whoever no longer wants it cancels it: it then ends where it next asks, first of all when it begins.
struct Job {
  std::function<void()> run;  ///< must not throw
  std::string client;         ///< who asked for it
  bool is_long = false;
  bool is_crowd = false;  ///< of many requests, which wait elsewhere: it has a place beyond those that there are
  std::atomic<bool> cancelled{false};
  std::atomic<bool> stopping{false};   ///< cancelled as the server stops
  std::atomic<bool> displaced{false};  ///< cancelled before it began, as another client had no place

  // Of its owner.
  bool begun = false;
  Clock::duration used{0};       ///< time that it has computed in the turns before this one
  Clock::time_point since = {};  ///< when its turn began
};

struct TurnOptions {
  size_t workers = 1;    ///< jobs that compute at once (and one more where all of these are short and a long one waits)
  size_t places = 65;    ///< jobs that compute or wait; long ones have half of them
  size_t most_long = 8;  ///< long jobs that have begun, whose state is in memory; one client has half of them
  Clock::duration slice = std::chrono::milliseconds(25);   ///< of a long job, while others wait
  Clock::duration brief = std::chrono::milliseconds(100);  ///< a job that has computed for so long is a long one
};

class Turns {
 public:
  using Pointer = std::shared_ptr<Job>;

  explicit Turns(const TurnOptions& options) : options_(options) {}

  /// False if there is no place for it. A client with far fewer places than another takes one over: `displaced` is who had
  /// it, and has not begun.
  bool enter(const Pointer& job, Pointer& displaced);
  /// Who computes from now on, until it leaves or its turn is over; null if all turns are taken, or nobody waits.
  Pointer next();
  /// Asked by a job that has computed for `time` in this turn. True: the turn is over, and the job waits for another.
  bool over(const Pointer& job, Clock::duration time);
  void leave(const Pointer& job);

  bool computes(const Job& job) const;
  const std::vector<Pointer>& computing() const { return computing_; }
  const std::vector<Pointer>& waiting() const { return waiting_; }
  /// How many of these are single requests.
  size_t requests_of(const std::vector<Pointer>& jobs) const;

 private:
  using Place = std::vector<Pointer>::iterator;

  size_t computing(bool is_long) const;
  size_t turns_for(bool is_long) const;
  /// Of all jobs, computing or not, those for which `wanted(job)`.
  template <class Wanted>
  size_t count(Wanted&& wanted) const;
  size_t begun_long() const;
  bool may_compute(const Job& job) const;
  Place first_of(bool is_long);
  bool has_place(const Job& job) const;
  bool make_place(const Job& job, Pointer& displaced);
  void forget_if_gone(const std::string& client);

  const TurnOptions options_;
  std::vector<Pointer> waiting_, computing_;
  std::map<std::pair<std::string, bool>, uint64_t> served_;  // by client and is_long: number of its last turn
  uint64_t turns_ = 0;
};

}  // namespace attend::serve
