#include "attend/models/source_words.h"

#include <utility>

#include "attend/autograd/ops/shape.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::models {
namespace {
thread_local SourceWords* current = nullptr;
}

SourceWords::SourceWords() : outer_(std::exchange(current, this)) {}
SourceWords::~SourceWords() { current = outer_; }

Var SourceWords::seen(Var words, bool by_time) {
  if (!current) return words;
  current->probe_ = Var::probe(words.value());
  current->by_time_ = by_time;
  return current->probe_;
}

Tensor SourceWords::by_sentence(const Tensor& t) const {
  const TapePause pause;
  return by_time_ ? transpose(t, 0, 1).value() : t;
}

Tensor SourceWords::words() const {
  require(probe_.defined(), "SourceWords: this network does not show its source words");
  return by_sentence(probe_.value());
}

Tensor SourceWords::gradient() const {
  require(probe_.defined(), "SourceWords: this network does not show its source words");
  const Tensor& gradient = probe_.gradient();
  return gradient.defined() ? by_sentence(gradient) : Tensor::zeros(words().shape());
}

}  // namespace attend::models
