#include "serve/turns.h"

#include <algorithm>
#include <tuple>

namespace attend::serve {

template <class Wanted>
size_t Turns::count(Wanted&& wanted) const {
  const auto of = [&](const std::vector<Pointer>& jobs) {
    return std::ranges::count_if(jobs, [&](const Pointer& one) { return wanted(*one); });
  };
  return static_cast<size_t>(of(waiting_) + of(computing_));
}

size_t Turns::computing(bool is_long) const {
  return static_cast<size_t>(std::ranges::count(computing_, is_long, &Job::is_long));
}

size_t Turns::begun_long() const {
  return count([](const Job& one) { return one.begun && one.is_long && !one.is_crowd; });
}

size_t Turns::turns_for(bool is_long) const {
  if (!is_long) return options_.workers;
  return std::max<size_t>(1, options_.workers - std::min(options_.workers, computing(false)));
}

bool Turns::computes(const Job& job) const {
  return std::ranges::any_of(computing_, [&](const Pointer& one) { return one.get() == &job; });
}

size_t Turns::requests_of(const std::vector<Pointer>& jobs) const {
  return static_cast<size_t>(std::ranges::count(jobs, false, &Job::is_crowd));
}

bool Turns::has_place(const Job& job) const {
  if (job.is_crowd) return true;
  if (requests_of(waiting_) + requests_of(computing_) >= options_.places) return false;
  return !job.is_long ||
         count([](const Job& one) { return one.is_long && !one.is_crowd; }) < std::max<size_t>(1, options_.places / 2);
}

/// Takes the newest place from the client that has the most, if that is two more than this one's client has.
bool Turns::make_place(const Job& job, Pointer& displaced) {
  const auto places = [&](const std::string& client) {
    return count(
        [&](const Job& one) { return !one.is_crowd && one.client == client && (!job.is_long || one.is_long); });
  };
  size_t most = places(job.client) + 1;
  Place from = waiting_.end();
  for (Place at = waiting_.begin(); at != waiting_.end(); ++at) {
    if ((*at)->begun || (*at)->is_crowd || (job.is_long && !(*at)->is_long)) continue;
    const size_t own = places((*at)->client);
    if (own > most || (own == most && from != waiting_.end())) most = own, from = at;
  }
  if (from == waiting_.end()) return false;
  displaced = std::move(*from);
  waiting_.erase(from);
  return true;
}

bool Turns::enter(const Pointer& job, Pointer& displaced) {
  // Those that nobody waits for any more make room first.
  const auto gone = std::ranges::stable_partition(
      waiting_, [](const Pointer& one) { return one->begun || one->is_crowd || !one->cancelled; });
  const std::vector<Pointer> left(gone.begin(), gone.end());
  waiting_.erase(gone.begin(), gone.end());
  for (const Pointer& one : left) forget_if_gone(one->client);
  if (!has_place(*job) && !make_place(*job, displaced)) return false;
  waiting_.push_back(job);
  return true;
}

/// A long job that has begun holds memory until it ends.
bool Turns::may_compute(const Job& job) const {
  if (job.begun || !job.is_long || job.is_crowd) return true;
  const auto own = [&](const Job& one) { return one.begun && one.is_long && one.client == job.client; };
  return begun_long() < options_.most_long && count(own) < (options_.most_long + 1) / 2;
}

Turns::Place Turns::first_of(bool is_long) {
  const auto rank = [&](const Job& job) {
    const auto served = served_.find({job.client, is_long});
    // One that was cancelled has only to end, and frees its memory.
    return std::tuple(!job.cancelled, served == served_.end() ? 0 : served->second, job.used);
  };
  Place first = waiting_.end();
  for (Place at = waiting_.begin(); at != waiting_.end(); ++at) {
    if ((*at)->is_long != is_long || !may_compute(**at)) continue;
    if (first == waiting_.end() || rank(**at) < rank(**first)) first = at;
  }
  return first;
}

Turns::Pointer Turns::next() {
  for (const bool is_long : {false, true}) {
    if (computing(is_long) >= turns_for(is_long)) continue;
    const Place first = first_of(is_long);
    if (first == waiting_.end()) continue;
    Pointer job = std::move(*first);
    waiting_.erase(first);
    served_[{job->client, is_long}] = ++turns_;
    computing_.push_back(job);
    return job;
  }
  return nullptr;
}

bool Turns::over(const Pointer& job, Clock::duration time) {
  if (!job->is_long && time >= options_.brief && begun_long() < options_.most_long) job->is_long = true;
  if (!job->is_long) return false;
  const bool crowded = computing(true) > turns_for(true);
  const bool used_up = time >= options_.slice && first_of(true) != waiting_.end();
  if (!crowded && !used_up) return false;
  job->used += time;
  std::erase(computing_, job);
  waiting_.push_back(job);
  return true;
}

void Turns::leave(const Pointer& job) {
  std::erase(computing_, job);
  forget_if_gone(job->client);
}

void Turns::forget_if_gone(const std::string& client) {
  if (count([&](const Job& one) { return one.client == client; }) > 0) return;
  served_.erase({client, false});
  served_.erase({client, true});
}

}  // namespace attend::serve
