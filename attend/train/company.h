// The processes that compute one thing together, called ranks: each has the whole model, and a part of the work. What a trainer
// knows of them; dist/ has those that Open MPI starts. One alone is company, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"

namespace attend::train {

/// Another rank does not answer: it has ended, or the network between them has.
class LostRank : public Error {
 public:
  using Error::Error;
};

class Company {
 public:
  /// Something under way, by its number; its memory must stay as it is until it is done.
  using Transfer = int64_t;

  virtual ~Company() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  /// Rank 0: it writes files, and talks to people.
  bool leads() const { return rank() == 0; }
  bool alone() const { return size() == 1; }

  virtual Transfer send(std::span<const std::byte> bytes, int to, int tag);
  virtual Transfer receive(std::span<std::byte> bytes, int from, int tag);
  /// The bytes of rank `from` for everybody. All ranks call this, and `gather`, in the same order.
  virtual Transfer broadcast(std::span<std::byte> bytes, int from);
  /// `all` becomes what each rank passes as `mine`, in the order of ranks; `sizes` are those of each.
  virtual Transfer gather(std::span<const std::byte> mine, std::span<std::byte> all, std::span<const int> sizes);
  /// Lets transfers that are under way go on.
  virtual void poke() {}
  /// Returns once all are done. Throws LostRank if another rank does not answer.
  virtual void wait(std::span<const Transfer> transfers);
  /// How many seconds to wait for an answer; 0: for ever, as while others prepare what may take long.
  virtual void be_patient(double /*seconds*/) {}
  /// Bytes that this rank has sent.
  virtual double sent() const { return 0; }

  void wait(Transfer one) { wait(std::span(&one, 1)); }
  /// The leader's value, for all.
  double of_leader(double value);
  std::string of_leader(std::string text);
  /// The numbers of all ranks, of which each passes `counts[rank]`.
  std::vector<double> gathered(std::span<const double> mine, std::span<const int> counts);
  /// The text of each rank.
  std::vector<std::string> gathered(std::string_view mine);
  /// A text of any length, which it may wait for.
  void send_text(std::string_view text, int to);
  std::string receive_text(int from);
};

/// One by itself.
Company& alone();

/// A range of what is counted, such as the parts of an update.
struct Share {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
  bool has(int64_t i) const { return i >= begin && i < end; }
  bool operator==(const Share&) const = default;
};
/// ⌊rank·count/size⌋ … ⌊(rank+1)·count/size⌋.
Share share_of(int rank, int size, int64_t count);

}  // namespace attend::train
