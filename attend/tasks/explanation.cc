#include "attend/tasks/explanation.h"

#include <algorithm>
#include <array>
#include <optional>

#include "attend/attention/observe.h"
#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/data/utf8.h"
#include "attend/explain/alignment.h"
#include "attend/explain/document.h"
#include "attend/explain/evidence.h"
#include "attend/explain/grid.h"
#include "attend/explain/methods.h"
#include "attend/tasks/hearing.h"
#include "attend/tasks/image_look.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr const char* kEndText = "</s>";
constexpr size_t kNamedWords = 5;
constexpr int64_t kLongest = 2048;  // tokens: a map of more has no picture
constexpr int64_t kPassWork = 1 << 30;  // of tokens × parameters in one pass of a method: a tenth of a second or so

void set_target(explain::Trace& trace, const TaskModel& model, const Ready& source, const decode::Hypothesis& answer) {
  trace.target = model.output().side(answer.tokens, source);
  trace.target.kind = model.config().output().name;
  if (answer.token_log_probabilities.size() > answer.tokens.size()) {
    trace.target.tokens.emplace_back(kEndText);
    trace.target.word_of.push_back(-1);
  }
  trace.ended = answer.ended;
  trace.score = answer.score, trace.log_probability = answer.log_probability;
  trace.token_log_probabilities = answer.token_log_probabilities;
  if (!model.config().model.copies()) return;
  const std::vector<std::vector<int32_t>> said{answer.tokens};
  trace.copied = model.model().copied_shares({model.source(std::array{&source}), data::Sequences(said)}).at(0);
  trace.copied.resize(trace.target.tokens.size());  // without the end where it was not predicted
}

/// The window of a document that the answer is from.
Ready window_of(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  std::vector<Ready> windows = model.parts(example);
  if (windows.size() == 1) return std::move(windows[0]);
  if (options.target) {
    const bool given = !example.right.empty() && *options.target == example.right[0];
    const Right right = given ? right_answer(example, 0) : Right(*options.target);
    const auto has = [&](const Ready& window) { return model.output().has(right, window); };
    const auto found = std::ranges::find_if(windows, has);
    return std::move(found == windows.end() ? windows[0] : *found);
  }
  AnswerOptions answer;
  answer.search = options.search, answer.check = options.check;
  const auto answers = model.answer(std::span(&example, 1), answer);
  return std::move(windows.at(static_cast<size_t>(answers.at(0).at(0).part)));
}

void check_source(const TaskModel& model, const Ready& source) {
  require(source.length() > 0, "explain: expected a ", model.reads_documents() ? model.input().name() : "text",
          " with at least one word, got an empty one");
  for (size_t i = 0; i < source.further.size(); ++i) {
    require(source.further[i].length() > 0, "explain: expected a ", model.input(i + 1).name(),
            " with at least one word, got an empty one");
  }
  const int64_t longest = longest_explained(model), length = model.model().places(source.length());
  require(length <= longest, "explain: expected ", source.is_sound() ? "a sound of at most " : "a text of at most ", longest,
          source.is_sound() ? " places, got " : " tokens, got ", length);
}

Ready source_of(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  Ready source = model.reads_documents() ? window_of(model, example, options) : model.ready(example);
  check_source(model, source);
  return source;
}

/// The same without a search for the window that the answer is from: any will do.
Ready checked_source(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  if (!model.reads_documents() || options.target) return source_of(model, example, options);
  Ready source = std::move(model.parts(example).front());
  check_source(model, source);
  return source;
}

std::vector<int32_t> target_of(const TaskModel& model, const std::string& text, const Ready& source) {
  std::vector<int32_t> target = model.output().encode(text, source);
  require(!target.empty(), "explain: expected a target with at least one word, got an empty one");
  const int64_t length = static_cast<int64_t>(target.size()), fixed = model.model().answer_length(source.length());
  require(length <= kLongest, "explain: expected a target of at most ", kLongest, " tokens, got ", length);
  require(fixed < 0 || length == fixed, "explain: expected a target of ", fixed, " tokens, as this model says, got ",
          length);
  return target;
}

