// Initial values of parameters, by name.
#pragma once

#include <span>
#include <string_view>

#include "attend/base/random.h"
#include "attend/tensor/tensor.h"

namespace attend::nn {

struct InitialiserRow {
  std::string_view name, formula, paper;
  void (*fill)(Tensor& weight, Random& random);
};

/// The menu of initialisers. The last axis counts as inputs, the first as outputs; further axes (of a convolution)
/// count as both.
std::span<const InitialiserRow> initialisers();

/// While one lives, `initial` gives zeros on this thread: for a network whose weights are read next. An orthogonal
/// matrix would take time that grows with the cube of its size.
class Blank {
 public:
  Blank();
  Blank(const Blank&) = delete;
  Blank& operator=(const Blank&) = delete;
  ~Blank();
};

/// A tensor filled by the named initialiser; an unknown name is rejected with a list of the known ones.
Tensor initial(std::string_view name, const Shape& shape, Random& random);

}  // namespace attend::nn
