#include "attend/data/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/options.h"
#include "attend/base/random.h"
#include "attend/data/shuffle.h"

namespace attend::data {
namespace {

/// Pairs that are sorted together: enough that a batch holds pairs of similar length, few enough that a large corpus
/// gives different batches in each epoch.
constexpr size_t kPool = size_t{1} << 16;

using LengthsOf = std::function<PairLengths(uint32_t)>;

int64_t longer_side(const PairLengths& lengths) { return std::max(lengths.source, lengths.target); }

/// By the longer side first, which the budget counts. Ties stay in shuffled order.
void sort_by_length(const LengthsOf& lengths, std::span<uint32_t> pool) {
  std::stable_sort(pool.begin(), pool.end(), [&](uint32_t a, uint32_t b) {
    const PairLengths x = lengths(a), y = lengths(b);
    return std::tuple(longer_side(x), x.source, x.target) < std::tuple(longer_side(y), y.source, y.target);
  });
}

void cut(const LengthsOf& lengths, const BatchOptions& options, std::span<const uint32_t> pool,
         std::vector<BatchRows>& batches) {
  const int64_t most = options.sentences > 0 ? options.sentences : std::numeric_limits<int64_t>::max();
  BatchRows rows;
  int64_t longest = 0;
  for (const uint32_t row : pool) {
    const int64_t length = longer_side(lengths(row)), longer = std::max(longest, length),
                  count = static_cast<int64_t>(rows.size()) + 1;
    if (!rows.empty() && (longer > options.tokens / count || count > most)) {
      batches.push_back(std::exchange(rows, {}));
      longest = 0;
    }
    rows.push_back(row);
    longest = std::max(longest, length);
  }
  if (!rows.empty()) batches.push_back(std::move(rows));
}

std::vector<int32_t> copied(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

std::vector<int32_t> tokens(std::span<const int32_t> ids, uint32_t row, size_t part, const Recut& recut) {
  return recut ? recut(row, part, ids) : copied(ids);
}

/// Part k of the sources of these rows.
void add_part(const EncodedPairs& pairs, std::span<const uint32_t> rows, size_t k, const Recut& recut, Source& source) {
  const Part named{pairs.parts()[k], {}, {}};
  if (!named.is_letters()) {
    std::vector<std::vector<int32_t>> ids;
    for (const uint32_t row : rows) ids.push_back(tokens(pairs.source(row, k), row, k, recut));
    source.add(named.name, Sequences(ids));
    return;
  }
  const std::string of = named.name.substr(0, named.name.size() - Part::kLetters.size());
  std::vector<std::vector<std::vector<int32_t>>> letters;
  for (const uint32_t row : rows) letters.push_back(pairs.letters(row, k));
  source.add_letters(letter_rows(letters, source.find(of)->ids.longest()), of);
}

}  // namespace

Batches::Batches(const EncodedPairs& pairs, const BatchOptions& options) : pairs_(pairs), options_(options) {
  check_bounds(options);
  require(pairs.size() > 0 && pairs.size() <= std::numeric_limits<uint32_t>::max(),
          "Batches: expected 1 to 2^32 - 1 pairs, got ", pairs.size());
}

std::vector<BatchRows> planned_epoch(size_t rows, const LengthsOf& lengths, const BatchOptions& options,
                                     int64_t number) {
  Random random = Random(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(number)).named("batches");
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  shuffle(order, random);
  std::vector<BatchRows> batches;
  for (size_t at = 0; at < rows; at += kPool) {
    const std::span<uint32_t> pool = std::span(order).subspan(at, std::min(kPool, rows - at));
    if (options.by_length) sort_by_length(lengths, pool);
    cut(lengths, options, pool, batches);
  }
  shuffle(batches, random);
  return batches;
}

std::vector<BatchRows> Batches::epoch(int64_t number) const {
  const auto lengths = [this](uint32_t row) {
    return PairLengths{pairs_.source_length(row), pairs_.target_length(row)};
  };
  return planned_epoch(static_cast<size_t>(pairs_.size()), lengths, options_, number);
}

Batch Batches::batch(std::span<const uint32_t> rows, const Recut& recut) const {
  const size_t parts = pairs_.parts().size();
  Source source;
  for (size_t k = 0; k < parts; ++k) add_part(pairs_, rows, k, recut, source);
  std::vector<std::vector<int32_t>> target;
  for (const uint32_t row : rows) target.push_back(tokens(pairs_.target(row), row, parts, recut));
  return {std::move(source), Sequences(target)};
}

}  // namespace attend::data
