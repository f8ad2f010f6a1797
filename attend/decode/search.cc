#include "attend/decode/search.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/memory_at_hand.h"
#include "attend/base/options.h"
#include "attend/decode/crowd.h"
#include "attend/kernels/gemm.h"

namespace attend::decode {
namespace {

using data::kBegin, data::kEnd, data::kPad, data::kUnknown;

// A watcher is told at least this many of a row's likeliest continuations.
constexpr size_t kWatched = 4;
// About what the history keeps of a prediction.
constexpr double kHistoryBytes = 32;
// About what a candidate takes.
constexpr double kCandidateBytes = 24;

/// A forced token must be one that the model could have chosen for that source. `scored`: or for one with more words than this
/// one, of which some were left out to see what they are worth; what nothing says has probability 0.
void check_forced(const models::Model& model, const data::Source& source, size_t number,
                  const std::vector<int32_t>& tokens, bool fixed, size_t sentence, bool scored) {
  const data::Sequences* copies = source.copies();
  const std::vector<int32_t> copied = copies ? copies->row(static_cast<int64_t>(number)) : std::vector<int32_t>{};
  const int64_t below = model.vocabulary() > 0 ? model.vocabulary() : source.lengths()[number] + 1;
  for (const int32_t token : tokens) {
    const bool known = token < below || (scored && copies) || std::ranges::find(copied, token) != copied.end();
    require(token >= 0 && known && (fixed || (token != kPad && token != kBegin && token != kEnd)),
            scored ? "score" : "search", ": expected ids that the model can say, below ", below,
            fixed ? "" : " and none of kPad, kBegin and kEnd", ", got ", token, " for sentence ", sentence);
  }
}

}  // namespace

int64_t continuations_told(const SearchOptions& options) {
  return static_cast<int64_t>(std::max(choices_of(options), kWatched));
}

int64_t longest_answer(const models::Model& model, const SearchOptions& options, int64_t source, int64_t forced,
                       const Constraint* constraint, int32_t sentence) {
  const int64_t fixed = model.answer_length(source);
  if (fixed >= 0) return fixed;
  if (options.max_length > 0) return options.max_length;
  if (const int64_t most = model.longest_answer(source); most > 0 && !constraint) {
    const int64_t bound = std::max({most + 1, options.min_length, forced});  // the end is one more
    return options.longest > 0 ? std::min(bound, options.longest) : bound;
  }
  const int64_t usual =
      constraint ? constraint->longest(sentence) : std::max({2 * source + 10, options.min_length, forced + 10});
  return options.longest > 0 ? std::min(usual, options.longest) : usual;
}

size_t search_bytes(const models::Model& model, const SearchOptions& options, int64_t texts, int64_t length) {
  const double each = static_cast<double>(options.sample ? options.n_best : options.beam);
  const double rows = each * static_cast<double>(texts), words = static_cast<double>(model.vocabulary());
  const double choices = options.sample ? 1 : std::min(words, each + 1);
  // Logits and their copy without what is banned; candidates; what was said; the model's state and its successor.
  const double numbers = 2 * words + 2 * static_cast<double>(model.hypothesis_numbers(length));
  return static_cast<size_t>(rows * (numbers * sizeof(real) + choices * (kCandidateBytes + sizeof(int32_t)) +
                                     static_cast<double>(length) * kHistoryBytes));
}

void check_memory(const models::Model& model, const SearchOptions& options, int64_t texts, int64_t length,
                  size_t at_hand) {
  const size_t needed = search_bytes(model, options, texts, length);
  require_option(needed <= at_hand, options.sample ? "n_best" : "beam", "expected a search that fits into the ",
                 memory::in_words(at_hand), " of memory at hand, got one of about ", memory::in_words(needed), " (",
                 texts, texts == 1 ? " text × " : " texts × ", options.sample ? options.n_best : options.beam,
                 " hypotheses of up to ", length, " tokens, from ", model.vocabulary(),
                 " words each); ask for fewer hypotheses, fewer texts at once, or a smaller max_length");
}

namespace {

/// The same for sources of these lengths.
void check_memory(const models::Model& model, std::span<const int32_t> sources, const SearchOptions& options) {
  constexpr size_t kSmall = size_t{64} << 20;  // always tried
  int64_t length = 0;
  for (const int32_t words : sources) length = std::max(length, longest_answer(model, options, words));
  const int64_t count = static_cast<int64_t>(sources.size());
  if (search_bytes(model, options, count, length) <= kSmall) return;
  check_memory(model, options, count, length, memory::at_hand());
}

/// How the answer to source first + s begins.
void check_prefix(const models::Model& model, const data::Source& source, size_t first, size_t s,
                  const std::vector<int32_t>& prefix, const SearchOptions& options) {
  const int32_t length = source.lengths()[first + s];
  const int64_t forced = static_cast<int64_t>(prefix.size()), limit = longest_answer(model, options, length, forced);
  require(forced <= limit, "search: a prefix must not be longer than its answer may be, ", limit, ", got ", forced,
          " tokens for sentence ", s);
  check_forced(model, source, first + s, prefix, model.answer_length(length) >= 0, s, false);
}

}  // namespace

void check(const SearchOptions& o) {
  check_bounds(o);
  require_option(o.sample || o.n_best <= o.beam, "n_best", "expected at most the beam, ", o.beam, ", got ", o.n_best);
  require_option(o.max_length == 0 || o.min_length <= o.max_length, "min_length", "expected at most max_length, ",
                 o.max_length, ", got ", o.min_length);
}

void widen(SearchOptions& options) {
  if (!options.sample) options.beam = std::max(options.beam, options.n_best);
}

void check(const models::Model& model, const data::Source& source, const SearchOptions& options,
           const std::vector<std::vector<int32_t>>& prefixes) {
  search_for(model, source, 0, source.count(), {options, prefixes, nullptr, nullptr});
}

namespace {

/// Weights are packed once for all steps, unless the caller keeps them for many searches.
std::vector<std::vector<Hypothesis>> run_alone(const models::Model& model, const data::Source& source,
                                               Crowd::Search search) {
  std::optional<kernels::PackedWeights> packed;
  if (!kernels::PackedWeights::current()) packed.emplace();
  Crowd crowd(model);
  std::vector<Crowd::Search> all;
  all.push_back(std::move(search));
  crowd.join(source, std::move(all));
  while (crowd.rows() > 0) crowd.step();
  Crowd::Found found = std::move(crowd.found().at(0));
  if (found.error) std::rethrow_exception(found.error);
  return std::move(found.answers);
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(const models::Model& model, const data::Source& source,
                                            const SearchOptions& options,
                                            const std::vector<std::vector<int32_t>>& prefixes, SearchWatcher* watcher,
                                            const Constraint* constraint) {
  return run_alone(model, source,
                   search_for(model, source, 0, source.count(), {options, prefixes, watcher, constraint}));
}

Crowd::Search search_for(const models::Model& model, const data::Source& source, int64_t first, int64_t count,
                         const Wanted& wanted) {
  check(wanted.options);
  const std::span lengths = std::span(source.lengths()).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  check_memory(model, lengths, wanted.options);
  require(wanted.prefixes.empty() || static_cast<int64_t>(wanted.prefixes.size()) == count,
          "search: expected one prefix per source, ", count, ", got ", wanted.prefixes.size());
  Crowd::Search search;
  std::vector<Demand> demands;
  for (size_t s = 0; s < lengths.size(); ++s) {
    Demand one{.fixed = model.answer_length(lengths[s]) >= 0};
    if (!wanted.prefixes.empty()) one.forced = wanted.prefixes[s];
    const int64_t forced = static_cast<int64_t>(one.forced.size());
    one.limit = longest_answer(model, wanted.options, lengths[s], forced, wanted.constraint, static_cast<int32_t>(s));
    check_prefix(model, source, static_cast<size_t>(first), s, one.forced, wanted.options);
    demands.push_back(std::move(one));
    search.source_of.push_back(static_cast<int32_t>(first + static_cast<int64_t>(s)));
  }
  search.growth = std::make_unique<Growth>(model.vocabulary(), source.copies() != nullptr, wanted.options,
                                           std::move(demands), wanted.watcher, wanted.constraint);
  return search;
}

std::vector<Hypothesis> score(const models::Model& model, const data::Batch& batch, SearchWatcher* watcher) {
  data::require_sources("score", batch);
  const size_t count = static_cast<size_t>(batch.target.count());
  Crowd::Search search;
  std::vector<Demand> demands;
  for (size_t s = 0; s < count; ++s) {
    Demand one{.forced = batch.target.row(static_cast<int64_t>(s))};
    const size_t source = batch.source_of.empty() ? s : static_cast<size_t>(batch.source_of[s]);
    const int64_t answer = model.answer_length(batch.source.lengths()[source]);
    one.fixed = answer >= 0;
    require(!one.fixed || answer == static_cast<int64_t>(one.forced.size()), "score: the target of sentence ", s,
            " must have ", answer, " tokens, got ", one.forced.size());
    check_forced(model, batch.source, source, one.forced, one.fixed, s, true);
    if (!one.fixed) one.forced.push_back(kEnd);
    one.limit = static_cast<int64_t>(one.forced.size());
    demands.push_back(std::move(one));
    search.source_of.push_back(static_cast<int32_t>(source));
  }
  search.growth = std::make_unique<Growth>(model.vocabulary(), batch.source.copies() != nullptr, SearchOptions{},
                                           std::move(demands), watcher);
  std::vector<Hypothesis> scored;
  for (std::vector<Hypothesis>& one : run_alone(model, batch.source, std::move(search))) {
    scored.push_back(std::move(one.at(0)));
  }
  return scored;
}

}  // namespace attend::decode
