// Connections by themselves: what becomes of those that come when all hands are full, that nobody lets go of, and with which
// something goes wrong.
#include "serve/connections.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdlib>
#include <new>
#include <semaphore>

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

using serve::Client;
using serve::Connections;
using serve::Next;
using namespace std::chrono_literals;

constexpr size_t kMostBody = 1 << 20;
const std::string kGet = "GET / HTTP/1.1\r\n\r\n";

Next answer(Client& client) {
  (void)!::send(client.socket.number(), "yes", 3, MSG_NOSIGNAL);
  return Next::keep;
}

TEST(Connections, ThoseThatCannotEvenWaitAreToldToComeBack) {
  std::counting_semaphore<> go(0), begun(0);
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, [&](Client& client) {
    begun.release(), go.acquire();
    return answer(client);
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
  slow.send("POST / HTTP/1.1\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n{");
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
  std::binary_semaphore begun(0);
  std::atomic<bool> hung_up{false};
  Connections connections("127.0.0.1", 0, {}, kMostBody, 1, [&](Client& client) {
    begun.release();
    pollfd gone{client.socket.number(), POLLRDHUP, 0};
    hung_up = ::poll(&gone, 1, 60'000) > 0;  // as one who writes to a client that does not read
    return Next::close;
  });
  connections.start();
  const RawClient client(connections.port());
  client.send(kGet);
  begun.acquire();
  std::thread stopping([&] { connections.stop(); });
  while (!connections.stopping()) std::this_thread::yield();
  EXPECT_FALSE(hung_up) << "stopping alone waits for it";
  connections.cut();
  stopping.join();
  EXPECT_TRUE(hung_up) << "the client itself stays for as long as the test does";
  EXPECT_EQ(connections.open(), 0u);
}

TEST(Connections, WhatGoesWrongWithOneIsItsEndAlone) {
  testing::internal::CaptureStderr();
  Connections connections("127.0.0.1", 0, {}, kMostBody, 2, [&](Client& client) {
    if (client.buffer.starts_with("GET /bad")) throw std::runtime_error("bad");
    return answer(client);
  });
  connections.start();
  RawClient bad(connections.port()), large(connections.port()), good(connections.port());
  bad.send("GET /bad HTTP/1.1\r\n\r\n");
  EXPECT_EQ(bad.receive(), "") << "closed";
  const std::string post = "POST / HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + std::string(100'000, 'x');
  if (kAllocationFails) {
    fails_from = 20'000;
    large.send(post);
    EXPECT_EQ(large.receive(), "") << "closed";
    fails_from = SIZE_MAX;
  }
  good.send(kGet);
  EXPECT_EQ(good.receive("yes"), "yes");
  while (connections.open() > (kAllocationFails ? 1 : 2)) std::this_thread::yield();
  connections.stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("attend serve: a connection: bad\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("bad_alloc") != std::string::npos, kAllocationFails) << log;
}

}  // namespace
}  // namespace attend::test
