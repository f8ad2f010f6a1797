#include "attend/tasks/recuts.h"

#include <algorithm>

namespace attend::tasks {
namespace {

/// The smaller of two limits, where 0 is none.
int64_t smaller_limit(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

}  // namespace

Recuts::Recuts(const TaskModel& model)
    : options_(model.config().options.batch.subwords),
      seed_(static_cast<uint64_t>(model.config().options.batch.seed)),
      longest_(smaller_limit(model.config().options.filter.longest, model.model().longest_source())) {
  const auto add = [&](const data::Tokeniser* words, std::string_view side) {
    const bool chosen = options_.any() && (options_.sides == "both" || options_.sides == side);
    cuts_.push_back(chosen && words ? words->cuts(options_) : nullptr);
  };
  for (size_t i = 0; i < model.row().inputs.size(); ++i) add(model.input(i).tokeniser().get(), "source");
  add(model.output().words(), "target");
}

std::vector<int32_t> Recuts::operator()(int64_t epoch, uint32_t row, size_t part, std::span<const int32_t> ids) const {
  const std::vector<int32_t> usual(ids.begin(), ids.end());
  if (!cuts_.at(part)) return usual;
  const uint64_t text = uint64_t{row} * cuts_.size() + part;
  Random random = Random(seed_, (static_cast<uint64_t>(epoch) << 40) + text).named("subwords");
  std::vector<int32_t> other = (*cuts_[part])(ids, random);
  return longest_ > 0 && std::ssize(other) > longest_ ? usual : other;
}

}  // namespace attend::tasks
