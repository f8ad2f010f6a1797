#include "serve/answers.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace attend::serve {
namespace {

constexpr size_t kGroup = 16;  // texts that are answered at once: the time between two checks

/// Six decimals: what a float holds of a log-probability.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

/// Of tasks::Answer and explain::TraceAnswer alike.
template <class Answer>
Json answer_json(const Answer& answer) {
  return {{"text", answer.text},
          {"score", rounded(answer.score)},
          {"log_probability", rounded(answer.log_probability)},
          {"ended", answer.ended}};
}

Json with_parts(const tasks::Answer& answer) {
  Json json = answer_json(answer);
  if (answer.parts > 1) json["parts"] = answer.parts;
  return json;
}

/// Texts that a network looks at in one piece.
bool one_piece(const tasks::TextModel& model, const std::string& text) {
  const int64_t length = static_cast<int64_t>(model.source().encode(text).size());
  return length > 0 && length <= tasks::longest_explained(model) && (model.longest() <= 0 || length <= model.longest());
}

tasks::ExplainOptions with(tasks::ExplainOptions options, const Asked& asked, decode::SearchOptions search,
                           const Watch& watch) {
  options.search = search;
  options.prefix = asked.prefix;
  options.prefix_tokens = asked.prefix_tokens;
  options.check = watch.check;
  if (watch.partial) options.partial = watch.partial;
  return options;
}

Json step_by_step(const ServedModel& served, const RunRequest& request, const decode::SearchOptions& search,
                  const Watch& watch) {
  tasks::ExplainOptions options;
  options.weights = options.map = false;
  const explain::Trace trace = tasks::explain(served.model, request.texts[0], with(options, request, search, watch));
  Json answers = Json::array();
  for (const explain::TraceAnswer& answer : trace.answers) answers.push_back(answer_json(answer));
  return Json::array({answers});
}

Json in_groups(const ServedModel& served, const RunRequest& request, const decode::SearchOptions& search,
               const Watch& watch) {
  tasks::AnswerOptions options;
  options.search = search;
  options.check = watch.check;
  const int64_t first = search.first_sentence;
  Json all = Json::array();
  for (size_t begin = 0; begin < request.texts.size(); begin += kGroup) {
    watch.check();
    const std::span<const std::string> group =
        std::span(request.texts).subspan(begin, std::min(kGroup, request.texts.size() - begin));
    std::vector<std::string> prefixes;
    if (!request.prefix.empty()) prefixes.assign(group.size(), request.prefix);
    options.search.first_sentence = first + static_cast<int64_t>(begin);
    for (const std::vector<tasks::Answer>& line : served.model.answer(group, options, prefixes)) {
      Json answers = Json::array();
      for (const tasks::Answer& answer : line) answers.push_back(with_parts(answer));
      all.push_back(std::move(answers));
    }
  }
  return all;
}

/// What only some models can do, of what may be asked of a search.
void check_search(const ServedModel& served, const decode::SearchOptions& search) {
  const auto memory = [](const explain::TraceSite& site) { return site.site.ends_with(".memory"); };
  require(search.coverage_penalty <= 0 || std::ranges::any_of(served.known.sites, memory),
          "coverage_penalty: a model whose decoder attends to its source is wanted; ask this one for 0");
}

/// What is larger than it may be is found out while it is made.
template <class Make>
explain::Trace traced(Make&& make) {
  try {
    return make();
  } catch (const explain::TooLarge& error) {
    refuse(413, "too_large", error.what(), " (this server's limit is --weights)");
  }
}

decode::SearchOptions search_for(const ServedModel& served, const Asked& asked, const Limits& limits) {
  return search_of(served.model.config().options.search, asked.search, limits);
}

/// What to know before one trusts them; of several texts with the place of each.
Json notes_json(const ServedModel& served, const RunRequest& request, const Json& answers) {
  Json notes = Json::array();
  for (size_t i = 0; i < request.texts.size(); ++i) {
    const std::string where = request.texts.size() > 1 ? "texts[" + std::to_string(i) + "]: " : "";
    const int64_t parts = answers[i][0].value("parts", int64_t{1});
    const data::TokenisedWords source = served.model.source().tokenise(request.texts[i]);
    for (const std::string& note : tasks::notes_on(served.model, source, parts)) notes.push_back(where + note);
  }
  return notes;
}

}  // namespace

void check_run(const ServedModel& served, const RunRequest& request, const Limits& limits) {
  decode::SearchOptions search = search_for(served, request, limits);
  if (search.sample) search.beam = 1;  // as where it is searched
  refusing([&] {
    decode::check(search);
    check_search(served, search);
    if (request.prefix.empty() && request.prefix_tokens.empty()) return;
    const std::vector<std::vector<int32_t>> prefix{
        request.prefix_tokens.empty() ? served.model.target().encode(request.prefix) : request.prefix_tokens};
    for (const std::string& text : request.texts) {
      const std::vector<int32_t> source = served.model.source().encode(text);
      if (!request.prefix_tokens.empty()) {
        const int64_t length = static_cast<int64_t>(source.size()), longest = tasks::longest_explained(served.model);
        require(length <= longest, "prefix_tokens: a text of at most ", longest, " tokens is wanted with them, got ",
                length);
      }
      decode::check(served.model.model(), data::Sequences({source}), search, prefix);
    }
  });
}

void check_explain(const ServedModel& served, const ExplainRequest& request, const Limits& limits) {
  const tasks::ExplainOptions options = with(request.options, request, search_for(served, request, limits), {});
  refusing([&] {
    tasks::check_explain(served.model, served.known, request.text, options);
    check_search(served, options.search);
  });
}

std::string run_json(const ServedModel& served, const RunRequest& request, const Limits& limits, const Watch& watch) {
  const decode::SearchOptions search = search_for(served, request, limits);
  // A text in several pieces is answered piece by piece, which nobody can watch.
  const bool watched = (watch.partial && one_piece(served.model, request.texts[0])) || !request.prefix_tokens.empty();
  Json answers = watched ? step_by_step(served, request, search, watch) : in_groups(served, request, search, watch);
  Json notes = notes_json(served, request, answers);
  const Json result = {{"model", served.name}, {"answers", std::move(answers)}, {"notes", std::move(notes)}};
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string explain_json(const ServedModel& served, const ExplainRequest& request, const Limits& limits,
                         const Watch& watch) {
  watch.check();
  const decode::SearchOptions search = search_for(served, request, limits);
  tasks::ExplainOptions options = with(request.options, request, search, watch);
  options.method = tasks::method_for(served.known, options.method);
  options.numbers = static_cast<size_t>(limits.weights);
  explain::Trace trace = traced([&] { return tasks::explain(served.model, request.text, options); });
  trace.model = served.name;
  return explain::trace_json(trace);
}

}  // namespace attend::serve
