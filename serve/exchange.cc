#include "serve/exchange.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "attend/base/error.h"

namespace attend::serve {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Mailbox::Mailbox() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  require(event_.number() >= 0, "serve: the system gave no eventfd: ", std::strerror(errno));
}

void Mailbox::wake() {
  if (woken_.exchange(true)) return;
  const uint64_t one = 1;
  (void)!::write(event_.number(), &one, sizeof(one));
}

void Mailbox::post(uint64_t client) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(posted_, client) != posted_.end()) return;  // it is awake already, or about to be
    posted_.push_back(client);
  }
  if (std::this_thread::get_id() != loop_.load()) wake();
}

std::vector<uint64_t> Mailbox::take() {
  uint64_t count = 0;
  if (woken_.exchange(false)) (void)!::read(event_.number(), &count, sizeof(count));
  std::vector<uint64_t> posted;
  const std::lock_guard lock(mutex_);
  posted.swap(posted_);
  return posted;
}

bool Mailbox::empty() const {
  const std::lock_guard lock(mutex_);
  return posted_.empty();
}

bool Exchange::write(std::string bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (gone_) return false;
    unsent_ += bytes.size();
    part_.written.push_back(std::move(bytes));
  }
  mailbox_->post(client_);
  return true;
}

bool Exchange::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

void Exchange::when_gone(std::function<void()> act) {
  {
    const std::lock_guard lock(mutex_);
    if (!hung_up_) return acts_.push_back(std::move(act));
  }
  act();
}

void Exchange::done(Next next) {
  {
    const std::lock_guard lock(mutex_);
    part_.done = true, part_.next = next;
    acts_.clear();
  }
  mailbox_->post(client_);
}

Exchange::Part Exchange::take() {
  const std::lock_guard lock(mutex_);
  Part part{std::move(part_.written), part_.done, part_.next};
  part_.written.clear();
  return part;
}

void Exchange::hang_up() {
  std::vector<std::function<void()>> acts;
  {
    const std::lock_guard lock(mutex_);
    hung_up_ = true;
    acts.swap(acts_);
  }
  for (const auto& act : acts) act();
}

void Exchange::leave() {
  {
    const std::lock_guard lock(mutex_);
    gone_ = true;
    part_.written.clear();
  }
  hang_up();
}

}  // namespace attend::serve
