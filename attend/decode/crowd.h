// Searches that are computed together, step by step: each with its own options, each at its own step. One that ends leaves, one
// that comes joins at the next step, and none notices the others.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "attend/decode/growth.h"

namespace attend::decode {

class Crowd {
 public:
  /// One search: its hypotheses, and which source of those that it joins with each of its sentences has.
  struct Search {
    std::unique_ptr<Growth> growth;
    std::vector<int32_t> source_of;
  };
  /// What became of one: the answers to each of its sentences, or why there are none.
  struct Found {
    int64_t number = 0;
    std::vector<std::vector<Hypothesis>> answers;
    std::exception_ptr error;
  };

  /// The model must outlive it.
  explicit Crowd(const models::Model& model) : model_(model) {}

  /// Reads the sources at once; from the next step on these searches take part. Their numbers, which no other search gets. A model
  /// whose states cannot be computed together (State::join) is asked for each of these lots by itself.
  std::vector<int64_t> join(const data::Source& source, std::vector<Search> searches);
  /// One more token for all.
  void step();
  /// Gives a search up; unknown numbers are those of searches that have ended.
  void leave(int64_t number);
  /// Those that have ended since it was asked last.
  std::vector<Found> found();

  /// Hypotheses that the next step is computed for.
  int64_t rows() const;
  /// The likeliest beginning of the answer to a sentence of a search that is not found yet.
  std::vector<int32_t> likeliest(int64_t number, size_t sentence = 0) const;

 private:
  struct Member {
    int64_t number;
    std::unique_ptr<Growth> growth;
    std::exception_ptr error;
  };
  /// Searches whose rows are one state, one after the other.
  struct Group {
    std::unique_ptr<models::State> state;
    std::vector<Member> members;
    size_t rows() const;
  };

  static Group begun(const models::Model& model, const data::Source& source, std::vector<Search> searches,
                     std::vector<int64_t> numbers);
  Tensor ask(Group& group) const;
  void step(Group& group);
  void keep(Group& group, std::span<const int32_t> rows, size_t before);
  void end(Member& member);

  const models::Model& model_;
  std::vector<Group> groups_;
  std::vector<Found> found_;
  int64_t next_number_ = 0;
};

/// What one search is asked for.
struct Wanted {
  SearchOptions options;
  std::vector<std::vector<int32_t>> prefixes = {};
  SearchWatcher* watcher = nullptr;
  const Constraint* constraint = nullptr;
};
/// A search for the answers to sources [first, first + count) of these. Throws as check() does.
Crowd::Search search_for(const models::Model& model, const data::Source& source, int64_t first, int64_t count,
                         const Wanted& wanted);

}  // namespace attend::decode
