#include "attend/kernels/parallel.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace attend::kernels {
namespace {

thread_local bool inside = false;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Rounds of `pause` (tens of nanoseconds each) that a waiting thread spins before it yields to other programs.
constexpr int kSpins = 4000;

/// Waits until `done`: first without giving up the core, as it rarely takes long, then yielding.
template <class Done>
void wait_until(Done&& done) {
  for (int i = 0; !done(); ++i) {
    if (i < kSpins) {
      pause();
    } else {
      sched_yield();
    }
  }
}

/// One parallel loop or team.
struct Job {
  // A loop: tasks are numbered and handed out one by one.
  detail::Task task = nullptr;
  detail::TeamTask team_task = nullptr;
  void* context = nullptr;
  size_t count = 0;
  std::atomic<size_t> next{0};
  // A team: how many joined, once that is settled; and who waits at its barrier.
  std::atomic<int> size{0}, arrived{0}, phase{0};
  std::mutex error_mutex;
  std::exception_ptr error;

  void run_tasks() {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        task(context, i);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  }
};

/// The job whose team this thread is in, for its barrier.
thread_local Job* team_job = nullptr;

/// Workers that wait for jobs. One job at a time: a caller that finds the pool taken does its work alone.
///
/// Why not OpenMP: the end of its regions waits for every thread of the team, even for one that got no core because
/// another program has it, and that finds nothing left to do when it arrives. Here the caller closes the door when the
/// work is done; a late worker finds it closed and costs nothing. With one other busy program on two cores, training
/// steps took 4 times as long with OpenMP.
class Pool {
 public:
  static Pool& instance() {
    static Pool pool;
    return pool;
  }

  int limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int count) { limit_.store(std::max(1, count), std::memory_order_relaxed); }

  /// True if the caller now owns the pool.
  bool claim() { return !taken_.test_and_set(std::memory_order_acquire); }
  void release() { taken_.clear(std::memory_order_release); }

  void run_tasks(Job& job) {
    open(job);
    inside = true;
    job.run_tasks();
    inside = false;
    close();
    wait_until([&] { return (door_.load(std::memory_order_acquire) & kInside) == 0; });
  }

  void run_team(Job& job) {
    const bool asleep = sleepers_.load(std::memory_order_relaxed) > 0;
    open(job);
    const uint64_t needed = static_cast<uint64_t>(limit() - 1);
    const auto came = [&] { return door_.load(std::memory_order_acquire) & kInside; };
    for (int i = 0; came() < needed && i < (asleep ? 20 * kJoinSpins : kJoinSpins); ++i) pause();
    close();
    const int size = static_cast<int>(came()) + 1;
    job.size.store(size, std::memory_order_release);
    run_member(job, 0, size);
    wait_until([&] { return came() == 0; });
  }

  ~Pool() {
    stopping_.store(true);
    wake();
    for (std::thread& worker : workers_) worker.join();
  }

 private:
  // The door: how many workers are inside, whether it is open, and which job it is for (so that nobody enters one
  // twice).
  static constexpr uint64_t kInside = 0xffff, kOpen = 0x10000, kJob = 0x20000;
  // How long a team waits for workers that are awake: a few microseconds. One that has not arrived by then has no core.
  static constexpr int kJoinSpins = 200;

  Pool() : limit_(omp_get_max_threads()) {}

  static void run_member(Job& job, int member, int size) {
    inside = true;
    team_job = &job;
    job.team_task(job.context, Team{member, size});
    team_job = nullptr;
    inside = false;
  }

  void open(Job& job) {
    while (static_cast<int>(workers_.size()) < limit() - 1) workers_.emplace_back([this] { work(); });
    job_.store(&job, std::memory_order_relaxed);
    uint64_t door = door_.load(std::memory_order_relaxed);
    door_.store((door & ~(kInside | kOpen)) + (kJob | kOpen), std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) wake();
  }
  void close() { door_.fetch_and(~kOpen, std::memory_order_acq_rel); }

