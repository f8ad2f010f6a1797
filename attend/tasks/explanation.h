// What a model looked at, or what its answer depended on, when it answered an example.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "attend/explain/gaze.h"
#include "attend/explain/image_trace.h"
#include "attend/explain/recorder.h"
#include "attend/explain/trace.h"
#include "attend/tasks/model.h"

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
  std::vector<int32_t> prefix_tokens;  ///< … or as tokens, which takes precedence
  size_t numbers = 0;                  ///< most weights that are kept at any time (explain::TooLarge); 0: any
  int64_t most_tokens = 0;             ///< most that a method may read in all its passes (explain::TooLarge); 0: any
  /// Called again and again while it is computed; what it throws ends it.
  std::function<void()> check;
  /// Told of the likeliest beginning after each step of the search.
  std::function<void(const std::string& text)> partial;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("method", method,
          "text: attention, rollout, saliency, jacobian, occlusion; images: attention, glimpses, gradcam, saliency, "
          "jacobian; auto: "
          "attention where there is one, else the first that the network has",
          bounds::one_of({"auto", "attention", "rollout", "saliency", "jacobian", "occlusion", "glimpses", "gradcam"}));
    visit("site", site, "attention: decoder.memory, pooling, or of a Transformer encoder.self and decoder.self");
    visit("layer", layer, "attention: of this layer, from 0; -1: all", bounds::at_least(-1));
    visit("head", head, "attention: this head, from 0; -1: all", bounds::at_least(-1));
    visit("combine", combine, "attention: of several heads and layers the mean or the max",
          bounds::one_of({"mean", "max"}));
    visit("evidence", evidence, "measure how the answer changes when what was looked at is changed");
  }
};

/// A text's trace, or what was seen of an image.
using Explanation = std::variant<explain::Trace, explain::ImageLook>;

/// What can be asked of a model.
struct Explainable {
  std::vector<explain::TraceSite> sites;  ///< all attentions, without weights
  std::vector<std::string> methods;       ///< those that give a map
  /// Whether its answers look at their source.
  bool attends() const;
};
/// Asks for everything once, of a small example, and keeps what succeeds.
Explainable explainable(const TaskModel& model);

/// Most tokens of a text that is explained.
int64_t longest_explained(const TaskModel& model);
/// Throws Error where explain() would refuse this, before anything is computed.
void check_explain(const TaskModel& model, const Explainable& known, const Example& example,
                   const ExplainOptions& options);
/// "auto" as the method that it means for this model; others as they are.
std::string method_for(const Explainable& known, const std::string& method);

/// What to know before one trusts the answer to a text, in plain sentences: that the text is longer than those of training,
/// and which of its words the vocabulary does not know. `parts`: into how many it was cut.
std::vector<std::string> notes_on(const TaskModel& model, const Ready& source, int64_t parts = 1);

/// A sentence of a search that was recorded.
struct Recorded {
  const Ready& source;
  int32_t sentence = 0;
};
/// What a recorder heard of it, with its answers, best first: all sites with their weights, and no maps.
explain::Trace trace_of(const TaskModel& model, const explain::Recorder& recorder, const Recorded& recorded,
                        const std::vector<decode::Hypothesis>& answers, const decode::SearchOptions& search);

/// The explanation of the answer to one example, taken in one piece. Refuses an empty text, one that is too long, features
/// in place of an image, and a site, layer, head or method that does not exist, with those that do. What is shown of an image
/// is what the network sees: cropped to its proportions; of glimpses at its size, as they are told in pixels, else as fine as
/// the image is. The example's own right answers are named as such.
Explanation explain(const TaskModel& model, const Example& example, const ExplainOptions& options);
explain::Trace explain_text(const TaskModel& model, const std::string& text, const ExplainOptions& options);
/// Of a document that is longer than a window, the window that the answer is from.
explain::Trace explain_text(const TaskModel& model, const Example& example, const ExplainOptions& options);

/// Whether there is something to measure: captions by a network that attends, and examples that know what their words speak of.
bool has_gaze(const TaskModel& model, const Examples& examples);
/// How much words look at what they speak of: each image's first caption is given to the network and read word by word.
explain::Gaze gaze(const TaskModel& model, const Examples& examples, const Done& done = {});

/// Whether there is something to measure: documents, and examples that know the sentences which their answer follows from.
bool has_support(const TaskModel& model, const Examples& examples);
/// In percent of the examples that know them and are read in one window: how often the sentence that is read most, by all hops or by start and end together,
/// is one of them; and how often one drawn at random would be.
struct Support {
  double read = 0, by_chance = 0;
};
Support support(const TaskModel& model, const Examples& examples, const Done& done = {});

}  // namespace attend::tasks
