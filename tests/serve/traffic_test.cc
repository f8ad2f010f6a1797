// Slow, broken and too many clients: what they do to others, and what becomes of them.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "attend/base/memory.h"
#include "serve/api.h"
#include "serve/framing.h"
#include "serve/workers.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

using std::chrono::steady_clock;
constexpr size_t kBody = 100;
using State = serve::Frame::State;

double seconds_since(steady_clock::time_point begun) {
  return std::chrono::duration<double>(steady_clock::now() - begun).count();
}

TEST(Framing, FindsTheEndOfARequest) {
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t n = 0; n < get.size(); ++n) EXPECT_EQ(serve::find_frame(get.substr(0, n), kBody).state, State::more) << n;
  EXPECT_EQ(serve::find_frame(get + "more", kBody).bytes, get.size());
  const std::string post = "POST / HTTP/1.1\r\ncontent-LENGTH:  5 \r\n\r\n";
  EXPECT_EQ(serve::find_frame(post + "1234", kBody).state, State::more);
  EXPECT_EQ(serve::find_frame(post + "12345", kBody).bytes, post.size() + 5);
}

TEST(Framing, RefusesWhatCouldBeReadInTwoWays) {
  const auto state = [](const std::string& headers) {
    return serve::find_frame("POST / HTTP/1.1\r\n" + headers + "\r\n", kBody).state;
  };
  EXPECT_EQ(state("Content-Length: 1\r\nContent-Length: 2\r\n"), State::refused);
  EXPECT_EQ(state("Content-Length: -1\r\n"), State::refused);
  EXPECT_EQ(state("Content-Length: 1x\r\n"), State::refused);
  EXPECT_EQ(state("Content-Length : 0\r\n"), State::refused);
  EXPECT_EQ(state("Content-Length: 99999999999999999999999\r\n"), State::refused);
  EXPECT_EQ(state("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"), State::refused);
  EXPECT_EQ(state("Transfer-Encoding: chunked\r\n"), State::last);
  EXPECT_EQ(state("Content-Length: 101\r\n"), State::last) << "too large: answered without its body";
  EXPECT_EQ(serve::find_frame(std::string(serve::kHeaderBytes, 'x'), kBody).status, 431);
}

TEST(Workers, TakeNoMoreThanMayWaitAndFinishWhatTheyTook) {
  std::atomic<int> done{0};
  std::atomic<bool> go{false};
  size_t taken = 0;
  {
    serve::Workers workers(1, 2);
    const auto submit = [&] {
      auto job = std::make_shared<serve::Job>();
      job->run = [&] {
        while (!go) std::this_thread::yield();
        ++done;
      };
      return workers.submit(std::move(job));
    };
    ASSERT_TRUE(submit());
    while (workers.running() == 0) std::this_thread::yield();
    taken = 1;
    for (int i = 0; i < 5; ++i) taken += submit();
    EXPECT_EQ(workers.waiting(), 2u);
    go = true;
  }
  EXPECT_EQ(taken, 3u);
  EXPECT_EQ(done, 3);
}

#if !defined(__SANITIZE_ADDRESS__)  // where nothing is kept in reserve
TEST(Workers, GiveMemoryBackWhenTheyRest) {
  memory::trim();
  const size_t before = memory::usage().cached;
  serve::Workers workers(1, 2, std::chrono::milliseconds(100));
  std::atomic<size_t> reserve{0};
  const auto job = std::make_shared<serve::Job>();
  job->run = [&] {
    { const memory::Handle large(size_t{64} << 20), small(1000); }
    reserve = memory::usage().cached;
  };
  ASSERT_TRUE(workers.submit(job));
  while (reserve == 0) std::this_thread::yield();
  EXPECT_GE(reserve, before + (size_t{64} << 20));
  const auto begun = steady_clock::now();
  while (memory::usage().cached > before && seconds_since(begun) < 20) std::this_thread::yield();
  EXPECT_LE(memory::usage().cached, before);
}
#endif

