// The inputs of a task but its last one, each as a flag of its name: `--document file.txt`, about which questions are then asked.
#pragma once

#include <string>
#include <vector>

#include "attend/base/bounds.h"
#include "attend/tasks/task.h"

namespace attend::cli {

struct InputFlags {
  const tasks::TaskRow* row = nullptr;
  std::vector<std::string> files;

  explicit InputFlags(const tasks::TaskRow* row) : row(row), files(row && row->inputs.size() > 1 ? row->inputs.size() - 1 : 0) {}

  template <class Visit>
  void fields(Visit&& visit) {
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string name(row->inputs[i].name), last(row->inputs.back().name);
      visit(name.c_str(), files[i],
            ("file with the " + name + ", plain or .gz; then each line is a " + last + " about it").c_str(),
            bounds::files_to_read());
    }
  }
  /// Whether one was given.
  bool any() const;
  /// Why they do not fit together; "" if they do.
  std::string objection() const;
  /// The texts of those that were given, in order.
  std::vector<std::string> read() const;
};

}  // namespace attend::cli