std::vector<std::vector<int32_t>> prefixes_of(const TaskModel& model, const Ready& source,
                                              const ExplainOptions& options) {
  if (!options.prefix_tokens.empty()) return {options.prefix_tokens};
  if (!options.prefix.empty()) return {model.output().encode(options.prefix, source)};
  return {};
}

bool looks_at_words(const explain::TraceSite& site) {
  return site.queries == "target" && site.keys.starts_with("source");
}
bool looks_at_source(const explain::TraceSite& site) {
  return looks_at_words(site) || (site.queries == "target" && site.keys == "sentences");
}

/// The site whose map shows best where an answer comes from: what the answer itself looked at comes before what was pooled
/// for all of it. sites.end() if none looks at the source.
std::vector<explain::TraceSite>::const_iterator main_site(const std::vector<explain::TraceSite>& sites) {
  const auto own = std::ranges::find_if(
      sites, [](const explain::TraceSite& site) { return looks_at_source(site) && site.purpose != Purpose::pooling; });
  return own != sites.end() ? own : std::ranges::find_if(sites, looks_at_source);
}

explain::AttentionPart part_of(const std::vector<explain::TraceSite>& sites, const ExplainOptions& options) {
  // A decoder alone looks at its source through its own past.
  const auto to_source = main_site(sites);
  const bool has_default =
      std::ranges::any_of(sites, [](const explain::TraceSite& s) { return s.site == ExplainOptions().site; });
  const bool other = to_source != sites.end() && !has_default && options.site == ExplainOptions().site;
  return {other ? to_source->site : options.site, options.layer, options.head, options.combine};
}

/// Evidence changes what the answer looked at in its source: a part that looks elsewhere, which check_part has let pass, has
/// none.
void check_evidence(const std::vector<explain::TraceSite>& sites, const explain::AttentionPart& part,
                    const ExplainOptions& options) {
  const auto site = std::ranges::find(sites, part.site, &explain::TraceSite::site);
  require(!options.evidence || looks_at_words(*site),
          "explain: evidence: expected a site that looks at the source's words, such as decoder.memory, got ", part.site);
}

/// The answers of a search over one source, or the one that was given.
std::vector<decode::Hypothesis> answers_of(const TaskModel& model, const Ready& source, const ExplainOptions& options,
                                           const decode::SearchOptions& search, explain::Recorder& recorder) {
  const Ready* const all[] = {&source};
  const data::Source sources = model.source(all);
  std::optional<Observing> observing;  // which costs time: attention that nobody looks at is fused
  if (options.map || options.weights) observing.emplace(recorder);
  if (options.target) {
    const std::vector<int32_t> target = target_of(model, *options.target, source);
    return decode::score(model.model(), {sources, data::Sequences({target})}, &recorder);
  }
  const std::unique_ptr<decode::Constraint> constraint = model.output().constraint(all);
  std::vector<decode::Hypothesis> found = decode::search(
      model.model(), sources, search, prefixes_of(model, source, options), &recorder, constraint.get())[0];
  model.rank(found, source);
  return found;
}

void add_unknown(const data::TokenisedWords& source, std::vector<std::string>& unknown) {
  for (size_t i = 0; i < source.ids.size(); ++i) {
    if (source.ids[i] != data::kUnknown || source.word_of[i] < 0) continue;
    const std::string word = "“" + source.words[static_cast<size_t>(source.word_of[i])] + "”";
    if (std::ranges::find(unknown, word) == unknown.end()) unknown.push_back(word);
  }
}

/// The bytes of the answer in the text that the trace shows.
std::optional<data::TextRange> within(const TaskModel& model, const decode::Hypothesis& answer,
                                      const Recorded& recorded) {
  std::optional<data::TextRange> place = model.output().place(answer.tokens, recorded.source);
  if (place) place->begin -= recorded.source.offset, place->end -= recorded.source.offset;
  return place;
}

