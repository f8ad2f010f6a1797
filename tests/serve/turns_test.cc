// Whose turn it is, counted in steps and by a clock that is advanced by hand.
#include "serve/turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <semaphore>

#include "serve/workers.h"

namespace attend::test {
namespace {

using serve::Clock;
using serve::Job;
using serve::TurnOptions;
using serve::Turns;
using namespace std::chrono_literals;
using Jobs = std::vector<std::shared_ptr<Job>>;

std::shared_ptr<Job> job_of(const std::string& client, bool is_long) {
  auto job = std::make_shared<Job>();
  job->client = client, job->is_long = is_long;
  return job;
}

std::shared_ptr<Job> entered(Turns& turns, const std::string& client, bool is_long) {
  auto job = job_of(client, is_long);
  std::shared_ptr<Job> displaced;
  EXPECT_TRUE(turns.enter(job, displaced));
  EXPECT_EQ(displaced, nullptr);
  return job;
}

/// All whose turn it is now, begun.
Jobs begin_all(Turns& turns) {
  Jobs all;
  while (const auto job = turns.next()) job->begun = true, all.push_back(job);
  return all;
}

/// Who computes, slice by slice, on one worker.
std::string order_of(Turns& turns, size_t slices) {
  std::string order;
  for (size_t i = 0; i < slices; ++i) {
    begin_all(turns);
    const auto job = turns.computing().at(0);
    order += job->client;
    turns.over(job, 25ms);
  }
  return order;
}

size_t begun_of(const Turns& turns, const std::string& client) {
  size_t count = 0;
  for (const Jobs& jobs : {turns.waiting(), turns.computing()}) {
    count += static_cast<size_t>(
        std::ranges::count_if(jobs, [&](const auto& job) { return job->begun && job->client == client; }));
  }
  return count;
}

TEST(Turns, AShortJobBeginsAtOnceHoweverManyLongOnesThereAre) {
  Turns turns({.workers = 2, .places = 200});
  for (int client = 0; client < 20; ++client) {
    for (int i = 0; i < 4; ++i) entered(turns, "client " + std::to_string(client), true);
  }
  EXPECT_EQ(begin_all(turns).size(), 2u);
  for (int i = 0; i < 50; ++i) {  // whatever the long ones are at
    for (const auto& job : Jobs(turns.computing())) turns.over(job, 25ms), begin_all(turns);
    const auto sentence = entered(turns, "client 0", false);
    ASSERT_EQ(turns.next(), sentence);
    const Jobs now = turns.computing();
    ASSERT_EQ(now.size(), 3u);
    EXPECT_TRUE(turns.over(now[0], 0ms)) << "a long one makes room where it next asks";
    EXPECT_FALSE(turns.over(now[1], 0ms)) << "and one goes on";
    EXPECT_EQ(turns.next(), nullptr);
    turns.leave(sentence);
    EXPECT_EQ(begin_all(turns).size(), 1u);
  }
}

TEST(Turns, ShortJobsDoNotStarveALongOne) {
  Turns turns({.workers = 1});
  for (int i = 0; i < 3; ++i) entered(turns, "a", false);
  const auto work = entered(turns, "b", true);
  const Jobs now = begin_all(turns);
  ASSERT_EQ(now.size(), 2u);
  EXPECT_FALSE(now[0]->is_long);
  EXPECT_EQ(now[1], work);
  EXPECT_FALSE(turns.over(work, 1h)) << "nobody else of its kind waits";
}

TEST(Turns, LongJobsTakeTurnsClientByClient) {
  Turns turns({.workers = 1});
  for (int i = 0; i < 6; ++i) entered(turns, "a", true);
  entered(turns, "b", true), entered(turns, "c", true);
  EXPECT_EQ(order_of(turns, 9), "abcabcabc");
  EXPECT_EQ(begun_of(turns, "a"), 3u);
}

TEST(Turns, OfOneClientTheJobThatHasComputedLeastIsNext) {
  Turns turns({.workers = 1});
  const auto old = entered(turns, "a", true);
  begin_all(turns);
  EXPECT_FALSE(turns.over(old, 10s));
  const auto fresh = entered(turns, "a", true);
  EXPECT_TRUE(turns.over(old, 20s));
  for (int i = 0; i < 10; ++i) {
    begin_all(turns);
    EXPECT_EQ(turns.computing().at(0), fresh) << i;
    turns.over(fresh, 25ms);
  }
}

TEST(Turns, LongJobsThatHaveBegunAreBoundedAndOneClientHasHalfOfThem) {
  Turns turns({.workers = 1, .places = 100, .most_long = 4});
  for (const char* client : {"a", "b", "c"}) {
    for (int i = 0; i < 5; ++i) entered(turns, client, true);
  }
  order_of(turns, 100);
  EXPECT_EQ(begun_of(turns, "a"), 2u);
  EXPECT_EQ(begun_of(turns, "a") + begun_of(turns, "b") + begun_of(turns, "c"), 4u);
  const auto done = turns.computing().empty() ? turns.next() : turns.computing()[0];
  turns.leave(done);
  order_of(turns, 100);
  EXPECT_EQ(begun_of(turns, "a") + begun_of(turns, "b") + begun_of(turns, "c"), 4u) << "the next one has begun";
}

TEST(Turns, AShortJobThatTakesLongIsALongOne) {
  Turns turns({.workers = 1});
  const auto first = entered(turns, "a", false), second = entered(turns, "a", false);
  begin_all(turns);
  EXPECT_FALSE(turns.over(first, 99ms));
  EXPECT_EQ(turns.next(), nullptr) << "one at a time";
  EXPECT_FALSE(turns.over(first, 100ms)) << "it goes on as the one long job that always may";
  EXPECT_TRUE(first->is_long);
  EXPECT_EQ(turns.next(), second);
}

TEST(Turns, LongJobsHaveHalfOfThePlaces) {
  Turns turns({.workers = 1, .places = 6});
  std::shared_ptr<Job> displaced;
  for (int i = 0; i < 3; ++i) entered(turns, "a", true);
  EXPECT_FALSE(turns.enter(job_of("a", true), displaced));
  for (int i = 0; i < 3; ++i) entered(turns, "a", false);
  EXPECT_FALSE(turns.enter(job_of("a", false), displaced));
}

TEST(Turns, AClientThatTookAllPlacesGivesOneBack) {
  Turns turns({.workers = 1, .places = 4});
  Jobs all;
  for (int i = 0; i < 4; ++i) all.push_back(entered(turns, "a", false));
  begin_all(turns);
  std::shared_ptr<Job> displaced;
  EXPECT_FALSE(turns.enter(job_of("a", false), displaced)) << "not for itself";
  EXPECT_TRUE(turns.enter(job_of("b", false), displaced));
  EXPECT_EQ(displaced, all[3]) << "the newest, which has not begun";
  EXPECT_TRUE(turns.enter(job_of("c", false), displaced));
  EXPECT_EQ(displaced, all[2]);
  EXPECT_TRUE(turns.enter(job_of("d", false), displaced));
  EXPECT_EQ(displaced, all[1]);
  EXPECT_FALSE(turns.enter(job_of("e", false), displaced)) << "nobody has two more than e";
}

TEST(Turns, WhatNobodyWaitsForMakesRoom) {
  Turns turns({.workers = 1, .places = 2});
  const auto running = entered(turns, "a", false), given_up = entered(turns, "a", false);
  begin_all(turns);
  given_up->cancelled = true;
  const auto next = entered(turns, "a", false);
  turns.leave(running);
  EXPECT_EQ(turns.next(), next);
}

TEST(Turns, WorkersPauseALongJobOnItsThreadWhileAnotherHasItsTurn) {
  std::atomic<Clock::time_point> time{Clock::time_point{}};
  std::string said;  // by whose turn it is, so by one at a time
  std::atomic<int> at_once{0};
  std::binary_semaphore both(0);
  {
    serve::Workers workers({.workers = 1}, 10s, [&] { return time.load(); });
    const auto submit = [&](const std::string& name, bool waits) {
      const auto job = job_of(name, true);
      job->run = [&, waits, weak = std::weak_ptr(job)] {
        if (waits) both.acquire();
        const auto own = weak.lock();
        for (int step = 0; step < 6; ++step) {
          EXPECT_EQ(++at_once, 1);
          said += own->client;
          time = time.load() + 13ms;  // two steps to a slice
          --at_once;
          workers.pause(own);
        }
      };
      EXPECT_TRUE(workers.submit(job));
    };
    submit("a", true), submit("b", false);
    both.release();
  }
  EXPECT_EQ(said, "aabbaabbaabb");
}

}  // namespace
}  // namespace attend::test
