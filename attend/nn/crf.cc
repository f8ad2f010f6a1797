#include "attend/nn/crf.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/kernels/crf.h"
#include "attend/kernels/parallel.h"

namespace attend::nn {
namespace {

kernels::CrfTable table_of(const CrfWeights& w) {
  return {static_cast<size_t>(w.start.dim(0)), w.transitions.value().data(), w.start.value().data(),
          w.end.value().data()};
}

void require_emissions(const Tensor& emissions, const std::vector<int32_t>& lengths, int64_t labels) {
  require(emissions.defined() && emissions.rank() == 3 && emissions.dim(2) == labels &&
              emissions.dim(0) == static_cast<int64_t>(lengths.size()),
          "Crf: expected emissions [", lengths.size(), ",T,", labels, "], got ", emissions.shape());
  for (const int32_t length : lengths) {
    require(length >= 0 && length <= emissions.dim(1), "Crf: expected lengths in [0, ", emissions.dim(1), "], got ",
            length);
  }
}

/// Calls take(b, emissions of the places that count, how many) for each sequence.
template <class Take>
void for_each_sequence(const Tensor& emissions, const std::vector<int32_t>& lengths, Take&& take) {
  const size_t width = static_cast<size_t>(emissions.dim(1) * emissions.dim(2));
  kernels::parallel_for(lengths.size(), [&](size_t b) {
    const size_t steps = static_cast<size_t>(lengths[b]);
    const real* from = emissions.data() + b * width;
    take(b, std::vector<double>(from, from + steps * static_cast<size_t>(emissions.dim(2))), steps);
  });
}

}  // namespace

Crf::Crf(int64_t labels) {
  require(labels >= 1, "Crf: expected at least one label, got ", labels);
  weights_ = {Var::leaf(Tensor::zeros({labels, labels})), Var::leaf(Tensor::zeros({labels})),
              Var::leaf(Tensor::zeros({labels}))};
}

Var Crf::loss(const Var& emissions, const Ids& tags, const std::vector<int32_t>& lengths, const Ids& given) const {
  return crf_loss(emissions, weights_, tags, lengths, given);
}

std::vector<std::vector<int32_t>> Crf::best(const Tensor& emissions, const std::vector<int32_t>& lengths) const {
  require_emissions(emissions, lengths, weights_.start.dim(0));
  const kernels::CrfTable table = table_of(weights_);
  std::vector<std::vector<int32_t>> labels(lengths.size());
  for_each_sequence(emissions, lengths, [&](size_t b, const std::vector<double>& e, size_t steps) {
    labels[b].resize(steps);
    kernels::crf_best(table, e.data(), steps, labels[b].data());
  });
  return labels;
}

Tensor Crf::outlook(const Tensor& emissions, const std::vector<int32_t>& lengths) const {
  require_emissions(emissions, lengths, weights_.start.dim(0));
  const kernels::CrfTable table = table_of(weights_);
  const size_t L = table.labels;
  Tensor out = Tensor::zeros(emissions.shape());
  for_each_sequence(emissions, lengths, [&](size_t b, const std::vector<double>& e, size_t steps) {
    std::vector<double> beta(e.size());
    kernels::crf_backward(table, e.data(), steps, beta.data());
    real* to = out.data() + b * static_cast<size_t>(emissions.dim(1)) * L;
    for (size_t t = 0; t < steps; ++t) {
      // Only differences matter: relative to the largest, the rest keep the full precision of a float.
      const double top = *std::max_element(&beta[t * L], &beta[t * L] + L);
      for (size_t j = 0; j < L; ++j) to[t * L + j] = static_cast<real>(e[t * L + j] + (beta[t * L + j] - top));
    }
  });
  return out;
}

const real* Crf::onward(int32_t before) const {
  const int64_t L = weights_.start.dim(0);
  require(before >= -1 && before < L, "Crf: expected a label below ", L, ", or -1 before the first, got ", before);
  return before < 0 ? weights_.start.value().data() : weights_.transitions.value().data() + before * L;
}

void Crf::params(const VisitParams& visit) {
  visit("transitions", weights_.transitions);
  visit("start", weights_.start);
  visit("end", weights_.end);
}

}  // namespace attend::nn