  void wake() {
    calls_.fetch_add(1, std::memory_order_seq_cst);
    calls_.notify_all();
  }

  static bool new_to(uint64_t seen, uint64_t door) { return (door & kOpen) && (door & ~(kInside | kOpen)) != seen; }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      uint64_t door = wait_for_job(seen);
      if (stopping_.load()) return;
      if (!new_to(seen, door)) continue;
      const uint64_t before = door & kInside;
      if (before + 1 >= static_cast<uint64_t>(limit())) {
        seen = door & ~(kInside | kOpen);  // enough have joined
        continue;
      }
      if (!door_.compare_exchange_weak(door, door + 1, std::memory_order_acq_rel)) continue;
      seen = door & ~(kInside | kOpen);
      Job& job = *job_.load(std::memory_order_relaxed);
      if (job.team_task) {
        wait_until([&] { return job.size.load(std::memory_order_acquire) > 0; });
        run_member(job, static_cast<int>(before) + 1, job.size.load(std::memory_order_relaxed));
      } else {
        inside = true;
        job.run_tasks();
        inside = false;
      }
      door_.fetch_sub(1, std::memory_order_release);
    }
  }

  /// The door, once it is open for a job that is not `seen`, or after waking up. Spins for a while, then sleeps.
  uint64_t wait_for_job(uint64_t seen) {
    for (int i = 0; i < kSpins; ++i) {
      const uint64_t door = door_.load(std::memory_order_acquire);
      if (new_to(seen, door) || stopping_.load(std::memory_order_relaxed)) return door;
      pause();
    }
    const uint32_t calls = calls_.load(std::memory_order_seq_cst);
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    const uint64_t door = door_.load(std::memory_order_seq_cst);
    if (!new_to(seen, door) && !stopping_.load()) calls_.wait(calls);
    sleepers_.fetch_sub(1, std::memory_order_seq_cst);
    return door_.load(std::memory_order_acquire);
  }

  std::atomic<int> limit_;
  std::atomic_flag taken_;
  std::atomic<Job*> job_{nullptr};
  alignas(64) std::atomic<uint64_t> door_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<uint32_t> calls_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

/// The pool for one job, or nothing if another thread has it.
class Claim {
 public:
  Claim() : pool_(Pool::instance().claim() ? &Pool::instance() : nullptr) {}
  ~Claim() {
    if (pool_) pool_->release();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  Pool* operator->() const { return pool_; }
  explicit operator bool() const { return pool_ != nullptr; }

 private:
  Pool* pool_;
};

}  // namespace

int threads() { return inside ? 1 : Pool::instance().limit(); }
void set_threads(int count) {
  count = std::clamp(count, 1, kMostThreads);
  Pool::instance().set_limit(count);
  omp_set_num_threads(count);  // oneDNN's
}
bool inside_parallel() { return inside; }

namespace detail {

void run_tasks(size_t count, Task task, void* context) {
  if (threads() > 1) {
    if (const Claim pool; pool) {
      Job job;
      job.task = task, job.context = context, job.count = count;
      pool->run_tasks(job);
      if (job.error) std::rethrow_exception(job.error);
      return;
    }
  }
  for (size_t i = 0; i < count; ++i) task(context, i);
}

void run_team(TeamTask task, void* context) {
  if (threads() > 1) {
    if (const Claim pool; pool) {
      Job job;
      job.team_task = task, job.context = context;
      return pool->run_team(job);
    }
  }
  task(context, Team{});
}

}  // namespace detail

void Team::barrier() const {
  if (size == 1) return;
  Job& job = *team_job;
  const int phase = job.phase.load(std::memory_order_relaxed);
  if (job.arrived.fetch_add(1, std::memory_order_acq_rel) == size - 1) {
    job.arrived.store(0, std::memory_order_relaxed);
    job.phase.store(phase + 1, std::memory_order_release);
    return;
  }
  wait_until([&] { return job.phase.load(std::memory_order_acquire) != phase; });
}

}  // namespace attend::kernels
