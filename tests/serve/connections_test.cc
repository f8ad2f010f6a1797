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

constexpr size_t kBody = 1 << 20;
const std::string kGet = "GET / HTTP/1.1\r\n\r\n";

Next answer(Client& client) {
  (void)!::send(client.socket.number(), "yes", 3, MSG_NOSIGNAL);
  return Next::keep;
}

TEST(Connections, ThoseThatCannotEvenWaitAreToldToComeBack) {
  std::counting_semaphore<> go(0), begun(0);
  Connections connections("127.0.0.1", 0, {}, kBody, 1, [&](Client& client) {
    begun.release(), go.acquire();
    return answer(client);
  });
  connections.start();
  RawClient first(connections.port());
  first.send(kGet);
  begun.acquire();
  RawClient second(connections.port()), third(connections.port());
  second.send(kGet);
  while (connections.open() < 3) std::this_thread::yield();
  std::this_thread::sleep_for(100ms);  // the second one waits by then
  third.send(kGet);
  const std::string told = third.receive();
  EXPECT_TRUE(told.starts_with("HTTP/1.1 503") && told.find("Retry-After: 1") != std::string::npos) << told;
  go.release(8);
  EXPECT_EQ(first.receive(0.3), "yes");
  EXPECT_EQ(second.receive(0.3), "yes");
}

TEST(Connections, StoppingCanBeCutShort) {
  std::binary_semaphore begun(0);
  Connections connections("127.0.0.1", 0, {}, kBody, 1, [&](Client& client) {
    begun.release();
    pollfd gone{client.socket.number(), POLLRDHUP, 0};
    return ::poll(&gone, 1, 60'000) > 0 ? Next::close : Next::keep;  // as one who writes to a client that does not read
  });
  connections.start();
  const RawClient client(connections.port());
  client.send(kGet);
  begun.acquire();
  const auto before = serve::Clock::now();
  std::thread stopping([&] { connections.stop(); });
  std::this_thread::sleep_for(100ms);
  connections.cut();
  stopping.join();
  EXPECT_LT(serve::Clock::now() - before, 30s);
  EXPECT_EQ(connections.open(), 0u);
}

TEST(Connections, WhatGoesWrongWithOneIsItsEndAlone) {
  testing::internal::CaptureStderr();
  Connections connections("127.0.0.1", 0, {}, kBody, 2, [&](Client& client) {
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
  EXPECT_EQ(good.receive(0.3), "yes");
  while (connections.open() > (kAllocationFails ? 1 : 2)) std::this_thread::yield();
  connections.stop();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("attend serve: a connection: bad\n"), std::string::npos) << log;
  EXPECT_EQ(log.find("bad_alloc") != std::string::npos, kAllocationFails) << log;
}

}  // namespace
}  // namespace attend::test
