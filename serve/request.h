// Bodies of requests: JSON text → what is asked for. Knows no sockets and no models; whatever is wrong is a Refusal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/options.h"
#include "attend/decode/search.h"
#include "attend/tasks/explanation.h"
#include "serve/options.h"
#include "serve/refusal.h"

namespace attend::serve {

/// Common to both: which model, the image if it is to look at one, how it searches, and how its answer has to begin.
struct Asked {
  std::string model;               ///< "": the first
  std::string image, sound;        ///< bytes of a file, which nobody has looked into yet; "": none
  std::vector<std::string> texts;  ///< none where there is an image, a sound, or inputs by name
  /// Of a task with several inputs, each by its name: one for all questions, or one for each.
  std::map<std::string, std::vector<std::string>> inputs;
  SettingList search;  ///< over the model's own way of searching
  std::string prefix;
  std::vector<int32_t> prefix_tokens;
  double seconds = 0;  ///< most time for it, waiting included; 0: as long as the server gives
};

struct RunRequest : Asked {
  bool stream = false;
};

struct ExplainRequest : Asked {
  tasks::ExplainOptions options;   ///< all but search and prefix
  std::vector<std::string> named;  ///< those of the options that were asked for
};

RunRequest parse_run(std::string_view body, const Limits& limits);
ExplainRequest parse_explain(std::string_view body, const Limits& limits);

/// The model's own way of searching with what was asked for over it, within the limits.
decode::SearchOptions search_of(decode::SearchOptions own, const SettingList& asked, const Limits& limits);

}  // namespace attend::serve
