#include "attend/autograd/ops/crf.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/kernels/crf.h"
#include "attend/kernels/parallel.h"

namespace attend {
namespace {

using kernels::CrfCounts, kernels::CrfTable;

// Gradients of the transitions are summed within this many groups of sequences, then over the groups: the same sums in
// the same order for any number of threads.
constexpr size_t kGroups = 16;

/// One sequence: the emissions of its places and its tags.
struct Sequence {
  std::vector<double> emissions;  // [T,L]
  const int32_t* tags;
  size_t steps, labels;

  bool known() const { return std::all_of(tags, tags + steps, [](int32_t tag) { return tag >= 0; }); }

  /// −∞ for each label that disagrees with one of `known`.
  Sequence agreeing_with(const int32_t* known) const {
    Sequence only = *this;
    for (size_t t = 0; t < steps; ++t) {
      for (size_t j = 0; known[t] >= 0 && j < labels; ++j) {
        if (j != static_cast<size_t>(known[t])) only.emissions[t * labels + j] = kLogZero;
      }
    }
    return only;
  }
  Sequence agreeing() const { return agreeing_with(tags); }

  /// alpha [T,L] of crf_forward; returns ln Z.
  double forward(const CrfTable& table, double* alpha) const {
    return kernels::crf_forward(table, emissions.data(), steps, alpha);
  }

  double log_sum(const CrfTable& table) const { return forward(table, std::vector<double>(steps * labels).data()); }

  /// s(tags), if all tags are known.
  double score(const CrfTable& table) const {
    double sum = 0;
    for (size_t t = 0; t < steps; ++t) {
      const size_t tag = static_cast<size_t>(tags[t]);
      sum += emissions[t * labels + tag];
      sum += t == 0 ? table.start[tag] : table.transition(static_cast<size_t>(tags[t - 1]), tag);
    }
    return steps == 0 ? 0 : sum + table.end[static_cast<size_t>(tags[steps - 1])];
  }

  void add_expectations(const CrfTable& table, const double* alpha, double log_z, double scale,
                        const CrfCounts& counts) const {
    std::vector<double> beta(steps * labels);
    kernels::crf_backward(table, emissions.data(), steps, beta.data());
    kernels::crf_expectations(table, emissions.data(), steps, alpha, beta.data(), log_z, scale, counts);
  }

  /// For the single labelling given by the tags.
  void add_counts(double scale, const CrfCounts& counts) const {
    for (size_t t = 0; t < steps; ++t) {
      const size_t tag = static_cast<size_t>(tags[t]);
      counts.emissions[t * labels + tag] += scale;
      if (t == 0) counts.start[tag] += scale;
      if (t > 0) counts.transitions[static_cast<size_t>(tags[t - 1]) * labels + tag] += scale;
      if (t + 1 == steps) counts.end[tag] += scale;
    }
  }
};

/// B sequences over one table.
struct Field {
  Tensor emissions;  // [B,T,L]
  Ids tags, given;   // given: of no size, if nothing is
  std::vector<int32_t> lengths;
  CrfTable table;
  std::vector<double> alpha, log_z;  // [B,T,L] and [B], of the forward pass

  size_t count() const { return lengths.size(); }
  size_t labels() const { return table.labels; }
  size_t width() const { return static_cast<size_t>(emissions.dim(1)) * labels(); }

  Sequence at(size_t b) const {
    const size_t steps = static_cast<size_t>(lengths[b]), first = b * static_cast<size_t>(tags.shape[1]);
    const real* from = emissions.data() + b * width();
    const Sequence all{{from, from + steps * labels()}, tags.values.data() + first, steps, labels()};
    return given.size() == 0 ? all : all.agreeing_with(given.values.data() + first);
  }
};

/// Gradients of what the sequences share, consecutive in memory: transitions, start, end.
struct Shared {
  explicit Shared(size_t labels) : labels(labels), values(labels * (labels + 2), 0) {}
  double* transitions() { return values.data(); }
  double* start() { return values.data() + labels * labels; }
  double* end() { return start() + labels; }

