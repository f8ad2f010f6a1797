#include "attend/tasks/corpus.h"

#include "attend/base/error.h"
#include "attend/base/joined.h"

namespace attend::tasks {

Corpus read_corpus(const TaskConfig& config) { return config.row().input().corpus(config); }

std::string TestFiles::shown() const {
  if (held_out) return "what training held out";
  if (!sounds.sounds.empty()) return sounds.sounds;
  return text.empty() ? images.images : joined(text.all(), " and ");
}

Examples read_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>& labels) {
  require_usage(files.named() || !config.options.corpus.empty(), "name files to test with (--", config.row().file_option(),
                "), as the model was trained on files");
  if (files.held_out) return read_corpus(config).valid;
  return config.row().input().test(config, files, labels);
}

}  // namespace attend::tasks
