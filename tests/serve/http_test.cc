// Messages, paths and answers as HTTP has them.
#include <gtest/gtest.h>

#include "serve/answer.h"
#include "serve/framing.h"
#include "serve/routes.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

using Names = std::optional<std::vector<std::string>>;

TEST(Http, ReadsTheMessageOfAFrame) {
  const serve::Message post = serve::read_message(
      "POST /v1/run%2fx?y=1 HTTP/1.1\r\nhost: x\r\nX-Empty:\r\nX-Value: \t a b \r\nContent-Length: 3\r\n\r\na\r\n");
  EXPECT_EQ(post.method, "POST");
  EXPECT_EQ(post.path(), "/v1/run/x");
  EXPECT_EQ(post.field("HOST"), "x");
  EXPECT_EQ(post.field("x-value"), "a b");
  EXPECT_TRUE(post.has("x-empty"));
  EXPECT_FALSE(post.has("x-none"));
  EXPECT_EQ(post.body, "a\r\n");
  const auto path = [](const std::string& target) {
    const std::string text = "GET " + target + " HTTP/1.1\r\n\r\n";
    return serve::read_message(text).path();
  };
  EXPECT_EQ(path("/%41%e2%82%ac"), "/A\xe2\x82\xac");
  EXPECT_EQ(path("/a%zz%4"), "/a%zz%4") << "as it is";
  EXPECT_EQ(path("/a+b"), "/a+b");
}

TEST(Http, KeepsAConnectionAsTheVersionSays) {
  const auto keeps = [](const std::string& version, const std::string& fields) {
    const std::string text = "GET / HTTP/" + version + "\r\n" + fields + "\r\n";
    return serve::read_message(text).keeps();
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_TRUE(keeps("1.1", "Connection: upgrade\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: TE, Close\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: Keep-Alive\r\n"));
}

TEST(Http, FindsTheNamesInAPath) {
  EXPECT_EQ(serve::names_in("/v1/run", "/v1/run"), Names(std::vector<std::string>{}));
  EXPECT_EQ(serve::names_in("/v1/models/{name}", "/v1/models/a.b"), Names({"a.b"}));
  EXPECT_EQ(serve::names_in("/v1/models/{name}/curves", "/v1/models/lab/told/bridge/curves"),
            Names({"lab/told/bridge"}));
  EXPECT_EQ(serve::names_in("/v1/lab/{name}/figures/{figure}", "/v1/lab/told/figures/x"), Names({"told", "x"}));
  EXPECT_EQ(serve::names_in("/v1/models/{name}", "/v1/models/lab"), Names({"lab"}));
  for (const char* other : {"/v1/models", "/v1/models/", "/v1/models/a/b", "/v1/models/lab/a", "/v1/models/lab//b",
                            "v1/models/a", "/v1/models/a/", "//v1/models/a", ""}) {
    EXPECT_EQ(serve::names_in("/v1/models/{name}", other), std::nullopt) << other;
  }
}

TEST(Http, WritesAHead) {
  serve::Head head;
  head.status = 404;
  head.set("X-Y", "z");
  EXPECT_EQ(serve::head_text(head, {.length = 5}),
            "HTTP/1.1 404 Not Found\r\nX-Y: z\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(serve::head_text({.status = 204}, {.close = true}), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  const std::string chunked = serve::head_text({}, {.chunked = true});
  EXPECT_NE(chunked.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(chunked.find("Content-Length"), std::string::npos);
  EXPECT_EQ(serve::head_text({}, {.close = true, .old = true, .chunked = true}).find("Transfer"), std::string::npos);
  EXPECT_EQ(serve::chunk(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(serve::chunk(""), "0\r\n\r\n");
}

TEST(Http, AnswersSeveralRequestsOfOneConnectionInTheirOrder) {
  const Served served;
  const RawClient client(served.port());
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n", body = R"({"text": "a b"})";
  const std::string run = "POST /v1/run" + host +
                          "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                          "\r\n\r\n" + body;
  client.send("GET /healthz" + host + "\r\n" + run + "GET /nowhere" + host + "\r\n" + run + "HEAD /v1/models" + host +
              "Connection: close\r\n\r\n");
  EXPECT_NE(client.answer().find(R"("status":"ok")"), std::string::npos);
  EXPECT_NE(client.answer().find(R"("answers")"), std::string::npos);
  EXPECT_TRUE(client.answer().starts_with("HTTP/1.1 404"));
  EXPECT_NE(client.answer().find(R"("answers")"), std::string::npos);
  const std::string head = client.receive();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n")) << head;
  EXPECT_EQ(head.find("\r\n\r\n"), head.size() - 4) << "no body";
}

TEST(Http, StreamsToOldClientsUntilTheConnectionEnds) {
  const Served served;
  const RawClient client(served.port());
  const std::string body = R"({"text": "a b", "stream": true})";
  client.send("POST /v1/run HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  const std::string answer = client.receive();
  EXPECT_EQ(answer.find("Transfer-Encoding"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("]}\n")) << answer;
}

}  // namespace
}  // namespace attend::test
