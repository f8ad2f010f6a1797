// The hypotheses of one search: they grow by one token for each row of logits that they are given, whoever computed these and
// for whom else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attend/base/random.h"
#include "attend/decode/coverage.h"
#include "attend/decode/hypothesis.h"
#include "attend/decode/search.h"

namespace attend::decode {

/// Continuations of each row that a search looks at.
size_t choices_of(const SearchOptions& options);

/// What an answer is held to.
struct Demand {
  int64_t limit = 0;            ///< most tokens
  bool fixed = false;           ///< exactly so many, and no kEnd
  std::vector<int32_t> forced;  ///< how it must begin
};

class Growth {
 public:
  /// Logits have `vocabulary` columns (0: not known before the first), and more where `copies`. Watcher and constraint, if
  /// there are any, must outlive it.
  Growth(int64_t vocabulary, bool copies, const SearchOptions& options, std::vector<Demand> demands,
         SearchWatcher* watcher = nullptr, const Constraint* constraint = nullptr);

  /// Whether only the likeliest answers are requested, each of known length: then take_best() may be called.
  bool needs_only_the_best() const;
  /// Follows these answers, so that watchers see them like any others.
  void take_best(std::span<const std::vector<models::BestAnswer>> answers);
  int64_t answers_each() const { return options_.n_best; }

  /// The first rows; returns the sentence of each.
  std::vector<int32_t> begin();
  size_t rows() const { return rows_.size(); }
  size_t sentences() const { return sentences_.size(); }
  /// Of each row: the token that it has said last, its sentence and its place in the beam.
  std::span<const int32_t> last() const { return last_; }
  std::span<const int32_t> sentence_of() const { return sentence_of_; }
  std::span<const int32_t> beam_of() const { return beam_of_; }
  /// Null unless the score depends on where attention looked: then it observes the model.
  Coverage* coverage() { return coverage_ ? &*coverage_ : nullptr; }
  bool watched() const { return watcher_ != nullptr; }

  /// One more token for all rows, by their logits [rows,words].
  void grow(const real* logits, size_t words);
  /// Of each row that is left, which of those before it grew from.
  std::span<const int32_t> parents() const { return parents_; }

  /// The n_best answers to a sentence, best first.
  std::vector<Hypothesis> best(size_t sentence) const;
  /// The likeliest beginning of an answer after the last step, growing or complete.
  std::vector<int32_t> likeliest(size_t sentence) const;

 private:
  struct Sentence;
  struct Candidate;

  Random stream(int32_t sentence, int32_t draw) const;
  double length_divisor(int64_t predictions) const;
  void choose();
  void ban();
  void draw_all();
  void grow_sentence(size_t begin, size_t end);
  double log_probability(size_t row, int32_t token) const;
  void extend(size_t r, int32_t token);
  bool possible(size_t r, size_t k) const;
  Candidate candidate(size_t r, size_t k) const;
  void tell(const Candidate& c, int32_t said, Predicted::Fate fate) const;
  void extend(const Candidate& c, int32_t beam);
  void complete(size_t r, int32_t said, double log_probability, int64_t predictions, bool ended);
  void extend_best(size_t begin, size_t end);
  bool settled(const Sentence& one, double growing);
  void set_rows();

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
  /// The likeliest prediction of a step.
  struct Newest {
    int64_t step = -1;
    int32_t said = -1;
    double log_probability = 0;
    bool is_end = false;
  };
  struct Sentence : Demand {
    std::vector<models::BestAnswer> known;  // its answers, if the model knows them; row by row
    std::vector<Complete> complete;
    Newest newest;
  };
  struct Candidate {
    int32_t row, token;
    double step, log_probability;
  };

  const size_t vocabulary_;
  const bool copies_;
  const SearchOptions options_;
  SearchWatcher* const watcher_;
  const Constraint* const constraint_;
  size_t words_ = 0;  // that may follow: the vocabulary and what can be copied, or places
  size_t choices_;
  std::vector<Sentence> sentences_;
  std::optional<Coverage> coverage_;
  History history_;
  int64_t said_ = 0;  // predictions that every row has made

  std::vector<Row> rows_, next_rows_;
  std::vector<int32_t> last_, next_last_, parents_, sentence_of_, beam_of_;
  std::vector<Random> randoms_;  // per row

  // Of one step.
  const real* logits_ = nullptr;
  std::vector<int32_t> banned_, places_, drawn_, path_;
  std::vector<size_t> banned_from_;
  std::vector<double> log_sums_;
  std::vector<real> largest_, scratch_;
  std::vector<Candidate> candidates_;
  std::vector<double> scores_;
};

}  // namespace attend::decode
