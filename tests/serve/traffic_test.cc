// Slow, broken and too many clients: what they do to others, and what becomes of them.
#include <gtest/gtest.h>

#include <semaphore>
#include <thread>
#include <vector>

#include "attend/base/memory.h"
#include "attend/decode/search.h"
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
  options.limits.answer_tokens = decode::kLongestAnswer;
  options.limits.cost = 1'000'000'000'000;
  options.limits.seconds = kNever;
  return options;
}
json endless() {
  return {{"text", "a"}, {"min_length", decode::kLongestAnswer}, {"max_length", decode::kLongestAnswer}, {"beam", 32}};
}
const std::string kEndless = endless().dump();
const std::string kHost = "Host: localhost\r\n";

/// Asks until the server says so; ctest ends what never comes true.
void wait_until(const Served& served, const char* count, int64_t wanted) {
  while (json::parse(served.get("/healthz")->body)[count] != wanted) std::this_thread::yield();
}

/// The same of all that are computed or wait.
void wait_until_asked(const Served& served, int64_t wanted) {
  for (;;) {
    const json health = json::parse(served.get("/healthz")->body);
    if (health["running"].get<int64_t>() + health["waiting"].get<int64_t>() == wanted) return;
    std::this_thread::yield();
  }
}

TEST(Framing, FindsTheEndOfARequest) {
  const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t n = 0; n < get.size(); ++n) EXPECT_EQ(serve::find_frame(get.substr(0, n), kBody).state, State::more) << n;
  EXPECT_EQ(serve::find_frame(get + "more", kBody).bytes, get.size());
  const std::string post = "POST / HTTP/1.1\r\nhost: x\r\ncontent-LENGTH:  5 \r\n\r\n";
  EXPECT_EQ(serve::find_frame(post + "1234", kBody).state, State::more);
  EXPECT_EQ(serve::find_frame(post + "12345", kBody).bytes, post.size() + 5);
}

