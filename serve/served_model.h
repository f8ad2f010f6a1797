// A model that is served: what is told of it, and all that can be asked of it, whatever it reads.
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "attend/decode/search.h"
#include "attend/explain/recorder.h"
#include "serve/json.h"
#include "serve/request.h"

namespace attend::serve {

/// Why nobody wants an answer any more: it took too long, or the server stops.
struct Cancelled {
  bool stopping = false;
};

/// Told how far it is; throws to stop it (Cancelled). Asked between groups of texts and, where answers come step by step
/// (`explain`, streams, captions), after each step of the search.
struct Watch {
  std::function<void()> check = [] {};
  std::function<void(const std::string& text)> partial;  ///< wanted where it is set
};

class ServedModel {
 public:
  ServedModel(std::string name, std::filesystem::path folder) : name(std::move(name)), folder(std::move(folder)) {}
  virtual ~ServedModel() = default;
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  /// Refuses what the limits and the model forbid, before it is queued.
  virtual void check(const RunRequest& request, const Limits& limits) const = 0;
  virtual void check(const ExplainRequest& request, const Limits& limits) const = 0;
  // On a worker:
  /// {"model","answers":[[{…}]],"notes":[…]}
  virtual std::string run(const RunRequest& request, const Limits& limits, const Watch& watch) const = 0;
  /// The trace or the look of docs/traces.md.
  virtual std::string explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const = 0;
  /// What it made of its validation sentences or images, the worst first; with a note where there are none.
  virtual Json gallery() const = 0;

  const std::string name;
  const std::filesystem::path folder;
  Json description;  ///< a row of GET /v1/models
};

std::unique_ptr<ServedModel> load_text(const std::string& name, const std::filesystem::path& folder);
std::unique_ptr<ServedModel> load_images(const std::string& name, const std::filesystem::path& folder);

/// Six decimals: what a float holds of a log-probability.
inline double rounded(double value) { return std::round(value * 1e6) / 1e6; }

/// Of tasks::Answer, tasks::ImageAnswer and explain::TraceAnswer alike.
template <class Answer>
Json answer_json(const Answer& answer) {
  return {{"text", answer.text},
          {"score", rounded(answer.score)},
          {"log_probability", rounded(answer.log_probability)},
          {"ended", answer.ended}};
}

template <HasFields Options>
Json options_json(Options options) {
  Json all = Json::object();
  visit_fields(options, [&](const std::string& name, auto& field, const char*) { all[name] = field; });
  return all;
}

/// What is larger than it may be is found out while it is made.
template <class Make>
auto within_weights(Make&& make) {
  try {
    return make();
  } catch (const explain::TooLarge& error) {
    refuse(413, "too_large", error.what(), " (this server's limit is --weights)");
  }
}

}  // namespace attend::serve
