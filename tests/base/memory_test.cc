#include "attend/base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "attend/base/error.h"
#include "attend/base/memory_limit.h"

namespace attend::memory {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooled = false;  // there every block comes from the system, so that the sanitizer sees its end
#else
constexpr bool kPooled = true;
#endif

constexpr size_t kSizes[] = {0, 1, 63, 64, 65, 100, 4096, 65'535, 65'536, 65'537, 1'000'000, size_t{5} << 20};

TEST(Memory, BlocksAreAlignedAndWritableToTheEnd) {
  for (const size_t size : kSizes) {
    const Handle handle(size);
    ASSERT_NE(handle.bytes(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(handle.bytes()) % 64, 0u) << size;
    std::memset(handle.bytes(), 0xAB, size);
  }
}

TEST(Memory, AFreedBlockServesTheNextOfItsSize) {
  if (!kPooled) return;
  for (const size_t size : kSizes) {
    const std::byte* first = Handle(size).bytes();
    EXPECT_EQ(Handle(size).bytes(), first) << size;
  }
}

TEST(Memory, LiveBlocksDoNotOverlap) {
  std::vector<Handle> handles;
  for (int round = 0; round < 2; ++round) {
    for (const size_t size : kSizes) {
      handles.emplace_back(size);
      std::memset(handles.back().bytes(), static_cast<int>(handles.size()), size);
    }
  }
  for (size_t i = 0; i < handles.size(); ++i) {
    const size_t size = kSizes[i % std::size(kSizes)];
    for (size_t at = 0; at < size; at += 61) ASSERT_EQ(static_cast<size_t>(handles[i].bytes()[at]), i + 1);
  }
}

TEST(Memory, AtMostAFifthOfABlockIsUnused) {
  for (size_t size = 64; size < (size_t{1} << 22); size = size * 9 / 8 + 1) {
    const size_t before = usage().in_use;
    const Handle handle(size);
    const size_t taken = usage().in_use - before;
    EXPECT_GE(taken, size);
    EXPECT_LE(static_cast<double>(taken), 1.25 * static_cast<double>(size) + 1) << size;
  }
}

TEST(Memory, HandlesShareABlockAndTheLastOneFreesIt) {
  const size_t before = usage().in_use;
  {
    Handle first(1000);
    EXPECT_TRUE(first.unique());
    Handle second = first;
    EXPECT_FALSE(first.unique());
    EXPECT_EQ(first.bytes(), second.bytes());
    const Handle moved = std::move(first);
    EXPECT_EQ(moved.bytes(), second.bytes());
    EXPECT_EQ(first.bytes(), nullptr);  // NOLINT: a moved-from handle is empty
    second = Handle();
    EXPECT_TRUE(moved.unique());
    EXPECT_GT(usage().in_use, before);
  }
  EXPECT_EQ(usage().in_use, before);
}

TEST(Memory, ThePeakIsTheMostInUseAtOnce) {
  reset_peak();
  const size_t before = usage().in_use;
  EXPECT_EQ(usage().peak, before);
  {
    const Handle a(size_t{1} << 20);
    { const Handle b(size_t{1} << 20); }
    const Handle c(size_t{1} << 20);
  }
  EXPECT_EQ(usage().in_use, before);
  EXPECT_EQ(usage().peak - before, size_t{2} << 20);
  reset_peak();
  EXPECT_EQ(usage().peak, before);
}

TEST(Memory, BatchesOfAllSizesLeaveNoMoreThanTheLargestNeedsHalfAgain) {
  trim();
  reset_peak();
  const size_t before = usage().in_use;
  for (size_t round = 0; round < 2; ++round) {
    for (size_t mebibytes = 2; mebibytes <= 128; mebibytes += 2) {
      const Handle logits(mebibytes << 20), gradient(mebibytes << 20);
      const Usage now = usage();
      EXPECT_GE(now.in_use - before, mebibytes << 21);
      EXPECT_LE(now.in_use + now.cached, now.peak + now.peak / 2 + (size_t{64} << 20)) << mebibytes << " MiB";
    }
  }
  EXPECT_EQ(usage().in_use, before);
}

/// Bytes of this process that lie in memory, as the system counts.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t pages = 0;
  file >> pages >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Memory, TrimGivesTheReserveBack) {
  constexpr size_t kLarge = size_t{64} << 20;
  {
    const Handle large(kLarge);
    std::memset(large.bytes(), 1, kLarge);
  }
  const Usage before = usage();
  const size_t resident_before = resident();
  EXPECT_TRUE(!kPooled || before.cached >= kLarge);
  trim();
  EXPECT_EQ(usage().in_use, before.in_use);
  if (kPooled) {
    EXPECT_LE(usage().cached + kLarge, before.cached);
    EXPECT_LE(resident() + kLarge / 2, resident_before);
  }
  const Handle again(kLarge);
  std::memset(again.bytes(), 1, kLarge);
}

TEST(Memory, RefusesAbsurdSizes) {
  const Usage before = usage();
  EXPECT_THROW(Handle(SIZE_MAX), Error);
  EXPECT_THROW(Handle((size_t{1} << 46) + 1), Error);
  EXPECT_EQ(usage().in_use, before.in_use);
  EXPECT_EQ(usage().peak, before.peak);
}

#if !defined(__SANITIZE_ADDRESS__)  // which needs the address space that this test takes away
TEST(Memory, SaysSoWhenTheSystemHasNoMore) {
  const Usage before = usage();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit tight{size_t{2} << 30, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  EXPECT_THROW(Handle(size_t{4} << 30), Error);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_EQ(usage().in_use, before.in_use);
  EXPECT_EQ(usage().peak, before.peak);
}

TEST(Memory, TakesFromTheReserveBeforeItSaysSo) {
  trim();
  constexpr size_t kLarge = size_t{600} << 20;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit tight{pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + kLarge * 3 / 2, limit.rlim_max};
  { const Handle first(kLarge); }
  ASSERT_GE(usage().cached, kLarge);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  EXPECT_NO_THROW(Handle(kLarge * 5 / 4)) << "of another size: both together do not fit";
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}
#endif

TEST(Memory, ScratchHoldsThatManyNumbers) {
  const size_t before = usage().in_use;
  {
    const Scratch scratch(1000);
    for (size_t i = 0; i < 1000; ++i) scratch.data()[i] = static_cast<real>(i);
    EXPECT_GE(usage().in_use - before, 1000 * sizeof(real));
  }
  EXPECT_EQ(usage().in_use, before);
}

/// Takes and gives back blocks at random, each filled with its owner's mark; false if a mark was overwritten.
bool churn(unsigned char mark, int rounds) {
  std::minstd_rand random(mark);
  std::vector<std::pair<Handle, size_t>> held;
  bool intact = true;
  for (int i = 0; i < rounds; ++i) {
    if (held.size() < 20 || random() % 2 == 0) {
      const size_t size = 1 + random() % (random() % 8 == 0 ? 200'000 : 2'000);
      held.emplace_back(Handle(size), size);
      std::memset(held.back().first.bytes(), mark, size);
    } else {
      const size_t which = random() % held.size();
      const auto& [handle, size] = held[which];
      intact = intact && handle.bytes()[0] == std::byte{mark} && handle.bytes()[size - 1] == std::byte{mark};
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return intact;
}

TEST(Memory, ThreadsDoNotDisturbEachOther) {
  const size_t before = usage().in_use;
  std::vector<char> intact(4, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < intact.size(); ++t) {
    threads.emplace_back([&, t] { intact[t] = churn(static_cast<unsigned char>(t + 1), 3000); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(intact, std::vector<char>(4, 1));
  EXPECT_EQ(usage().in_use, before);
}

TEST(Memory, ABlockMayBeFreedByAnotherThread) {
  const size_t before = usage().in_use;
  std::vector<Handle> handles;
  for (int i = 0; i < 1000; ++i) handles.emplace_back(100);
  std::thread([taken = std::move(handles)]() mutable { taken.clear(); }).join();
  EXPECT_EQ(usage().in_use, before);
}

TEST(Memory, WhatAnEndedThreadCachedIsReusedAndTrimmed) {
  trim();
  const size_t before = usage().cached;
  std::thread([] {
    std::vector<Handle> many;
    for (int i = 0; i < 100; ++i) many.emplace_back(50'000);
  }).join();
  EXPECT_TRUE(!kPooled || usage().cached >= before + 100 * 50'000);
  trim();
  EXPECT_EQ(usage().cached, before);
}

TEST(Memory, ALimitCountsWhatWasTakenReleasedOrNot) {
  const Limit outer(4096);
  {
    const Limit inner(1000);
    Handle(512);
    EXPECT_THROW(Handle(512), OverLimit);
    EXPECT_THROW(Handle(SIZE_MAX), OverLimit) << "before anything else is refused";
  }
  Handle(2048);
  EXPECT_THROW(Handle(2048), OverLimit) << "what the inner one counted counts here, too";
  std::thread([] { Handle(size_t{1} << 20); }).join();
}

TEST(Memory, ALimitEndsWithItsLife) {
  { const Limit limit(1); }
  EXPECT_NO_THROW(Handle(4096));
}

}  // namespace
}  // namespace attend::memory
