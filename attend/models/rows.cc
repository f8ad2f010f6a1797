#include "attend/models/rows.h"

#include <algorithm>

#include "attend/base/error.h"

namespace attend::models {

int64_t require_size(const char* what, int64_t size) {
  require(size >= 1, what, ": at least 1 is wanted, got ", size);
  return size;
}

void require_not_empty(const char* where, const data::Sequences& source) {
  require(source.ids.shape.rank() == 2, where, ": sources [B,S] are wanted, got ", source.ids.shape);
  for (size_t b = 0; b < source.lengths.size(); ++b) {
    require(source.lengths[b] >= 1, where, ": source ", b, " is empty; every source wants at least one token");
  }
}

void require_same_count(const char* where, const data::Batch& batch) {
  require(batch.image_of.empty(), where,
          ": one source for each target is wanted, got several targets of one (image_of)");
  data::require_sources(where, batch);
}

void refuse_own_words(const char* where, const Training* training) {
  require(!training || training->own_words == 0, where,
          ": scheduled sampling is for encoder–decoders; this network wants it to be 0, got ",
          training ? training->own_words : 0);
}

Ids with_own_words(const Ids& inputs, const Tensor& logits, size_t before, double share, Random& random) {
  const size_t V = static_cast<size_t>(logits.dim(-1));
  std::vector<int32_t> mixed = inputs.values;
  for (size_t i = 0; i < mixed.size(); ++i) {
    const bool own = random.uniform53() < share;  // one number per place, so that the rest of the batch changes nothing
    if (!own || mixed[i] == data::kBegin || mixed[i] == data::kPad) continue;
    const real* row = logits.data() + (i - before) * V;
    mixed[i] = static_cast<int32_t>(std::max_element(row, row + V) - row);
  }
  return Ids(inputs.shape, std::move(mixed));
}

}  // namespace attend::models
