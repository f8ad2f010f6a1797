#include "attend/decode/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/memory_at_hand.h"
#include "attend/base/options.h"
#include "attend/decode/coverage.h"
#include "attend/decode/sampling.h"
#include "attend/kernels/choose.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

namespace attend::decode {
namespace {

using data::kBegin, data::kEnd, data::kPad, data::kUnknown;

// Logits per step from which it pays to draw on several threads.
constexpr size_t kParallelLogits = size_t{64} << 10;
// A watcher is told at least this many of a row's likeliest continuations.
constexpr size_t kWatched = 4;
// About what the history keeps of a prediction.
constexpr double kHistoryBytes = 32;

/// Continuations of each row that are looked at.
size_t choices_of(const SearchOptions& options) {
  const size_t k = options.sample ? 1 : static_cast<size_t>(options.beam);
  return k == 1 ? 1 : k + 1;  // one of a row's candidates may be its end
}

/// A hypothesis that is still growing: one row of the model's batch.
struct Row {
  int32_t sentence, beam;
  int32_t said = -1;  // its last prediction in the history
  double log_probability = 0;
};

/// One that is complete.
struct Complete {
  int32_t said;
  double score, log_probability, raw;
  bool ended;
};

struct Sentence {
  int64_t limit = 0;            // most tokens
  bool fixed = false;           // exactly so many, and no kEnd
  std::vector<int32_t> forced;  // how it must begin
  std::vector<models::BestAnswer> known;  // its answers, if the model knows them; row by row
  std::vector<Complete> complete;
};

struct Candidate {
  int32_t row, token;
  double step, log_probability;
};

class Search {
 public:
  /// `source_of`: the source of each sentence; empty: sentence s is of source s.
  Search(const models::Model& model, const data::Source& source, const SearchOptions& options,
         SearchWatcher* watcher, std::span<const int32_t> source_of = {}, const Constraint* constraint = nullptr)
      : model_(model),
        source_(source),
        source_of_(source_of),
        options_(options),
        watcher_(watcher),
        constraint_(constraint),
        words_(static_cast<size_t>(model.vocabulary())) {
    sentences_.resize(source_of.empty() ? static_cast<size_t>(source.count()) : source_of.size());
    if (options.coverage_penalty > 0) coverage_.emplace("coverage_penalty");
    if (options.uncovered_penalty > 0) coverage_.emplace("uncovered_penalty");
    choices_ = watcher ? static_cast<size_t>(continuations_told(options)) : choices_of(options);
    if (words_ > 0) choices_ = std::min(choices_, words_);
  }

  Sentence& sentence(size_t s) { return sentences_[s]; }

  void run() {
    const TapePause pause;
    std::optional<kernels::PackedWeights> packed;  // unless the caller keeps them for many searches
    if (!kernels::PackedWeights::current()) packed.emplace();
    state_ = model_.begin(source_);
    if (needs_only_the_best()) take_best(model_.best(*state_, options_.n_best));
    std::vector<int32_t> parents;
    const int32_t draws = options_.sample ? static_cast<int32_t>(options_.n_best) : 1;
    for (size_t s = 0; s < sentences_.size(); ++s) {
      const int32_t number = static_cast<int32_t>(s);
      if (sentences_[s].fixed && sentences_[s].limit == 0) {  // there is nothing to predict
        sentences_[s].complete.assign(static_cast<size_t>(draws), {-1, 0, 0, 0, true});
        continue;
      }
      const size_t known = sentences_[s].known.size();
      for (int32_t draw = 0; draw < (known > 0 ? static_cast<int32_t>(known) : draws); ++draw) {
        rows_.push_back({number, draw});
        last_.push_back(kBegin);
        parents.push_back(source_of_.empty() ? number : source_of_[s]);
        if (options_.sample) randoms_.push_back(stream(number, draw));
      }
    }
    if (rows_.empty()) return;
    take(parents, static_cast<size_t>(source_.count()));
    while (!rows_.empty()) step();
  }

  std::vector<Hypothesis> best(size_t s, size_t count) const {
    std::vector<Complete> complete = sentences_[s].complete;
    std::stable_sort(complete.begin(), complete.end(), [](const Complete& a, const Complete& b) {
      return a.ended != b.ended ? a.ended : a.score > b.score;
    });
    complete.resize(std::min(complete.size(), count));
    std::vector<Hypothesis> answers;
    for (const Complete& c : complete) {
      Hypothesis& h = answers.emplace_back();
      history_.read(c.said, h.tokens, &h.token_log_probabilities);
      if (c.ended && !sentences_[s].fixed) h.tokens.pop_back();  // kEnd
      h.score = c.score;
      h.log_probability = c.log_probability;
      h.raw = c.raw;
      h.ended = c.ended;
      h.node = c.said;
    }
    return answers;
  }

