#include "serve/lane.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "attend/autograd/tape.h"

namespace attend::serve {
namespace {

constexpr int64_t kWorkOfStep = int64_t{1} << 29;  // parameters × hypotheses of a step: some 10 ms of a core
constexpr int64_t kFewestRows = 16, kMostRows = 256;
constexpr int64_t kFewestTokens = 64, kMostTokens = 2048;  // that are read at once, with padding

/// So many as keep the work of a step within its bound.
int64_t within(int64_t work, int64_t parameters, int64_t fewest, int64_t most) {
  return std::clamp(work / std::max<int64_t>(1, parameters), fewest, most);
}

}  // namespace

Lane::Lane(const tasks::TaskModel& model)
    : model_(model),
      most_rows_(static_cast<size_t>(within(kWorkOfStep, model.parameters(), kFewestRows, kMostRows))),
      most_tokens_(within(2 * kWorkOfStep, model.parameters(), kFewestTokens, kMostTokens)),
      crowd_(model.model()),
      packed_(kernels::PackedWeights::Closed{}) {}

Lane::~Lane() = default;

bool Lane::add(const Pointer& request) {
  request->found.resize(request->pieces.size());
  const std::lock_guard lock(mutex_);
  requests_.push_back(request);
  ++state_.waiting;
  return !std::exchange(driven_, true);
}

bool Lane::take_out(const CrowdRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(requests_, [&](const Pointer& one) { return one.get() == &request; });
  if (at == requests_.end() || (*at)->begun) return false;
  requests_.erase(at);
  --state_.waiting;
  return true;
}

LaneState Lane::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void Lane::note_state() {
  const std::lock_guard lock(mutex_);
  state_.rows = crowd_.rows();
  state_.computing = std::ranges::count_if(requests_, [](const Pointer& one) { return one->begun.load(); });
  state_.waiting = static_cast<int64_t>(requests_.size()) - state_.computing;
}

size_t Lane::width_of(const CrowdRequest& request) const {
  const decode::SearchOptions search = model_.output().search(request.options.search);
  return static_cast<size_t>(search.sample ? search.n_best : search.beam);
}

bool Lane::fits(size_t width, size_t of_client) const {
  if (rows_ == 0 || rows_ + width <= most_rows_) return true;
  return of_client == 0 && rows_ + width <= 2 * most_rows_;
}

/// One that has begun keeps its state until it ends.
bool Lane::may_begin(const CrowdRequest& request, const LaneOptions& options) const {
  if (options.most_begun == 0 || request.begun) return true;
  const auto begun = std::ranges::count_if(requests_, [](const Pointer& one) { return one->begun.load(); });
  const auto own = std::ranges::count_if(
      requests_, [&](const Pointer& one) { return one->begun && one->job->client == request.job->client; });
  return begun < static_cast<std::ptrdiff_t>(options.most_begun) &&
         own < static_cast<std::ptrdiff_t>((options.most_begun + 1) / 2);
}

/// Whose piece joins next; null: nobody's fits.
Lane::Pointer Lane::next_request(const LaneOptions& options) {
  Pointer first;
  std::tuple<size_t, uint64_t, size_t> best;
  for (const Pointer& one : requests_) {
    if (one->next == one->pieces.size() || !may_begin(*one, options)) continue;
    const auto rows = rows_of_.find(one->job->client);
    const size_t own = rows == rows_of_.end() ? 0 : rows->second;
    if (!fits(width_of(*one), own)) continue;
    const auto served = served_.find(one->job->client);
    const std::tuple rank(own, served == served_.end() ? 0 : served->second, one->open);
    if (!first || rank < best) first = one, best = rank;
  }
  return first;
}

/// Those that join now, within what may be read at once.
std::vector<Lane::Open> Lane::admitted(const LaneOptions& options) {
  std::vector<Open> newcomers;
  std::vector<Pointer> over;  // what is empty needs no search
  int64_t longest = 1;
  {
    const std::lock_guard lock(mutex_);
    for (const Pointer& one : requests_) {
      while (one->next < one->pieces.size() && one->pieces[one->next].ready.is_empty()) ++one->next;
      if (one->next == one->pieces.size() && one->open == 0) over.push_back(one);
    }
    while (const Pointer request = next_request(options)) {
      longest = std::max(longest, request->pieces[request->next].size);
      if (!newcomers.empty() && longest * static_cast<int64_t>(newcomers.size() + 1) > most_tokens_) break;
      const size_t width = width_of(*request);
      newcomers.push_back({request, request->next++, width, nullptr});
      while (request->next < request->pieces.size() && request->pieces[request->next].ready.is_empty()) ++request->next;
      ++request->open;
      if (!request->begun.exchange(true) && request->starts) request->starts();
      rows_ += width, rows_of_[request->job->client] += width;
      served_[request->job->client] = ++turns_;
    }
    state_.joined += static_cast<int64_t>(newcomers.size());
  }
  for (const Pointer& one : over) finish(one, nullptr);
  return newcomers;
}

void Lane::begin_together(std::vector<Open>& newcomers) {
  std::vector<const tasks::Ready*> ready;
  for (const Open& one : newcomers) ready.push_back(&one.request->pieces[one.piece].ready);
  const data::Source source = model_.source(ready);
  std::vector<decode::Crowd::Search> searches;
  for (size_t i = 0; i < newcomers.size(); ++i) {
    Open& one = newcomers[i];
    const tasks::TaskModel::Piece& piece = one.request->pieces[one.piece];
    one.constraint = model_.output().constraint(std::array{ready[i]});
    decode::Wanted wanted{.options = model_.output().search(one.request->options.search),
                          .constraint = one.constraint.get()};
    wanted.options.first_sentence += piece.number();
    if (!piece.prefix.empty()) wanted.prefixes.push_back(piece.prefix);
    searches.push_back(decode::search_for(model_.model(), source, static_cast<int64_t>(i), 1, wanted));
  }
  const std::vector<int64_t> numbers = crowd_.join(source, std::move(searches));
  for (size_t i = 0; i < newcomers.size(); ++i) open_[numbers[i]] = std::move(newcomers[i]);
}

/// What goes wrong with one of several is found by beginning each alone.
void Lane::begin(std::vector<Open> newcomers) {
  if (newcomers.empty()) return;
  try {
    return begin_together(newcomers);
  } catch (...) {
    if (newcomers.size() == 1) {
      release(newcomers[0]);
      leave(*newcomers[0].request);
      return finish(newcomers[0].request, std::current_exception());
    }
  }
  for (Open& one : newcomers) {
    std::vector<Open> alone;
    alone.push_back(std::move(one));
    begin(std::move(alone));
  }
}

/// A search is over.
void Lane::close(int64_t number) {
  const auto at = open_.find(number);
  if (at == open_.end()) return;
  release(at->second);
  open_.erase(at);
}

void Lane::release(const Open& one) {
  rows_ -= one.width;
  const auto rows = rows_of_.find(one.request->job->client);
  if ((rows->second -= one.width) == 0) rows_of_.erase(rows);
  --one.request->open;
}

/// None of its searches goes on.
void Lane::leave(const CrowdRequest& request) {
  std::vector<int64_t> numbers;
  for (const auto& [number, one] : open_) {
    if (one.request.get() == &request) numbers.push_back(number);
  }
  for (const int64_t number : numbers) crowd_.leave(number), close(number);
}

void Lane::finish(const Pointer& request, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    if (std::erase(requests_, request) == 0) return;
    const auto same = [&](const Pointer& one) { return one->job->client == request->job->client; };
    if (std::ranges::none_of(requests_, same)) served_.erase(request->job->client);
  }
  request->done(*request, std::move(error));
}

