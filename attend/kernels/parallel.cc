#include "attend/kernels/parallel.h"

#include <omp.h>

#include <exception>

namespace attend::kernels {

int threads() { return omp_in_parallel() ? 1 : omp_get_max_threads(); }
void set_threads(int count) { omp_set_num_threads(count < 1 ? 1 : count); }
bool inside_parallel() { return omp_in_parallel() != 0; }

namespace detail {
namespace {

// An exception must not leave an OpenMP region: the first one is kept and thrown again outside.
class FirstError {
 public:
  void keep() {
#pragma omp critical(attend_first_error)
    if (!error_) error_ = std::current_exception();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace

void run_tasks(size_t count, Task task, void* context) {
  if (threads() == 1) {
    for (size_t i = 0; i < count; ++i) task(context, i);
    return;
  }
  FirstError error;
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < count; ++i) {
    try {
      task(context, i);
    } catch (...) {
      error.keep();
    }
  }
  error.rethrow();
}

void run_team(TeamTask task, void* context) {
  if (threads() == 1) return task(context, Team{});
#pragma omp parallel
  task(context, Team{omp_get_thread_num(), omp_get_num_threads()});
}

}  // namespace detail

void Team::barrier() const {
  if (size == 1) return;
#pragma omp barrier
}

}  // namespace attend::kernels