TEST(Framing, RefusesWhatCouldBeReadInTwoWays) {
  const auto state = [](const std::string& headers) {
    return serve::find_frame("POST / HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n", kBody).state;
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

TEST(Framing, TakesOneValidHostAlone) {
  const auto status = [](const std::string& headers, const std::string& version = "1.1") {
    return serve::find_frame("GET / HTTP/" + version + "\r\n" + headers + "\r\n", kBody).status;
  };
  for (const char* host : {"localhost", "LOCALHOST:80", "a-b_c.example", "127.0.0.1:8080", "[::1]", "[::ffff:1.2.3.4]:9"}) {
    EXPECT_EQ(status("Host: " + std::string(host) + "\r\n"), 0) << host;
  }
  for (const char* host : {"", "a b", "a,b", "a@b", "a/b", "a:", "a:8x", "a:80:80", ":80", "[::1", "[::1]x", "[]", "[x]",
                           "h\xc3\xa9", "a?b", "a#b", "\"a\""}) {
    EXPECT_EQ(status("Host: " + std::string(host) + "\r\n"), 400) << host;
  }
  EXPECT_EQ(status(""), 400) << "none";
  EXPECT_EQ(status("Host: a\r\nHost: a\r\n"), 400) << "two";
  EXPECT_EQ(status("Host: a\r\nX: y\r\nhOST: b\r\n"), 400) << "two";
  EXPECT_EQ(status("", "1.0"), 0) << "HTTP/1.0 has none";
  EXPECT_EQ(status("Host: a\r\nHost: a\r\n", "1.0"), 400);
}

TEST(Framing, ReadsAHeadAsStrictlyAsTheNextOneInTheChainMay) {
  const auto status = [](const std::string& head) { return serve::find_frame(head, kBody).status; };
  const std::string line = "GET / HTTP/1.1\r\n" + kHost;
  EXPECT_EQ(status(line + "X-Y_z!#$%&'*+.^`|~9:\t a\tb \xc3\xa9 \r\n\r\n"), 0);
  for (const std::string& field : std::vector<std::string>{
           "X\x0b: y\r\n", "X\x0bY: y\r\n", "\x0bX: y\r\n", "X : y\r\n", "X\t: y\r\n", " X: y\r\n", "\tX: y\r\n", ": y\r\n",
           "X\r\n", "X: y\n", "X: y\rZ: z\r\n", "X: \x0b\r\n", "X: \x7f\r\n", std::string("X: \0\r\n", 6), "X(y): z\r\n",
           "X\xc3\xa9: y\r\n", "X: y\r\n  folded\r\n", "Content-Length: +1\r\n", "Content-Length: 1, 1\r\n",
           "Content-Length: 0x1\r\n", "Content-Length:\r\n", "Content-Length: 1\r\nContent-Length: 1\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", "Content-Length: 1\r\nTransfer-Encoding: x\r\n"}) {
    EXPECT_EQ(status(line + field + "\r\n"), 400) << field;
  }
  for (const std::string first : {"GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET /", "GET", "", "GET / HTTP/1.2",
                                   "GET / http/1.1", "GET /\x0b HTTP/1.1", "G\x0bT / HTTP/1.1", "GET /\xc3\xa9 HTTP/1.1",
                                   "GET\t/\tHTTP/1.1", "GET / HTTP/2.0"}) {
    EXPECT_EQ(status(first + "\r\n" + kHost + "\r\n"), 400) << first;
  }
  EXPECT_EQ(status("GET / HTTP/1.1\nHost: x\n"), 400) << "at once: no end of the head will come";
  EXPECT_EQ(status(line + "\n"), 400);
}

TEST(Workers, TakeNoMoreThanMayWaitAndFinishWhatTheyTook) {
  std::atomic<int> done{0};
  std::atomic<bool> go{false};
  size_t taken = 0;
  {
    serve::Workers workers({.workers = 1, .places = 3});
    const auto submit = [&] {
      auto job = std::make_shared<serve::Job>();
      job->run = [&] {
        while (!go) std::this_thread::yield();
        ++done;
      };
      return workers.submit(job);
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
  serve::Workers workers({.workers = 1, .places = 3, .most_long = 0}, std::chrono::milliseconds(0));
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
    if (i % 3 == 2) slow.back()->send("POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{");
  }
  for (int i = 0; i < 10; ++i) {
    const auto result = served.post("/v1/run", R"({"text": "a b"})");
    ASSERT_TRUE(result && result->status == 200);
  }
  for (const auto& client : slow) EXPECT_TRUE(client->quiet()) << "nobody had to go for the others to be answered";
}

TEST(Traffic, ABrokenRequestEndsItsConnectionAlone) {
  Served served;
  const std::string get = "GET /healthz HTTP/1.1\r\n" + kHost + "\r\n";
  struct Row {
    std::string sent, begins;
  };
  for (const Row& row : std::vector<Row>{
           {"\r\n\r\n", "HTTP/1.1 400"},
           {std::string("\0\1\2\n\r\n", 6), "HTTP/1.1 400"},
           {"GET / HTTP/9.9\r\n" + kHost + "\r\n", "HTTP/1.1 400"},
           {"BREW / HTTP/1.1\r\n" + kHost + "\r\n", "HTTP/1.1 405"},
           {"POST /v1/run HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + get, "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.1\r\n" + kHost + kHost + "\r\n", "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.1\nHost: localhost\n\n", "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.1\r\n" + kHost + "X\x0b: y\r\n\r\n", "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.1\r\n" + kHost + "X : y\r\n\r\n", "HTTP/1.1 400"},
           {"GET /healthz HTTP/1.0\r\n\r\n", "HTTP/1.1 200"},
           {"GET /" + std::string(20'000, 'x') + " HTTP/1.1\r\n\r\n", "HTTP/1.1 431"},
           {"GET / HTTP/1.1\r\n" + kHost + "Range: bytes=0-,0-,0-,0-\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"},
           {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + kHost + "Connection: close\r\n\r\n", "HTTP/1.1 404"},
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
  const std::string get = "GET /healthz HTTP/1.1\r\n" + kHost;
  const std::string long_get = get + "Content-Length: 2\r\n\r\nxx";  // a body that nobody reads
  client.send(long_get + long_get + get + "Connection: close\r\n\r\n");
  const std::string all = client.receive();
  size_t count = 0;
  for (size_t at = 0; (at = all.find("HTTP/1.1 200", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 3u) << all;
}

TEST(Traffic, WhoAsksBeforeSendingIsToldToGoOn) {
  Served served;
  RawClient client(served.port());
  client.send(
      "POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n"
      "Expect: 100-continue\r\nConnection: close\r\n\r\n");
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
  options.traffic.waiting = 3;  // and one worker: half of four
  Served served(options);
  std::vector<std::thread> clients;
  for (int i = 1; i <= 2; ++i) {
    clients.emplace_back([&] { EXPECT_EQ(served.post("/v1/run", kEndless)->status, 503) << "the server stops"; });
    wait_until_asked(served, i);
  }
  const auto result = served.post("/v1/run", kEndless);
  expect_error(result, 503, "busy", "try again");
  EXPECT_EQ(result->get_header_value("Retry-After"), "1");
  EXPECT_EQ(served.post("/v1/run", R"({"text": "a"})")->status, 200) << "there is a place for what is short";
  served.server().stop();
  for (std::thread& client : clients) client.join();
}

TEST(Traffic, EndlessRequestsHoldUpNobody) {
  serve::ServeOptions options = endless_options();
  options.traffic.long_requests = 3;
  Served served(options);
  std::vector<std::thread> clients;
  const json explained{{"text", "a"}, {"target", "A B C"}, {"method", "jacobian"}};
  for (int i = 1; i <= 5; ++i) {  // more than there are workers, and than may begin
    clients.emplace_back([&] { EXPECT_EQ(served.post("/v1/run", kEndless)->status, 503) << "the server stops"; });
    wait_until_asked(served, i);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(served.post("/v1/run", R"({"text": "a b"})")->status, 200);
    EXPECT_EQ(served.post("/v1/run", R"({"text": "a b", "stream": true})")->status, 200);
    EXPECT_EQ(served.post("/v1/explain", explained.dump())->status, 200);
    EXPECT_EQ(served.get("/v1/models/tiny/curves")->status, 200);
  }
  served.server().stop();
  for (std::thread& client : clients) client.join();
}

TEST(Traffic, ARequestMayCostNoMoreThanTheLimit) {
  const Served served;
  const json all{{"texts", std::vector<std::string>(256, "a b c d e f g h a b c d e f g h a b c d")},
                 {"beam", 32},
                 {"n_best", 32},
                 {"max_length", 2000}};
  expect_error(served.post("/v1/run", all.dump()), 413, "too_large",
               "cost: expected at most 1000000 (texts × beam × tokens of an answer), got 16384000: 256 texts at beam 32 of "
               "up to 2000 tokens; ask for fewer texts");
  const json drawn{{"texts", std::vector<std::string>(256, "a")}, {"sample", true}, {"n_best", 32}, {"max_length", 200}};
  expect_error(served.post("/v1/run", drawn.dump()), 413, "too_large", "got 1638400: 256 texts at beam 32 of up to 200");
  const json begun{{"texts", std::vector<std::string>(256, "a")}, {"prefix", "A"}, {"beam", 32}, {"max_length", 200}};
  expect_error(served.post("/v1/run", begun.dump()), 413, "too_large", "got 1638400");
  const json kept{{"text", "a"}, {"beam", 32}, {"max_length", 2000}};  // all that was considered
  expect_error(served.post("/v1/explain", kept.dump()), 413, "too_large",
               "got 2112000: 1 text at beam 32 of up to 2000 tokens, each with 33 continuations to tell of");
}

TEST(Traffic, AnExplanationMayReadNoMoreThanTheLimit) {
  serve::ServeOptions options;
  options.limits.cost = 500;
  const Served served(options);
  const auto post = [&](const char* method, bool evidence) {
    const json body{{"text", "a b c d e f g h"}, {"target", "A B C D E F"}, {"method", method}, {"evidence", evidence}};
    return served.post("/v1/explain", body.dump());
  };
  EXPECT_EQ(post("attention", true)->status, 200);
  EXPECT_EQ(post("occlusion", false)->status, 200);
  expect_error(post("jacobian", false), 413, "too_large",
               "at most 500 tokens may be read to explain one answer, this needs 1260");
}

TEST(Traffic, ARequestThatTakesTooLongIsGivenUp) {
  serve::ServeOptions options = endless_options();
  options.limits.seconds = 0.001;
  const Served served(options);
  expect_error(served.post("/v1/run", kEndless), 504, "timeout", "in time");
  wait_until(served, "running", 0);  // the worker gave it up, too
}

TEST(Traffic, ARequestMayAskForLessTime) {
  const Served served(endless_options());
  json late = endless();
  late["seconds"] = 0.001;
  expect_error(served.post("/v1/run", late.dump()), 504, "timeout", "in time");
  late["stream"] = true;
  const auto stream = served.post("/v1/run", late.dump());
  EXPECT_NE(stream->body.find("\"timeout\""), std::string::npos) << stream->body;
  wait_until(served, "running", 0);
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
  served.server().stop();
  client.join();
  EXPECT_EQ(status, 200);
  EXPECT_FALSE(served.get("/healthz")) << "nobody is there";
}

TEST(Traffic, AServerThatStopsTellsTheClientsThatKeepTheirConnections) {
  Served served(endless_options());
  const std::string get = "GET /healthz HTTP/1.1\r\n" + kHost + "\r\n";
  const auto post = [](const json& body) {
    const std::string text = body.dump();
    return "POST /v1/run HTTP/1.1\r\n" + kHost + "Content-Type: application/json\r\nContent-Length: " +
           std::to_string(text.size()) + "\r\n\r\n" + text;
  };
  std::string in_flight, idle, partial, unused;
  std::vector<std::thread> clients;
  std::atomic<int> ready{0};
  // Each goes when it was told all, so that the server has nobody to wait for.
  clients.emplace_back([&] {
    const RawClient client(served.port());
    client.send(post(endless()));
    wait_until(served, "running", 1);
    ++ready;
    in_flight = client.receive();
  });
  clients.emplace_back([&] {
    const RawClient client(served.port());
    client.send(get);
    client.receive("}");
    ++ready;
    idle = client.receive();
  });
  clients.emplace_back([&] {
    const RawClient client(served.port());
    client.send(get + post(endless()).substr(0, 90));
    client.receive("}");
    ++ready;
    partial = client.receive();
  });
  clients.emplace_back([&] {
    const RawClient client(served.port());
    ++ready;
    unused = client.receive();
  });
  while (ready < 4) std::this_thread::yield();
  served.server().stop();
  for (std::thread& client : clients) client.join();
  for (const std::string& told : {in_flight, idle, partial, unused}) {
    EXPECT_TRUE(told.starts_with("HTTP/1.1 503")) << told;
    EXPECT_NE(told.find("\r\nConnection: close\r\n"), std::string::npos) << told;
    EXPECT_NE(told.find(R"("code":"stopping")"), std::string::npos) << told;
  }
}

TEST(Traffic, AServerThatStopsGivesUpWhatTakesTooLong) {
  Served served(endless_options());
  json stream = endless();
  stream["stream"] = true;
  const std::string watched = stream.dump();
  std::vector<std::string> answers(3);
  std::vector<std::thread> clients;
  for (size_t i = 0; i < answers.size(); ++i) {
    clients.emplace_back([&, i] {
      const auto result = served.post("/v1/run", i < 2 ? kEndless : watched);
      answers[i] = result ? std::to_string(result->status) + result->body : "none";
    });
    wait_until_asked(served, static_cast<int64_t>(i) + 1);
  }
  served.server().stop();
  for (std::thread& client : clients) client.join();
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(answers[i].starts_with(i < 2 ? "503" : "200")) << answers[i];
    EXPECT_NE(answers[i].find(R"("code":"stopping")"), std::string::npos) << answers[i];
  }
}

}  // namespace
}  // namespace attend::test
