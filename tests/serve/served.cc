#include "tests/serve/served.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace attend::test {

std::string tiny_image_model(const TestFolder& folder, const std::string& network) {
  const bool captions = network == "captioner";
  SettingList settings{{"model.name", network, ""}, {"size", "28", ""}, {"channels", captions ? "3" : "1", ""}};
  const auto set = [&](const char* name, const char* value) { settings.push_back({name, value, ""}); };
  if (captions) set("task", "caption"), set("corpus", "shapes"), set("search.max_length", "5");
  if (network == "autoencoder") set("task", "autoencode"), set("corpus", "digits");
  if (network == "glimpse" || network == "image_classifier") set("task", "glimpse"), set("corpus", "digits");
  if (network == "glimpse") set("model.hidden", "16"), set("model.glimpses", "3");
  if (captions) set("model.hidden", "16"), set("model.embedding", "8");
  if (captions || network == "image_classifier") set("model.encoder.stages", "4,8");
  const std::vector<std::string> captions_of{"a red blue circle square above below"}, none,
      labels{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  if (captions) set("tokeniser.min_count", "1");
  save_untrained(folder.path() / network, settings,
                 image_corpus(28, captions ? captions_of : none, captions ? none : labels));
  return (folder.path() / network).string();
}

json body_of(const httplib::Result& result) {
  EXPECT_TRUE(result) << httplib::to_string(result.error());
  return result ? json::parse(result->body, nullptr, false) : json();
}

void expect_error(const httplib::Result& result, int status, const std::string& code, const std::string& part) {
  ASSERT_TRUE(result) << httplib::to_string(result.error());
  EXPECT_EQ(result->status, status) << result->body;
  const json body = json::parse(result->body, nullptr, false);
  ASSERT_TRUE(body.is_object()) << result->body;
  EXPECT_EQ(body["error"]["code"], code) << result->body;
  EXPECT_NE(body["error"]["message"].get<std::string>().find(part), std::string::npos) << result->body;
}

RawClient::RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("no connection");
  }
}
RawClient::~RawClient() { ::close(socket_); }

void RawClient::send(std::string_view text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }

bool RawClient::readable(int milliseconds) const {
  pollfd input{socket_, POLLIN, 0};
  return ::poll(&input, 1, milliseconds) > 0;
}

bool RawClient::read_more(std::string& text) const {
  if (!readable(60'000)) throw std::runtime_error("nothing came for a minute after \"" + text + "\"");
  char part[4096];
  const ssize_t count = ::recv(socket_, part, sizeof(part), 0);
  if (count > 0) text.append(part, static_cast<size_t>(count));
  return count > 0;
}

std::string RawClient::receive(std::string_view ending) const {
  std::string text = std::exchange(ahead_, "");
  while ((ending.empty() || !text.ends_with(ending)) && read_more(text)) {
  }
  return text;
}

std::string RawClient::answer() const {
  std::string text = std::exchange(ahead_, "");
  const std::string name = "Content-Length: ", blank = "\r\n\r\n";
  while (text.find(blank) == text.npos) {
    if (!read_more(text)) return text;
  }
  const size_t whole = text.find(blank) + blank.size() + std::stoul(text.substr(text.find(name) + name.size()));
  while (text.size() < whole && read_more(text)) {
  }
  ahead_ = text.substr(std::min(whole, text.size()));
  return text.substr(0, whole);
}

bool RawClient::quiet() const { return !readable(0); }

}  // namespace attend::test
