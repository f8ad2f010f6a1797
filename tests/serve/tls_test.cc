// TLS: who comes with it, who comes without, and certificates that change.
#include "serve/tls.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <vector>

#include "attend/base/error.h"
#include "tests/serve/secure_client.h"
#include "tests/serve/served.h"

namespace attend::test {
namespace {

const std::string kGetHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

class Secure : public testing::Test {
 protected:
  void write(const std::string& name) const {
    write_certificate(folder_.path() / "cert.pem", folder_.path() / "key.pem", name);
  }
  serve::ServeOptions options() {
    write("first");
    serve::ServeOptions options;
    options.security.cert = (folder_.path() / "cert.pem").string();
    options.security.key = (folder_.path() / "key.pem").string();
    return options;
  }
  static std::string post(const std::string& body) {
    return "POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }

  TestFolder folder_;
  Served served_{options()};
};

TEST_F(Secure, AnswersThroughTls) {
  EXPECT_TRUE(served_.server().address().starts_with("https://"));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const SecureClient client(served_.port(), version);
    EXPECT_EQ(client.peer(), "first");
    for (int i = 0; i < 3; ++i) {  // over one connection
      client.send(kGetHealth);
      const std::string answer = client.receive("}");
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 200") && answer.find(R"("status":"ok")") != std::string::npos) << answer;
    }
    client.send(kGetHealth + kGetHealth);
    client.receive("}");
    client.receive("}");
    client.send(post(R"({"text": "a b", "stream": true})"));
    EXPECT_NE(client.receive("0\r\n\r\n").find("\"answers\""), std::string::npos);
  }
  EXPECT_THROW(SecureClient(served_.port(), TLS1_1_VERSION), std::runtime_error);
}

TEST_F(Secure, PassesLongBodiesBothWays) {
  const SecureClient client(served_.port());
  std::vector<std::string> texts(200, "a b c d e f g h");
  texts.emplace_back(9000, 'x');
  client.send(post(json{{"texts", texts}, {"beam", 1}}.dump() + std::string(200'000, ' ')));
  EXPECT_TRUE(client.receive("]}").starts_with("HTTP/1.1 200"));
  client.send("GET /openapi.yaml HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_GT(client.receive().size(), 30'000u);
}

TEST_F(Secure, TellsWhoComesWithoutIt) {
  const RawClient plain(served_.port());
  plain.send(kGetHealth);
  const std::string told = plain.receive();
  EXPECT_TRUE(told.starts_with("HTTP/1.1 400")) << told;
  EXPECT_NE(told.find("expected TLS (https://"), std::string::npos) << told;
}

TEST_F(Secure, WaitsForNobodyWhoShakesHandsSlowly) {
  std::vector<std::unique_ptr<RawClient>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<RawClient>(served_.port()));
    if (i % 2 == 0) slow.back()->send(std::string("\x16\x03\x01\x02\x00\x01\x00", 7));  // the beginning of a hello
  }
  const SecureClient client(served_.port());
  client.send(kGetHealth);
  EXPECT_TRUE(client.receive("}").starts_with("HTTP/1.1 200"));
  slow[0]->send("no handshake");
  slow[0]->receive();  // until it is closed
  served_.server().stop();
}

TEST_F(Secure, ShowsANewCertificateOnceItIsTold) {
  const SecureClient before(served_.port());
  write("second");
  EXPECT_EQ(SecureClient(served_.port()).peer(), "first");
  EXPECT_EQ(served_.server().reload()[0], "certificate: read again");
  EXPECT_EQ(SecureClient(served_.port()).peer(), "second");
  before.send(kGetHealth);
  EXPECT_TRUE(before.receive("}").starts_with("HTTP/1.1 200")) << "who is there stays";
  std::ofstream(folder_.path() / "cert.pem") << "nothing";
  EXPECT_NE(served_.server().reload()[0].find("certificate: as before"), std::string::npos);
  EXPECT_EQ(SecureClient(served_.port()).peer(), "second");
}

TEST_F(Secure, WhatIsNoCertificateIsRefusedAtTheStart) {
  serve::ServeOptions alone = options();
  alone.security.key.clear();
  EXPECT_THROW(Served{alone}, UsageError);
  const std::string cert = (folder_.path() / "cert.pem").string(), other = (folder_.path() / "other.pem").string();
  write_certificate(folder_.path() / "unused.pem", other, "other");
  try {
    const serve::Tls tls(cert, other);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("--key"), std::string::npos) << error.what();
  }
  EXPECT_THROW(serve::Tls(other, other), UsageError);
  EXPECT_THROW(serve::Tls(cert, folder_.path() / "none.pem"), UsageError);
}

}  // namespace
}  // namespace attend::test
