#include "attend/decode/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "attend/base/error.h"
#include "attend/decode/sampling.h"
#include "attend/kernels/choose.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

namespace attend::decode {
namespace {

using data::kBegin, data::kEnd, data::kPad, data::kUnknown;

// Logits per step from which it pays to draw on several threads.
constexpr size_t kParallelLogits = size_t{64} << 10;

}  // namespace

size_t choices_of(const SearchOptions& options) {
  const size_t k = options.sample ? 1 : static_cast<size_t>(options.beam);
  return k == 1 ? 1 : k + 1;  // one of a row's candidates may be its end
}

Growth::Growth(int64_t vocabulary, bool copies, const SearchOptions& options, std::vector<Demand> demands,
               SearchWatcher* watcher, const Constraint* constraint)
    : vocabulary_(static_cast<size_t>(vocabulary)),
      copies_(copies),
      options_(options),
      watcher_(watcher),
      constraint_(constraint),
      choices_(watcher ? static_cast<size_t>(continuations_told(options)) : choices_of(options)) {
  for (Demand& one : demands) sentences_.emplace_back(Sentence{std::move(one), {}, {}, {}});
  if (options.coverage_penalty > 0) coverage_.emplace("coverage_penalty");
  if (options.uncovered_penalty > 0) coverage_.emplace("uncovered_penalty");
  if (vocabulary_ > 0) choices_ = std::min(choices_, vocabulary_);
}

bool Growth::needs_only_the_best() const {
  if (options_.sample || options_.no_repeat_ngram > 0 || coverage_ || constraint_) return false;
  return std::ranges::all_of(sentences_, [](const Sentence& one) { return one.fixed && one.forced.empty(); });
}

void Growth::take_best(std::span<const std::vector<models::BestAnswer>> answers) {
  if (answers.empty()) return;
  require(answers.size() == sentences_.size(), "search: expected the best answers to ", sentences_.size(),
          " sources, got ", answers.size());
  for (size_t s = 0; s < answers.size(); ++s) {
    require(!answers[s].empty(), "search: expected the best answers to sentence ", s, ", got none");
    const size_t count = std::min(answers[s].size(), static_cast<size_t>(options_.n_best));
    for (size_t i = 0; i < count; ++i) {
      require(static_cast<int64_t>(answers[s][i].tokens.size()) == sentences_[s].limit,
              "search: expected best answers of ", sentences_[s].limit, " tokens for sentence ", s, ", got one of ",
              answers[s][i].tokens.size());
      sentences_[s].known.push_back(answers[s][i]);
    }
  }
}

std::vector<int32_t> Growth::begin() {
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
      if (options_.sample) randoms_.push_back(stream(number, draw));
    }
  }
  set_rows();
  return sentence_of_;
}

void Growth::set_rows() {
  sentence_of_.resize(rows_.size()), beam_of_.resize(rows_.size());
  for (size_t r = 0; r < rows_.size(); ++r) sentence_of_[r] = rows_[r].sentence, beam_of_[r] = rows_[r].beam;
}

std::vector<Hypothesis> Growth::best(size_t sentence) const {
  std::vector<Complete> complete = sentences_[sentence].complete;
  std::stable_sort(complete.begin(), complete.end(), [](const Complete& a, const Complete& b) {
    return a.ended != b.ended ? a.ended : a.score > b.score;
  });
  complete.resize(std::min(complete.size(), static_cast<size_t>(options_.n_best)));
  std::vector<Hypothesis> answers;
  for (const Complete& c : complete) {
    Hypothesis& h = answers.emplace_back();
    history_.read(c.said, h.tokens, &h.token_log_probabilities);
    if (c.ended && !sentences_[sentence].fixed) h.tokens.pop_back();  // kEnd
    h.score = c.score;
    h.log_probability = c.log_probability;
    h.raw = c.raw;
    h.ended = c.ended;
    h.node = c.said;
  }
  return answers;
}

std::vector<int32_t> Growth::likeliest(size_t sentence) const {
  const Newest& newest = sentences_[sentence].newest;
  std::vector<int32_t> tokens;
  history_.read(newest.said, tokens);
  if (newest.is_end) tokens.pop_back();
  return tokens;
}

Random Growth::stream(int32_t sentence, int32_t draw) const {
  return Random(static_cast<uint64_t>(options_.seed))
      .named("sample " + std::to_string(options_.first_sentence + sentence) + " " + std::to_string(draw));
}

/// (5+|y|)/6 to the power α.
double Growth::length_divisor(int64_t predictions) const {
  if (options_.length_penalty == 0) return 1;
  return std::pow((5.0 + static_cast<double>(predictions)) / 6.0, options_.length_penalty);
}

