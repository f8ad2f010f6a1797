// Whether a captioner looks at what it speaks of: measured where that is known, as in built-in scenes.
#pragma once

#include <functional>

#include "attend/tasks/image.h"

namespace attend::tasks {

/// In percent, the mean over all words that speak of an object.
struct Gaze {
  int64_t words = 0;
  double on_object = 0;  ///< attention on the cells that the object's box touches
  double by_chance = 0;  ///< what attention to all cells alike would have there
};

/// Whether there is something to measure: captions by a network that attends, and examples that know what their words speak of.
bool has_gaze(const ImageModel& model, const ImageExamples& examples);

/// Each image's first caption is given to the network and read word by word.
Gaze gaze(const ImageModel& model, const ImageExamples& examples, const ImagesDone& done = {});

}  // namespace attend::tasks
