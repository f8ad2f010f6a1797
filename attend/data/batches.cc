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

struct Lengths {
  int64_t source, target;
  int64_t longer() const { return std::max(source, target); }
};

Lengths lengths(const EncodedPairs& pairs, uint32_t row) {
  return {pairs.source_length(row), pairs.target_length(row)};
}

/// By the longer side first, which the budget counts. Ties stay in shuffled order.
void sort_by_length(const EncodedPairs& pairs, std::span<uint32_t> pool) {
  std::stable_sort(pool.begin(), pool.end(), [&](uint32_t a, uint32_t b) {
    const Lengths x = lengths(pairs, a), y = lengths(pairs, b);
    return std::tuple(x.longer(), x.source, x.target) < std::tuple(y.longer(), y.source, y.target);
  });
}

void cut(const EncodedPairs& pairs, const BatchOptions& options, std::span<const uint32_t> pool,
         std::vector<BatchRows>& batches) {
  const int64_t most = options.sentences > 0 ? options.sentences : std::numeric_limits<int64_t>::max();
  BatchRows rows;
  int64_t longest = 0;
  for (const uint32_t row : pool) {
    const int64_t longer = std::max(longest, lengths(pairs, row).longer()),
                  count = static_cast<int64_t>(rows.size()) + 1;
    if (!rows.empty() && (longer > options.tokens / count || count > most)) {
      batches.push_back(std::exchange(rows, {}));
      longest = 0;
    }
    rows.push_back(row);
    longest = std::max(longest, lengths(pairs, row).longer());
  }
  if (!rows.empty()) batches.push_back(std::move(rows));
}

std::vector<int32_t> copied(std::span<const int32_t> ids) { return {ids.begin(), ids.end()}; }

/// Part k of the sources of these rows.
void add_part(const EncodedPairs& pairs, std::span<const uint32_t> rows, size_t k, Source& source) {
  const Part named{pairs.parts()[k], {}, {}};
  if (!named.is_letters()) {
    std::vector<std::vector<int32_t>> ids;
    for (const uint32_t row : rows) ids.push_back(copied(pairs.source(row, k)));
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

std::vector<BatchRows> Batches::epoch(int64_t number) const {
  Random random = Random(static_cast<uint64_t>(options_.seed), static_cast<uint64_t>(number)).named("batches");
  std::vector<uint32_t> rows(static_cast<size_t>(pairs_.size()));
  std::iota(rows.begin(), rows.end(), 0u);
  shuffle(rows, random);
  std::vector<BatchRows> batches;
  for (size_t at = 0; at < rows.size(); at += kPool) {
    const std::span<uint32_t> pool = std::span(rows).subspan(at, std::min(kPool, rows.size() - at));
    if (options_.by_length) sort_by_length(pairs_, pool);
    cut(pairs_, options_, pool, batches);
  }
  shuffle(batches, random);
  return batches;
}

Batch Batches::batch(std::span<const uint32_t> rows) const {
  Source source;
  for (size_t k = 0; k < pairs_.parts().size(); ++k) add_part(pairs_, rows, k, source);
  std::vector<std::vector<int32_t>> target;
  for (const uint32_t row : rows) target.push_back(copied(pairs_.target(row)));
  return {std::move(source), Sequences(target)};
}

}  // namespace attend::data