void Growth::grow(const real* logits, size_t words) {
  require(words > 0 && (words == vocabulary_ || vocabulary_ == 0 || (copies_ && words > vocabulary_)),
          "search: the model must give logits [", rows_.size(), ", ", vocabulary_, "], got ", words, " columns");
  logits_ = logits, words_ = words;
  choices_ = std::min(choices_, words_);
  if (coverage_) coverage_->step(rows_.size());
  choose();
  parents_.clear();
  next_rows_.clear();
  for (size_t begin = 0, end; begin < rows_.size(); begin = end) {
    for (end = begin; end < rows_.size() && rows_[end].sentence == rows_[begin].sentence;) ++end;
    grow_sentence(begin, end);
  }
  ++said_;
  if (watcher_) watcher_->stepped();
  bool same = parents_.size() == rows_.size();
  for (size_t r = 0; same && r < parents_.size(); ++r) same = parents_[r] == static_cast<int32_t>(r);
  if (coverage_ && !same && !parents_.empty()) coverage_->take(parents_);
  if (options_.sample) {
    for (size_t r = 0; r < parents_.size(); ++r) randoms_[r] = randoms_[static_cast<size_t>(parents_[r])];
  }
  rows_.swap(next_rows_);
  last_.swap(next_last_);
  next_last_.clear();
  set_rows();
}

/// Finds what may follow each row.
void Growth::choose() {
  const size_t n = rows_.size();
  ban();
  log_sums_.resize(n), largest_.resize(n * choices_), places_.resize(n * choices_);
  kernels::choose({logits_, n, words_, choices_, banned_.data(), banned_from_.data()}, log_sums_.data(),
                  largest_.data(), places_.data());
  for (size_t r = 0; r < n; ++r) {
    require(std::isfinite(log_sums_[r]), "search: the model's logits must be numbers, got ", logits_[r * words_],
            " … for sentence ", rows_[r].sentence, " after ", said_, " tokens");
  }
  if (options_.sample) draw_all();
}

/// One more token for the rows of a sentence.
void Growth::grow_sentence(size_t begin, size_t end) {
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

/// What must not follow in each row.
void Growth::ban() {
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

void Growth::draw_all() {
  const size_t n = rows_.size();
  const SamplingOptions how{options_.temperature, options_.top_k, options_.top_p};
  drawn_.resize(n);
  scratch_.resize(n * words_);
  const auto one = [&](size_t r) {
    drawn_[r] = draw({logits_ + r * words_, words_},
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
double Growth::log_probability(size_t row, int32_t token) const {
  const size_t id = static_cast<size_t>(token);
  return id < words_ ? static_cast<double>(logits_[row * words_ + id]) - log_sums_[row]
                     : -std::numeric_limits<double>::infinity();
}

/// The row's one continuation; −1: nothing may follow.
void Growth::extend(size_t r, int32_t token) {
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
bool Growth::possible(size_t r, size_t k) const {
  return places_[r * choices_ + k] >= 0 && largest_[r * choices_ + k] > kernels::kMaskedLog;
}

/// The k-th likeliest continuation of a row.
Growth::Candidate Growth::candidate(size_t r, size_t k) const {
  const double step = static_cast<double>(largest_[r * choices_ + k]) - log_sums_[r];
  return {static_cast<int32_t>(r), places_[r * choices_ + k], step, rows_[r].log_probability + step};
}

void Growth::tell(const Candidate& c, int32_t said, Predicted::Fate fate) const {
  if (!watcher_) return;
  const Row& row = rows_[static_cast<size_t>(c.row)];
  watcher_->predicted({row.sentence, c.row, said, row.said, c.token, c.step, c.log_probability, fate});
}

/// Adds a candidate's token: the hypothesis is complete, or becomes a row of the next step.
void Growth::extend(const Candidate& c, int32_t beam) {
  const size_t r = static_cast<size_t>(c.row);
  const Row& row = rows_[r];
  Sentence& one = sentences_[static_cast<size_t>(row.sentence)];
  const int32_t said = history_.say(row.said, c.token, c.step);
  const bool ends = !one.fixed && c.token == kEnd;
  if (one.newest.step < said_ || c.log_probability > one.newest.log_probability) {
    one.newest = {said_, said, c.log_probability, ends};
  }
  if (ends || said_ + 1 == one.limit) {
    tell(c, said, ends || one.fixed ? Predicted::Fate::ended : Predicted::Fate::cut);
    return complete(r, said, c.log_probability, said_ + 1, ends || one.fixed);
  }
  tell(c, said, Predicted::Fate::grown);
  next_rows_.push_back({row.sentence, beam, said, c.log_probability});
  next_last_.push_back(c.token);
  parents_.push_back(c.row);
}

void Growth::complete(size_t r, int32_t said, double log_probability, int64_t predictions, bool ended) {
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
void Growth::extend_best(size_t begin, size_t end) {
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
bool Growth::settled(const Sentence& one, double growing) {
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

}  // namespace attend::decode
