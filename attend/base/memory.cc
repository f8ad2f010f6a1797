#include "attend/base/memory.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

#include "attend/base/error.h"
#include "attend/base/memory_at_hand.h"
#include "attend/base/memory_limit.h"

namespace attend::memory {
namespace {

// Size classes: four per power of two from 64 bytes up, so that at most a fifth of a block is unused.
constexpr uint32_t kClasses = 4 * 42;
constexpr size_t kLargest = size_t{1} << 46;
// Blocks up to 64 KiB are kept per thread without a lock; larger ones are rare enough for a mutex.
constexpr size_t kSmall = size_t{64} << 10;
constexpr size_t kHugePage = size_t{2} << 20;

constexpr uint32_t class_of(size_t bytes) {
  if (bytes <= 64) return 0;
  const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent < bytes ≤ 2^(exponent+1)
  const size_t quarter = size_t{1} << (exponent - 2);
  const size_t steps = (bytes - (size_t{1} << exponent) + quarter - 1) / quarter;  // 1 … 4
  return static_cast<uint32_t>(4 * (exponent - 6) + static_cast<int>(steps));
}

constexpr size_t bytes_of(uint32_t size_class) {
  if (size_class == 0) return 64;
  const uint32_t exponent = 6 + (size_class - 1) / 4;
  const size_t steps = (size_class - 1) % 4 + 1;
  return (size_t{1} << exponent) + steps * (size_t{1} << (exponent - 2));
}
static_assert(bytes_of(class_of(65)) == 80 && bytes_of(class_of(128)) == 128 && bytes_of(class_of(129)) == 160);

constexpr uint32_t kSmallClasses = class_of(kSmall) + 1;
// Blocks from 1 MiB on. Where batches differ in length, each class would in the end hold the most that any batch needed of it.
constexpr uint32_t kBulky = class_of(size_t{1} << 20);

thread_local Limit* innermost_limit = nullptr;

std::atomic<size_t> in_use{0}, peak{0}, cached{0};

void count_taken(size_t bytes) {
  const size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  size_t high = peak.load(std::memory_order_relaxed);
  while (now > high && !peak.compare_exchange_weak(high, now, std::memory_order_relaxed)) {
  }
}

struct FreeList {
  Block* first = nullptr;
  void push(Block* block) {
    block->next = first;
    first = block;
  }
  Block* pop() {
    Block* block = first;
    if (block) first = block->next;
    return block;
  }
};

struct Shared {
  std::mutex lock;
  std::array<FreeList, kClasses> lists;
};
// Never destroyed: tensors with static lifetime may be freed after any of our statics.
Shared& shared() {
  static Shared* pool = new Shared;
  return *pool;
}

bool thread_over(bool mark = false) {
  thread_local bool over = false;
  if (mark) over = true;
  return over;
}

struct Local {
  std::array<FreeList, kSmallClasses> lists;
  std::array<uint32_t, kSmallClasses> counts{};
  ~Local() {
    thread_over(true);
    Shared& pool = shared();
    std::lock_guard guard(pool.lock);
    for (uint32_t c = 0; c < kSmallClasses; ++c) {
      while (Block* block = lists[c].pop()) pool.lists[c].push(block);
    }
  }
};
Local& local() {
  thread_local Local cache;
  return cache;
}
constexpr uint32_t kLocalBlocks = 256;

/// Linux hands out memory that it does not have, and kills who uses it.
constexpr size_t kLarge = size_t{16} << 20;
void require_room(size_t bytes) {
  if (bytes <= at_hand()) return;
  trim();
  const size_t room = at_hand();
  require(bytes <= room, "memory: expected at most the ", in_words(room), " at hand, got a request for ",
          in_words(bytes), " (", in_words(in_use.load()), " are in use)");
}

Block* from_system(uint32_t size_class) {
  const size_t total = sizeof(Block) + bytes_of(size_class);
  const bool huge = total >= kHugePage;
  const size_t alignment = huge ? kHugePage : alignof(Block);
  const size_t rounded = (total + alignment - 1) / alignment * alignment;
  if (total >= kLarge) require_room(total);
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) trim(), memory = std::aligned_alloc(alignment, rounded);
  require(memory != nullptr, "memory: cannot allocate ", total, " bytes (", in_use.load(), " bytes are in use)");
  if (huge) madvise(memory, total, MADV_HUGEPAGE);
  Block* block = new (memory) Block;
  block->size_class = size_class;
  return block;
}

#if defined(__has_feature)  // for clang; gcc defines __SANITIZE_ADDRESS__
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooled = false;  // so that the sanitizer sees every block's end and lifetime
#else
constexpr bool kPooled = true;
#endif

Block* from_pool(uint32_t size_class) {
  if (size_class < kSmallClasses && !thread_over()) {
    Local& cache = local();
    if (Block* block = cache.lists[size_class].pop()) {
      --cache.counts[size_class];
      return block;
    }
  }
  Shared& pool = shared();
  std::lock_guard guard(pool.lock);
  return pool.lists[size_class].pop();
}

void to_pool(Block* block) {
  const uint32_t size_class = block->size_class;
  if (size_class < kSmallClasses && !thread_over()) {
    Local& cache = local();
    if (cache.counts[size_class] < kLocalBlocks) {
      ++cache.counts[size_class];
      return cache.lists[size_class].push(block);
    }
  }
  Shared& pool = shared();
  std::lock_guard guard(pool.lock);
  pool.lists[size_class].push(block);
}

/// Bulky blocks are kept up to half as much again as was ever in use at once.
bool holds_too_much(size_t more) {
  const size_t used = in_use.load(std::memory_order_relaxed) + more;
  const size_t most = std::max(peak.load(std::memory_order_relaxed), used);
  return used + cached.load(std::memory_order_relaxed) > most + most / 2 + (size_t{64} << 20);
}

/// One of at most twice the size.
Block* larger_from_pool(uint32_t size_class) {
  Shared& pool = shared();
  std::lock_guard guard(pool.lock);
  const uint32_t last = std::min(size_class + 4, kClasses - 1);
  for (uint32_t c = size_class + 1; c <= last; ++c) {
    if (Block* block = pool.lists[c].pop()) return block;
  }
  return nullptr;
}

/// Returns bulky blocks to the system, the largest first, until there is room for so much more.
void make_room(size_t more) {
  Shared& pool = shared();
  std::lock_guard guard(pool.lock);
  for (uint32_t c = kClasses; c-- > kBulky && holds_too_much(more);) {
    while (holds_too_much(more)) {
      Block* block = pool.lists[c].pop();
      if (block == nullptr) break;
      cached.fetch_sub(bytes_of(c), std::memory_order_relaxed);
      std::free(block);
    }
  }
}

/// Null: it has to come from the system.
Block* bulky_from_pool(uint32_t size_class) {
  const size_t bytes = bytes_of(size_class);
  if (!holds_too_much(bytes)) return nullptr;
  Block* block = larger_from_pool(size_class);
  if (block == nullptr) make_room(bytes);
  return block;
}

}  // namespace

