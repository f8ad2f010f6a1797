#include "serve/served_model.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "attend/base/names.h"
#include "attend/data/image_file.h"
#include "attend/data/sound_file.h"
#include "attend/tasks/corpus.h"
#include "attend/tasks/typed.h"
#include "serve/history.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kGroup = 16;           // texts that are answered at once, at most …
constexpr int64_t kStepWork = 1 << 28;  // … and of parameters × hypotheses in one step of a search, between two checks
constexpr int64_t kLeastSide = 4;       // pixels; there is nothing to see in less

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

Json json_of(const tasks::Answer& answer) {
  if (!answer.image.pixels.empty()) return image_json(answer.image);
  Json json = answer_json(answer);
  if (answer.parts > 1) json["parts"] = answer.parts;
  if (answer.none) json["none"] = true;
  return json;
}

/// Where in the text a stretch of it is, as JSON: in bytes of UTF-8, and in characters.
Json place_json(const data::TextRange& range, std::string_view text) {
  const auto characters = [&](int64_t bytes) {
    return std::ranges::count_if(text.substr(0, static_cast<size_t>(bytes)),
                                 [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  };
  return {{"bytes", {range.begin, range.end}}, {"characters", {characters(range.begin), characters(range.end)}}};
}

/// The same, and where in the first input it was found.
template <class Answer>
Json placed_json(Json json, const Answer& answer, const tasks::Example& example) {
  if (answer.found) json["found"] = place_json(*answer.found, example.text());
  return json;
}

template <HasFields Options>
Json options_json(Options options) {
  Json all = Json::object();
  visit_fields(options, [&](const std::string& name, auto& field, const char*, const Bounds&) { all[name] = field; });
  return all;
}

/// What is larger than allowed is noticed only while it is made.
template <class Make>
auto within_weights(Make&& make) {
  try {
    return make();
  } catch (const explain::TooLarge& error) {
    refuse(413, "too_large", error.what(), " (this server's limits are --weights and --cost)");
  }
}

/// The image in the bytes of a request: what is wrong with them is the client's.
tasks::Value decoded(const std::string& bytes, const Limits& limits) {
  return refusing([&]() -> tasks::Value {
    try {
      const std::span file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      data::Image image = data::decode_image(file, "image", {.most_pixels = limits.image_pixels});
      require(std::min(image.height, image.width) >= kLeastSide, "image: expected at least ", kLeastSide,
              " pixels each way, got ", image.height, "×", image.width);
      return image;
    } catch (const data::TooManyPixels& error) {
      refuse(413, "too_large", error.what(), "; send a smaller one (this server's limit is --image-pixels)");
    }
  });
}

/// The sound in the bytes of a request.
tasks::Value decoded_sound(const std::string& bytes, int64_t rate, const Limits& limits) {
  return refusing([&]() -> tasks::Value {
    return data::decode_sound(std::as_bytes(std::span(bytes)), "sound", rate, {.most_seconds = limits.sound_seconds});
  });
}

/// What a kind of input is called in a request.
std::string_view field_of(const tasks::InputRow& input) { return input.streamed ? "text" : input.name; }

Json sites_json(const std::vector<explain::TraceSite>& sites) {
  Json all = Json::array();
  for (const explain::TraceSite& site : sites) {
    all.push_back({{"site", site.site},
                   {"layer", site.layer},
                   {"heads", site.heads},
                   {"queries", site.queries},
                   {"keys", site.keys}});
  }
  return all;
}

/// A model whose input can be sent: a text, a sound, or an image of a known size.
tasks::TaskModel load_sendable(const fs::path& folder) {
  tasks::TaskModel model = tasks::TaskModel::load(folder);
  const tasks::ImageFiles& files = model.config().options.images;
  const bool sized = files.size > 0 && (files.channels == 1 || files.channels == 3);
  require((!model.row().input().is_image() || sized) && !model.config().options.given_frames(), folder.string(),
          ": reads the features of another ", model.row().input().is_image() ? "network" : "program",
          ", which cannot be sent here");
  return model;
}

}  // namespace

ServedModel::ServedModel(std::string name, fs::path folder)
    : name(std::move(name)),
      folder(std::move(folder)),
      model_(load_sendable(this->folder)),
      known_(tasks::explainable(model_)),
      gallery_(model_.config(), this->folder),
      short_(model_),
      long_(model_) {
  description = describe();
}

Json ServedModel::describe() const {
  const tasks::TaskOptions& options = model_.config().options;
  Json inputs = Json::array(), scores = Json::array();
  for (const tasks::TaskInput& input : model_.row().inputs) {
    inputs.push_back({{"name", input.name}, {"kind", input.kind->name}});
  }
  for (const std::string_view score : model_.row().scores) {
    const train::ScoreRow& shown = train::score_named(score);
    const Json best = best_of(folder, std::string(score), shown.better);
    if (!best.is_null()) scores.push_back({{"name", score}, {"title", shown.title}, {"value", best}});
  }
  Json row = {{"name", name},
              {"inputs", std::move(inputs)},
              {"reads", model_.row().input().name},
              {"answers", model_.config().output().name},
              {"searches", model_.output().searches()},
              {"task", options.task},
              {"network", model_.config().model.name},
              {"parameters", model_.parameters()},
              {"longest", model_.longest()},
              {"attends", known_.attends()},
              {"methods", known_.methods},
              {"sites", sites_json(known_.sites)},
              {"scores", std::move(scores)}};
  if (const auto& words = model_.input().tokeniser()) row["source_vocabulary"] = words->size();
  if (model_.output().words()) row["target_vocabulary"] = model_.output().words()->size();
  if (!model_.output().labels().empty()) row["labels"] = model_.output().labels();
  if (model_.row().input().is_image()) row["size"] = options.images.size, row["channels"] = options.images.channels;
  row["search"] = options_json(options.search);
  return row;
}

decode::SearchOptions ServedModel::search_for(const Asked& asked, const Limits& limits) const {
  return search_of(model_.config().options.search, asked.search, limits);
}

std::vector<tasks::Example> ServedModel::examples(const Asked& asked, const Limits& limits) const {
  if (!asked.image.empty()) return {{.inputs = {decoded(asked.image, limits)}}};
  if (!asked.sound.empty()) {
    return {{.inputs = {decoded_sound(asked.sound, model_.config().options.features.rate, limits)}, .name = "sound"}};
  }
  return text_examples(asked);
}

/// None of an image or a sound.
std::vector<tasks::Example> ServedModel::text_examples(const Asked& asked) const {
  std::vector<tasks::Example> all;
  for (const std::string& text : asked.texts) all.push_back({.inputs = {text}});
  size_t count = 0;
  for (const auto& [input, texts] : asked.inputs) count = std::max(count, texts.size());
  for (size_t i = 0; i < count; ++i) {
    all.emplace_back();
    for (const tasks::TaskInput& input : model_.row().inputs) {
      const std::vector<std::string>& texts = asked.inputs.at(std::string(input.name));
      all.back().inputs.emplace_back(texts.size() == 1 ? texts[0] : texts.at(i));
    }
  }
  return all;
}

/// Whether it reads what was sent, and can search as it was asked to.
void ServedModel::check_asked(const Asked& asked, const decode::SearchOptions& search) const {
  const bool text = model_.row().input().streamed;
  if (model_.reads_documents()) {
    for (const tasks::TaskInput& input : model_.row().inputs) {
      require(asked.inputs.contains(std::string(input.name)), input.name, ": the model ", attend::quoted(name),
              " reads ", tasks::input_names(model_.row()), ", got no ", input.name);
    }
  } else if (!asked.inputs.empty()) {
    fail(asked.inputs.begin()->first, ": the model ", attend::quoted(name), " reads ",
         text ? "text" : model_.row().input().several, ", got a ", asked.inputs.begin()->first);
  }
  for (const auto& [input, texts] : asked.inputs) {
    const bool known =
        std::ranges::find(model_.row().inputs, input, &tasks::TaskInput::name) != model_.row().inputs.end();
    require(known, input, ": the model ", attend::quoted(name), " reads ", tasks::input_names(model_.row()));
  }
  const std::string_view wanted = field_of(model_.row().input());
  const std::string_view came = !asked.image.empty() ? "image" : !asked.sound.empty() ? "sound" : "text";
  const std::string_view reads = text                              ? "reads text"
                                 : model_.row().input().is_image() ? "looks at images (a PNG or JPEG file in base64)"
                                                                   : "hears sounds (a WAV, FLAC or OGG file in base64)";
  require(wanted == came, wanted, ": the model ", attend::quoted(name), " ", reads, ", got ",
          came == "image" ? "an " : "a ", came);
  require(text || (asked.prefix.empty() && asked.prefix_tokens.empty()),
          "prefix: only models that read text take one, not ", attend::quoted(name));
  decode::check(model_.output().search(search));
  const bool attends = !model_.row().input().is_image()
                           ? known_.attends()
                           : std::ranges::find(known_.methods, "attention") != known_.methods.end();
  require(search.coverage_penalty <= 0 || attends,
          "coverage_penalty: this model's decoder does not attend to its source; ask for 0");
}

void ServedModel::check_prefixes(const RunRequest& request, const decode::SearchOptions& search) const {
  if (request.prefix.empty() && request.prefix_tokens.empty()) return;
  for (const tasks::Example& example : text_examples(request)) {
    const tasks::Ready source = model_.ready(example);
    const std::vector<std::vector<int32_t>> prefix{
        request.prefix_tokens.empty() ? model_.output().encode(request.prefix, source) : request.prefix_tokens};
    const int64_t longest = tasks::longest_explained(model_);
    require(request.prefix_tokens.empty() || source.length() <= longest, "prefix_tokens: expected a text of at most ",
            longest, " tokens with them, got ", source.length());
    const tasks::Ready* const all[] = {&source};
    decode::check(model_.model(), model_.source(all), search, prefix);
  }
}

/// Tokens of the answer that are given.
int64_t ServedModel::forced_by(const Asked& asked, const tasks::Ready& source) const {
  const size_t count =
      asked.prefix.empty() ? asked.prefix_tokens.size() : model_.output().encode(asked.prefix, source).size();
  return static_cast<int64_t>(count);
}

/// `recorded`: one text, of which all that was considered is kept.
Cost ServedModel::affordable_cost(const Asked& asked, const decode::SearchOptions& search, bool recorded,
                                  const Limits& limits) const {
  const decode::SearchOptions own = model_.output().search(search);
  const std::vector<tasks::Example> texts = text_examples(asked);
  Cost cost{.texts = std::max<int64_t>(1, static_cast<int64_t>(texts.size())),
            .beam = own.sample ? own.n_best : own.beam};
  if (recorded) cost.kept = decode::continuations_told(own);
  const auto add = [&](const tasks::Ready& part, int64_t forced) {
    const tasks::Ready* const all[] = {&part};
    const std::unique_ptr<decode::Constraint> constraint = model_.output().constraint(all);
    cost.add(decode::longest_answer(model_.model(), own, part.length(), forced, constraint.get()));
  };
  if (!asked.sound.empty()) {  // how long it is will be known once it is read: the longest that may be sent
    const double frames = limits.sound_seconds * 1000 / model_.config().options.features.hop;
    cost.add(decode::longest_answer(model_.model(), own, static_cast<int64_t>(frames)));
    return cost;
  }
  if (model_.output().is_image()) return cost;
  if (texts.empty()) add({}, 0);  // how many cells an image has makes little difference
  for (const tasks::Example& text : texts) {
    bool first = true;
    const bool whole = recorded && !model_.reads_documents();
    for (const tasks::Ready& part : whole ? std::vector{model_.ready(text)} : model_.parts(text)) {
      add(part, std::exchange(first, false) ? forced_by(asked, part) : 0);
      if (model_.reads_documents()) cost.read(part.longest());
    }
    if (model_.reads_documents()) require_affordable(cost, limits);  // before the next is split into its parts
  }
  require_affordable(cost, limits);
  return cost;
}

Cost ServedModel::check(const RunRequest& request, const Limits& limits) const {
  const decode::SearchOptions search = search_for(request, limits);
  return refusing([&] {
    check_asked(request, search);
    check_prefixes(request, search);
    const bool recorded = !has_crowds() && (request.stream || !request.prefix_tokens.empty());
    return affordable_cost(request, search, recorded, limits);
  });
}

Cost ServedModel::check(const ExplainRequest& request, const Limits& limits) const {
  const decode::SearchOptions search = search_for(request, limits);
  return refusing([&] {
    check_asked(request, search);
    for (const std::string& one : request.named) {
      require(!model_.row().input().is_image() || one == "method", one,
              ": only models that read text or hear sounds have this, not ", attend::quoted(name));
    }
    const std::vector<tasks::Example> texts = text_examples(request);
    tasks::ExplainOptions options = explain_options(request, request.options, search, {});
    // A sound is decoded by the thread that explains it, which then checks what depends on its length.
    const bool sound = !request.sound.empty();
    if (sound && model_.model().answer_length(1) >= 0) options.target.reset();
    const tasks::Example example = sound ? model_.trial() : texts.empty() ? tasks::Example() : texts[0];
    tasks::check_explain(model_, known_, example, options);
    Cost cost = affordable_cost(request, search, true, limits);
    const std::string method = tasks::method_for(known_, request.options.method);
    const bool again = request.options.evidence || (method != "attention" && method != "rollout");
    if (again && !texts.empty()) {
      // The Jacobian asks for four words at each step, forwards and backwards.
      const int64_t whole = model_.ready(example).length();
      const int64_t source =
          model_.reads_documents() && model_.longest() > 0 ? std::min(whole, model_.longest()) : whole;
      cost.more = 12 * cost.longest * (source + cost.longest);
    }
    return cost;
  });
}

tasks::ExplainOptions ServedModel::explain_options(const Asked& asked, tasks::ExplainOptions options,
                                                   const decode::SearchOptions& search, const Watch& watch) const {
  options.search = search;
  options.prefix = asked.prefix;
  options.prefix_tokens = asked.prefix_tokens;
  options.check = watch.check;
  if (watch.partial) options.partial = watch.partial;
  return options;
}

Json ServedModel::step_by_step(const RunRequest& request, const tasks::Example& example,
                               const decode::SearchOptions& search, const Watch& watch) const {
  tasks::ExplainOptions options;
  options.weights = options.map = false;
  options = explain_options(request, options, search, watch);
  Json answers = Json::array();
  for (const explain::TraceAnswer& answer : tasks::explain_text(model_, example, options).answers) {
    if (static_cast<int64_t>(answers.size()) == search.n_best) break;  // of a reader, there is one more to compare with
    answers.push_back(placed_json(answer_json(answer), answer, example));
  }
  return Json::array({answers});
}

Json ServedModel::in_groups(const RunRequest& request, const std::vector<tasks::Example>& examples,
                            const decode::SearchOptions& search, const Watch& watch) const {
  tasks::AnswerOptions options;
  options.search = search;
  options.check = watch.check;
  if (!model_.row().input().streamed && watch.partial) options.partial = watch.partial;
  const int64_t first = search.first_sentence;
  const int64_t step = model_.parameters() * std::max<int64_t>(1, search.sample ? search.n_best : search.beam);
  const size_t at_once = std::clamp(static_cast<size_t>(kStepWork / step), size_t{1}, kGroup);
  Json all = Json::array();
  for (size_t begin = 0; begin < examples.size(); begin += at_once) {
    watch.check();
    const auto group = std::span(examples).subspan(begin, std::min(at_once, examples.size() - begin));
    std::vector<std::string> prefixes;
    if (!request.prefix.empty()) prefixes.assign(group.size(), request.prefix);
    options.prefixes = prefixes;
    options.search.first_sentence = first + static_cast<int64_t>(begin);
    const std::vector<std::vector<tasks::Answer>> found = model_.answer(group, options);
    for (size_t i = 0; i < found.size(); ++i) {
      Json answers = Json::array();
      for (const tasks::Answer& answer : found[i]) answers.push_back(placed_json(json_of(answer), answer, group[i]));
      for (const tasks::Answer& answer : found[i]) watch.said(static_cast<int64_t>(answer.tokens.size()));
      all.push_back(std::move(answers));
    }
  }
  return all;
}

/// What to know before one trusts them; of several texts with the place of each.
Json ServedModel::notes(const std::vector<tasks::Example>& examples, const Json& answers, const Watch& watch) const {
  Json all = Json::array();
  for (size_t i = 0; i < examples.size(); ++i) {
    watch.check();
    const std::string where = examples.size() > 1 ? "texts[" + std::to_string(i) + "]: " : "";
    const int64_t parts = answers[i][0].value("parts", int64_t{1});
    const tasks::Ready source = model_.ready(examples[i]);
    for (const std::string& note : tasks::notes_on(model_, source, parts)) all.push_back(where + note);
  }
  return all;
}

bool ServedModel::has_crowds() const {
  return model_.row().input().streamed && !model_.reads_documents() && !model_.output().is_image();
}

std::shared_ptr<CrowdRequest> ServedModel::for_crowd(const RunRequest& request, const Limits& limits) const {
  const std::vector<tasks::Example> texts = text_examples(request);
  auto asked = std::make_shared<CrowdRequest>();
  asked->examples = texts.size();
  asked->options.search = search_for(request, limits);
  std::vector<std::string> prefixes;
  if (!request.prefix.empty()) prefixes.assign(texts.size(), request.prefix);
  asked->pieces = model_.pieces(texts, prefixes);
  if (!request.prefix_tokens.empty()) {  // of the whole text, as an explanation has it
    tasks::TaskModel::Piece whole{.ready = model_.ready(texts.at(0)), .prefix = request.prefix_tokens};
    whole.size = whole.ready.longest();
    asked->pieces.clear();
    asked->pieces.push_back(std::move(whole));
  }
  return asked;
}

std::string ServedModel::beginning(const CrowdRequest& request, std::span<const int32_t> tokens) const {
  return model_.output().written(tokens, request.pieces.at(0).ready);
}

std::string ServedModel::said(const RunRequest& request, CrowdRequest& found) const {
  std::vector<std::vector<tasks::Answer>> answers;
  for (size_t p = 0; p < found.pieces.size(); ++p) {
    answers.push_back(model_.answers(found.pieces[p], std::move(found.found[p]), found.options));
  }
  const std::vector<tasks::Example> texts = text_examples(request);
  Json all = Json::array();
  const auto whole = model_.whole(found.pieces, std::move(answers), found.examples, found.options);
  for (size_t e = 0; e < whole.size(); ++e) {
    Json one = Json::array();
    for (const tasks::Answer& answer : whole[e]) one.push_back(placed_json(json_of(answer), answer, texts[e]));
    all.push_back(std::move(one));
  }
  Json told = notes(texts, all, {});
  return dumped({{"model", name}, {"answers", std::move(all)}, {"notes", std::move(told)}});
}

std::string ServedModel::run(const RunRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  const decode::SearchOptions search = search_for(request, limits);
  const std::vector<tasks::Example> asked = examples(request, limits);
  // A text in several pieces is answered piece by piece, which nobody can watch.
  const bool text = model_.row().input().streamed;
  const bool one_piece =
      text && model_.parts(asked[0]).size() == 1 && model_.ready(asked[0]).length() <= tasks::longest_explained(model_);
  const bool watched = (watch.partial && one_piece) || !request.prefix_tokens.empty();
  Json answers = watched ? step_by_step(request, asked[0], search, watch) : in_groups(request, asked, search, watch);
  Json told = notes(asked, answers, watch);
  return dumped({{"model", name}, {"answers", std::move(answers)}, {"notes", std::move(told)}});
}

std::string ServedModel::explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  tasks::ExplainOptions options = explain_options(request, request.options, search_for(request, limits), watch);
  options.method = tasks::method_for(known_, options.method);
  options.numbers = static_cast<size_t>(limits.weights);
  options.most_tokens = limits.cost;
  const tasks::Example example = examples(request, limits).at(0);
  tasks::Explanation found = within_weights([&] { return tasks::explain(model_, example, options); });
  std::visit([&](auto& one) { one.model = name; }, found);
  if (const auto* look = std::get_if<explain::ImageLook>(&found)) return explain::look_json(*look);
  return explain::trace_json(std::get<explain::Trace>(found));
}

}  // namespace attend::serve
