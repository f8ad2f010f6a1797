// `attend serve` as a process: its address, its end, and what it says where it cannot begin.
#include "tests/support/process.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/serve/served.h"
#include "tests/support/command.h"

namespace attend::test {
namespace {

class ServeProcess : public testing::Test {
 protected:
  TestFolder folder_;
  std::string model_ = tiny_model(folder_, "tiny");
};

int port_in(const std::string& line) {
  return line.starts_with("open http://127.0.0.1:") ? std::stoi(line.substr(22)) : 0;
}

TEST_F(ServeProcess, SaysWhereItIsAndEndsWhenTold) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Process process({"serve", model_, "--port", "0", "--log", "text", "--stop-seconds", "3600"},
                    (folder_.path() / "errors").string());
    const int port = port_in(process.line(60));
    ASSERT_GT(port, 0);
    httplib::Client client("127.0.0.1", port);
    client.set_read_timeout(600);
    const std::string much = json{{"texts", std::vector<std::string>(100, "a b c d e f g h")}, {"beam", 16}}.dump();
    std::atomic<int> status = 0;
    std::thread asking([&] {
      const auto result = client.Post("/v1/run", much, "application/json");
      status = result ? result->status : -1;
    });
    httplib::Client watching("127.0.0.1", port);
    while (json::parse(watching.Get("/healthz")->body)["running"] == 0 && status == 0) std::this_thread::yield();
    process.signal(signal);
    EXPECT_EQ(process.wait(), 0);
    asking.join();
    EXPECT_EQ(status, 200) << "what was running is finished";
    EXPECT_TRUE(has(folder_.bytes("errors"), "POST \"/v1/run\" 200")) << folder_.bytes("errors");
  }
}

TEST_F(ServeProcess, LeavesNoClientThatKeepsItsConnectionWithoutAnAnswer) {
  constexpr int kClients = 24;
  const std::string host = "Host: localhost\r\n", text = R"({"text": "a b c"})";
  const std::string get = "GET /healthz HTTP/1.1\r\n" + host + "\r\n";
  const std::string post = "POST /v1/run HTTP/1.1\r\n" + host +
                           "Content-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
                           "\r\n\r\n" + text;
  Process process({"serve", model_, "--port", "0"});
  const int port = port_in(process.line(60));
  ASSERT_GT(port, 0);
  std::atomic<int> answers = 0, begun = 0, bare = 0, other = 0;
  std::atomic<bool> told = false;
  // Most ask again and again until they are told that the connection ends; a third asks once, and again after the signal.
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      const RawClient client(port);
      for (bool first = true;; first = false) {
        client.send(i % 2 == 0 ? get : post);
        const std::string answer = client.answer();
        if (answer.empty()) return void(++bare);
        if (!answer.starts_with("HTTP/1.1 200") && !answer.starts_with("HTTP/1.1 503")) ++other;
        if (answer.find("\r\nConnection: close\r\n") != std::string::npos) return;
        ++answers;
        if (first) ++begun;
        if (i % 3 == 0) told.wait(false);
      }
    });
  }
  while (begun < kClients || answers < 10 * kClients) std::this_thread::yield();
  process.signal(SIGTERM);
  told = true;
  told.notify_all();
  EXPECT_EQ(process.wait(), 0);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(bare, 0);
  EXPECT_EQ(other, 0);
}

TEST_F(ServeProcess, SaysInOneLineWhyItCannotBegin) {
  const Served other;
  const std::string port = std::to_string(other.port());
  struct Row {
    std::string arguments;
    int code;
    const char* part;
  };
  for (const Row& row :
       {Row{model_ + " --port " + port, 1, "Address already in use; --port 0"},
        Row{model_ + " --port 70000", 2, "expected 0 to 65535, got 70000"},
        Row{model_ + " --port 0 --host 300.1.1.1", 2, "expected an address of this machine"},
        Row{model_ + " --port 0 --host 192.0.2.1", 1, "cannot listen on 192.0.2.1"},
        Row{folder_.path().string(), 2, "it has no config.yml"}, Row{"nowhere", 2, "there is no such folder"},
        Row{"", 2, "expected DIR"}, Row{model_ + " --cors example.org", 2, "--cors: expected an origin"},
        Row{model_ + " --keys " + model_ + "/config.yml", 2, "config.yml:1: expected"},
        Row{model_ + " --cert " + model_ + "/config.yml", 2, "--cert: expected --key beside it"},
        Row{model_ + " --log loud", 2, "none, text, json"}, Row{model_ + " --body-bytes 0", 2, "expected at least 1"},
        Row{model_ + " --prot 0", 2, "the nearest is --port"}}) {
    const Result result = attend_with("serve " + row.arguments + " 2>&1");
    EXPECT_EQ(result.code, row.code) << row.arguments << result.output;
    EXPECT_TRUE(has(result.output, row.part)) << result.output;
    EXPECT_EQ(lines(result.output), 1) << result.output;
  }
}

TEST_F(ServeProcess, MakesKeysAndReadsAgainWhatMayHaveChanged) {
  const Result made = attend_with("serve --make-key ann");
  EXPECT_EQ(made.code, 0) << made.output;
  EXPECT_TRUE(has(made.output, "key (for ann, not shown again): attend-")) << made.output;
  const std::string line = "line (for --keys FILE): ";
  const size_t begin = made.output.find(line);
  ASSERT_NE(begin, std::string::npos) << made.output;
  const std::string keys = (folder_.path() / "keys").string(), errors = (folder_.path() / "errors").string();
  std::ofstream(keys) << made.output.substr(begin + line.size());
  Process process({"serve", model_, "--port", "0", "--keys", keys}, errors);
  const int port = port_in(process.line(60));
  ASSERT_GT(port, 0);
  httplib::Client client("127.0.0.1", port);
  EXPECT_EQ(client.Get("/v1/models")->status, 401);
  process.signal(SIGHUP);
  while (!has(folder_.bytes("errors"), "models: none has changed")) std::this_thread::yield();
  EXPECT_TRUE(has(folder_.bytes("errors"), "keys: read again")) << folder_.bytes("errors");
  EXPECT_EQ(client.Get("/healthz")->status, 200);
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST_F(ServeProcess, StandsAMixedLoadFromAnotherProcess) {
  Process process({"serve", model_, "--port", "0"});
  const int port = port_in(process.line(60));
  ASSERT_GT(port, 0);
  const std::string command =
      "python3 '" ATTEND_SOURCE_DIR "/bench/serve_load.py' http://127.0.0.1:" + std::to_string(port) +
      " --requests 200 --at-once 16 --text 'a b c' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c; (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << output;
  EXPECT_TRUE(has(output, "lost           0")) << output;
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait(), 0);
}

TEST(ServeChaosSlow, LosesNothing) {
  const TestFolder folder;
  const std::string command = "python3 '" ATTEND_SOURCE_DIR "/bench/serve_chaos.py' '" ATTEND_BINARY "' '" +
                              tiny_model(folder, "tiny") + "' --seconds 8 --half-open 200 --text 'a b c' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c; (c = fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << output;
  EXPECT_TRUE(has(output, "lost           0")) << output;
}

}  // namespace
}  // namespace attend::test
