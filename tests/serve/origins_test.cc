// From which pages, and under which names, a server may be asked.
#include <gtest/gtest.h>

#include "tests/serve/served.h"

namespace attend::test {
namespace {

serve::ServeOptions with(std::vector<std::string> cors, std::vector<std::string> hosts = {}) {
  serve::ServeOptions options;
  options.security.cors = std::move(cors), options.security.public_host = std::move(hosts);
  return options;
}

httplib::Result run_from(const Served& served, const std::string& origin, const std::string& host = "") {
  httplib::Headers headers;
  if (!origin.empty()) headers.emplace("Origin", origin);
  if (!host.empty()) headers.emplace("Host", host);
  return served.client().Post("/v1/run", headers, R"({"text": "a"})", "application/json");
}

TEST(Origins, OnlyOwnPagesMayHaveSomethingComputed) {
  const Served served;
  const std::string own = "127.0.0.1:" + std::to_string(served.port());
  EXPECT_EQ(run_from(served, "")->status, 200);
  EXPECT_EQ(run_from(served, "http://" + own)->status, 200);
  EXPECT_EQ(run_from(served, "https://localhost:9", "localhost:9")->status, 200) << "a proxy that does TLS";
  for (const std::string& other :
       {std::string("https://evil.example"), std::string("null"), std::string("http://127.0.0.1:1"),
        "http://" + own + ".evil.example", "file://" + own}) {
    const auto refused = run_from(served, other);
    expect_error(refused, 403, "wrong_origin", "expected a page of this server");
    EXPECT_FALSE(refused->has_header("Access-Control-Allow-Origin"));
  }
  const auto read = served.client().Get("/v1/models", {{"Origin", "https://evil.example"}});
  EXPECT_EQ(read->status, 200) << "which its browser does not show that page";
  EXPECT_FALSE(read->has_header("Access-Control-Allow-Origin"));
  EXPECT_EQ(served.client()
                .Options("/v1/run", {{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}})
                ->status,
            405);
}

TEST(Origins, PagesThatAreNamedMayAskAndRead) {
  const Served served(with({"https://page.example"}));
  const httplib::Headers page{{"Origin", "https://page.example"}, {"Access-Control-Request-Method", "POST"}};
  const auto before = served.client().Options("/v1/run", page);
  EXPECT_EQ(before->status, 204);
  EXPECT_EQ(before->get_header_value("Access-Control-Allow-Origin"), "https://page.example");
  EXPECT_NE(before->get_header_value("Access-Control-Allow-Headers").find("Authorization"), std::string::npos);
  const auto answer = run_from(served, "https://page.example");
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Access-Control-Allow-Origin"), "https://page.example");
  EXPECT_EQ(answer->get_header_value("Vary"), "Origin");
  for (const char* other : {"http://page.example", "https://page.example.evil", "https://page.example:8443"}) {
    expect_error(run_from(served, other), 403, "wrong_origin", "--cors");
  }
}

TEST(Origins, AServerWithAPublicNameAnswersToItAlone) {
  const Served served(with({}, {"translate.example"}));
  const auto get = [&](const char* host) { return served.client().Get("/healthz", {{"Host", host}})->status; };
  EXPECT_EQ(get("translate.example"), 200);
  EXPECT_EQ(get("Translate.Example:443"), 200);
  EXPECT_EQ(get("localhost"), 200);
  EXPECT_EQ(get("evil.example"), 403);
  EXPECT_EQ(run_from(served, "https://translate.example")->status, 200) << "its page, behind a proxy that changes Host";
  serve::ServeOptions everywhere = with({}, {"translate.example"});
  everywhere.host = "0.0.0.0";
  const Served open(everywhere);
  EXPECT_EQ(open.client().Get("/healthz", {{"Host", "evil.example"}})->status, 403);
  EXPECT_EQ(open.client().Get("/healthz", {{"Host", "translate.example"}})->status, 200);
}

TEST(Origins, WhatIsNoneIsRefusedAtTheStart) {
  for (const char* wrong : {"page.example", "https://", "https://page.example/", "*", "https://*.example", "ftp://x"}) {
    EXPECT_THROW(Served{with({wrong})}, OptionError) << wrong;
  }
  for (const char* wrong : {"", "https://x", "x/y", "x:80", "a b"})
    EXPECT_THROW(Served(with({}, {wrong})), OptionError) << wrong;
}

}  // namespace
}  // namespace attend::test
