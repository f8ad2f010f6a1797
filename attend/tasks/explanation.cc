#include "attend/tasks/explanation.h"

#include <algorithm>

#include "attend/attention/observe.h"
#include "attend/base/error.h"
#include "attend/explain/alignment.h"
#include "attend/explain/evidence.h"
#include "attend/explain/grid.h"
#include "attend/explain/methods.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr const char* kEndText = "</s>";
constexpr size_t kLongest = 2048;  // tokens: a map of more has no picture

explain::TraceSide side_of(const data::Tokeniser& tokeniser, const data::TokenisedWords& words, std::string text) {
  explain::TraceSide side{std::move(text), {}, words.words, words.word_of};
  for (const int32_t id : words.ids) side.tokens.push_back(tokeniser.piece(id));
  return side;
}

void set_target(explain::Trace& trace, const TextModel& model, const decode::Hypothesis& answer) {
  const data::TokenisedWords words = model.target().words(answer.tokens);
  data::TokenisedWords shown = words;
  shown.ids = answer.tokens;
  trace.target = side_of(model.target(), shown, model.target().decode(answer.tokens));
  if (answer.token_log_probabilities.size() > answer.tokens.size()) {
    trace.target.tokens.emplace_back(kEndText);
    trace.target.word_of.push_back(-1);
  }
  trace.ended = answer.ended;
  trace.score = answer.score, trace.log_probability = answer.log_probability;
  trace.token_log_probabilities = answer.token_log_probabilities;
}

data::TokenisedWords source_of(const TextModel& model, const std::string& text) {
  data::TokenisedWords source = model.source().tokenise(text);
  require(!source.ids.empty(), "explain: a text with at least one word is wanted, got an empty one");
  // Learned positions end where the longest sentence of training did.
  const bool learned = std::ranges::any_of(model.config().model_options, [](const OptionInfo& option) {
    return option.name == "model.positions" && option.value == "learned";
  });
  const size_t longest = learned ? std::min(kLongest, static_cast<size_t>(model.longest())) : kLongest;
  require(source.ids.size() <= longest, "explain: a text of at most ", longest, " tokens is wanted, got ",
          source.ids.size());
  return source;
}

/// The answers of a search over one source, or the one that was given.
std::vector<decode::Hypothesis> answers_of(const TextModel& model, const data::TokenisedWords& source,
                                           const ExplainOptions& options, const decode::SearchOptions& search,
                                           explain::Recorder& recorder) {
  const data::Sequences sources({source.ids});
  const Observing observing(recorder);
  if (options.target) {
    const std::vector<int32_t> target = model.target().encode(*options.target);
    require(!target.empty(), "explain: a target with at least one word is wanted, got an empty one");
    require(target.size() <= kLongest, "explain: a target of at most ", kLongest, " tokens is wanted, got ",
            target.size());
    return decode::score(model.model(), {sources, data::Sequences({target})}, &recorder);
  }
  std::vector<std::vector<int32_t>> prefixes;
  if (!options.prefix_tokens.empty()) {
    prefixes.push_back(options.prefix_tokens);
  } else if (!options.prefix.empty()) {
    prefixes.push_back(model.target().encode(options.prefix));
  }
  return decode::search(model.model(), sources, search, prefixes, &recorder)[0];
}

