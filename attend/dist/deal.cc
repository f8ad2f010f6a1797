#include "attend/dist/deal.h"

#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace attend::dist {
namespace {

constexpr int kBlockTag = 3;

/// Texts that are on their way: whoever sends them does not wait until they are read.
class Outgoing {
 public:
  explicit Outgoing(train::Company& company) : company_(company) {}

  void send(std::string text, int to) {
    Message& message = messages_.emplace_back(std::move(text));
    message.transfers.push_back(company_.send(std::as_bytes(std::span(&message.size, 1)), to, kBlockTag));
    if (message.size > 0)
      message.transfers.push_back(company_.send(std::as_bytes(std::span(message.text)), to, kBlockTag));
  }
  /// All but the last so many have been read.
  void settle(size_t but) {
    for (; messages_.size() > but; messages_.pop_front()) company_.wait(messages_.front().transfers);
  }

 private:
  struct Message {
    explicit Message(std::string bytes) : text(std::move(bytes)), size(text.size()) {}
    std::string text;
    uint64_t size;
    std::vector<train::Company::Transfer> transfers = {};
  };
  train::Company& company_;
  std::deque<Message> messages_;
};

std::string received(train::Company& company, int from) {
  uint64_t size = 0;
  company.wait(company.receive(std::as_writable_bytes(std::span(&size, 1)), from, kBlockTag));
  std::string text(size, '\0');
  if (size > 0) company.wait(company.receive(std::as_writable_bytes(std::span(text)), from, kBlockTag));
  return text;
}

void follow(train::Company& company, const Dealing& dealing) {
  Outgoing results(company);
  for (std::string block = received(company, 0); !block.empty(); block = received(company, 0)) {
    results.settle(1);
    results.send(dealing.work(block), 0);
  }
  results.settle(0);
}

/// One block for each rank, as far as there are any; those of others are sent.
std::vector<std::string> next_round(const Dealing& dealing, int ranks, Outgoing& blocks) {
  std::vector<std::string> round;
  std::string block;
  for (int r = 0; r < ranks && dealing.next(block); ++r) {
    if (r > 0) blocks.send(block, r);
    round.push_back(std::move(block));
  }
  return round;
}

}  // namespace

void deal(train::Company& company, const Dealing& dealing) {
  if (!company.leads()) return follow(company, dealing);
  Outgoing blocks(company);
  std::vector<std::string> now = next_round(dealing, company.size(), blocks);
  while (!now.empty()) {
    std::vector<std::string> later;
    if (std::ssize(now) == company.size()) later = next_round(dealing, company.size(), blocks);
    dealing.take(dealing.work(now[0]));
    for (int r = 1; r < std::ssize(now); ++r) dealing.take(received(company, r));
    now = std::move(later);
    blocks.settle(now.empty() ? 0 : now.size() - 1);
  }
  for (int r = 1; r < company.size(); ++r) blocks.send("", r);
  blocks.settle(0);
}

}  // namespace attend::dist
