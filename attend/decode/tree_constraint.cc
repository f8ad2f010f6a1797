#include "attend/decode/tree_constraint.h"

#include <utility>

namespace attend::decode {
namespace {

constexpr int64_t kMostInARow = 8;  // brackets opened without a word between them

class TreeConstraint : public Constraint {
 public:
  TreeConstraint(Brackets brackets, std::vector<int64_t> words)
      : brackets_(std::move(brackets)), words_(std::move(words)) {}

  void ban(int32_t sentence, std::span<const int32_t> said, int64_t room, std::vector<int32_t>& banned) const override {
    const Allowed allowed = after(words_[static_cast<size_t>(sentence)], said, room);
    for (size_t id = 0; id < brackets_->size(); ++id) {
      if (!(id == data::kEnd ? allowed.end : allowed.has((*brackets_)[id]))) banned.push_back(static_cast<int32_t>(id));
    }
  }
  /// Room for six brackets a word, far beyond what trees have, so that the limit closes no bracket early.
  int64_t longest(int32_t sentence) const override { return 12 * words_[static_cast<size_t>(sentence)] + 20; }

 private:
  struct Allowed {
    bool open = false, close = false, word = false, end = false;
    bool has(Bracket kind) const {
      return kind == Bracket::open ? open : kind == Bracket::close ? close : kind == Bracket::word && word;
    }
  };

  Allowed after(int64_t words, std::span<const int32_t> said, int64_t room) const {
    std::vector<bool> filled;  // of each open bracket: whether something is in it
    int64_t used = 0, in_a_row = 0;
    for (const int32_t id : said) {
      const Bracket kind = (*brackets_)[static_cast<size_t>(id)];
      if (kind == Bracket::close) {
        filled.pop_back();
      } else if (kind == Bracket::word) {
        ++used;
      }
      if (!filled.empty()) filled.back() = true;
      if (kind == Bracket::open) filled.push_back(false);
      in_a_row = kind == Bracket::open ? in_a_row + 1 : 0;
    }
    const int64_t depth = static_cast<int64_t>(filled.size()), left = words - used;
    if (depth == 0 && !said.empty()) return {.end = true};
    // What is opened has to hold a word and to be closed again before the end.
    return {.open = left > 0 && in_a_row < kMostInARow && room >= left + depth + 3,
            .close = depth > 0 && filled.back() && (depth > 1 || left == 0),
            .word = left > 0 && depth > 0};
  }

  Brackets brackets_;
  std::vector<int64_t> words_;
};

}  // namespace

Brackets brackets_of(const data::Tokeniser& tokens) {
  std::vector<Bracket> all(static_cast<size_t>(tokens.size()), Bracket::none);
  for (size_t id = data::kFirstWord; id < all.size(); ++id) {
    const std::string token = tokens.piece(static_cast<int32_t>(id));
    all[id] = token.starts_with('(') ? Bracket::open : token == ")" ? Bracket::close : Bracket::word;
  }
  return std::make_shared<const std::vector<Bracket>>(std::move(all));
}

std::unique_ptr<Constraint> tree_constraint(Brackets brackets, std::vector<int64_t> words) {
  return std::make_unique<TreeConstraint>(std::move(brackets), std::move(words));
}

}  // namespace attend::decode