void add_map(const explain::Answered& answered, const ExplainOptions& options, explain::Trace& trace) {
  const auto to_source = std::ranges::find_if(
      trace.sites, [](const explain::TraceSite& s) { return s.queries == "target" && s.keys.starts_with("source"); });
  const bool attends = to_source != trace.sites.end();
  const explain::MethodRow& method = explain::method_named(options.method != kAuto ? options.method
                                                           : attends               ? "attention"
                                                                                   : "jacobian");
  // A decoder alone looks at its source through its own past.
  const bool has_default =
      std::ranges::any_of(trace.sites, [](const explain::TraceSite& s) { return s.site == ExplainOptions().site; });
  const std::string site =
      attends && !has_default && options.site == ExplainOptions().site ? to_source->site : options.site;
  const explain::AttentionPart part{site, options.layer, options.head, options.combine};
  explain::TraceMap map{
      .method = std::string(method.name), .label = std::string(method.name), .is_signed = method.is_signed};
  if (method.name == "attention") {
    const std::string which = explain::part_label(answered, part);
    if (site != ExplainOptions().site) map.label += " of " + site;
    if (!which.empty()) map.label += ", " + which;
    map.site = site, map.layer = options.layer, map.head = options.head;
    const auto found =
        std::ranges::find(trace.sites, site, &explain::TraceSite::site);  // part_label has refused others
    map.queries = found->queries, map.keys = found->keys == "source+before" ? "source" : found->keys;
  }
  require(!options.evidence || (map.keys == "source" && map.queries == "target"),
          "explain: evidence changes what the answer looked at in the source: a site such as decoder.memory is wanted, "
          "got ",
          map.site);
  map.tokens = method.map(answered, part);
  const explain::Axis rows = axis_of(trace, map.queries, true), columns = axis_of(trace, map.keys, true);
  map.words =
      explain::word_weights(map.tokens, columns.label_of, rows.label_of, static_cast<int64_t>(columns.labels.size()),
                            static_cast<int64_t>(rows.labels.size()), method.adds);
  if (options.evidence) trace.evidence = explain::evidence(answered, map.tokens, trace.source.word_of);
  trace.maps.push_back(std::move(map));
}

}  // namespace

explain::Trace trace_of(const TextModel& model, const explain::Recorder& recorder, const Recorded& recorded,
                        const std::vector<decode::Hypothesis>& answers, const decode::SearchOptions& search) {
  explain::Trace trace;
  trace.model = model.name(), trace.task = model.config().options.task, trace.network = model.config().model;
  trace.parameters = model.parameters();
  decode::SearchOptions shown = search;
  for (const OptionInfo& option : describe_options(shown)) trace.options.emplace_back(option.name, option.value);
  trace.source = side_of(model.source(), recorded.source, recorded.text);
  set_target(trace, model, answers[0]);
  trace.sites = recorder.sites(recorded.sentence, answers[0].node, static_cast<int64_t>(recorded.source.ids.size()));
  trace.beam = recorder.tree(recorded.sentence);
  for (explain::TraceNode& node : trace.beam) {
    node.token = node.id == data::kEnd ? kEndText : model.target().piece(node.id);
  }
  for (const decode::Hypothesis& one : answers) {
    trace.answers.push_back(
        {model.target().decode(one.tokens), one.score, one.log_probability, one.ended, recorder.place_of(one.node)});
  }
  return trace;
}

explain::Trace explain(const TextModel& model, const std::string& text, const ExplainOptions& options) {
  if (options.method != kAuto) (void)explain::method_named(options.method);
  const data::TokenisedWords source = source_of(model, text);
  decode::SearchOptions search = options.search;
  if (search.sample) search.beam = 1;  // the beam that a recipe names is for the likeliest answers
  explain::Recorder recorder([&](const explain::Recorder& heard) {
    if (options.check) options.check();
    if (options.partial) options.partial(model.target().decode(heard.likeliest(0)));
  });
  const std::vector<decode::Hypothesis> answers = answers_of(model, source, options, search, recorder);
  explain::Trace trace = trace_of(model, recorder, {source, text}, answers, search);
  trace.given = options.target.has_value();
  const explain::Answered answered{
      model.model(), source.ids, answers[0].tokens, trace.sites, trace.token_log_probabilities, options.check};
  if (options.map) add_map(answered, options, trace);
  if (!options.weights) {
    for (explain::TraceSite& site : trace.sites) site.weights = {}, site.centres = {};
  }
  return trace;
}

}  // namespace attend::tasks
