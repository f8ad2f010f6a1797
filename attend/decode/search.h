// Search: the likeliest answers of any model (greedy, beam), random answers (sampling), and how likely a given answer
// is. Uses only `begin` and `next` of a model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/decode/hypothesis.h"
#include "attend/models/model.h"

namespace attend::decode {

/// More hypotheses per sentence, and longer answers, than any search has use for.
constexpr int64_t kWidestBeam = 10'000, kMostAnswers = 100'000, kLongestAnswer = 100'000;

struct SearchOptions {
  int64_t beam = 1;
  int64_t n_best = 1;
  double length_penalty = 0;
  double coverage_penalty = 0;
  double uncovered_penalty = 0;
  bool early_stop = true;
  int64_t min_length = 0;
  int64_t max_length = 0;
  int64_t no_repeat_ngram = 0;
  bool no_unknown = false;
  bool sample = false;
  double temperature = 1;
  int64_t top_k = 0;
  double top_p = 1;
  int64_t seed = 0;
  // For programs; these are not options:
  int64_t first_sentence = 0;  // sampling: number of the first sentence of this batch
  int64_t longest = 0;         // upper bound when max_length is 0; 0: none

  template <class Visit>
  void fields(Visit&& visit) {
    visit("beam", beam, "hypotheses kept per sentence; 1: greedy, the likeliest token at each step",
          bounds::within(1, kWidestBeam));
    visit("n_best", n_best, "answers per sentence, at most beam; with sample: how many are drawn",
          bounds::within(1, kMostAnswers));
    visit("length_penalty", length_penalty, "alpha of GNMT: the score is log p / ((5 + length) / 6)^alpha",
          bounds::at_least(0));
    visit("coverage_penalty", coverage_penalty, "beta of GNMT: less for source positions that were not attended to",
          bounds::at_least(0));
    visit("uncovered_penalty", uncovered_penalty,
          "less for each source position whose attention adds up to less than a half", bounds::at_least(0));
    visit("early_stop", early_stop,
          "true: stop a sentence when nothing can beat its n_best; false: when beam hypotheses have ended");
    visit("min_length", min_length, "minimum number of tokens before the end", bounds::within(0, kLongestAnswer));
    visit("max_length", max_length, "maximum number of tokens; 0: 2·source length + 10",
          bounds::within(0, kLongestAnswer));
    visit("no_repeat_ngram", no_repeat_ngram, "no n tokens in a row occur twice; 0: they may", bounds::count_or_none());
    visit("no_unknown", no_unknown, "never output the symbol for a word that is not in the vocabulary");
    visit("sample", sample, "draw tokens by their probability");
    visit("temperature", temperature, "sampling: divides the logits", bounds::above(0));
    visit("top_k", top_k, "sampling: only from the k likeliest; 0: all", bounds::count_or_none());
    visit("top_p", top_p, "sampling: only from the likeliest that together have this probability",
          bounds::above_up_to(0, 1));
    visit("seed", seed, "sampling: of the random numbers");
  }
};

/// What may follow in an answer when not every token makes sense, as with the brackets of a tree.
class Constraint {
 public:
  virtual ~Constraint() = default;
  /// Adds to `banned` the ids that must not follow `said` in the answer to that sentence of the batch; there is room
  /// for `room` more tokens, including the next. At least one id must stay allowed.
  virtual void ban(int32_t sentence, std::span<const int32_t> said, int64_t room,
                   std::vector<int32_t>& banned) const = 0;
  /// The most tokens of its answer if max_length does not say.
  virtual int64_t longest(int32_t sentence) const = 0;
};

/// Throws OptionError if these options are invalid for any model.
void check(const SearchOptions& options);
/// As many hypotheses as answers: for those who ask for more answers and do not say how wide the beam is to be.
void widen(SearchOptions& options);

/// About how much memory a search over so many texts takes at once, with answers of up to `length` tokens.
size_t search_bytes(const models::Model& model, const SearchOptions& options, int64_t texts, int64_t length);
/// Throws OptionError, with the estimate, if that is more than there is `at_hand` (memory::at_hand()).
void check_memory(const models::Model& model, const SearchOptions& options, int64_t texts, int64_t length,
                  size_t at_hand);
/// Throws Error if search() would reject these arguments, before anything is computed: OptionError for what is asked
/// for in vain, such as a beam for which there is no memory.
void check(const models::Model& model, const data::Source& source, const SearchOptions& options,
           const std::vector<std::vector<int32_t>>& prefixes = {});

/// The most tokens of the answer to a source of that length, of which `forced` are given: fixed by the model, else max_length,
/// else as many as the model can say of it (Model::longest_answer) and the end, else what the constraint says of that
/// sentence, else enough for what is requested.
int64_t longest_answer(const models::Model& model, const SearchOptions& options, int64_t source, int64_t forced = 0,
                       const Constraint* constraint = nullptr, int32_t sentence = 0);

/// How many continuations of each hypothesis a watcher is told of in each step, at most.
int64_t continuations_told(const SearchOptions& options);

/// The n_best answers to each source, best first.
///
/// Score: s = ln p(y|x) / ((5+|y|)/6)^α + β·Σᵢ ln min(Σₜ aₜᵢ, 1) − γ·|{i: Σₜ aₜᵢ < 1/2}| (Wu et al. 2016, eq. 14; Chorowski &
/// Jaitly 2017, section 3.2), where |y| is the number of predictions, including kEnd, and a are the weights of the attentions to
/// the source, averaged over heads and layers. A position that was never looked at counts as 1e-6 in the logarithm. The score
/// ranks complete hypotheses; growing ones compete by ln p. A hypothesis that reached max_length without kEnd has ended = false and comes after all that ended; so does
/// one that nothing may follow.
///
/// Beam: at each step the `beam` best continuations that do not end survive; those that end and are among the `beam`
/// best of all are complete. At the maximum length the survivors are complete, too: at most `beam` of them are ranked.
/// early_stop loses nothing: a sentence stops when n_best have ended and even the best growing one would not score
/// higher if it continued to the maximum length with probability one. Beam 1 is greedy: it ends when kEnd is the
/// likeliest.
///
/// Sampling keeps no beam, whatever `beam` says: it draws n_best answers per sentence, independently, sorted by score; their
/// log-probabilities are the model's own, before temperature, top_k and top_p. Answer j of sentence b depends on seed,
/// first_sentence + b and j, whatever else is in the batch.
///
/// `prefixes`: how each source's answer begins, one per source (or none at all); forced tokens count in log p. A model
/// that predicts kEnd never predicts kPad or kBegin. If the answer's length is fixed, every id is allowed, and
/// min_length and max_length do not apply. There may be fewer than n_best answers if no more exist.
///
/// If the answer's length is fixed, the model knows the n_best likeliest answers (Model::best), and there are no other demands
/// (a prefix, a constraint, no_repeat_ngram, coverage), then those are the answers, whatever the beam.
///
/// Tokens that a constraint bans are never predicted and take no part in the choice; log-probabilities stay the model's
/// own.
///
/// A watcher changes no answer; it is notified of every prediction that is kept, and of the likeliest that are not.
std::vector<std::vector<Hypothesis>> search(const models::Model& model, const data::Source& source,
                                            const SearchOptions& options,
                                            const std::vector<std::vector<int32_t>>& prefixes = {},
                                            SearchWatcher* watcher = nullptr, const Constraint* constraint = nullptr);

/// ln p(target | source) of each pair, token by token, with kEnd if the model predicts it; score = log_probability. It
/// takes the same steps as `search`, so that observers see what each token looked at.

std::vector<Hypothesis> score(const models::Model& model, const data::Batch& batch, SearchWatcher* watcher = nullptr);

}  // namespace attend::decode
