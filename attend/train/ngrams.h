// n-grams of two sequences, and how many they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace attend::train {

/// All n-grams of a sequence, for n up to `longest`. It refers to the sequence, which must outlive it.
template <class Item>
class Ngrams {
 public:
  Ngrams(std::span<const Item> items, size_t longest) {
    for (size_t i = 0; i < items.size(); ++i) sorted_.push_back(items.subspan(i, std::min(longest, items.size() - i)));
    std::ranges::sort(sorted_, before);
  }

  int64_t count(size_t n) const { return std::max<int64_t>(0, static_cast<int64_t>(sorted_.size() - n) + 1); }

  /// Σ min(count here, greatest count in one of the others) over the n-grams of that order.
  int64_t shared(std::span<const Ngrams> others, size_t n) const {
    if (others.size() == 1) return shared(others[0], n);
    int64_t both = 0;
    for (auto at = sorted_.begin(); at != sorted_.end();) {
      if (at->size() < n) {
        ++at;
        continue;
      }
      const std::span<const Item> gram = at->first(n);
      int64_t here = 0, there = 0;
      for (; at != sorted_.end() && at->size() >= n && std::ranges::equal(at->first(n), gram); ++at) ++here;
      for (const Ngrams& other : others) there = std::max(there, other.times(gram));
      both += std::min(here, there);
    }
    return both;
  }

  /// Σ min(count here, count there) over the n-grams of that order.
  int64_t shared(const Ngrams& other, size_t n) const {
    // Sorted by the longest, they are sorted by every shorter one too.
    int64_t both = 0;
    for (auto a = sorted_.begin(), b = other.sorted_.begin(); a != sorted_.end() && b != other.sorted_.end();) {
      const bool a_is_short = a->size() < n, b_is_short = b->size() < n;
      const bool a_first = a_is_short || (!b_is_short && before(a->first(n), b->first(n)));
      const bool b_first = b_is_short || (!a_is_short && before(b->first(n), a->first(n)));
      both += !a_first && !b_first;
      a += a_first || !b_first;
      b += b_first || !a_first;
    }
    return both;
  }

 private:
  static bool before(std::span<const Item> a, std::span<const Item> b) {
    return std::ranges::lexicographical_compare(a, b);
  }
  /// How often it occurs.
  int64_t times(std::span<const Item> gram) const {
    const auto cut = [&](std::span<const Item> one) { return one.first(std::min(one.size(), gram.size())); };
    const auto first = std::ranges::lower_bound(sorted_, gram, before, cut);
    return std::ranges::upper_bound(first, sorted_.end(), gram, before, cut) - first;
  }

  std::vector<std::span<const Item>> sorted_;
};

}  // namespace attend::train
