#include "attend/models/rows.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend::models {
namespace {

struct PositionsRow {
  std::string_view name;
  std::optional<nn::Positions> (*make)(int64_t longest, int64_t size, Random& random);
};
constexpr PositionsRow kPositions[] = {
    {"none", [](int64_t, int64_t, Random&) { return std::optional<nn::Positions>(); }},
    {"sinusoidal", [](int64_t, int64_t size, Random&) { return std::optional(nn::Positions::sinusoidal(size)); }},
    {"learned",
     [](int64_t longest, int64_t size, Random& random) {
       return std::optional(nn::Positions::learned(require_size("longest", longest), size, random));
     }},
};

}  // namespace

Var joined_rows(const Var& a, int64_t rows_a, const Var& b, int64_t rows_b, int64_t width) {
  if (!a.defined() && !b.defined()) return {};
  const int64_t wide = width > 0 ? width : (a.defined() ? a : b).dim(1);
  Tensor both = Tensor::zeros({rows_a + rows_b, wide});
  real* to = both.data();
  for (const auto& [from, rows] : {std::pair(&a, rows_a), std::pair(&b, rows_b)}) {
    for (int64_t n = 0; n < rows; ++n, to += wide) {
      if (!from->defined()) continue;
      const int64_t own = from->dim(1);
      std::copy_n(from->value().data() + n * own, std::min(own, wide), to);
    }
  }
  return both;
}

int64_t require_size(const char* what, int64_t size) {
  require_option(size >= 1, what, "expected at least 1, got ", size);
  return size;
}

void require_one_of(const char* option, std::initializer_list<std::string_view> known, std::string_view value) {
  if (std::ranges::find(known, value) == known.end()) refuse_name(option, {known.begin(), known.size()}, value);
}

std::optional<nn::Positions> positions_of(std::string_view kind, int64_t longest, int64_t size, Random& random) {
  return row_named("positions", kPositions, kind).make(longest, size, random);
}

void require_not_empty(const char* where, const data::Source& source) {
  const bool sound = source.frames().defined();
  if (!sound) {
    require(source.text().ids.shape.rank() == 2, where, ": expected sources [B,S], got ", source.text().ids.shape);
  }
  for (size_t b = 0; b < source.lengths().size(); ++b) {
    require(source.lengths()[b] >= 1, where, ": source ", b, " is empty; every source needs at least one ",
            sound ? "frame" : "token");
  }
}

void require_same_count(const char* where, const data::Batch& batch) {
  require(batch.source_of.empty(), where,
          ": expected one source for each target, got several targets of one (source_of)");
  data::require_sources(where, batch);
}

void refuse_own_words(const char* where, const Training* training) {
  require_option(!training || training->own_words == 0, "scheduled_sampling", "expected 0 with this network (", where,
                 "), as scheduled sampling is for encoder–decoders, got ", training ? training->own_words : 0);
}

Ids with_own_words(const Ids& inputs, const Tensor& logits, size_t before, double share, Random& random) {
  const size_t V = static_cast<size_t>(logits.dim(-1));
  std::vector<int32_t> mixed = inputs.values;
  for (size_t i = 0; i < mixed.size(); ++i) {
    const bool own = random.uniform53() < share;  // one number per place, so that the rest of the batch does not matter
    if (!own || mixed[i] == data::kBegin || mixed[i] == data::kPad) continue;
    const real* row = logits.data() + (i - before) * V;
    mixed[i] = static_cast<int32_t>(std::max_element(row, row + V) - row);
  }
  return Ids(inputs.shape, std::move(mixed));
}

}  // namespace attend::models