void add_map(const explain::Answered& answered, const ExplainOptions& options, explain::Trace& trace) {
  const bool attends = std::ranges::any_of(trace.sites, looks_at_source);
  if (options.method == kAuto && !attends && trace.source.sound) return;  // what was said when is picture enough
  const explain::MethodRow& method = explain::method_named(options.method != kAuto ? options.method
                                                           : attends               ? "attention"
                                                                                   : "jacobian");
  const explain::AttentionPart part = part_of(trace.sites, options);
  explain::TraceMap map{
      .method = std::string(method.name), .label = std::string(method.name), .is_signed = method.is_signed};
  if (method.name == "attention") {
    const std::string which = explain::part_label(answered, part);
    check_evidence(trace.sites, part, options);
    if (options.site != ExplainOptions().site) map.label += " of " + part.site;
    if (!which.empty()) map.label += ", " + which;
    map.site = part.site, map.layer = options.layer, map.head = options.head;
    const auto found =
        std::ranges::find(trace.sites, part.site, &explain::TraceSite::site);  // part_label has refused others
    map.queries = found->queries, map.keys = found->keys == "source+before" ? "source" : found->keys;
  }
  map.tokens = method.map(answered, part);
  const explain::Axis rows = axis_of(trace, map.queries, true), columns = axis_of(trace, map.keys, true);
  map.words =
      explain::word_weights(map.tokens, columns.label_of, rows.label_of, static_cast<int64_t>(columns.labels.size()),
                            static_cast<int64_t>(rows.labels.size()), method.adds);
  if (options.evidence) trace.evidence = explain::evidence(answered, map.tokens, trace.source.word_of);
  trace.maps.push_back(std::move(map));
}

}  // namespace

int64_t longest_explained(const TaskModel& model) {
  const int64_t able = model.model().longest_source();  // learned positions end somewhere
  return able > 0 ? std::min(kLongest, model.longest()) : kLongest;
}

std::vector<std::string> notes_on(const TaskModel& model, const Ready& ready, int64_t parts) {
  std::vector<std::string> notes;
  if (!ready.is_text()) return notes;
  const int64_t length = ready.length(), longest = model.longest();
  if (model.reads_documents() && parts > 1) {
    notes.push_back("This " + model.input().name() + " has " + std::to_string(length) + " tokens: it was read in " +
                    std::to_string(parts) + " windows that overlap, of " + std::to_string(longest) + " tokens each.");
  } else if (longest > 0 && length > longest) {
    notes.push_back("This text has " + std::to_string(length) + " tokens, more than any in training (at most " +
                    std::to_string(longest) + "): " +
                    (parts > 1 ? "it was answered in " + std::to_string(parts) + " parts, each by itself."
                               : "expect a worse answer than usual."));
  }
  std::vector<std::string> unknown;
  add_unknown(ready.tokens, unknown);
  for (const Ready& further : ready.further) add_unknown(further.tokens, unknown);
  if (unknown.empty()) return notes;
  std::string list = joined(std::span(unknown).first(std::min(unknown.size(), kNamedWords)));
  if (unknown.size() > kNamedWords) list += " and " + std::to_string(unknown.size() - kNamedWords) + " more";
  const bool letters = !ready.letters.empty();
  notes.push_back("The vocabulary does not contain " + list + ": all that the model sees there is " +
                  (letters ? "its letters." : "that it is unknown."));
  return notes;
}

bool Explainable::attends() const { return std::ranges::any_of(sites, looks_at_source); }

Explainable explainable(const TaskModel& model) {
  Explainable known;
  if (model.output().is_image()) return known;
  const Example example = model.trial();
  ExplainOptions options;
  options.search.max_length = 2;
  const auto ask = [&](auto&& take) {  // what is refused cannot be asked for
    try {
      take(explain(model, example, options));
    } catch (const Error&) {
    }
  };
  if (model.row().input().is_image()) {
    if (model.output().words()) options.target = model.output().piece(data::kFirstWord);  // its own may have no word
    for (const std::string& name : look_methods(model.model())) {
      options.method = name;
      ask([&](const Explanation&) { known.methods.push_back(name); });
    }
    return known;
  }
  options.map = false;
  ask([&](Explanation found) { known.sites = std::move(std::get<explain::Trace>(found).sites); });
  for (explain::TraceSite& site : known.sites) site.weights = {}, site.centres = {};
  options.map = true, options.weights = false;
  for (const explain::MethodRow& row : explain::methods()) {
    options.method = row.name;
    ask([&](const Explanation&) { known.methods.emplace_back(row.name); });
  }
  return known;
}

