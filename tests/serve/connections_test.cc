// Connections by themselves: what becomes of those that come when all hands are full, that nobody lets go of, and with which
// something goes wrong.
#include "serve/connections.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "serve/listener.h"
#include "tests/serve/served.h"

namespace {
std::atomic<size_t> fails_from{SIZE_MAX};  // bytes
}  // namespace

#ifdef __SANITIZE_ADDRESS__
constexpr bool kAllocationFails = false;  // the sanitizer's own operators stay: they find what ours would hide
#else
constexpr bool kAllocationFails = true;
// NOLINTBEGIN: the standard's own signatures
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = size < fails_from.load() ? std::malloc(size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Not inlined: GCC would see a free() of what a new made, and not that this new is a malloc().
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
// NOLINTEND
#endif

namespace attend::test {
namespace {

using serve::Connections;
using serve::Exchange;
using serve::Next;
using namespace std::chrono_literals;

constexpr size_t kMostBody = 1 << 20;
const std::string kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

Next answer(Exchange& exchange) {
  exchange.write("yes");
  return Next::keep;
}

TEST(Connections, ThoseThatCannotEvenWaitAreToldToComeBack) {
  std::counting_semaphore<> go(0), begun(0);
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, [&](Exchange& exchange) {
    begun.release(), go.acquire();
    return answer(exchange);
  });
  connections.start();
  RawClient first(connections.port());
  first.send(kGet);
  begun.acquire();
  RawClient second(connections.port()), third(connections.port());
  second.send(kGet);
  while (connections.waiting() == 0) std::this_thread::yield();
  third.send(kGet);
  const std::string told = third.receive();
  EXPECT_TRUE(told.starts_with("HTTP/1.1 503") && told.find("Retry-After: 1") != std::string::npos) << told;
  go.release(8);
  EXPECT_EQ(first.receive("yes"), "yes");
  EXPECT_EQ(second.receive("yes"), "yes");
}

TEST(Connections, ClientsThatAreTooSlowOrIdleAreLetGoWhenTheirTimeIsOver) {
  const serve::Traffic traffic{.read_seconds = 10, .idle_seconds = 30};
  std::atomic<serve::Clock::time_point> time{serve::Clock::time_point{}};
  Connections connections("127.0.0.1", 0, traffic, kMostBody, 1, answer, [&] { return time.load(); });
  connections.start();
  const RawClient silent(connections.port()), slow(connections.port()), other(connections.port());
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n{");
  ASSERT_EQ(slow.receive(go_on), go_on);  // all three are known by now, and what has come of the request is read
  const auto pass = [&](std::chrono::seconds seconds) {
    time = time.load() + seconds;
    // Between the first answer and the second the loop has gone round, and has looked at all clients.
    for (int i = 0; i < 2; ++i) {
      other.send(kGet);
      ASSERT_EQ(other.receive("yes"), "yes");
    }
  };
  pass(9s);
  EXPECT_TRUE(slow.quiet() && silent.quiet());
  pass(1s);
  EXPECT_TRUE(slow.receive().starts_with("HTTP/1.1 408"));
  EXPECT_TRUE(silent.quiet());
  pass(19s);
  EXPECT_TRUE(silent.quiet());
  pass(1s);
  EXPECT_EQ(silent.receive(), "") << "closed";
  EXPECT_TRUE(other.quiet()) << "it was never idle for so long";
}

TEST(Connections, StoppingCanBeCutShort) {
  std::binary_semaphore begun(0), gone(0);
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, [&](Exchange& exchange) {
    exchange.when_gone([&] { gone.release(); });
    begun.release();
    gone.acquire();  // as one who computes until nobody wants the answer
    EXPECT_FALSE(exchange.write("no"));
    return Next::close;
  });
  connections.start();
  const RawClient client(connections.port());
  client.send(kGet);
  begun.acquire();
  std::thread stopping([&] { connections.stop(); });
  while (!connections.stopping()) std::this_thread::yield();
  EXPECT_FALSE(gone.try_acquire()) << "stopping alone waits for it";
  connections.cut();
  stopping.join();
  EXPECT_EQ(connections.open(), 0u) << "the client itself stays for as long as the test does";
}

TEST(Connections, WhoHangsUpGivesUpWhatIsComputedForThem) {
  std::binary_semaphore gone(0);
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, [&](Exchange& exchange) {
    exchange.when_gone([&] { gone.release(); });
    gone.acquire();
    return answer(exchange);
  });
  connections.start();
  for (int i = 0; i < 3; ++i) {
    std::optional<RawClient> client(connections.port());
    client->send(kGet);
    client.reset();
  }
  while (connections.counts().accepted < 3 || connections.open() > 0) std::this_thread::yield();
}

/// More than the system keeps for both sides of a connection.
constexpr size_t kMuch = 32 << 20;

TEST(Connections, WhoDoesNotReadHoldsABufferAndNoThread) {
  const serve::Traffic traffic{.write_seconds = 10, .unsent_bytes = 1 << 30};
  std::atomic<serve::Clock::time_point> time{serve::Clock::time_point{}};
  std::atomic<size_t> made{0};
  const auto handle = [&](Exchange& exchange) {
    if (exchange.request.starts_with("GET /much")) exchange.write(std::string(kMuch, 'x')), ++made;
    return answer(exchange);
  };
  Connections connections("127.0.0.1", 0, traffic, kMostBody, 2, handle, [&] { return time.load(); });
  connections.start();
  const RawClient other(connections.port());
  const auto ask = [&] {
    other.send(kGet);
    const std::string answer = other.receive("yes");
    EXPECT_EQ(answer, "yes") << "by one of the two threads there are";
    return answer == "yes";
  };
  std::vector<std::unique_ptr<RawClient>> slow;
  for (size_t i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<RawClient>(connections.port()));
    slow.back()->send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
    while (made < i + 1 && ask()) {
    }
  }
  EXPECT_EQ(slow[0]->receive("yes").size(), kMuch + 3) << "nothing is lost of it";
  time = time.load() + 10s;
  while ((connections.counts().dropped < 3 || connections.counts().unsent > 0) && ask()) {
  }
  EXPECT_EQ(connections.open(), 2u);
  EXPECT_LT(slow[1]->receive().size(), kMuch) << "its time is over";
}

