#include "attend/autograd/ops/ctc.h"

#include <algorithm>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/log_add.h"
#include "attend/kernels/ctc.h"
#include "attend/kernels/parallel.h"
#include "attend/kernels/rows.h"

namespace attend {
namespace {

// Logits from which a thread more pays in the gradient.
constexpr size_t kGradientGrain = size_t{16} << 10;

/// Frames that a target needs: one per label, and a blank between equal ones.
size_t frames_needed(const std::vector<int32_t>& target) {
  size_t count = target.size();
  for (size_t i = 1; i < target.size(); ++i) count += target[i] == target[i - 1];
  return count;
}

/// The labels with a blank before, between and after them.
std::vector<int32_t> states_of(const std::vector<int32_t>& target, int32_t blank) {
  std::vector<int32_t> states(2 * target.size() + 1, blank);
  for (size_t i = 0; i < target.size(); ++i) states[2 * i + 1] = target[i];
  return states;
}

/// What the backward pass keeps of one sequence; no states: it is skipped.
struct KeptPaths {
  std::vector<int32_t> states;
  Tensor occupancy;  // [frames,states]
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
  for (size_t b = 0; b < B; ++b) {
    if (skipped[b]) continue;
    kept[b].states = states_of(targets[b], options.blank);
    if (tracked) kept[b].occupancy = Tensor({lengths[b], static_cast<int64_t>(kept[b].states.size())});
  }
  kernels::parallel_for(B, [&](size_t b) {
    if (skipped[b]) return;
    log_likelihoods[b] = kernels::ctc_paths({.logits = x + b * V,
                                             .log_sums = log_sums.data() + b,
                                             .frames = static_cast<size_t>(lengths[b]),
                                             .stride = B * V,
                                             .sum_stride = B,
                                             .states = kept[b].states.data(),
                                             .count = kept[b].states.size()},
                                            tracked ? kept[b].occupancy.data() : nullptr);
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
  return record(std::move(loss), [x = logits.slot(), input = logits.value(), lengths, kept = std::move(kept),
                                  log_sums = std::move(log_sums), T, B, V, count](Tensor dy) {
    const real scale = dy.item() / static_cast<real>(count);
    Tensor dx(input.shape());
    kernels::parallel_ranges<1>(T * B, std::max<size_t>(1, kGradientGrain / V), [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        const size_t t = row / B, b = row % B, S = kept[b].states.size();
        if (S == 0 || t >= static_cast<size_t>(lengths[b])) {
          std::fill_n(dx.data() + row * V, V, real{0});
          continue;
        }
        kernels::ctc_gradient(input.data() + row * V, log_sums[row], V, kept[b].states.data(),
                              kept[b].occupancy.data() + t * S, S, scale, dx.data() + row * V);
      }
    });
    x.add(std::move(dx));
  });
}

}  // namespace attend
