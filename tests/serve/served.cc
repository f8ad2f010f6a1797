#include "tests/serve/served.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "attend/tasks/image.h"

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
  const tasks::ImageConfig config(settings);
  std::vector<std::string> labels;
  if (config.answers() == tasks::ImageAnswers::label) labels = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  tasks::ImageModel model(config, labels, captions ? words_of("a red blue circle square above below") : nullptr);
  const std::filesystem::path path = folder.path() / network;
  std::filesystem::create_directories(path);
  model.save(path);
  models::save_weights(model.model(), path / "weights.safetensors");
  return path.string();
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

std::string RawClient::receive(double seconds) const {
  std::string text;
  char part[4096];
  pollfd input{socket_, POLLIN, 0};
  while (::poll(&input, 1, static_cast<int>(1000 * seconds)) > 0) {
    const ssize_t count = ::recv(socket_, part, sizeof(part), 0);
    if (count <= 0) break;
    text.append(part, static_cast<size_t>(count));
  }
  return text;
}

}  // namespace attend::test