std::string method_for(const Explainable& known, const std::string& method) {
  if (method != kAuto || known.methods.empty()) return method;
  const auto has = [&](const char* name) { return std::ranges::find(known.methods, name) != known.methods.end(); };
  return has("attention") ? "attention" : has("jacobian") ? "jacobian" : known.methods[0];
}

void check_explain(const TaskModel& model, const Explainable& known, const Example& example,
                   const ExplainOptions& options) {
  const std::string method = method_for(known, options.method);
  require(std::ranges::find(known.methods, method) != known.methods.end(), "method: this model has ",
          known.methods.empty() ? "none" : joined(known.methods), "; got ", quoted(method));
  const decode::SearchOptions search = model.output().search(options.search);
  if (model.row().input().is_image()) {
    decode::check(search);
    return check_look_target(model, options);
  }
  if (method == "attention") {
    const explain::AttentionPart part = part_of(known.sites, options);
    explain::check_part(known.sites, part);
    check_evidence(known.sites, part, options);
  }
  const Ready source = checked_source(model, example, options);
  const Ready* const all[] = {&source};
  if (options.target) (void)target_of(model, *options.target, source);
  decode::check(model.model(), model.source(all), search, prefixes_of(model, source, options));
}

explain::Trace trace_of(const TaskModel& model, const explain::Recorder& recorder, const Recorded& recorded,
                        const std::vector<decode::Hypothesis>& answers, const decode::SearchOptions& search) {
  explain::Trace trace;
  trace.model = model.name(), trace.task = model.config().options.task, trace.network = model.config().model.name;
  trace.parameters = model.parameters();
  decode::SearchOptions shown = search;
  for (const OptionInfo& option : describe_options(shown)) trace.options.emplace_back(option.name, option.value);
  const int64_t places = model.model().places(recorded.source.length());
  trace.source = model.input().side(recorded.source, places);
  if (model.reads_documents()) trace.source.name = model.input().name();
  for (size_t i = 0; i < recorded.source.further.size(); ++i) {
    trace.inputs.push_back(model.input(i + 1).side(recorded.source.further[i], recorded.source.further[i].length()));
    trace.inputs.back().name = model.input(i + 1).name();
  }
  trace.notes = notes_on(model, recorded.source);
  set_target(trace, model, recorded.source, answers[0]);
  trace.sites = recorder.sites(recorded.sentence, answers[0].node, places);
  trace.beam = recorder.tree(recorded.sentence);
  const bool says_end = model.model().answer_length(recorded.source.length()) < 0;
  for (explain::TraceNode& node : trace.beam) {
    node.token = says_end && node.id == data::kEnd ? kEndText : model.output().piece_of(node.id, recorded.source);
  }
  for (const decode::Hypothesis& one : answers) {
    trace.answers.push_back({model.output().written(one.tokens, recorded.source), model.output().score(one),
                             one.log_probability, one.ended, recorder.place_of(one.node), within(model, one, recorded)});
  }
  trace.found = within(model, answers[0], recorded);
  return trace;
}

