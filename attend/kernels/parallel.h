// Threads: one pool. Work is split into tasks whose results do not depend on the thread that runs them, so that any
// number of threads gives the same bits.
#pragma once

#include <cstddef>
#include <type_traits>

namespace attend::kernels {

/// How many threads a parallel loop may use: set by `OMP_NUM_THREADS`, by the machine, or by the last `set_threads`.
int threads();
/// Counts outside of 1 … kMostThreads become the nearest of these.
void set_threads(int count);
/// More than most machines have; each costs a stack.
inline constexpr int kMostThreads = 1024;

/// True inside a parallel loop; a loop started there runs on the calling thread alone.
bool inside_parallel();

namespace detail {
using Task = void (*)(void* context, size_t task);
void run_tasks(size_t count, Task task, void* context);
}  // namespace detail

/// One of `size` threads that run the same function at the same time and may wait for each other.
struct Team {
  int member = 0;
  int size = 1;
  void barrier() const;
};

namespace detail {
using TeamTask = void (*)(void* context, const Team& team);
void run_team(TeamTask task, void* context);
}  // namespace detail

/// Runs `body(task)` for every task in [0, count), in any order and on any thread.
template <class Body>
void parallel_for(size_t count, Body&& body) {
  if (count == 0) return;
  if (count == 1) return body(size_t{0});
  using B = std::remove_reference_t<Body>;
  detail::run_tasks(
      count, [](void* context, size_t task) { (*static_cast<B*>(context))(task); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Runs `body(begin, end)` over [0, count) in pieces of at least `grain` elements, each a multiple of kMultiple.
template <size_t kMultiple = 64, class Body>
void parallel_ranges(size_t count, size_t grain, Body&& body) {
  if (count <= grain || threads() == 1) {
    if (count > 0) body(size_t{0}, count);
    return;
  }
  size_t pieces = static_cast<size_t>(threads()) * 4;
  size_t size = (count + pieces - 1) / pieces;
  if (size < grain) size = grain;
  size = (size + kMultiple - 1) / kMultiple * kMultiple;
  parallel_for((count + size - 1) / size, [&](size_t task) {
    const size_t begin = task * size;
    body(begin, begin + size < count ? begin + size : count);
  });
}

/// Runs `body(team)` on every thread at once (on the calling thread alone inside a parallel loop). It must not throw.
template <class Body>
void parallel_team(Body&& body) {
  using B = std::remove_reference_t<Body>;
  detail::run_team([](void* context, const Team& team) { (*static_cast<B*>(context))(team); },
                   const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace attend::kernels