void Lane::drop_cancelled() {
  std::vector<Pointer> cancelled;
  {
    const std::lock_guard lock(mutex_);
    for (const Pointer& one : requests_) {
      if (one->job->cancelled) cancelled.push_back(one);
    }
  }
  for (const Pointer& one : cancelled) {
    leave(*one);
    finish(one, std::make_exception_ptr(Cancelled{.stopping = one->job->stopping, .displaced = one->job->displaced}));
  }
}

void Lane::tell_partials() {
  for (auto at = open_.begin(); at != open_.end();) {
    const Pointer request = at->second.request;
    const int64_t number = at->first;
    ++at;
    if (!request->partial || request->pieces.size() > 1) continue;
    try {
      request->partial(crowd_.likeliest(number));
    } catch (...) {
      close(number);
      crowd_.leave(number);
      finish(request, std::current_exception());
    }
  }
}

void Lane::step(const LaneOptions& options) {
  const int64_t rows = crowd_.rows();
  crowd_.step();
  if (options.stepped) options.stepped(rows);
  {
    const std::lock_guard lock(mutex_);
    ++state_.steps, state_.row_steps += rows;
  }
  for (decode::Crowd::Found& one : crowd_.found()) {
    const auto at = open_.find(one.number);
    if (at == open_.end()) continue;
    const Pointer request = at->second.request;
    const size_t piece = at->second.piece;
    close(one.number);
    if (one.error) {
      leave(*request);
      finish(request, one.error);
      continue;
    }
    request->found[piece] = std::move(one.answers.at(0));
    if (request->open == 0 && request->next == request->pieces.size()) finish(request, nullptr);
  }
  tell_partials();
}

bool Lane::turn(const Job& driver, const LaneOptions& options, const Now& now) {
  const std::lock_guard turn(computing_);
  const TapePause pause;
  const kernels::SteadyRows steady;
  const kernels::PackedWeights::Use kept(packed_);
  const Clock::time_point begun = now();
  for (bool first = true; first || now() - begun < options.slice; first = false) {
    if (driver.cancelled) {
      give_up({.stopping = driver.stopping});
    } else {
      drop_cancelled();
      begin(admitted(options));
      note_state();
      if (crowd_.rows() > 0) step(options);
    }
    const std::lock_guard lock(mutex_);
    if (!requests_.empty()) continue;
    state_.rows = state_.computing = state_.waiting = 0;
    driven_ = false;
    return false;
  }
  return true;
}

void Lane::give_up(const Cancelled& why) {
  std::vector<Pointer> all;
  {
    const std::lock_guard lock(mutex_);
    all = requests_;
  }
  for (const Pointer& one : all) {
    leave(*one);
    finish(one, std::make_exception_ptr(why));
  }
}

}  // namespace attend::serve