namespace {

/// What is known of a sound besides what was looked at: its name, what was said when, what each place says by CTC, and when the
/// answer's words were heard.
void add_hearing(const TaskModel& model, const Example& example, const Ready& source, std::span<const int32_t> answer,
                 explain::Trace& trace) {
  trace.source.text = example.name;
  auto sound = std::make_shared<explain::TraceSound>(*trace.source.sound);
  sound->words = example.times.words, sound->phonemes = example.times.phonemes;
  if (sound->posteriors = posteriors(model, source); sound->posteriors.defined()) {
    for (int64_t id = 0; id < sound->posteriors.dim(1); ++id) sound->labels.push_back(model.output().piece(static_cast<int32_t>(id)));
  }
  trace.source.sound = std::move(sound);
  if (!model.output().words()) {
    trace.target.times = stretches(model, source, answer);
  } else if (const std::vector<HeardBy> by = heard_by(model); !by.empty()) {
    trace.target.times = token_times(model, source, answer, by[0]);
  }
}

/// The ids of a text; a sound has places without ids.
std::vector<int32_t> places_of(const TaskModel& model, const Ready& source) {
  if (source.is_text()) return source.tokens.ids;
  return std::vector<int32_t>(static_cast<size_t>(model.model().places(source.length())));
}

}  // namespace

explain::Trace explain_text(const TaskModel& model, const std::string& text, const ExplainOptions& options) {
  return explain_text(model, Example{.inputs = {text}}, options);
}

explain::Trace explain_text(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  const Ready source = source_of(model, example, options);
  const decode::SearchOptions search = model.output().search(options.search);
  const bool read = options.method == kAuto || explain::method_named(options.method).needs_attention;
  explain::Recorder recorder(
      [&](const explain::Recorder& heard) {
        if (options.check) options.check();
        if (options.partial) options.partial(model.output().written(heard.likeliest(0), source));
      },
      {.weights = options.weights || (options.map && read), .numbers = options.numbers});
  const std::vector<decode::Hypothesis> answers = answers_of(model, source, options, search, recorder);
  explain::Trace trace = trace_of(model, recorder, {source}, answers, search);
  trace.given = options.target.has_value();
  if (source.is_sound()) add_hearing(model, example, source, answers[0].tokens, trace);
  const explain::Answered answered{.model = model.model(),
                                   .source = places_of(model, source),
                                   .target = answers[0].tokens,
                                   .sites = trace.sites,
                                   .log_probabilities = trace.token_log_probabilities,
                                   .check = options.check,
                                   .letters = source.letters,
                                   .whole = model.reads_documents() || model.config().model.copies() || source.is_sound()
                                                ? model.source(std::array{&source})
                                                : data::Source(),
                                   .pass_tokens = std::clamp(kPassWork / std::max<int64_t>(1, model.parameters()),
                                                             int64_t{1}, explain::Answered::kPassTokens),
                                   .most_tokens = options.most_tokens};
  if (options.map) add_map(answered, options, trace);
  if (!options.weights) {
    for (explain::TraceSite& site : trace.sites) {
      if (site.keys != "sentences") site.weights = {}, site.centres = {};  // of hops they are few, and each is shown
    }
  }
  return trace;
}

Explanation explain(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  if (model.row().input().is_image()) return look(model, example, options);
  return explain_text(model, example, options);
}

bool has_support(const TaskModel& model, const Examples& examples) {
  if (!model.reads_documents() || !explainable(model).attends()) return false;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example example = examples.at(i);
    if (!example.support.empty() && model.parts(example).size() == 1) return true;
  }
  return false;
}

Support support(const TaskModel& model, const Examples& examples, const Done& done) {
  Support sum;
  double counted = 0;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example example = examples.at(i);
    const bool fits = !example.support.empty() && model.parts(example).size() == 1;  // windows count sentences anew
    if (fits) {
      const std::vector<double> read = explain::read_sentences(explain_text(model, example, {}));
      const auto most = static_cast<int32_t>(std::ranges::max_element(read) - read.begin());
      sum.read += std::ranges::count(example.support, most) > 0;
      sum.by_chance += static_cast<double>(example.support.size()) / static_cast<double>(read.size());
      ++counted;
    }
    if (done) done(i + 1);
  }
  require(counted > 0, "support: expected a document that is read in one window and knows its sentences, got none");
  sum.read *= 100 / counted, sum.by_chance *= 100 / counted;
  return sum;
}

}  // namespace attend::tasks