Usage usage() { return {in_use.load(), peak.load(), cached.load()}; }

Limit::Limit(size_t bytes) : bytes_(bytes), outer_(std::exchange(innermost_limit, this)) {}
Limit::~Limit() { innermost_limit = outer_; }

void Limit::take(size_t bytes) {
  if (bytes > bytes_ - taken_) {
    throw OverLimit("memory: expected at most " + std::to_string(bytes_) + " bytes, got more");
  }
  taken_ += bytes;
  if (outer_) outer_->take(bytes);
}

void reset_peak() { peak.store(in_use.load()); }

void trim() {
  const auto empty = [](FreeList& list, uint32_t size_class) {
    while (Block* block = list.pop()) {
      cached.fetch_sub(bytes_of(size_class), std::memory_order_relaxed);
      std::free(block);
    }
  };
  if (!thread_over()) {
    Local& cache = local();
    for (uint32_t c = 0; c < kSmallClasses; ++c) empty(cache.lists[c], c), cache.counts[c] = 0;
  }
  {
    Shared& pool = shared();
    std::lock_guard guard(pool.lock);
    for (uint32_t c = 0; c < kClasses; ++c) empty(pool.lists[c], c);
  }
#if defined(__GLIBC__)
  ::malloc_trim(0);  // the C library keeps small blocks and the space between large ones
#endif
}

Block* allocate(size_t bytes) {
  if (innermost_limit) innermost_limit->take(std::max(bytes, bytes_of(0)));
  require(bytes <= kLargest, "memory: expected at most ", kLargest, " bytes, got a request for ", bytes);
  const uint32_t size_class = class_of(bytes);
  Block* block = kPooled ? from_pool(size_class) : nullptr;
  if (kPooled && block == nullptr && size_class >= kBulky) block = bulky_from_pool(size_class);
  if (block) {
    cached.fetch_sub(bytes_of(block->size_class), std::memory_order_relaxed);
  } else {
    block = from_system(size_class);
  }
  block->references.store(1, std::memory_order_relaxed);
  count_taken(bytes_of(block->size_class));
  return block;
}

void release(Block* block) {
  const size_t bytes = bytes_of(block->size_class);
  in_use.fetch_sub(bytes, std::memory_order_relaxed);
  if (!kPooled) return std::free(block);
  cached.fetch_add(bytes, std::memory_order_relaxed);
  to_pool(block);
}

}  // namespace attend::memory