TEST(Connections, AnswersThatWaitForTheirClientsAreBounded) {
  const serve::Traffic traffic{.unsent_bytes = 3 * static_cast<int64_t>(kMuch)};
  std::atomic<size_t> made{0};
  std::atomic<int64_t> calls{0};  // the clock: a little later each time
  const auto handle = [&](Exchange& exchange) {
    exchange.write(std::string(kMuch, 'x')), ++made;
    return answer(exchange);
  };
  Connections connections("127.0.0.1", 0, traffic, kMostBody, 2, handle,
                          [&] { return serve::Clock::time_point{} + std::chrono::microseconds(++calls); });
  connections.start();
  std::vector<std::unique_ptr<RawClient>> slow;
  for (size_t i = 0; i < 8; ++i) {
    slow.push_back(std::make_unique<RawClient>(connections.port()));
    slow.back()->send(kGet);
    while (made < i + 1) std::this_thread::yield();
  }
  while (connections.counts().dropped < 3) std::this_thread::yield();
  EXPECT_LE(connections.counts().unsent, 4 * kMuch) << "one more than allowed, until it is looked at";
  EXPECT_LT(slow[0]->receive().size(), kMuch) << "the one that has had most time";
  EXPECT_EQ(slow[7]->receive("yes").size(), kMuch + 3);
}

/// Whoever was answered before is back in the loop afterwards: the only handler hands a client back before it takes the next
/// one, and the loop takes them at the end of each turn, so before it reads the request of the turn after.
void let_loop_turn(const RawClient& other) {
  for (int turn = 0; turn < 3; ++turn) {
    other.send(kGet);
    ASSERT_EQ(other.receive("yes"), "yes");
  }
}

