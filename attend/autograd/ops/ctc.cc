#include "attend/autograd/ops/ctc.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

namespace attend {
namespace {

/// Frames that a target needs: one per label, and a blank between equal ones.
size_t frames_needed(const std::vector<int32_t>& target) {
  size_t count = target.size();
  for (size_t i = 1; i < target.size(); ++i) count += target[i] == target[i - 1];
  return count;
}

/// The forward–backward variables of one sequence. Paths run through S = 2L+1 states: the labels, with a blank before,
/// between and after them.
class Lattice {
 public:
  /// log_p(t, label): log-probability of a label in a frame.
  template <class LogP>
  Lattice(const std::vector<int32_t>& target, size_t frames, int32_t blank, LogP log_p) : frames_(frames) {
    states_.assign(2 * target.size() + 1, blank);
    for (size_t i = 0; i < target.size(); ++i) states_[2 * i + 1] = target[i];
    emit_.resize(frames * size());
    for (size_t t = 0; t < frames; ++t) {
      for (size_t s = 0; s < size(); ++s) emit_[t * size() + s] = log_p(t, states_[s]);
    }
  }

  size_t size() const { return states_.size(); }
  std::span<const int32_t> states() const { return states_; }

  /// Fills α, where α[t,s] is the log-probability of frames 0 … t ending in state s; returns ln p(target).
  double forward() {
    const size_t S = size();
    if (frames_ == 0) return S == 1 ? 0 : kLogZero;
    alpha_.assign(frames_ * S, kLogZero);
    for (size_t s = 0; s < std::min<size_t>(2, S); ++s) alpha_[s] = emit_[s];
    for (size_t t = 1; t < frames_; ++t) {
      const double* before = &alpha_[(t - 1) * S];
      for (size_t s = 0; s < S; ++s) {
        double a = before[s];
        if (s >= 1) a = log_add(a, before[s - 1]);
        if (skips(s)) a = log_add(a, before[s - 2]);
        alpha_[t * S + s] = a + emit_[t * S + s];
      }
    }
    const double* last = &alpha_[(frames_ - 1) * S];
    return S == 1 ? last[0] : log_add(last[S - 1], last[S - 2]);
  }

  /// After `forward`: the probability of being in state s at frame t, given the target; [frames,S].
  std::vector<double> occupancy(double log_likelihood) const {
    const size_t S = size();
    std::vector<double> share(frames_ * S);
    // β[t,s]: log-probability of frames t+1 … from state s.
    std::vector<double> beta(S, kLogZero), after(S);
    for (size_t s = S - std::min<size_t>(2, S); s < S; ++s) beta[s] = 0;
    for (size_t t = frames_; t-- > 0;) {
      for (size_t s = 0; s < S; ++s) {
        share[t * S + s] = std::exp(alpha_[t * S + s] + beta[s] - log_likelihood);
        after[s] = beta[s] + emit_[t * S + s];
      }
      for (size_t s = 0; s < S; ++s) {
        double b = after[s];
        if (s + 1 < S) b = log_add(b, after[s + 1]);
        if (s + 2 < S && skips(s + 2)) b = log_add(b, after[s + 2]);
        beta[s] = b;
      }
    }
    return share;
  }

 private:
  /// Whether state s may follow s − 2: over a blank that is not needed.
  bool skips(size_t s) const { return s >= 2 && s % 2 == 1 && states_[s] != states_[s - 2]; }

