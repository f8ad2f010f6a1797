#include "attend/tasks/corpus.h"

#include "attend/base/error.h"

namespace attend::tasks {

Corpus read_corpus(const TaskConfig& config) { return config.row().input().corpus(config); }

Examples read_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>& labels) {
  require_usage(files.named() || !config.options.corpus.empty(), "name files to test with (--", config.row().file_option(),
                "), as the model was trained on files");
  return config.row().input().test(config, files, labels);
}

}  // namespace attend::tasks
