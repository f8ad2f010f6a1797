// What a text model looked at when it answered: its trace, with maps by any method.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attend/explain/recorder.h"
#include "attend/explain/trace.h"
#include "attend/tasks/text.h"

namespace attend::tasks {

struct ExplainOptions {
  std::string method = "auto";
  std::string site = "decoder.memory";
  int64_t layer = -1, head = -1;
  std::string combine = "mean";
  bool map = true;      ///< false: the answer and what was observed, and no map
  bool weights = true;  ///< of every site, in the trace; without them it is small
  bool evidence = false;
  decode::SearchOptions search;
  std::optional<std::string> target;   ///< explain this answer; else the model's own
  std::string prefix;                  ///< how the model's own answer has to begin, as text …
  std::vector<int32_t> prefix_tokens;  ///< … or as tokens, which wins
  size_t numbers = 0;                  ///< most weights that are kept at any time (explain::TooLarge); 0: any
  /// Called again and again while it is computed; what it throws ends it.
  std::function<void()> check;
  /// Told of the likeliest beginning after each step of the search.
  std::function<void(const std::string& text)> partial;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("method", method,
          "attention, rollout, saliency, jacobian, occlusion; auto: attention where there is one, else jacobian");
    visit("site", site, "attention: decoder.memory, or of a Transformer encoder.self and decoder.self");
    visit("layer", layer, "attention: of this layer, from 0; -1: all");
    visit("head", head, "attention: this head, from 0; -1: all");
    visit("combine", combine, "attention: of several heads and layers the mean or the max");
    visit("evidence", evidence, "measure what it does to the answer to change what was looked at");
  }
};

/// What can be asked of a model.
struct Explainable {
  std::vector<explain::TraceSite> sites;  ///< all attentions, without weights
  std::vector<std::string> methods;       ///< those that give a map
  /// Whether its answers look at their source.
  bool attends() const;
};
/// Finds it out by asking for everything once, of a short text.
Explainable explainable(const TextModel& model);

/// Most tokens of a text that is explained.
int64_t longest_explained(const TextModel& model);
/// Throws Error where explain() would refuse this, before anything is computed.
void check_explain(const TextModel& model, const Explainable& known, const std::string& text,
                   const ExplainOptions& options);
/// "auto" as the method that it means for this model; others as they are.
std::string method_for(const Explainable& known, const std::string& method);

/// What to know before one trusts the answer to a text, in plain sentences: that the text is longer than those of training,
/// and which of its words the vocabulary does not know. `parts`: into how many it was cut.
std::vector<std::string> notes_on(const TextModel& model, const data::TokenisedWords& source, int64_t parts = 1);

/// A sentence of a search that was recorded.
struct Recorded {
  const data::TokenisedWords& source;
  std::string text;
  int32_t sentence = 0;
};
/// What a recorder heard of it, with its answers, best first: all sites with their weights, and no maps.
explain::Trace trace_of(const TextModel& model, const explain::Recorder& recorder, const Recorded& recorded,
                        const std::vector<decode::Hypothesis>& answers, const decode::SearchOptions& search);

/// The trace of the answer to one text, which is taken in one piece. Refuses an empty text, one that is too long, and a
/// site, layer, head or method that does not exist, with those that do.
explain::Trace explain(const TextModel& model, const std::string& text, const ExplainOptions& options);

}  // namespace attend::tasks
