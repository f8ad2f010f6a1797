// Slow, broken and too many clients: what they do to others, and what becomes of them.
#include <gtest/gtest.h>

#include <semaphore>
#include <thread>
#include <vector>

#include "attend/base/memory.h"
#include "serve/api.h"
#include "serve/framing.h"
#include "serve/workers.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

constexpr size_t kBody = 100;
using State = serve::Frame::State;

/// A day: what only ends then does not end within a test.
constexpr double kNever = 86'400;

/// For a request that is computed until somebody gives it up.
serve::ServeOptions endless_options() {
  serve::ServeOptions options;
  options.traffic.workers = 1;
  options.traffic.stop_seconds = 0.001;
  options.limits.answer_tokens = 1'000'000'000;
  options.limits.seconds = kNever;
  return options;
}
const std::string kEndless =
    json{{"text", "a"}, {"min_length", 1'000'000'000}, {"max_length", 1'000'000'000}, {"beam", 1}}.dump();

/// Asks until the server says so; ctest ends what never comes true.
void wait_until(const Served& served, const char* count, int64_t wanted) {
  while (json::parse(served.get("/healthz")->body)[count] != wanted) std::this_thread::yield();
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
  serve::Workers workers(1, 2, std::chrono::milliseconds(0));
  const auto run = [&](std::function<void()> act) {
    std::binary_semaphore done(0);
    const auto job = std::make_shared<serve::Job>();
    job->run = [&] { act(), done.release(); };
    EXPECT_TRUE(workers.submit(job));
    done.acquire();
  };
  size_t reserve = 0;
  run([&] {
    { const memory::Handle large(size_t{64} << 20), small(1000); }
    reserve = memory::usage().cached;
  });
  EXPECT_GE(reserve, before + (size_t{64} << 20));
  // A worker rests between two jobs, unless the next one was there before it could.
  for (int jobs = 0; jobs < 10'000 && reserve > before; ++jobs) {
    while (workers.running() > 0) std::this_thread::yield();
    run([&] { reserve = memory::usage().cached; });
  }
  EXPECT_LE(reserve, before);
}
#endif

TEST(Traffic, IdleAndSlowClientsHoldNobodyUp) {
  serve::ServeOptions options;
  options.traffic.waiting = 4;
  options.traffic.read_seconds = options.traffic.idle_seconds = kNever;
  Served served(options);
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 200; ++i) {  // far more than there are threads
    slow.push_back(std::make_unique<RawClient>(served.port()));
    if (i % 3 == 1) slow.back()->send("POST /v1/run HT");
    if (i % 3 == 2) slow.back()->send("POST /v1/run HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{");
  }
  for (int i = 0; i < 10; ++i) {
    const auto result = served.post("/v1/run", R"({"text": "a b"})");
    ASSERT_TRUE(result && result->status == 200);
  }
  for (const auto& client : slow) EXPECT_TRUE(client->quiet()) << "nobody had to go for the others to be answered";
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
  const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  ASSERT_EQ(client.receive(go_on), go_on);
  client.send(R"({"text": "a"})");
  const std::string rest = client.receive();
  EXPECT_TRUE(rest.starts_with("HTTP/1.1 200")) << rest;
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
  serve::ServeOptions options = endless_options();
  options.traffic.waiting = 1;
  Served served(options);
  std::vector<std::thread> clients;
  for (const char* state : {"running", "waiting"}) {
    clients.emplace_back([&] { EXPECT_EQ(served.post("/v1/run", kEndless)->status, 503) << "the server stops"; });
    wait_until(served, state, 1);
  }
  const auto result = served.post("/v1/run", R"({"text": "a"})");
  expect_error(result, 503, "busy", "try again");
  EXPECT_EQ(result->get_header_value("Retry-After"), "1");
  served.server().stop();
  for (std::thread& client : clients) client.join();
}

TEST(Traffic, ARequestThatTakesTooLongIsGivenUp) {
  serve::ServeOptions options = endless_options();
  options.limits.seconds = 0.001;
  const Served served(options);
  expect_error(served.post("/v1/run", kEndless), 504, "timeout", "in time");
  wait_until(served, "running", 0);  // the worker gave it up, too
}

TEST(Traffic, AStreamEndsInTimeHoweverMuchThereIsToSay) {
  using Time = std::chrono::steady_clock::time_point;
  const auto job = std::make_shared<serve::Job>();
  serve::Live late(job, Time::min()), early(job, Time::max());
  late.partial("a b"), early.partial("a b");
  EXPECT_EQ(early.next(), (std::pair<std::string, bool>("{\"partial\":\"a b\"}\n", false)));
  EXPECT_FALSE(job->cancelled);
  const auto [line, last] = late.next();
  EXPECT_NE(line.find("timeout"), std::string::npos) << line;
  EXPECT_TRUE(last);
  EXPECT_TRUE(job->cancelled);
  serve::Live done(job, Time::min());
  done.last("{}");
  EXPECT_EQ(done.next(), (std::pair<std::string, bool>("{}\n", true))) << "what is there is given";
}

TEST(Traffic, AServerThatStopsFinishesWhatIsRunning) {
  serve::ServeOptions options;
  options.traffic.stop_seconds = kNever;
  Served served(options);
  const std::string much = json{{"texts", std::vector<std::string>(100, "a b c d e f g h")}, {"beam", 16}}.dump();
  std::atomic<int> status = 0;
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
  Served served(endless_options());
  const std::string watched = json{{"text", "a b"}, {"stream", true}}.dump();  // waits behind the others
  std::vector<std::string> answers(3);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < answers.size(); ++i) {
    clients.emplace_back([&, i] {
      const auto result = served.post("/v1/run", i < 2 ? kEndless : watched);
      answers[i] = result ? std::to_string(result->status) + result->body : "none";
    });
    wait_until(served, "running", 1);
  }
  wait_until(served, "waiting", 2);
  served.server().stop();
  for (std::thread& client : clients) client.join();
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(answers[i].starts_with(i < 2 ? "503" : "200")) << answers[i];
    EXPECT_NE(answers[i].find(R"("code":"stopping")"), std::string::npos) << answers[i];
  }
}

}  // namespace
}  // namespace attend::test
