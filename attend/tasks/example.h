// What a task learns from and is tested with: examples, wherever they come from and whatever they hold.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attend/data/alignment.h"
#include "attend/data/example.h"
#include "attend/data/image.h"
#include "attend/data/sound.h"
#include "attend/tensor/tensor.h"

namespace attend::tasks {

/// One thing that a person can give: a text, an image, the features [D,h,w] that another network made of an image, a sound, or
/// the frames [T,F] that somebody else made of one.
using Value = std::variant<std::string, data::Image, Tensor, data::Sound>;

/// What is said when, in seconds, where that is known.
struct Times {
  std::vector<data::TimedLabel> words = {}, phonemes = {};
};

struct Example {
  std::vector<Value> inputs = {};       ///< one for each input of the task
  std::vector<std::string> right = {};  ///< the answers that are right, the reference first; none: not known
  std::string name = {};                ///< a file, or a place in one; "" for a text, which speaks for itself
  data::Links links = {};               ///< gold word alignment, where there is one
  std::vector<data::Box> spoken = {};   ///< where in the image lies what each word of right[0] speaks of
  std::vector<data::TextRange> found = {};  ///< where in the first input each right answer stands; empty: not known
  std::vector<int32_t> support = {};        ///< sentences of the first input that right[0] follows from
  std::string group = {};                   ///< what kind of example it is, if scores are given by kind
  Times times = {};                         ///< of a sound, when right[0] is said

  /// What it is called in lists: its question, its name, or its text.
  const std::string& title() const {
    if (inputs.size() > 1) return std::get<std::string>(inputs.back());
    return name.empty() ? std::get<std::string>(inputs.at(0)) : name;
  }
  /// Its first input, a text; throws where that is something else.
  const std::string& text() const { return std::get<std::string>(inputs.at(0)); }
};

/// Examples by number; `at` may be called by several threads at once. Numbers count on through the epochs: from `count` on
/// they begin again, or bring new examples where these are made.
struct Examples {
  int64_t count = 0;
  std::function<Example(int64_t index)> at = {};
  /// The right answers alone, without reading the inputs.
  std::function<std::vector<std::string>(int64_t index)> right = {};
  /// About how long its first input is, where that is known without reading it: those of like length share a batch.
  std::function<double(int64_t index)> length = {};
};
Examples examples_of(std::vector<Example> all);

/// Examples one after another, from the beginning as often as needed: a corpus may be larger than memory.
class ExampleStream {
 public:
  virtual ~ExampleStream() = default;
  virtual void rewind() = 0;
  virtual bool next(Example& example) = 0;
};

struct Corpus {
  std::shared_ptr<ExampleStream> stream;  ///< to train on, where examples are encoded once and stored …
  Examples train;                         ///< … or where every batch is made anew
  Examples valid, test;
  std::vector<std::string> labels;  ///< names of the classes, where the files order them
  std::string report;               ///< what was left out; "" if nothing was

  /// Calls `visit` with the right answers of each training example, in order.
  void each_right(const std::function<void(const std::vector<std::string>& right)>& visit) const;
};

}  // namespace attend::tasks