 private:
  Random stream(int32_t sentence, int32_t draw) const {
    return Random(static_cast<uint64_t>(options_.seed))
        .named("sample " + std::to_string(options_.first_sentence + sentence) + " " + std::to_string(draw));
  }

  /// Whether only the likeliest answers are requested, each of known length.
  bool needs_only_the_best() const {
    if (options_.sample || options_.no_repeat_ngram > 0 || coverage_ || constraint_) return false;
    return std::ranges::all_of(sentences_, [](const Sentence& one) { return one.fixed && one.forced.empty(); });
  }

  /// The search then follows the answers that the model knows, so that watchers see them like any others.
  void take_best(std::vector<std::vector<models::BestAnswer>> answers) {
    if (answers.empty()) return;
    require(answers.size() == sentences_.size(), "search: expected the best answers to ", sentences_.size(),
            " sources, got ", answers.size());
    for (size_t s = 0; s < answers.size(); ++s) {
      require(!answers[s].empty(), "search: expected the best answers to sentence ", s, ", got none");
      for (const models::BestAnswer& one : answers[s]) {
        require(static_cast<int64_t>(one.tokens.size()) == sentences_[s].limit, "search: expected best answers of ",
                sentences_[s].limit, " tokens for sentence ", s, ", got one of ", one.tokens.size());
      }
      sentences_[s].known = std::move(answers[s]);
    }
  }

  /// (5+|y|)/6 to the power α.
  double length_divisor(int64_t predictions) const {
    if (options_.length_penalty == 0) return 1;
    return std::pow((5.0 + static_cast<double>(predictions)) / 6.0, options_.length_penalty);
  }

  /// One more token for all rows.
  void step() {
    predict();
    parents_.clear();
    next_rows_.clear();
    for (size_t begin = 0, end; begin < rows_.size(); begin = end) {
      for (end = begin; end < rows_.size() && rows_[end].sentence == rows_[begin].sentence;) ++end;
      const Sentence& one = sentences_[static_cast<size_t>(rows_[begin].sentence)];
      if (!one.known.empty()) {
        for (size_t r = begin; r < end; ++r) {
          extend(r, one.known[static_cast<size_t>(rows_[r].beam)].tokens[static_cast<size_t>(said_)]);
        }
      } else if (said_ < static_cast<int64_t>(one.forced.size())) {
        for (size_t r = begin; r < end; ++r) extend(r, one.forced[static_cast<size_t>(said_)]);
      } else if (options_.sample) {
        for (size_t r = begin; r < end; ++r) extend(r, drawn_[r]);
      } else if (options_.beam == 1) {
        extend(begin, places_[begin * choices_]);
      } else {
        extend_best(begin, end);
      }
    }
    ++said_;
    if (watcher_) watcher_->stepped();
    if (!next_rows_.empty()) take(parents_, rows_.size());
    if (options_.sample) {
      for (size_t r = 0; r < parents_.size(); ++r) randoms_[r] = randoms_[static_cast<size_t>(parents_[r])];
    }
    rows_.swap(next_rows_);
    last_.swap(next_last_);
    next_last_.clear();
  }

  /// Asks the model, and finds what may follow each row.
  void predict() {
    const size_t n = rows_.size();
    sentence_of_.resize(n), beam_of_.resize(n);
    for (size_t r = 0; r < n; ++r) sentence_of_[r] = rows_[r].sentence, beam_of_[r] = rows_[r].beam;
    {
      const ObservedRows rows(sentence_of_, beam_of_);
      std::optional<Observing> observing;
      if (coverage_) observing.emplace(*coverage_);
      logits_ = model_.next(*state_, last_);
    }
    const int64_t wide = logits_.defined() && logits_.rank() == 2 ? logits_.dim(1) : 0, known = model_.vocabulary();
    require(wide > 0 && logits_.dim(0) == static_cast<int64_t>(n) &&
                (wide == known || known == 0 || (source_.copies() && wide > known)),
            "search: the model must give logits [", n, ", ", known, "], got ", logits_.shape());
    words_ = static_cast<size_t>(wide);
    choices_ = std::min(choices_, words_);
    if (coverage_) coverage_->step(n);
    ban();
    log_sums_.resize(n), largest_.resize(n * choices_), places_.resize(n * choices_);
    kernels::choose({logits_.data(), n, words_, choices_, banned_.data(), banned_from_.data()}, log_sums_.data(),
                    largest_.data(), places_.data());
    for (size_t r = 0; r < n; ++r) {
      require(std::isfinite(log_sums_[r]), "search: the model's logits must be numbers, got ",
              logits_.data()[r * words_], " … for sentence ", rows_[r].sentence, " after ", said_, " tokens");
    }
    if (options_.sample) draw_all();
  }

