#include "attend/data/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/support/message.h"

namespace attend::data {
namespace {

TEST(Prefetch, GivesAllInOrder) {
  Prefetched<std::unique_ptr<int64_t>> ahead([](int64_t i) { return std::make_unique<int64_t>(i * i); }, 3, 5);
  for (int64_t i = 5; i < 500; ++i) EXPECT_EQ(*ahead.next(), i * i);
}

TEST(Prefetch, WorksAheadButNotFurtherThanAsked) {
  std::atomic<int64_t> made{0};
  Prefetched<int64_t> ahead([&](int64_t i) { return ++made, i; }, 4);
  for (int tries = 0; made < 4 && tries < 2000; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(made, 4);
  EXPECT_EQ(ahead.next(), 0);
}

TEST(Prefetch, PassesAnErrorOnInItsPlace) {
  std::atomic<bool> failed{false};
  Prefetched<int64_t> ahead(
      [&](int64_t i) {
        failed = i == 3;
        require(i < 3, "image ", i, " is broken");
        return i;
      },
      8);
  while (!failed) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // it is known there, but not due yet
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(ahead.next(), i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(test::message_of([&] { ahead.next(); }), "image 3 is broken");
}

TEST(Prefetch, EndsWhileItIsFullOrAtWork) {
  for (int i = 0; i < 50; ++i) {
    Prefetched<int64_t> ahead([](int64_t k) { return k; }, 1 + static_cast<size_t>(i % 3));
    if (i % 2 == 0) {
      EXPECT_EQ(ahead.next(), 0);
    }
  }
}

TEST(Prefetch, RefusesNoDepthAndNoFunction) {
  EXPECT_THROW(Prefetched<int>([](int64_t) { return 0; }, 0), Error);
  EXPECT_THROW(Prefetched<int>(nullptr, 1), Error);
}

}  // namespace
}  // namespace attend::data
