#include "attend/models/source_words.h"

#include <utility>

#include "attend/autograd/ops/shape.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"

namespace attend::models {
namespace {
thread_local SourceWords* current_words = nullptr;
}

SourceWords::SourceWords() : outer_(std::exchange(current_words, this)) {}
SourceWords::~SourceWords() { current_words = outer_; }

Var SourceWords::seen(Var words, bool by_time) {
  if (!current_words) return words;
  current_words->probe_ = Var::probe(words.value());
  current_words->by_time_ = by_time;
  return current_words->probe_;
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