TEST(Connections, StoppingTellsThoseWhoMayAskAgainAndGivesThemAMomentToTakeIt) {
  std::atomic<serve::Clock::time_point> time{serve::Clock::time_point{}};
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, answer, [&] { return time.load(); });
  connections.start();
  const RawClient idle(connections.port()), reused(connections.port());
  for (const RawClient* client : {&idle, &reused}) {
    client->send(kGet);
    ASSERT_EQ(client->receive("yes"), "yes");
  }
  let_loop_turn(reused);
  std::atomic<bool> stopped{false};
  std::thread stopping([&] {
    connections.stop();
    stopped = true;
  });
  while (!connections.stopping()) std::this_thread::yield();
  time = time.load() + 200ms;
  EXPECT_TRUE(idle.receive().starts_with("HTTP/1.1 503"));
  reused.send(kGet);  // crosses its own farewell, or comes just before it
  EXPECT_EQ(connections.open(), 2u) << "nothing is closed under the hands of who may still send";
  const std::string said = reused.receive("yes");
  EXPECT_TRUE(said.starts_with("HTTP/1.1 503") || said == "yes") << said;
  while (!stopped) time = time.load() + 1s, std::this_thread::yield();
  stopping.join();
  EXPECT_EQ(connections.open(), 0u) << "but not for ever";
}

TEST(Connections, StoppingLetsAnAnswerBeReadBeforeItsFarewell) {
  std::atomic<serve::Clock::time_point> time{serve::Clock::time_point{}};
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, answer, [&] { return time.load(); });
  connections.start();
  const RawClient reused(connections.port()), other(connections.port()), unused(connections.port());
  for (const RawClient* client : {&reused, &other}) {
    client->send(kGet);
    ASSERT_EQ(client->receive("yes"), "yes");
  }
  std::atomic<bool> stopped{false};
  std::thread stopping([&] {
    connections.stop();
    stopped = true;
  });
  EXPECT_TRUE(unused.receive().starts_with("HTTP/1.1 503")) << "nothing can be lost there";
  reused.send(kGet);
  EXPECT_EQ(reused.receive("yes"), "yes") << "no farewell behind the first answer";
  let_loop_turn(other);
  time = time.load() + 200ms;
  EXPECT_TRUE(reused.receive().starts_with("HTTP/1.1 503"));
  while (!stopped) time = time.load() + 1s, std::this_thread::yield();
  stopping.join();
}

TEST(Connections, ARefusedRequestIsReadToItsEndSoThatItsAnswerArrives) {
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, answer);
  connections.start();
  const RawClient client(connections.port());
  const std::string piece(1 << 20, 'x');
  client.send("GET / HTTP/1.1\nHost: x\n\n");
  for (int i = 0; i < 16; ++i) client.send(piece);  // more than the system keeps for both sides
  EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 400"));
}

TEST(Connections, AMachineWithManyAddressesIsOneClient) {
  EXPECT_EQ(serve::client_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(serve::client_of("2001:db8:1:2:3:4:5:6"), serve::client_of("2001:db8:1:2::9"));
  EXPECT_NE(serve::client_of("2001:db8:1:2::9"), serve::client_of("2001:db8:1:3::9"));
  EXPECT_EQ(serve::client_of("::ffff:192.0.2.7"), "::ffff:192.0.2.7");
}

TEST(Connections, WhatGoesWrongWithOneIsItsEndAlone) {
  testing::internal::CaptureStderr();
  Connections connections("127.0.0.1", 0, {}, kMostBody, 2, [&](Exchange& exchange) {
    if (exchange.request.starts_with("GET /bad")) throw std::runtime_error("bad");
    return answer(exchange);
  });
  connections.start();
  std::optional<RawClient> bad(connections.port()), large(connections.port()), good(connections.port());
  bad->send("GET /bad HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(bad->receive(), "") << "closed";
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + std::string(100'000, 'x');
  if (kAllocationFails) {
    fails_from = 20'000;
    large->send(post);
    EXPECT_EQ(large->receive(), "") << "closed";
    fails_from = SIZE_MAX;
  }
  good->send(kGet);
  EXPECT_EQ(good->receive("yes"), "yes");
  while (connections.open() > (kAllocationFails ? 1 : 2)) std::this_thread::yield();
  good.reset(), large.reset();
  connections.stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("attend serve: a connection: bad\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("bad_alloc") != std::string::npos, kAllocationFails) << log;
}

}  // namespace
}  // namespace attend::test
