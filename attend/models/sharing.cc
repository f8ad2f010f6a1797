#include "attend/models/sharing.h"

#include <algorithm>

#include "attend/autograd/ops/shape.h"

namespace attend::models {

Sharing::Sharing(int64_t sources, std::span<const int32_t> source_of) : sources_(sources) {
  std::vector<int32_t> count(static_cast<size_t>(sources), 0);
  std::vector<int32_t> place;
  for (const int32_t source : source_of) place.push_back(count[static_cast<size_t>(source)]++);
  each_ = *std::ranges::max_element(count);
  row_in_.assign(static_cast<size_t>(sources * each_), 0);
  for (size_t n = 0; n < source_of.size(); ++n) {
    slot_of_.push_back(source_of[n] * static_cast<int32_t>(each_) + place[n]);
    row_in_[static_cast<size_t>(slot_of_[n])] = static_cast<int32_t>(n);
    in_order_ = in_order_ && slot_of_[n] == static_cast<int32_t>(n);
  }
  in_order_ = in_order_ && slot_of_.size() == row_in_.size();
}

Var Sharing::to_slots(const Var& rows) const {
  const int64_t steps = rows.rank() == 3 ? rows.dim(1) : 1;
  return reshape(in_order_ ? rows : take_rows(rows, row_in_), {sources_, each_ * steps, rows.dim(-1)});
}

Var Sharing::to_rows(const Var& slots) const {
  const Var flat = reshape(slots, {sources_ * each_, slots.dim(2)});
  return in_order_ ? flat : take_rows(flat, slot_of_);
}

Var Sharing::to_sequences(const Var& slots) const {
  const Var apart = reshape(slots, {sources_ * each_, slots.dim(1) / each_, slots.dim(2)});
  return in_order_ ? apart : take_rows(apart, slot_of_);
}

bool Sharing::fits(const AttentionConfig& config) {
  return config.window == "none" && !score_named(config.score).by_place && !config.coverage && !needs_previous(config);
}

}  // namespace attend::models
