#include "attend/data/batch.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"

namespace attend::data {

Sequences::Sequences(const std::vector<std::vector<int32_t>>& rows) {
  require(!rows.empty(), "Sequences: at least one sequence is wanted, got none");
  size_t longest = 1;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  ids.shape = {static_cast<int64_t>(rows.size()), static_cast<int64_t>(longest)};
  ids.values.assign(rows.size() * longest, kPad);
  for (size_t b = 0; b < rows.size(); ++b) {
    std::copy(rows[b].begin(), rows[b].end(), ids.values.begin() + static_cast<std::ptrdiff_t>(b * longest));
    lengths.push_back(static_cast<int32_t>(rows[b].size()));
  }
}

Sequences Sequences::of_images(Tensor images) {
  require(images.rank() == 4, "Sequences: images [B,C,H,W] are wanted, got ", images.shape());
  Sequences all;
  all.ids = Ids({images.dim(0), 1}, std::vector<int32_t>(static_cast<size_t>(images.dim(0)), kFirstWord));
  all.lengths.assign(static_cast<size_t>(images.dim(0)), 1);
  all.images = std::move(images);
  return all;
}

std::vector<int32_t> Sequences::row(int64_t b) const {
  const auto begin = ids.values.begin() + b * longest();
  return {begin, begin + lengths[static_cast<size_t>(b)]};
}

Ids transposed(const Ids& ids) {
  const size_t rows = static_cast<size_t>(ids.shape[0]), columns = static_cast<size_t>(ids.shape[1]);
  std::vector<int32_t> values(rows * columns);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) values[c * rows + r] = ids.values[r * columns + c];
  }
  return Ids({ids.shape[1], ids.shape[0]}, std::move(values));
}

void require_sources(const char* where, const Batch& batch) {
  const size_t sources = batch.source.lengths.size(), targets = batch.target.lengths.size();
  require(targets > 0, where, ": at least one target is wanted, got none");
  if (batch.image_of.empty()) {
    require(sources == targets, where, ": as many targets as sources are wanted, got ", targets, " and ", sources);
    return;
  }
  require(batch.image_of.size() == targets, where, ": image_of wants one source for each of ", targets,
          " targets, got ", batch.image_of.size());
  for (const int32_t source : batch.image_of) {
    require(source >= 0 && static_cast<size_t>(source) < sources, where, ": image_of wants sources within 0 … ",
            static_cast<int64_t>(sources) - 1, ", got ", source);
  }
}

int64_t target_tokens(const Batch& batch) {
  return std::accumulate(batch.target.lengths.begin(), batch.target.lengths.end(), batch.target.count());
}

Ids decoder_inputs(const Sequences& target) {
  const size_t B = static_cast<size_t>(target.count()), T = static_cast<size_t>(target.longest());
  std::vector<int32_t> values(B * (T + 1), kBegin);
  for (size_t b = 0; b < B; ++b) std::copy_n(&target.ids.values[b * T], T, &values[b * (T + 1) + 1]);
  return Ids({target.count(), target.longest() + 1}, std::move(values));
}

Ids decoder_targets(const Sequences& target, int32_t ignored) {
  const size_t B = static_cast<size_t>(target.count()), T = static_cast<size_t>(target.longest());
  std::vector<int32_t> values(B * (T + 1), ignored);
  for (size_t b = 0; b < B; ++b) {
    const size_t length = static_cast<size_t>(target.lengths[b]);
    std::copy_n(&target.ids.values[b * T], length, &values[b * (T + 1)]);
    values[b * (T + 1) + length] = kEnd;
  }
  return Ids({target.count(), target.longest() + 1}, std::move(values));
}

Ids decoder_targets(const Batch& batch) {
  Ids targets = decoder_targets(batch.target);
  count_only(batch, targets);
  return targets;
}

void count_only(const Batch& batch, Ids& targets) {
  if (batch.only.empty()) return;
  const size_t B = batch.only.size(), T = static_cast<size_t>(targets.shape[1]);
  require(static_cast<int64_t>(B) == targets.shape[0], "Batch::only: one place for each of ", targets.shape[0],
          " pairs is wanted, got ", B);
  for (size_t b = 0; b < B; ++b) {
    for (size_t t = 0; t < T; ++t) {
      if (static_cast<int64_t>(t) != batch.only[b]) targets.values[b * T + t] = -1;
    }
  }
}

}  // namespace attend::data