  size_t frames_;
  std::vector<int32_t> states_;
  std::vector<double> emit_, alpha_;  // [frames,S]
};

/// What the backward pass keeps of one sequence; no states: it is skipped.
struct KeptPaths {
  std::vector<int32_t> states;
  std::vector<double> occupancy;
};

}  // namespace

Var ctc_loss(const Var& logits, const std::vector<int32_t>& lengths, const std::vector<std::vector<int32_t>>& targets,
             const CtcOptions& options) {
  require(logits.defined() && logits.rank() == 3 && logits.dim(1) > 0 && logits.dim(2) > 0,
          "ctc_loss: expected logits [T,B,V] with B and V above 0, got ", logits.shape());
  const size_t T = static_cast<size_t>(logits.dim(0)), B = static_cast<size_t>(logits.dim(1));
  const size_t V = static_cast<size_t>(logits.dim(2));
  require(lengths.size() == B && targets.size() == B, "ctc_loss: logits ", logits.shape(), " want ", B,
          " lengths and targets, got ", lengths.size(), " and ", targets.size());
  require(options.blank >= 0 && static_cast<size_t>(options.blank) < V, "ctc_loss: the blank must be in [0, ", V,
          "), got ", options.blank);
  std::vector<bool> skipped(B);
  for (size_t b = 0; b < B; ++b) {
    require(lengths[b] >= 0 && static_cast<size_t>(lengths[b]) <= T, "ctc_loss: lengths must be in [0, ", T, "], got ",
            lengths[b], " for sequence ", b);
    for (const int32_t label : targets[b]) {
      require(label >= 0 && static_cast<size_t>(label) < V && label != options.blank,
              "ctc_loss: labels must be in [0, ", V, ") and not the blank ", options.blank, ", got ", label,
              " in sequence ", b);
    }
    const size_t needed = frames_needed(targets[b]);
    skipped[b] = needed > static_cast<size_t>(lengths[b]);
    require(!skipped[b] || options.skip_impossible, "ctc_loss: the target of sequence ", b, " needs ", needed,
            " frames, one for each of ", targets[b].size(), " labels and ", needed - targets[b].size(),
            " between equal ones, got ", lengths[b]);
  }

  // ln Σ eˣ of each frame that counts: a by-product of the cross-entropy with any target.
  std::vector<int32_t> counted(T * B, -1);
  for (size_t t = 0; t < T; ++t) {
    for (size_t b = 0; b < B; ++b) {
      if (!skipped[b] && t < static_cast<size_t>(lengths[b])) counted[t * B + b] = 0;
    }
  }
  const real* x = logits.value().data();
  std::vector<real> losses(T * B), log_sums(T * B);
  kernels::cross_entropy({.logits = x, .targets = counted.data(), .rows = T * B, .n = V}, losses.data(),
                         log_sums.data());

  const bool tracked = recording(logits);
  std::vector<double> log_likelihoods(B);
  std::vector<KeptPaths> kept(B);
  kernels::parallel_for(B, [&](size_t b) {
    if (skipped[b]) return;
    Lattice lattice(targets[b], static_cast<size_t>(lengths[b]), options.blank, [&](size_t t, int32_t label) {
      const size_t row = t * B + b;
      return static_cast<double>(x[row * V + static_cast<size_t>(label)]) - static_cast<double>(log_sums[row]);
    });
    log_likelihoods[b] = lattice.forward();
    if (!tracked) return;
    kept[b].states.assign(lattice.states().begin(), lattice.states().end());
    if (log_likelihoods[b] != kLogZero) kept[b].occupancy = lattice.occupancy(log_likelihoods[b]);
  });
  double sum = 0, count = 0;
  for (size_t b = 0; b < B; ++b) {
    if (log_likelihoods[b] == kLogZero && options.skip_impossible) {  // logits of −∞
      skipped[b] = true;
      kept[b].states.clear();
    }
    if (skipped[b]) continue;
    require(log_likelihoods[b] != kLogZero, "ctc_loss: the target of sequence ", b,
            " must have a probability above 0, got logits that exclude it");
    sum -= log_likelihoods[b];
    ++count;
  }
  count = std::max(count, 1.0);
  Tensor loss = Tensor::scalar(static_cast<real>(sum / count));
  if (!tracked) return loss;
  return record(std::move(loss), [x = logits.slot(), input = logits.value(), lengths, kept = std::move(kept), T, B, V,
                                  count](Tensor dy) {
    const real scale = dy.item() / static_cast<real>(count);
    Tensor dx(input.shape());
    kernels::softmax(input.data(), T * B, V, {}, dx.data());
    kernels::parallel_for(B, [&](size_t b) {
      const std::vector<int32_t>& states = kept[b].states;
      for (size_t t = 0; t < T; ++t) {
        real* row = dx.data() + (t * B + b) * V;
        if (states.empty() || t >= static_cast<size_t>(lengths[b])) {
          std::fill_n(row, V, real{0});
          continue;
        }
        for (size_t v = 0; v < V; ++v) row[v] *= scale;
        for (size_t s = 0; s < states.size(); ++s) {
          row[states[s]] -= scale * static_cast<real>(kept[b].occupancy[t * states.size() + s]);
        }
      }
    });
    x.add(std::move(dx));
  });
}

}  // namespace attend
