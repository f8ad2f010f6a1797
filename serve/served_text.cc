// Models that read text: lines to lines.
#include <algorithm>
#include <span>

#include "attend/tasks/explanation.h"
#include "attend/tasks/text.h"
#include "serve/history.h"
#include "serve/served_model.h"

namespace attend::serve {
namespace {

constexpr size_t kSentences = 500;
constexpr size_t kGroup = 16;  // texts that are answered at once: the time between two checks

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

Json sites_json(const std::vector<explain::TraceSite>& sites) {
  Json all = Json::array();
  for (const explain::TraceSite& site : sites) {
    all.push_back({{"site", site.site}, {"layer", site.layer}, {"heads", site.heads}});
  }
  return all;
}

class ServedText : public ServedModel {
 public:
  ServedText(const std::string& name, const std::filesystem::path& folder)
      : ServedModel(name, folder), model_(tasks::TextModel::load(folder)), known_(tasks::explainable(model_)) {
    description = describe();
  }

  void check(const RunRequest& request, const Limits& limits) const override;
  void check(const ExplainRequest& request, const Limits& limits) const override;
  std::string run(const RunRequest& request, const Limits& limits, const Watch& watch) const override;
  std::string explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const override;
  Json gallery() const override;

 private:
  Json describe() const;
  void check_reads(const Asked& asked) const;
  void check_search(const decode::SearchOptions& search) const;
  decode::SearchOptions search_for(const Asked& asked, const Limits& limits) const;
  Json step_by_step(const RunRequest& request, const decode::SearchOptions& search, const Watch& watch) const;
  Json in_groups(const RunRequest& request, const decode::SearchOptions& search, const Watch& watch) const;
  Json notes_json(const RunRequest& request, const Json& answers) const;

  tasks::TextModel model_;
  tasks::Explainable known_;
};

Json ServedText::describe() const {
  Json row = {{"name", name},
              {"reads", "text"},
              {"task", model_.config().options.task},
              {"network", model_.config().model.name},
              {"parameters", model_.parameters()},
              {"source_vocabulary", model_.source().size()},
              {"target_vocabulary", model_.target().size()},
              {"longest", model_.longest()},
              {"attends", known_.attends()},
              {"methods", known_.methods},
              {"sites", sites_json(known_.sites)}};
  row["search"] = options_json(model_.config().options.search);
  row["bleu"] = best_of(folder, "bleu");
  return row;
}

Json ServedText::step_by_step(const RunRequest& request, const decode::SearchOptions& search,
                              const Watch& watch) const {
  tasks::ExplainOptions options;
  options.weights = options.map = false;
  const explain::Trace trace = tasks::explain(model_, request.texts[0], with(options, request, search, watch));
  Json answers = Json::array();
  for (const explain::TraceAnswer& answer : trace.answers) answers.push_back(answer_json(answer));
  return Json::array({answers});
}

Json ServedText::in_groups(const RunRequest& request, const decode::SearchOptions& search, const Watch& watch) const {
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
    for (const std::vector<tasks::Answer>& line : model_.answer(group, options, prefixes)) {
      Json answers = Json::array();
      for (const tasks::Answer& answer : line) answers.push_back(with_parts(answer));
      all.push_back(std::move(answers));
    }
  }
  return all;
}

/// What only some models can do, of what may be asked of a search.
void ServedText::check_search(const decode::SearchOptions& search) const {
  const auto memory = [](const explain::TraceSite& site) { return site.site.ends_with(".memory"); };
  require(search.coverage_penalty <= 0 || std::ranges::any_of(known_.sites, memory),
          "coverage_penalty: a model whose decoder attends to its source is wanted; ask this one for 0");
}

decode::SearchOptions ServedText::search_for(const Asked& asked, const Limits& limits) const {
  return search_of(model_.config().options.search, asked.search, limits);
}

/// What to know before one trusts them; of several texts with the place of each.
Json ServedText::notes_json(const RunRequest& request, const Json& answers) const {
  Json notes = Json::array();
  for (size_t i = 0; i < request.texts.size(); ++i) {
    const std::string where = request.texts.size() > 1 ? "texts[" + std::to_string(i) + "]: " : "";
    const int64_t parts = answers[i][0].value("parts", int64_t{1});
    const data::TokenisedWords source = model_.source().tokenise(request.texts[i]);
    for (const std::string& note : tasks::notes_on(model_, source, parts)) notes.push_back(where + note);
  }
  return notes;
}

void ServedText::check_reads(const Asked& asked) const {
  if (asked.image.empty()) return;
  refuse(400, "bad_request", "text: the model ", attend::quoted(name), " reads text, got an image");
}

void ServedText::check(const RunRequest& request, const Limits& limits) const {
  check_reads(request);
  decode::SearchOptions search = search_for(request, limits);
  if (search.sample) search.beam = 1;  // as where it is searched
  refusing([&] {
    decode::check(search);
    check_search(search);
    if (request.prefix.empty() && request.prefix_tokens.empty()) return;
    const std::vector<std::vector<int32_t>> prefix{
        request.prefix_tokens.empty() ? model_.target().encode(request.prefix) : request.prefix_tokens};
    for (const std::string& text : request.texts) {
      const std::vector<int32_t> source = model_.source().encode(text);
      if (!request.prefix_tokens.empty()) {
        const int64_t length = static_cast<int64_t>(source.size()), longest = tasks::longest_explained(model_);
        require(length <= longest, "prefix_tokens: a text of at most ", longest, " tokens is wanted with them, got ",
                length);
      }
      decode::check(model_.model(), data::Sequences({source}), search, prefix);
    }
  });
}

void ServedText::check(const ExplainRequest& request, const Limits& limits) const {
  check_reads(request);
  const tasks::ExplainOptions options = with(request.options, request, search_for(request, limits), {});
  refusing([&] {
    tasks::check_explain(model_, known_, request.text, options);
    check_search(options.search);
  });
}

std::string ServedText::run(const RunRequest& request, const Limits& limits, const Watch& watch) const {
  const decode::SearchOptions search = search_for(request, limits);
  // A text in several pieces is answered piece by piece, which nobody can watch.
  const bool watched = (watch.partial && one_piece(model_, request.texts[0])) || !request.prefix_tokens.empty();
  Json answers = watched ? step_by_step(request, search, watch) : in_groups(request, search, watch);
  Json notes = notes_json(request, answers);
  const Json result = {{"model", name}, {"answers", std::move(answers)}, {"notes", std::move(notes)}};
  return dumped(result);
}

std::string ServedText::explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  const decode::SearchOptions search = search_for(request, limits);
  tasks::ExplainOptions options = with(request.options, request, search, watch);
  options.method = tasks::method_for(known_, options.method);
  options.numbers = static_cast<size_t>(limits.weights);
  explain::Trace trace = within_weights([&] { return tasks::explain(model_, request.text, options); });
  trace.model = name;
  return explain::trace_json(trace);
}

Json ServedText::gallery() const {
  Json result = {{"sentences", Json::array()}};
  std::vector<ValidLine> lines = valid_lines(folder);
  if (lines.size() > kSentences) lines.resize(kSentences);
  for (ValidLine& line : lines) result["sentences"].push_back(std::move(line.said));
  if (lines.empty()) {
    result["note"] = "this model's folder has no valid.jsonl, which training writes where it validates with sentences";
  }
  return result;
}

}  // namespace

std::unique_ptr<ServedModel> load_text(const std::string& name, const std::filesystem::path& folder) {
  return std::make_unique<ServedText>(name, folder);
}

}  // namespace attend::serve
