// What is told to whoever watches: counts, gauges, histograms, and a line for each request.
#include "serve/metrics.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>
#include <vector>

#include "serve/journal.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

using serve::Metrics;

TEST(Metrics, AreWrittenAsPrometheusReadsThem) {
  Metrics metrics;
  metrics.counter("b_total", "b's", {{"model", "a\"b\\c\nd"}}).add(3);
  metrics.counter("b_total", "b's", {{"model", "x"}}).add();
  double value = 1.5;
  metrics.gauge("a", "an a", [&] { return value; });
  Metrics::Histogram& times = metrics.histogram("c_seconds", "c", {0.1, 1}, {{"to", "x"}});
  for (const double one : {0.05, 0.1, 0.5, 7.0}) times.observe(one);
  EXPECT_EQ(metrics.text(),
            "# HELP a an a\n# TYPE a gauge\na 1.5\n"
            "# HELP b_total b's\n# TYPE b_total counter\n"
            "b_total{model=\"a\\\"b\\\\c\\nd\"} 3\nb_total{model=\"x\"} 1\n"
            "# HELP c_seconds c\n# TYPE c_seconds histogram\n"
            "c_seconds_bucket{to=\"x\",le=\"0.1\"} 2\nc_seconds_bucket{to=\"x\",le=\"1\"} 3\n"
            "c_seconds_bucket{to=\"x\",le=\"+Inf\"} 4\nc_seconds_sum{to=\"x\"} 7.65\nc_seconds_count{to=\"x\"} 4\n");
  value = 3e9;
  EXPECT_NE(metrics.text().find("\na 3000000000\n"), std::string::npos);
}

TEST(Metrics, CountWhateverManyThreadsDo) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 1000; ++n) {
        metrics.counter("n_total", "n", {{"i", std::to_string(i % 2)}}).add();
        metrics.histogram("t", "t", Metrics::times()).observe(0.01);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(metrics.counter("n_total", "n", {{"i", "0"}}).value(), 2000u);
  EXPECT_NE(metrics.text().find("t_count 4000\n"), std::string::npos);
}

TEST(Metrics, OfAServerSayWhatItHasDone) {
  const Served served;
  ASSERT_EQ(served.post("/v1/run", R"({"text": "a b c"})")->status, 200);
  ASSERT_EQ(served.post("/v1/run", R"({"text": ""})")->status, 400);
  served.client().Get("/nowhere/" + std::string(50, 'x'));
  RawClient garbage(served.port());
  garbage.send("garbage\r\n\r\n");
  EXPECT_TRUE(garbage.receive().starts_with("HTTP/1.1 400"));
  httplib::Client strange = served.client();
  httplib::Request request;
  request.method = "BREW", request.path = "/v1/run";
  strange.send(request);
  const auto result = served.get("/metrics");
  EXPECT_EQ(result->get_header_value("Content-Type"), "text/plain; version=0.0.4");
  for (const char* line : {"attend_requests_total{endpoint=\"/v1/run\",method=\"POST\",status=\"200\"} 1\n",
                           "attend_requests_total{endpoint=\"/v1/run\",method=\"POST\",status=\"400\"} 1\n",
                           "attend_requests_total{endpoint=\"other\",method=\"GET\",status=\"404\"} 1\n",
                           "attend_requests_total{endpoint=\"other\",method=\"other\",status=\"405\"} 1\n",
                           "attend_request_seconds_count{endpoint=\"/v1/run\"} 2\n", "attend_compute_seconds_count 1\n",
                           "attend_models 2\n", "attend_requests_waiting 0\n", "attend_connections_dismissed_total 1\n",
                           "# TYPE attend_tensor_bytes gauge\n", "# TYPE attend_connections_total counter\n"}) {
    EXPECT_NE(result->body.find(line), std::string::npos) << line << result->body;
  }
  const size_t tokens = result->body.find("attend_tokens_total{model=\"tiny\"} ");
  ASSERT_NE(tokens, std::string::npos);
  EXPECT_GT(std::stoi(result->body.substr(tokens + 34)), 0);
  EXPECT_EQ(result->body.find("xxxx"), std::string::npos) << "what clients make up is no label";
}

TEST(Metrics, ReadinessIsThatOfTheModels) {
  Served served;
  EXPECT_EQ(body_of(served.get("/readyz")), json({{"status", "ready"}, {"models", 2}}));
}

TEST(Journal, TellsARequestInOneLine) {
  const serve::Record record{.id = "r1",
                             .client = "192.0.2.7",
                             .key = "ann",
                             .method = "POST",
                             .path = "/v1/run\n\"x\"",
                             .model = "tiny",
                             .status = 200,
                             .in = 10,
                             .out = 20,
                             .tokens = 3,
                             .waited = 0.25,
                             .computed = 0.0015,
                             .seconds = 0.5};
  const json line = json::parse(serve::line_of(record, "json", "2026-01-31T00:00:00.000Z"));
  EXPECT_EQ(line, json({{"time", "2026-01-31T00:00:00.000Z"},
                        {"id", "r1"},
                        {"client", "192.0.2.7"},
                        {"key", "ann"},
                        {"method", "POST"},
                        {"path", "/v1/run\n\"x\""},
                        {"model", "tiny"},
                        {"status", 200},
                        {"bytes_in", 10},
                        {"bytes_out", 20},
                        {"tokens", 3},
                        {"waited_ms", 250.0},
                        {"computed_ms", 1.5},
                        {"ms", 500.0}}));
  for (const char* format : {"json", "text"}) {
    EXPECT_EQ(serve::line_of(record, format, "").find('\n'), std::string::npos) << "whatever a client sends";
  }
  EXPECT_NE(serve::line_of(record, "text", "").find(" 200 20 bytes 500.0 ms r1"), std::string::npos);
}

TEST(Journal, TakesAnIdThatIsOneAndMakesOthers) {
  EXPECT_EQ(serve::request_id("a-b_c.9"), "a-b_c.9");
  for (const std::string& wrong : {std::string(), std::string("a b"), std::string("a\nb"), std::string(65, 'a')}) {
    const std::string made = serve::request_id(wrong);
    EXPECT_EQ(made.size(), 16u);
    EXPECT_NE(made, serve::request_id(wrong));
  }
  const Served served;
  EXPECT_EQ(served.client().Get("/healthz", {{"X-Request-Id", "my-own"}})->get_header_value("X-Request-Id"), "my-own");
  EXPECT_EQ(served.client().Get("/nowhere", {{"X-Request-Id", "no id"}})->get_header_value("X-Request-Id").size(), 16u);
}

TEST(Journal, OfAServerIsReadByPrograms) {
  serve::ServeOptions options;
  options.log = "json";
  Served served(options);
  testing::internal::CaptureStderr();
  served.client().Post("/v1/run", {{"X-Request-Id", "one"}}, R"({"text": "a b"})", "application/json");
  served.client().Get("/healthz", {{"X-Request-Id", "two"}});
  served.server().stop();
  std::istringstream lines(testing::internal::GetCapturedStderr());
  std::vector<json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["id"], "one");
  EXPECT_EQ(all[0]["model"], "tiny");
  EXPECT_GT(all[0]["tokens"], 0);
  EXPECT_GT(all[0]["computed_ms"], 0);
  EXPECT_EQ(all[1]["path"], "/healthz");
  EXPECT_EQ(all[1]["status"], 200);
}

}  // namespace
}  // namespace attend::test
