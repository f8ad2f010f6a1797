#include "attend/train/company.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::train {
namespace {

constexpr int kTextTag = 1;
constexpr size_t kMostAtOnce = size_t{1} << 28;  // bytes of a message; MPI counts them in an int

[[noreturn]] void refuse_alone() { fail("company: expected another rank to talk to, got one alone"); }

}  // namespace

Company::Transfer Company::send(std::span<const std::byte>, int, int) { refuse_alone(); }
Company::Transfer Company::receive(std::span<std::byte>, int, int) { refuse_alone(); }
Company::Transfer Company::broadcast(std::span<std::byte>, int) { return 0; }
Company::Transfer Company::gather(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int>) {
  std::ranges::copy(mine, all.begin());
  return 0;
}
void Company::wait(std::span<const Transfer>) {}

double Company::of_leader(double value) {
  wait(broadcast(std::as_writable_bytes(std::span(&value, 1)), 0));
  return value;
}

std::string Company::of_leader(std::string text) {
  text.resize(static_cast<size_t>(of_leader(static_cast<double>(text.size()))));
  for (size_t at = 0; at < text.size(); at += kMostAtOnce) {
    wait(broadcast(std::as_writable_bytes(std::span(text).subspan(at, std::min(kMostAtOnce, text.size() - at))), 0));
  }
  return text;
}

std::vector<double> Company::gathered(std::span<const double> mine, std::span<const int> counts) {
  size_t total = 0;
  std::vector<int> sizes;
  for (const int count : counts) {
    total += static_cast<size_t>(count);
    sizes.push_back(count * static_cast<int>(sizeof(double)));
  }
  std::vector<double> all(total);
  wait(gather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)), sizes));
  return all;
}

std::vector<std::string> Company::gathered(std::string_view mine) {
  const double length = static_cast<double>(mine.size());
  const std::vector<double> lengths = gathered(std::span(&length, 1), std::vector<int>(static_cast<size_t>(size()), 1));
  std::vector<std::string> all;
  for (int from = 0; from < size(); ++from) {
    std::string text(static_cast<size_t>(lengths[static_cast<size_t>(from)]), '\0');
    if (from == rank()) std::ranges::copy(mine, text.begin());
    for (size_t at = 0; at < text.size(); at += kMostAtOnce) {
      wait(broadcast(std::as_writable_bytes(std::span(text).subspan(at, std::min(kMostAtOnce, text.size() - at))),
                     from));
    }
    all.push_back(std::move(text));
  }
  return all;
}

void Company::send_text(std::string_view text, int to) {
  const uint64_t length = text.size();
  wait(send(std::as_bytes(std::span(&length, 1)), to, kTextTag));
  for (size_t at = 0; at < text.size(); at += kMostAtOnce) {
    wait(send(std::as_bytes(std::span(text).subspan(at, std::min(kMostAtOnce, text.size() - at))), to, kTextTag));
  }
}

std::string Company::receive_text(int from) {
  uint64_t length = 0;
  wait(receive(std::as_writable_bytes(std::span(&length, 1)), from, kTextTag));
  std::string text(length, '\0');
  for (size_t at = 0; at < text.size(); at += kMostAtOnce) {
    wait(receive(std::as_writable_bytes(std::span(text).subspan(at, std::min(kMostAtOnce, text.size() - at))), from,
                 kTextTag));
  }
  return text;
}

Company& alone() {
  static Company one;
  return one;
}

Share share_of(int rank, int size, int64_t count) { return {rank * count / size, (rank + 1) * count / size}; }

}  // namespace attend::train
