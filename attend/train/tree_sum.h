// Sums over the parts of an update in a fixed binary tree, so that they have the same bits however many ranks compute them.
#pragma once

#include <utility>
#include <vector>

#include "attend/train/company.h"

namespace attend::train {

/// Whether these neighbours are the two halves of one node of the tree over [0, parts). Its nodes are
/// [k·2ʲ, (k+1)·2ʲ) ∩ [0, parts): with 4 parts (0+1)+(2+3), with 3 parts (0+1)+2.
bool are_halves(const Share& left, const Share& right, int64_t parts);

/// Adds what comes in the order of the parts. Each entry is a node of the tree, or part of one that is not complete.
template <class T>
class TreeSum {
 public:
  struct Node {
    Share parts;
    T value;
  };

  explicit TreeSum(int64_t parts) : parts_(parts) {}

  /// `add(T& left, T&& right)`: left += right.
  template <class Add>
  void push(Share parts, T value, Add&& add) {
    nodes_.push_back({parts, std::move(value)});
    while (nodes_.size() > 1 && are_halves(nodes_[nodes_.size() - 2].parts, nodes_.back().parts, parts_)) {
      Node right = std::move(nodes_.back());
      nodes_.pop_back();
      add(nodes_.back().value, std::move(right.value));
      nodes_.back().parts.end = right.parts.end;
    }
  }
  std::vector<Node>& nodes() { return nodes_; }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  int64_t parts_;
  std::vector<Node> nodes_;
};

/// The nodes that are left of the parts of one rank: one, or a few where its share is no node of the tree.
std::vector<Share> nodes_of(const Share& share, int64_t parts);

}  // namespace attend::train