  /// What must not follow in each row.
  void ban() {
    banned_.clear();
    banned_from_.assign(1, 0);
    const size_t length = static_cast<size_t>(options_.no_repeat_ngram);
    for (const Row& row : rows_) {
      if (!sentences_[static_cast<size_t>(row.sentence)].fixed) {
        banned_.insert(banned_.end(), {kPad, kBegin});
        if (said_ < options_.min_length) banned_.push_back(kEnd);
        if (options_.no_unknown) banned_.push_back(kUnknown);
      }
      const bool repeats = length > 0 && static_cast<size_t>(said_) >= length;
      if (repeats || constraint_) history_.read(row.said, path_);
      if (constraint_) {
        constraint_->ban(row.sentence, path_, sentences_[static_cast<size_t>(row.sentence)].limit - said_, banned_);
      }
      if (repeats) {
        const auto tail = path_.end() - static_cast<std::ptrdiff_t>(length - 1);
        for (auto at = path_.begin(); at != tail; ++at) {
          if (std::equal(tail, path_.end(), at)) banned_.push_back(at[static_cast<std::ptrdiff_t>(length - 1)]);
        }
      }
      banned_from_.push_back(banned_.size());
    }
  }

  void draw_all() {
    const size_t n = rows_.size();
    const SamplingOptions how{options_.temperature, options_.top_k, options_.top_p};
    drawn_.resize(n);
    scratch_.resize(n * words_);
    const auto one = [&](size_t r) {
      drawn_[r] = draw({logits_.data() + r * words_, words_},
                       std::span(banned_).subspan(banned_from_[r], banned_from_[r + 1] - banned_from_[r]), how,
                       randoms_[r], std::span(scratch_).subspan(r * words_, words_));
    };
    if (n * words_ > kParallelLogits) {
      kernels::parallel_for(n, one);
    } else {
      for (size_t r = 0; r < n; ++r) one(r);
    }
  }

  /// A word that no source of the batch has is not among the logits.
  double log_probability(size_t row, int32_t token) const {
    const size_t id = static_cast<size_t>(token);
    return id < words_ ? static_cast<double>(logits_.data()[row * words_ + id]) - log_sums_[row]
                       : -std::numeric_limits<double>::infinity();
  }

  /// The row's one continuation; −1: nothing may follow.
  void extend(size_t r, int32_t token) {
    const Row& row = rows_[r];
    if (token < 0) return complete(r, row.said, row.log_probability, said_, false);
    const double step = log_probability(r, token);
    extend(Candidate{static_cast<int32_t>(r), token, step, row.log_probability + step}, row.beam);
    const bool first = row.said >= 0 || row.beam == 0;  // other rows begin with the same choice
    for (size_t k = 0; watcher_ && first && k < choices_ && possible(r, k); ++k) {
      if (places_[r * choices_ + k] != token) tell(candidate(r, k), -1, Predicted::Fate::passed);
    }
  }

  /// Whether a row has a k-th continuation: neither banned nor of probability 0.
  bool possible(size_t r, size_t k) const {
    return places_[r * choices_ + k] >= 0 && largest_[r * choices_ + k] > kernels::kMaskedLog;
  }

  /// The k-th likeliest continuation of a row.
  Candidate candidate(size_t r, size_t k) const {
    const double step = static_cast<double>(largest_[r * choices_ + k]) - log_sums_[r];
    return {static_cast<int32_t>(r), places_[r * choices_ + k], step, rows_[r].log_probability + step};
  }

  void tell(const Candidate& c, int32_t said, Predicted::Fate fate) const {
    if (!watcher_) return;
    const Row& row = rows_[static_cast<size_t>(c.row)];
    watcher_->predicted({row.sentence, c.row, said, row.said, c.token, c.step, c.log_probability, fate});
  }

  /// Adds a candidate's token: the hypothesis is complete, or becomes a row of the next step.
  void extend(const Candidate& c, int32_t beam) {
    const size_t r = static_cast<size_t>(c.row);
    const Row& row = rows_[r];
    const Sentence& one = sentences_[static_cast<size_t>(row.sentence)];
    const int32_t said = history_.say(row.said, c.token, c.step);
    const bool ends = !one.fixed && c.token == kEnd;
    if (ends || said_ + 1 == one.limit) {
      tell(c, said, ends || one.fixed ? Predicted::Fate::ended : Predicted::Fate::cut);
      return complete(r, said, c.log_probability, said_ + 1, ends || one.fixed);
    }
    tell(c, said, Predicted::Fate::grown);
    next_rows_.push_back({row.sentence, beam, said, c.log_probability});
    next_last_.push_back(c.token);
    parents_.push_back(c.row);
  }

