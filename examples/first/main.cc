// Reads a source of three places with two queries, and sends a gradient back through it.
#include <iostream>

#include "attend/attend.h"

using namespace attend;

int main() {
  Random random(1);
  Attention attention({.query = 4, .key = 4, .score = "additive", .heads = 2}, random);
  const Var source = Var::leaf(nn::initial("uniform", {1, 3, 4}, random));
  const Var queries = nn::initial("uniform", {1, 2, 4}, random);

  Tape tape;  // ops record from here on
  const AttentionRead read = attention(queries, attention.prepare(source, source));
  tape.backward(mean(read.context * read.context));

  std::cout << "context " << read.context.shape() << ", weights " << read.weights.shape() << '\n';
  for (const auto& [name, p] : nn::parameters(attention)) std::cout << name << ' ' << p.gradient().shape() << '\n';
}
