// A score of your own: −‖q − k‖². Once added, it can be used by name wherever scores are named.
#include <iostream>

#include "attend/attend.h"

using namespace attend;

namespace {

class Distance : public Score {
 public:
  /// Energies [B,Tq,Tk] = 2qᵀk − ‖q‖² − ‖k‖².
  Var operator()(const Var& queries, const Var& keys, const AttentionStep&) const override {
    const int64_t B = queries.dim(0), Tq = queries.dim(1), Tk = keys.dim(1);
    const Var products = affine(batched_matmul(queries, keys, false, true), 2);
    const Var lengths = add(reshape(sum(queries * queries, -1), {B, Tq, 1}), reshape(sum(keys * keys, -1), {B, 1, Tk}));
    return subtract(products, lengths);
  }
};

std::unique_ptr<Score> make_distance(const ScoreOptions& options, Random&) {
  require(options.query == options.key, "distance: expected query and key of equal width, got ", options.query,
          " and ", options.key);
  return std::make_unique<Distance>();
}

}  // namespace

int main() {
  add_score({.name = "distance", .formula = "−‖q − k‖²", .paper = "", .make = make_distance});

  Random random(1);
  const Attention attention({.query = 2, .key = 2, .score = "distance"}, random);
  const Tensor keys = Tensor::of({1, 3, 2}, {0, 0, 3, 0, 0, 3}), query = Tensor::of({1, 1, 2}, {2, 1});
  const AttentionRead read = attention(query, attention.prepare(keys, keys), {.weights = true});
  for (const real weight : read.weights.value()) std::cout << weight << '\n';
  try {
    score_named("distanse");
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}