  void complete(size_t r, int32_t said, double log_probability, int64_t predictions, bool ended) {
    double score = log_probability / length_divisor(predictions);
    if (coverage_) {
      score += options_.coverage_penalty * coverage_->penalty(r) -
               options_.uncovered_penalty * static_cast<double>(coverage_->uncovered(r));
    }
    Sentence& one = sentences_[static_cast<size_t>(rows_[r].sentence)];
    const double raw = one.known.empty() ? 0 : one.known[static_cast<size_t>(rows_[r].beam)].score;
    one.complete.push_back({said, score, log_probability, raw, ended});
    if (watcher_) watcher_->completed(said);
  }

  /// The best continuations of one sentence's rows.
  void extend_best(size_t begin, size_t end) {
    candidates_.clear();
    for (size_t r = begin; r < end; ++r) {
      if (places_[r * choices_] < 0) extend(r, -1);
      for (size_t k = 0; k < choices_ && possible(r, k); ++k) candidates_.push_back(candidate(r, k));
    }
    Sentence& one = sentences_[static_cast<size_t>(rows_[begin].sentence)];
    const size_t beam = static_cast<size_t>(options_.beam), count = std::min(candidates_.size(), 2 * beam);
    // Ties in the order of the beam, then of the ids: the same for any sorting algorithm.
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count), candidates_.end(),
                      [](const Candidate& a, const Candidate& b) {
                        if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
                        return a.row != b.row ? a.row < b.row : a.token < b.token;
                      });
    const size_t first = next_rows_.size();
    size_t continued = 0;  // at the maximum length, too, although these are then complete
    for (size_t c = 0; c < count; ++c) {
      const bool ends = !one.fixed && candidates_[c].token == kEnd;
      if (ends ? c >= beam : continued == beam) {
        tell(candidates_[c], -1, Predicted::Fate::passed);
        continue;
      }
      extend(candidates_[c], static_cast<int32_t>(next_rows_.size() - first));
      if (!ends) ++continued;
    }
    if (next_rows_.size() > first && settled(one, next_rows_[first].log_probability)) {
      next_rows_.resize(first), next_last_.resize(first), parents_.resize(first);
    }
  }

  /// True if a sentence needs no more steps; `growing` is the best log-probability of those that could continue.
  bool settled(const Sentence& one, double growing) {
    scores_.clear();
    for (const Complete& c : one.complete) {
      if (c.ended) scores_.push_back(c.score);
    }
    if (!options_.early_stop) return scores_.size() >= static_cast<size_t>(options_.beam);
    const size_t needed = static_cast<size_t>(options_.n_best);
    if (scores_.size() < needed) return false;
    std::nth_element(scores_.begin(), scores_.begin() + static_cast<std::ptrdiff_t>(needed - 1), scores_.end(),
                     std::greater<>());
    // ln p only falls, its divisor is largest at the maximum length, and coverage is at most complete.
    return growing / length_divisor(one.limit) <= scores_[needed - 1];
  }

  /// Keeps these of `count` rows; the model is not involved if that is all of them, in order.
  void take(std::span<const int32_t> parents, size_t count) {
    bool same = parents.size() == count;
    for (size_t r = 0; same && r < count; ++r) same = parents[r] == static_cast<int32_t>(r);
    if (same) return;
    state_->take(parents);
    if (coverage_ && said_ > 0) coverage_->take(parents);
  }

  const models::Model& model_;
  const data::Source& source_;
  const std::span<const int32_t> source_of_;
  const SearchOptions& options_;
  SearchWatcher* const watcher_;
  const Constraint* const constraint_;
  size_t words_;  // that may follow: the vocabulary and what can be copied, or places; 0: not known before the first logits
  size_t choices_;
  std::vector<Sentence> sentences_;
  std::unique_ptr<models::State> state_;
  std::optional<Coverage> coverage_;
  History history_;
  int64_t said_ = 0;  // predictions that every row has made

  std::vector<Row> rows_, next_rows_;
  std::vector<int32_t> last_, next_last_, parents_;
  std::vector<Random> randoms_;  // per row

