#include "attend/models/rows.h"

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
  require(batch.source.lengths.size() == batch.target.lengths.size() && !batch.source.lengths.empty(), where,
          ": as many targets as sources are wanted, got ", batch.target.lengths.size(), " and ",
          batch.source.lengths.size());
}

}  // namespace attend::models
