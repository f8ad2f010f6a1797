// Images with labels, with captions or alone: of files, or a built-in corpus.
#pragma once

#include "attend/tasks/corpus.h"

namespace attend::tasks {

Corpus read_image_corpus(const TaskConfig& config);
/// Of these files or, where none are named, of the built-in corpus; made ready as the training images were. `labels`: those
/// that were learned, by whose names and numbers these are read; none: as they come.
Examples read_image_test(const TaskConfig& config, const ImageFiles& files, const std::vector<std::string>& labels);

}  // namespace attend::tasks
