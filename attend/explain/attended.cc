#include "attend/explain/attended.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"

namespace attend::explain {
namespace {

PlaceRange with_moments(double mean, double square) {
  const double half = std::max(0.5, std::sqrt(3 * std::max(0.0, square - mean * mean)));
  return {mean - half, mean + half};
}

}  // namespace

PlaceRange attended(std::span<const real> weights) {
  double sum = 0, mean = 0, square = 0;
  for (size_t p = 0; p < weights.size(); ++p) {
    const double weight = static_cast<double>(weights[p]), place = static_cast<double>(p) + 0.5;
    sum += weight, mean += weight * place, square += weight * place * place;
  }
  require(sum > 0, "attended: expected weights of which one is above 0, got ", weights.size(), " without");
  return with_moments(mean / sum, square / sum);
}

PlaceRange attended_together(std::span<const PlaceRange> tokens) {
  require(!tokens.empty(), "attended_together: expected stretches, got none");
  const auto count = static_cast<double>(tokens.size());
  double mean = 0, square = 0;
  for (const PlaceRange& one : tokens) {
    const double length = one.end - one.begin;
    mean += one.middle() / count, square += (one.middle() * one.middle() + length * length / 12) / count;
  }
  return with_moments(mean, square);
}

}  // namespace attend::explain
