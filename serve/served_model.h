// A model that is served: what is told of it, and all that can be asked of it, whatever it reads and answers with.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attend/tasks/explanation.h"
#include "attend/tasks/model.h"
#include "serve/cost.h"
#include "serve/gallery.h"
#include "serve/json.h"
#include "serve/lane.h"
#include "serve/request.h"

namespace attend::serve {

/// Asked whether to go on, after each step of a search and between the passes of a method; throws to stop it (Cancelled).
struct Watch {
  std::function<void()> check = [] {};
  std::function<void(const std::string& text)> partial;       ///< wanted where it is set
  std::function<void(int64_t tokens)> said = [](int64_t) {};  ///< told of each answer's length
};

class ServedModel {
 public:
  ServedModel(std::string name, std::filesystem::path folder);

  /// Refuses what the limits and the model forbid, before it is queued; what the rest may cost.
  Cost check(const RunRequest& request, const Limits& limits) const;
  Cost check(const ExplainRequest& request, const Limits& limits) const;
  /// Whether its requests are computed together, where they can be: what it reads are single texts.
  bool has_crowds() const;
  /// The same as pieces for a crowd, without whom to tell; …
  std::shared_ptr<CrowdRequest> for_crowd(const RunRequest& request, const Limits& limits) const;
  /// … the beginning of an answer to the first piece, in words; …
  std::string beginning(const CrowdRequest& request, std::span<const int32_t> tokens) const;
  /// … and what run() would say, of what was found.
  std::string said(const RunRequest& request, CrowdRequest& found) const;
  const tasks::TaskModel& task() const { return model_; }
  /// Its crowd of short requests, or of long ones.
  Lane& lane(bool is_long) const { return is_long ? long_ : short_; }
  // On a worker:
  /// {"model","answers":[[{…}]],"notes":[…]}
  std::string run(const RunRequest& request, const Limits& limits, const Watch& watch) const;
  /// The trace or the look of docs/traces.md.
  std::string explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const;
  /// What it made of its validation examples, the worst first; with a note where there are none.
  Json gallery() const { return gallery_.json(); }
  /// Where its images have to be found or made first.
  bool gallery_takes_long() const { return !model_.row().input().streamed; }

  const std::string name;
  const std::filesystem::path folder;
  Json description;  ///< a row of GET /v1/models

 private:
  Json describe() const;
  void check_asked(const Asked& asked, const decode::SearchOptions& search) const;
  void check_prefixes(const RunRequest& request, const decode::SearchOptions& search) const;
  Cost affordable_cost(const Asked& asked, const decode::SearchOptions& search, bool recorded,
                       const Limits& limits) const;
  int64_t forced_by(const Asked& asked, const tasks::Ready& source) const;
  decode::SearchOptions search_for(const Asked& asked, const Limits& limits) const;
  std::vector<tasks::Example> examples(const Asked& asked, const Limits& limits) const;
  std::vector<tasks::Example> text_examples(const Asked& asked) const;
  tasks::ExplainOptions explain_options(const Asked& asked, tasks::ExplainOptions options,
                                        const decode::SearchOptions& search, const Watch& watch) const;
  Json step_by_step(const RunRequest& request, const tasks::Example& example, const decode::SearchOptions& search,
                    const Watch& watch) const;
  Json in_groups(const RunRequest& request, const std::vector<tasks::Example>& examples,
                 const decode::SearchOptions& search, const Watch& watch) const;
  Json notes(const std::vector<tasks::Example>& examples, const Json& answers, const Watch& watch) const;

  tasks::TaskModel model_;
  tasks::Explainable known_;
  Gallery gallery_;
  mutable Lane short_, long_;
};

}  // namespace attend::serve
