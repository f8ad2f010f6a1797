// Memory: one pool for tensors and for the scratch space of kernels. A fresh 64 MB costs more in page faults than the
// op that fills it, so freed blocks are kept by size class and handed out again; of blocks from 1 MiB on, no more than half of
// what was ever in use at once (and 64 MiB) is kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "attend/base/real.h"

namespace attend::memory {

/// Bytes that the pool has handed out now, at its peak, and that it holds in reserve.
struct Usage {
  size_t in_use = 0;
  size_t peak = 0;
  size_t cached = 0;
};
Usage usage();
/// Starts a new peak at what is in use now.
void reset_peak();
/// Returns the reserve shared by all threads, and this thread's own, to the system; an allocation does so before it
/// fails.
void trim();

/// A pooled block; its data follow the header, aligned to 64 bytes.
struct alignas(64) Block {
  std::atomic<uint32_t> references;
  uint32_t size_class;
  Block* next;
  std::byte* bytes() { return reinterpret_cast<std::byte*>(this + 1); }
};

/// A block of at least `bytes`, with one reference; throws Error when the system is out of memory.
Block* allocate(size_t bytes);
void release(Block* block);

/// Shared ownership of a block, counted inside it.
class Handle {
 public:
  Handle() = default;
  explicit Handle(size_t bytes) : block_(allocate(bytes)) {}
  Handle(const Handle& other) : block_(other.block_) {
    if (block_) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Handle(Handle&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Handle() {
    if (block_ && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) release(block_);
  }

  std::byte* bytes() const { return block_ ? block_->bytes() : nullptr; }
  bool unique() const { return block_ && block_->references.load(std::memory_order_acquire) == 1; }

 private:
  Block* block_ = nullptr;
};

/// Scratch space for kernels: `count` uninitialised numbers, released at the end of the scope.
class Scratch {
 public:
  explicit Scratch(size_t count) : handle_(count * sizeof(real)) {}
  real* data() const { return reinterpret_cast<real*>(handle_.bytes()); }

 private:
  Handle handle_;
};

}  // namespace attend::memory
