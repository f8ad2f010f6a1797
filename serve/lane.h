// Requests for words to one model that are computed together, step by step: one that ends leaves, one that comes joins at the next
// step, and each finds what it would have found alone, to the bit (kernels::SteadyRows). Knows no threads: whoever's turn it is
// calls turn().
//
// Who joins next: clients one after the other, first those with the fewest hypotheses in the crowd, and of one client's requests the
// one with the fewest searches in it. Hypotheses at once are bounded by the time that a step may take; a client that has none there
// may add some beyond that, so that nobody waits for somebody else's request to end.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "attend/decode/crowd.h"
#include "attend/kernels/gemm.h"
#include "attend/tasks/model.h"
#include "serve/clock.h"
#include "serve/turns.h"

namespace attend::serve {

/// Why nobody wants an answer any more: it took too long, the server stops, or its place was given to another client.
struct Cancelled {
  bool stopping = false, displaced = false;
};

/// One request: texts in pieces, each of which is searched by itself.
struct CrowdRequest {
  std::shared_ptr<Job> job;  ///< who asks; cancelled by whoever no longer wants it
  std::vector<tasks::TaskModel::Piece> pieces;
  size_t examples = 0;
  tasks::AnswerOptions options;
  /// Told of the likeliest beginning of the first piece after each step, where somebody wants to know; what it throws ends it.
  std::function<void(const std::vector<int32_t>& tokens)> partial;
  /// Told once, when its first search joins; must neither wait nor throw. May be empty.
  std::function<void()> starts;
  /// Told once, on the thread that computes: all is found, or why not.
  std::function<void(CrowdRequest& request, std::exception_ptr error)> done;
  std::vector<std::vector<decode::Hypothesis>> found;  ///< by piece
  std::atomic<bool> begun{false};

  // Of its lane.
  size_t next = 0, open = 0;  // the next piece to be searched, and searches that are being made
};

struct LaneOptions {
  size_t most_begun = 0;  ///< requests that have begun, of which one client has half; 0: any number
  Clock::duration slice = std::chrono::milliseconds(25);
  std::function<void(int64_t rows)>
      stepped;  ///< told after each step for how many hypotheses it was computed; may be empty
};

/// What a lane has done and does now.
struct LaneState {
  int64_t rows = 0;               ///< hypotheses that a step is computed for
  int64_t computing = 0;          ///< requests with a search in the crowd
  int64_t waiting = 0;            ///< requests without one
  int64_t steps = 0, joined = 0;  ///< so far: steps, and searches that joined
  int64_t row_steps = 0;          ///< so far: hypotheses × steps, which is about tokens
};

class Lane {
 public:
  using Pointer = std::shared_ptr<CrowdRequest>;

  /// The model must outlive it.
  explicit Lane(const tasks::TaskModel& model);
  ~Lane();

  /// Any thread. True: nobody calls turn() yet, and somebody has to.
  bool add(const Pointer& request);
  /// Takes one out that has not begun; false where it has.
  bool take_out(const CrowdRequest& request);
  /// Computes for about a slice, unless `driver` is cancelled, which ends all. False: nothing is left to do.
  bool turn(const Job& driver, const LaneOptions& options, const Now& now);
  /// Ends all.
  void give_up(const Cancelled& why);
  LaneState state() const;

 private:
  /// A search in the crowd.
  struct Open {
    Pointer request;
    size_t piece = 0, width = 0;
    std::unique_ptr<decode::Constraint> constraint;
  };

  bool fits(size_t width, size_t of_client) const;
  size_t width_of(const CrowdRequest& request) const;
  bool may_begin(const CrowdRequest& request, const LaneOptions& options) const;
  Pointer next_request(const LaneOptions& options);
  std::vector<Open> admitted(const LaneOptions& options);
  void begin(std::vector<Open> newcomers);
  void begin_together(std::vector<Open>& newcomers);
  void step(const LaneOptions& options);
  void tell_partials();
  void drop_cancelled();
  void close(int64_t number);
  void release(const Open& one);
  void leave(const CrowdRequest& request);
  void finish(const Pointer& request, std::exception_ptr error);
  void note_state();

  const tasks::TaskModel& model_;
  const size_t most_rows_;
  const int64_t most_tokens_;  // that are read at once
  std::mutex computing_;       // a turn begins when the one before it is over

  // Of the turn.
  decode::Crowd crowd_;
  kernels::PackedWeights packed_;
  std::map<int64_t, Open> open_;           // by number in the crowd
  std::map<std::string, size_t> rows_of_;  // by client: widths of its open searches
  size_t rows_ = 0;                        // of all

  mutable std::mutex mutex_;
  std::vector<Pointer> requests_;           // in the order in which they came
  std::map<std::string, uint64_t> served_;  // by client: number of its last turn to join
  uint64_t turns_ = 0;
  bool driven_ = false;
  LaneState state_;
};

}  // namespace attend::serve
