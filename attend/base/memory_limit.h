// A bound on what the pool may hand out, for building something whose size others have chosen.
#pragma once

#include <cstddef>

#include "attend/base/error.h"

namespace attend::memory {

class OverLimit : public Error {
 public:
  using Error::Error;
};

/// While it lives, blocks of more than `bytes` in all, released or not, make allocate() throw OverLimit on this thread.
class Limit {
 public:
  explicit Limit(size_t bytes);
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit();
  /// Counts a block; for the pool.
  void take(size_t bytes);

 private:
  size_t bytes_, taken_ = 0;
  Limit* outer_;
};

}  // namespace attend::memory
