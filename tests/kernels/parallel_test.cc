#include "attend/kernels/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace attend::kernels {
namespace {

/// Runs a check with 1 … 4 threads and puts the setting back.
template <class Body>
void with_every_count(Body&& body) {
  const int before = threads();
  for (int count = 1; count <= 4; ++count) {
    SCOPED_TRACE(count);
    set_threads(count);
    EXPECT_EQ(threads(), count);
    body(count);
  }
  set_threads(before);
}

TEST(Parallel, EveryTaskRunsOnce) {
  with_every_count([](int) {
    for (size_t count : {0, 1, 2, 3, 7, 100, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      parallel_for(count, [&](size_t i) { runs[i].fetch_add(1); });
      for (const auto& r : runs) EXPECT_EQ(r.load(), 1);
    }
  });
}

TEST(Parallel, ManySmallLoopsAfterEachOther) {
  with_every_count([](int) {
    std::atomic<int64_t> sum{0};
    for (int round = 0; round < 5000; ++round) {
      parallel_for(4, [&](size_t i) { sum.fetch_add(static_cast<int64_t>(i)); });
    }
    EXPECT_EQ(sum.load(), 5000 * 6);
  });
}

TEST(Parallel, ALoopInsideALoopRunsAlone) {
  with_every_count([](int) {
    std::atomic<int> inner{0}, alone{0};
    parallel_for(8, [&](size_t) {
      alone += threads() == 1 && inside_parallel();
      parallel_for(5, [&](size_t) { inner.fetch_add(1); });
      parallel_team([&](const Team& team) { inner.fetch_add(team.size == 1 ? 0 : 1000); });
    });
    EXPECT_EQ(inner.load(), 40);
    EXPECT_EQ(alone.load(), threads() > 1 ? 8 : alone.load());
    EXPECT_FALSE(inside_parallel());
  });
}

TEST(Parallel, AnErrorReachesTheCaller) {
  with_every_count([](int) {
    std::atomic<int> runs{0};
    EXPECT_THROW(parallel_for(50,
                              [&](size_t i) {
                                runs.fetch_add(1);
                                if (i == 17) throw std::runtime_error("seventeen");
                              }),
                 std::runtime_error);
    EXPECT_GE(runs.load(), 18);
    std::atomic<int> after{0};
    parallel_for(10, [&](size_t) { after.fetch_add(1); });
    EXPECT_EQ(after.load(), 10);
  });
}

TEST(Parallel, ATeamWaitsForItsMembers) {
  with_every_count([](int count) {
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> before{0};
      std::vector<int> members(static_cast<size_t>(count), 0);
      std::atomic<bool> early{false};
      int size = 0;
      parallel_team([&](const Team& team) {
        members[static_cast<size_t>(team.member)] += 1;
        if (team.member == 0) size = team.size;
        for (int step = 1; step <= 20; ++step) {
          before.fetch_add(1);
          team.barrier();
          if (before.load() < step * team.size) early = true;
          team.barrier();
        }
      });
      ASSERT_GE(size, 1);
      ASSERT_LE(size, count);
      ASSERT_FALSE(early.load());
      for (int m = 0; m < count; ++m) ASSERT_EQ(members[static_cast<size_t>(m)], m < size ? 1 : 0);
    }
  });
}

TEST(Parallel, SeveralCallersAtOnce) {
  const int before = threads();
  set_threads(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        parallel_for(6, [&](size_t i) { sum.fetch_add(static_cast<int64_t>(i)); });
        parallel_team([&](const Team& team) {
          team.barrier();
          if (team.member == 0) sum.fetch_add(1);
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 500 * (15 + 1));
  set_threads(before);
}

}  // namespace
}  // namespace attend::kernels
