#include "attend/decode/crowd.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "attend/attention/observe.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/kernels/parallel.h"

namespace attend::decode {
namespace {

// Logits of a step from which it pays to go through those of several searches on several threads.
constexpr size_t kSharedLogits = size_t{32} << 10;

/// What attention does in a step, told to every search whose score depends on it: to each of its own rows.
class CoverageOfAll : public Sink {
 public:
  void add(Coverage& coverage, size_t first, size_t rows) { parts_.push_back({&coverage, first, rows}); }
  bool empty() const { return parts_.empty(); }
  void observe(const Observation& observation) override {
    for (const Part& part : parts_) part.coverage->observe(observation, part.first, part.rows);
  }

 private:
  struct Part {
    Coverage* coverage;
    size_t first, rows;
  };
  std::vector<Part> parts_;
};

bool in_order(std::span<const int32_t> rows, size_t count) {
  bool same = rows.size() == count;
  for (size_t r = 0; same && r < count; ++r) same = rows[r] == static_cast<int32_t>(r);
  return same;
}

}  // namespace

size_t Crowd::Group::rows() const {
  size_t rows = 0;
  for (const Member& one : members) rows += one.growth->rows();
  return rows;
}

int64_t Crowd::rows() const {
  size_t rows = 0;
  for (const Group& group : groups_) rows += group.rows();
  return static_cast<int64_t>(rows);
}

Crowd::Group Crowd::begun(const models::Model& model, const data::Source& source, std::vector<Search> searches,
                          std::vector<int64_t> numbers) {
  Group group{.state = model.begin(source), .members = {}};
  std::vector<int32_t> parents;
  for (size_t i = 0; i < searches.size(); ++i) {
    Growth& growth = *searches[i].growth;
    if (growth.needs_only_the_best()) {
      const auto all = model.best(*group.state, growth.answers_each());
      std::vector<std::vector<models::BestAnswer>> own;
      for (const int32_t at : searches[i].source_of) {
        if (!all.empty()) own.push_back(all.at(static_cast<size_t>(at)));
      }
      growth.take_best(own);
    }
    for (const int32_t sentence : growth.begin())
      parents.push_back(searches[i].source_of[static_cast<size_t>(sentence)]);
    group.members.push_back({numbers[i], std::move(searches[i].growth), nullptr});
  }
  if (!parents.empty() && !in_order(parents, static_cast<size_t>(source.count()))) group.state->take(parents);
  return group;
}

std::vector<int64_t> Crowd::join(const data::Source& source, std::vector<Search> searches) {
  const TapePause pause;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < searches.size(); ++i) numbers.push_back(next_number_++);
  Group group = begun(model_, source, std::move(searches), numbers);
  std::erase_if(group.members, [&](Member& one) {
    if (one.growth->rows() > 0) return false;
    end(one);
    return true;
  });
  if (group.members.empty()) return numbers;
  if (!groups_.empty() && groups_.front().state->join(*group.state)) {
    std::ranges::move(group.members, std::back_inserter(groups_.front().members));
  } else {
    groups_.push_back(std::move(group));
  }
  return numbers;
}

/// Logits of all rows of a group.
Tensor Crowd::ask(Group& group) const {
  std::vector<int32_t> last, sentence, beam;
  CoverageOfAll coverage;
  for (const Member& one : group.members) {
    if (Coverage* own = one.growth->coverage()) coverage.add(*own, last.size(), one.growth->rows());
    const auto append = [](std::vector<int32_t>& to, std::span<const int32_t> from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(last, one.growth->last());
    append(sentence, one.growth->sentence_of()), append(beam, one.growth->beam_of());
  }
  const ObservedRows rows(sentence, beam);
  std::optional<Observing> observing;
  if (!coverage.empty()) observing.emplace(coverage);
  Tensor logits = model_.next(*group.state, last);
  require(logits.defined() && logits.rank() == 2 && logits.dim(0) == static_cast<int64_t>(last.size()),
          "search: the model must give logits [", last.size(), ", ", model_.vocabulary(), "], got ", logits.shape());
  return logits;
}

/// Keeps these of the group's rows; the model is not involved if that is all of them, in order.
void Crowd::keep(Group& group, std::span<const int32_t> rows, size_t before) {
  if (!rows.empty() && !in_order(rows, before)) group.state->take(rows);
}

void Crowd::step(Group& group) {
  const size_t before = group.rows();
  const Tensor logits = ask(group);
  const size_t words = static_cast<size_t>(logits.dim(1));
  std::vector<size_t> first;
  bool watched = false;
  for (size_t at = 0; const Member& one : group.members) {
    first.push_back(std::exchange(at, at + one.growth->rows()));
    watched |= one.growth->watched();
  }
  const auto grow = [&](size_t i) {
    Member& one = group.members[i];
    try {
      one.growth->grow(logits.data() + first[i] * words, words);
    } catch (...) {
      one.error = std::current_exception();
    }
  };
  if (!watched && group.members.size() > 1 && before * words >= kSharedLogits) {
    kernels::parallel_for(group.members.size(), grow);
  } else {
    for (size_t i = 0; i < group.members.size(); ++i) grow(i);
  }
  std::vector<int32_t> kept;
  for (size_t i = 0; i < group.members.size(); ++i) {
    Member& one = group.members[i];
    if (one.error) continue;
    for (const int32_t parent : one.growth->parents()) kept.push_back(static_cast<int32_t>(first[i]) + parent);
  }
  std::erase_if(group.members, [&](Member& one) {
    if (!one.error && one.growth->rows() > 0) return false;
    end(one);
    return true;
  });
  keep(group, kept, before);
}

void Crowd::step() {
  const TapePause pause;
  for (Group& group : groups_) {
    try {
      step(group);
    } catch (...) {  // what the model cannot do, it cannot do for any of them
      for (Member& one : group.members) {
        one.error = std::current_exception();
        end(one);
      }
      group.members.clear();
    }
  }
  std::erase_if(groups_, [](const Group& group) { return group.members.empty(); });
}

void Crowd::end(Member& member) {
  Found& found = found_.emplace_back(Found{.number = member.number, .answers = {}, .error = member.error});
  for (size_t s = 0; !found.error && s < member.growth->sentences(); ++s)
    found.answers.push_back(member.growth->best(s));
}

void Crowd::leave(int64_t number) {
  for (Group& group : groups_) {
    const size_t before = group.rows();
    std::vector<int32_t> kept;
    bool found = false;
    for (size_t at = 0; const Member& one : group.members) {
      const size_t rows = one.growth->rows();
      found |= one.number == number;
      for (size_t r = 0; one.number != number && r < rows; ++r) kept.push_back(static_cast<int32_t>(at + r));
      at += rows;
    }
    if (!found) continue;
    std::erase_if(group.members, [&](const Member& one) { return one.number == number; });
    keep(group, kept, before);
  }
  std::erase_if(groups_, [](const Group& group) { return group.members.empty(); });
}

std::vector<Crowd::Found> Crowd::found() { return std::exchange(found_, {}); }

std::vector<int32_t> Crowd::likeliest(int64_t number, size_t sentence) const {
  for (const Group& group : groups_) {
    for (const Member& one : group.members) {
      if (one.number == number) return one.growth->likeliest(sentence);
    }
  }
  return {};
}

}  // namespace attend::decode