TEST(Traffic, IdleAndSlowClientsHoldNobodyUp) {
  serve::ServeOptions options;
  options.traffic.waiting = 4;
  Served served(options);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 200; ++i) {  // far more than there are threads
    slow.push_back(std::make_unique<RawClient>(served.port()));
    if (i % 3 == 1) slow.back()->send("POST /v1/run HT");
    if (i % 3 == 2) slow.back()->send("POST /v1/run HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{");
  }
  const auto begun = steady_clock::now();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(served.post("/v1/run", R"({"text": "a b"})")->status, 200);
  EXPECT_LT(seconds_since(begun), 5) << "nobody waited for their timeouts";
}

TEST(Traffic, AClientThatSendsTooSlowlyIsToldSo) {
  serve::ServeOptions options;
  options.traffic.read_seconds = 0.3;
  options.traffic.idle_seconds = 0.3;
  Served served(options);
  RawClient begun(served.port()), silent(served.port());
  begun.send("POST /v1/run HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{");
  EXPECT_TRUE(begun.receive().starts_with("HTTP/1.1 408"));
  EXPECT_EQ(silent.receive(), "");
}

TEST(Traffic, ABrokenRequestEndsItsConnectionAlone) {
  Served served;
  const std::string get = "GET /healthz HTTP/1.1\r\n\r\n";
  struct Row {
    std::string sent, begins;
  };
  for (const Row& row : std::vector<Row>{
           {"\r\n\r\n", "HTTP/1.1 400"},
           {std::string("\0\1\2\n\r\n", 6), "HTTP/1.1 400"},
           {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400"},
           {"BREW / HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
           {"POST /v1/run HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n" + get, "HTTP/1.1 400"},
           {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n", "HTTP/1.1 431"},
           {"GET / HTTP/1.1\r\nRange: bytes=0-,0-,0-,0-\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"},
           {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 404"},
       }) {
    RawClient client(served.port());
    client.send(row.sent);
    EXPECT_TRUE(client.receive().starts_with(row.begins)) << row.sent.substr(0, 60);
  }
  EXPECT_EQ(served.get("/healthz")->status, 200);
}

TEST(Traffic, RequestsMayFollowEachOtherOnOneConnection) {
  Served served;
  RawClient client(served.port());
  const std::string get = "GET /healthz HTTP/1.1\r\nContent-Length: 2\r\n\r\nxx";  // a body that nobody reads
  client.send(get + get + "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string all = client.receive();
  size_t count = 0;
  for (size_t at = 0; (at = all.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u) << all;
}

TEST(Traffic, WhoAsksBeforeSendingIsToldToGoOn) {
  Served served;
  RawClient client(served.port());
  client.send(
      "POST /v1/run HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 13\r\nExpect: 100-continue\r\n"
      "Connection: close\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  client.send(R"({"text": "a"})");
  const std::string all = client.receive();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200")) << all;
}

TEST(Traffic, WhereAllConnectionsAreInUseTheLongestIdleOneGoes) {
  serve::ServeOptions options;
  options.traffic.connections = 3;
  Served served(options);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(std::make_unique<RawClient>(served.port()));
  EXPECT_EQ(served.get("/healthz")->status, 200);
  EXPECT_EQ(idle.front()->receive(), "") << "closed";
}

TEST(Traffic, TooManyRequestsAreToldToComeBack) {
  serve::ServeOptions options;
  options.traffic.workers = 1;
  options.traffic.waiting = 1;
  Served served(options);
  const std::string much = json{{"texts", std::vector<std::string>(200, "a b c d e f g h")}, {"beam", 32}}.dump();
  std::vector<std::thread> clients;
  std::atomic<int> good{0}, busy{0}, other{0};
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      const auto result = served.post("/v1/run", much);
      const int status = result ? result->status : 0;
      if (status == 503) {
        EXPECT_EQ(result->get_header_value("Retry-After"), "1");
      }
      ++(status == 200 ? good : status == 503 ? busy : other);
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_GE(good, 1);
  EXPECT_GE(busy, 1);
  EXPECT_EQ(other, 0);
}

TEST(Traffic, ARequestThatTakesTooLongIsGivenUp) {
  serve::ServeOptions options;
  options.traffic.workers = 1;
  options.limits.seconds = 0.001;
  Served served(options);
  const std::string much = json{{"texts", std::vector<std::string>(256, "a b c d e f g h")}, {"beam", 32}}.dump();
  const auto result = served.post("/v1/run", much);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 504);
  EXPECT_EQ(json::parse(result->body)["error"]["code"], "timeout");
  for (int i = 0; i < 500 && json::parse(served.get("/healthz")->body)["running"] != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(json::parse(served.get("/healthz")->body)["running"], 0) << "the worker gave it up, too";
}

TEST(Traffic, AStreamEndsInTimeHoweverMuchThereIsToSay) {
  using std::chrono::hours;
  const auto job = std::make_shared<serve::Job>();
  serve::Live late(job, steady_clock::now() - hours(1)), early(job, steady_clock::now() + hours(1));
  late.partial("a b"), early.partial("a b");
  EXPECT_EQ(early.next(), (std::pair<std::string, bool>("{\"partial\":\"a b\"}\n", false)));
  EXPECT_FALSE(job->cancelled);
  const auto [line, last] = late.next();
  EXPECT_NE(line.find("timeout"), std::string::npos) << line;
  EXPECT_TRUE(last);
  EXPECT_TRUE(job->cancelled);
  serve::Live done(job, steady_clock::now() - hours(1));
  done.last("{}");
  EXPECT_EQ(done.next(), (std::pair<std::string, bool>("{}\n", true))) << "what is there is given";
}

TEST(Traffic, AServerThatStopsFinishesWhatIsRunning) {
  serve::ServeOptions options;
  options.traffic.stop_seconds = 60;
  Served served(options);
  const std::string much = json{{"texts", std::vector<std::string>(100, "a b c d e f g h")}, {"beam", 16}}.dump();
  int status = 0;
  std::thread client([&] {
    const auto result = served.post("/v1/run", much);
    status = result ? result->status : -1;
  });
  while (json::parse(served.get("/healthz")->body)["running"] == 0 && status == 0) std::this_thread::yield();
  const RawClient idle(served.port());
  served.server().stop();
  client.join();
  EXPECT_EQ(status, 200);
  EXPECT_FALSE(served.get("/healthz")) << "nobody is there";
}

TEST(Traffic, AServerThatStopsGivesUpWhatTakesTooLong) {
  serve::ServeOptions options;
  options.traffic.workers = 1;
  options.traffic.stop_seconds = 0.2;
  options.limits.seconds = 3600;
  Served served(options);
  const json endless{{"texts", std::vector<std::string>(256, "a b c d e f g h")},
                     {"beam", 32},
                     {"min_length", 2000},
                     {"max_length", 2000}};
  const json watched{{"text", "a b"}, {"stream", true}};  // waits behind it
  std::vector<std::string> answers(3);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < answers.size(); ++i) {
    clients.emplace_back([&, i] {
      const auto result = served.post("/v1/run", (i < 2 ? endless : watched).dump());
      answers[i] = result ? std::to_string(result->status) + result->body : "none";
    });
    while (json::parse(served.get("/healthz")->body)["running"] == 0) std::this_thread::yield();
  }
  while (json::parse(served.get("/healthz")->body)["waiting"] < 2) std::this_thread::yield();
  const auto begun = steady_clock::now();
  served.server().stop();
  EXPECT_LT(seconds_since(begun), 30);
  for (std::thread& client : clients) client.join();
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(answers[i].starts_with(i < 2 ? "503" : "200")) << answers[i];
    EXPECT_NE(answers[i].find(R"("code":"stopping")"), std::string::npos) << answers[i];
  }
}

}  // namespace
}  // namespace attend::test
