#include "attend/train/valid_sentences.h"

#include <nlohmann/json.hpp>
#include <span>

#include "attend/base/replacement.h"
#include "attend/train/chrf.h"

namespace attend::train {

void ValidSentences::save(const std::filesystem::path& folder) const {
  using nlohmann::ordered_json;
  std::string lines;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double score = chrf(std::span(&outputs[i], 1), std::span(&references[i], 1));
    ordered_json line{{"source", sources[i]}, {"reference", references[i]}, {"output", outputs[i]}, {"chrf", score}};
    if (!inputs.empty()) {
      for (const auto& [name, text] : inputs[i]) line["inputs"][name] = text;
    }
    lines += line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  }
  write_file(folder / kFile, lines);
}

}  // namespace attend::train
