// What a model's folder knows of its training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "serve/json.h"

namespace attend::serve {

/// {"train":[{"step","loss",…}],"valid":[{"step","valid_loss",…}]} of log.jsonl, each thinned to at most 500 points.
Json curves(const std::filesystem::path& folder);
/// The best that validation had of a score ("bleu", "accuracy") in the log; null where there is none. `better`: 1 more is, -1
/// less is.
Json best_of(const std::filesystem::path& folder, const std::string& score, int better);

/// A line of valid.jsonl: {"source","reference","output","chrf"}, and which one it is, from 0.
struct ValidLine {
  int64_t number = 0;
  Json said;
};
/// All of them, the worst first.
std::vector<ValidLine> valid_lines(const std::filesystem::path& folder);

}  // namespace attend::serve
