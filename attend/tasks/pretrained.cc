#include "attend/tasks/pretrained.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/vectors.h"

namespace attend::tasks {

std::string take_vectors(TaskModel& model) {
  const std::string& path = model.config().options.vectors;
  if (path.empty()) return "";
  const Var table = model.model().word_table();
  const auto& words = model.input().tokeniser();
  require(table.defined() && words, "vectors: the network ", model.config().model.name, " has no table of source words");
  std::vector<std::string> names;
  for (int32_t id = data::kFirstWord; id < words->size(); ++id) names.push_back(words->piece(id));
  const data::WordVectors vectors = data::read_vectors(path, names);
  const int64_t width = table.dim(1);
  require(vectors.width() == width, path, ": expected vectors of ", width, " numbers, as wide as the network's words, got ",
          vectors.width(), "; set the width of its words to that");
  Tensor values = table.value();
  for (size_t i = 0; i < names.size(); ++i) {
    if (!vectors.found[i]) continue;
    std::copy_n(vectors.values.data() + static_cast<int64_t>(i) * width, width,
                values.data() + (static_cast<int64_t>(i) + data::kFirstWord) * width);
  }
  return std::to_string(vectors.count) + " of " + std::to_string(names.size()) + " words begin with a vector of " + path;
}

}  // namespace attend::tasks