  // Of one step.
  Tensor logits_;
  std::vector<int32_t> sentence_of_, beam_of_, banned_, places_, drawn_, path_;
  std::vector<size_t> banned_from_;
  std::vector<double> log_sums_;
  std::vector<real> largest_, scratch_;
  std::vector<Candidate> candidates_;
  std::vector<double> scores_;
};

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
  const int64_t usual = constraint ? constraint->longest(sentence)
                                   : std::max({2 * source + 10, options.min_length, forced + 10});
  return options.longest > 0 ? std::min(usual, options.longest) : usual;
}

size_t search_bytes(const models::Model& model, const SearchOptions& options, int64_t texts, int64_t length) {
  const double each = static_cast<double>(options.sample ? options.n_best : options.beam);
  const double rows = each * static_cast<double>(texts), words = static_cast<double>(model.vocabulary());
  const double choices = options.sample ? 1 : std::min(words, each + 1);
  // Logits and their copy without what is banned; candidates; what was said; the model's state and its successor.
  const double numbers = 2 * words + 2 * static_cast<double>(model.hypothesis_numbers(length));
  return static_cast<size_t>(rows * (numbers * sizeof(real) + choices * (sizeof(Candidate) + sizeof(int32_t)) +
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

/// The same for these sources.
void check_memory(const models::Model& model, const data::Source& source, const SearchOptions& options) {
  constexpr size_t kSmall = size_t{64} << 20;  // always tried
  int64_t length = 0;
  for (const int32_t words : source.lengths()) length = std::max(length, longest_answer(model, options, words));
  if (search_bytes(model, options, source.count(), length) <= kSmall) return;
  check_memory(model, options, source.count(), length, memory::at_hand());
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
  check(options);
  check_memory(model, source, options);
  const size_t count = static_cast<size_t>(source.count());
  require(prefixes.empty() || prefixes.size() == count, "search: expected one prefix per source, ", count, ", got ",
          prefixes.size());
  for (size_t s = 0; s < prefixes.size(); ++s) {
    const int64_t forced = static_cast<int64_t>(prefixes[s].size());
    const int64_t limit = longest_answer(model, options, source.lengths()[s], forced);
    require(forced <= limit, "search: a prefix must not be longer than its answer may be, ", limit, ", got ", forced,
            " tokens for sentence ", s);
    check_forced(model, source, s, prefixes[s], model.answer_length(source.lengths()[s]) >= 0, s, false);
  }
}

std::vector<std::vector<Hypothesis>> search(const models::Model& model, const data::Source& source,
                                            const SearchOptions& options,
                                            const std::vector<std::vector<int32_t>>& prefixes, SearchWatcher* watcher,
                                            const Constraint* constraint) {
  check(model, source, options, prefixes);
  const size_t count = static_cast<size_t>(source.count());
  Search search(model, source, options, watcher, {}, constraint);
  for (size_t s = 0; s < count; ++s) {
    Sentence& one = search.sentence(s);
    if (!prefixes.empty()) one.forced = prefixes[s];
    one.fixed = model.answer_length(source.lengths()[s]) >= 0;
    one.limit = longest_answer(model, options, source.lengths()[s], static_cast<int64_t>(one.forced.size()), constraint,
                               static_cast<int32_t>(s));
  }
  search.run();
  std::vector<std::vector<Hypothesis>> answers(count);
  for (size_t s = 0; s < count; ++s) answers[s] = search.best(s, static_cast<size_t>(options.n_best));
  return answers;
}

std::vector<Hypothesis> score(const models::Model& model, const data::Batch& batch, SearchWatcher* watcher) {
  data::require_sources("score", batch);
  const size_t count = static_cast<size_t>(batch.target.count());
  const SearchOptions options;
  Search search(model, batch.source, options, watcher, batch.source_of);
  for (size_t s = 0; s < count; ++s) {
    Sentence& one = search.sentence(s);
    one.forced = batch.target.row(static_cast<int64_t>(s));
    const size_t source = batch.source_of.empty() ? s : static_cast<size_t>(batch.source_of[s]);
    const int64_t answer = model.answer_length(batch.source.lengths()[source]);
    one.fixed = answer >= 0;
    require(!one.fixed || answer == static_cast<int64_t>(one.forced.size()), "score: the target of sentence ", s,
            " must have ", answer, " tokens, got ", one.forced.size());
    check_forced(model, batch.source, source, one.forced, one.fixed, s, true);
    if (!one.fixed) one.forced.push_back(kEnd);
    one.limit = static_cast<int64_t>(one.forced.size());
  }
  search.run();
  std::vector<Hypothesis> scored;
  for (size_t s = 0; s < count; ++s) scored.push_back(std::move(search.best(s, 1)[0]));
  return scored;
}

}  // namespace attend::decode