  size_t labels;
  std::vector<double> values;
};

/// Adds dy[b]·∂loss[b] of the sequences b = group, group + kGroups … to `shared`; writes their rows of `dx`.
void add_group(const Field& field, size_t group, const Tensor& dy, Shared& shared, Tensor& dx) {
  for (size_t b = group; b < field.count(); b += kGroups) {
    const Sequence sequence = field.at(b);
    const double scale = static_cast<double>(dy.data()[b]);
    std::vector<double> places(sequence.emissions.size(), 0);
    const CrfCounts counts{places.data(), shared.transitions(), shared.start(), shared.end()};
    if (sequence.steps > 0) {
      sequence.add_expectations(field.table, field.alpha.data() + b * field.width(), field.log_z[b], scale, counts);
      if (sequence.known()) {
        sequence.add_counts(-scale, counts);
      } else {
        const Sequence only = sequence.agreeing();
        std::vector<double> alpha(places.size());
        const double log_z = only.forward(field.table, alpha.data());
        only.add_expectations(field.table, alpha.data(), log_z, -scale, counts);
      }
    }
    real* row = dx.data() + b * field.width();
    std::copy(places.begin(), places.end(), row);
    std::fill(row + places.size(), row + field.width(), real{0});
  }
}

void add_part(const Slot& slot, const Shape& shape, const double* from) {
  if (!slot.needed()) return;
  Tensor d(shape);
  std::copy_n(from, d.size(), d.data());
  slot.add(std::move(d));
}

void require_weights(const CrfWeights& w, int64_t L) {
  require(w.transitions.defined() && w.transitions.shape() == Shape{L, L}, "crf_loss: expected transitions [", L, ",", L,
          "], got ", w.transitions.shape());
  for (const Var* edge : {&w.start, &w.end}) {
    require(edge->defined() && edge->shape() == Shape{L}, "crf_loss: expected start and end [", L, "], got ",
            edge->shape());
  }
}

void require_tags(const Var& emissions, const Ids& tags, const std::vector<int32_t>& lengths, const Ids& given) {
  const int64_t B = emissions.dim(0), T = emissions.dim(1), L = emissions.dim(2);
  require(static_cast<int64_t>(lengths.size()) == B, "crf_loss: expected ", B, " lengths, got ", lengths.size());
  require(tags.shape == Shape{B, T}, "crf_loss: expected tags [", B, ",", T, "], got ", tags.shape);
  require(given.size() == 0 || given.shape == tags.shape, "crf_loss: expected given tags [", B, ",", T, "], got ",
          given.shape);
  for (int64_t b = 0; b < B; ++b) {
    const int32_t length = lengths[static_cast<size_t>(b)];
    require(length >= 0 && length <= T, "crf_loss: expected lengths in [0, ", T, "], got ", length, " for sequence ", b);
    for (int64_t t = 0; t < length; ++t) {
      const int32_t tag = tags.values[static_cast<size_t>(b * T + t)];
      require(tag >= -1 && tag < L, "crf_loss: expected tags below ", L, ", or -1 for one that is not known, got ", tag,
              " in sequence ", b);
      const int32_t known = given.size() == 0 ? -1 : given.values[static_cast<size_t>(b * T + t)];
      require(known == -1 || known == tag, "crf_loss: expected tags that agree with those given, got ", tag, " for ",
              known, " in sequence ", b);
    }
  }
}

}  // namespace

Var crf_loss(const Var& emissions, const CrfWeights& weights, const Ids& tags, const std::vector<int32_t>& lengths,
             const Ids& given) {
  require(emissions.defined() && emissions.rank() == 3 && emissions.dim(0) > 0 && emissions.dim(2) > 0,
          "crf_loss: expected emissions [B,T,L] with B and L above 0, got ", emissions.shape());
  const int64_t L = emissions.dim(2);
  require_weights(weights, L);
  require_tags(emissions, tags, lengths, given);

  const auto field = std::make_shared<Field>(
      Field{emissions.value(), tags, given, lengths,
            CrfTable(static_cast<size_t>(L), weights.transitions.value().data(), weights.start.value().data(),
                     weights.end.value().data()),
            std::vector<double>(emissions.value().size()), std::vector<double>(lengths.size())});
  Tensor losses({emissions.dim(0)});
  kernels::parallel_for(field->count(), [&](size_t b) {
    const Sequence sequence = field->at(b);
    const double agreeing =
        sequence.known() ? sequence.score(field->table) : sequence.agreeing().log_sum(field->table);
    field->log_z[b] = sequence.forward(field->table, field->alpha.data() + b * field->width());
    losses.data()[b] = static_cast<real>(field->log_z[b] - agreeing);
  });

  if (!recording(emissions, weights.transitions, weights.start, weights.end)) return losses;
  return record(std::move(losses), [field = std::shared_ptr<const Field>(field), x = emissions.slot(),
                                    transitions = weights.transitions.slot(), start = weights.start.slot(),
                                    end = weights.end.slot()](Tensor dy) {
    const int64_t labels = static_cast<int64_t>(field->labels());
    Tensor dx(field->emissions.shape());
    std::vector<Shared> groups(std::min(kGroups, field->count()), Shared(field->labels()));
    kernels::parallel_for(groups.size(), [&](size_t g) { add_group(*field, g, dy, groups[g], dx); });
    Shared& sum = groups.front();
    for (size_t g = 1; g < groups.size(); ++g) {
      for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += groups[g].values[i];
    }
    x.add(std::move(dx));
    add_part(transitions, {labels, labels}, sum.transitions());
    add_part(start, {labels}, sum.start());
    add_part(end, {labels}, sum.end());
  });
}

}  // namespace attend
