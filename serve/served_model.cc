#include "serve/served_model.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "attend/base/base64.h"
#include "attend/base/names.h"
#include "attend/data/image_file.h"
#include "attend/tasks/corpus.h"
#include "serve/history.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSentences = 500;
constexpr size_t kGroup = 16;                 // texts that are answered at once: the time between two checks
constexpr int64_t kLeastSide = 4;             // pixels; there is nothing to see in less
constexpr size_t kWorst = 16, kGallery = 24;  // of images; the others are spread over all that are better

/// Six decimals: what a float holds of a log-probability.
double rounded(double value) { return std::round(value * 1e6) / 1e6; }

Json image_json(const data::Image& image) {
  return {{"image", base64(data::encode_png(image))}, {"width", image.width}, {"height", image.height}};
}

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
  return json;
}

template <HasFields Options>
Json options_json(Options options) {
  Json all = Json::object();
  visit_fields(options, [&](const std::string& name, auto& field, const char*) { all[name] = field; });
  return all;
}

/// What is larger than allowed is noticed only while it is made.
template <class Make>
auto within_weights(Make&& make) {
  try {
    return make();
  } catch (const explain::TooLarge& error) {
    refuse(413, "too_large", error.what(), " (this server's limit is --weights)");
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

/// The worst, and some of the rest, the best last.
std::vector<ValidLine> chosen(std::vector<ValidLine> lines) {
  if (lines.size() <= kGallery) return lines;
  const size_t rest = lines.size() - kWorst, some = kGallery - kWorst;
  for (size_t i = 1; i <= some; ++i) lines[kWorst + i - 1] = std::move(lines[kWorst + i * rest / some - 1]);
  lines.resize(kGallery);
  return lines;
}

/// A file's name without the folder before it, which is nobody's business.
std::string public_name(const std::string& name, const tasks::ImageFiles& files) {
  for (const std::string& folder : {files.valid_images, files.images}) {
    if (!folder.empty() && name.starts_with(folder))
      return name.substr(std::min(name.find_first_not_of('/', folder.size()), name.size()));
  }
  return name;
}

}  // namespace

namespace {

/// A model whose input can be sent: a text, or an image of a known size.
tasks::TaskModel load_sendable(const fs::path& folder) {
  tasks::TaskModel model = tasks::TaskModel::load(folder);
  const tasks::ImageFiles& files = model.config().options.images;
  require(model.row().input().streamed || (files.size > 0 && (files.channels == 1 || files.channels == 3)),
          folder.string(), ": reads the features of another network, which cannot be sent here");
  return model;
}

}  // namespace

ServedModel::ServedModel(std::string name, fs::path folder)
    : name(std::move(name)),
      folder(std::move(folder)),
      model_(load_sendable(this->folder)),
      known_(tasks::explainable(model_)) {
  description = describe();
}

Json ServedModel::describe() const {
  const tasks::TaskOptions& options = model_.config().options;
  Json inputs = Json::array(), scores = Json::array();
  for (const tasks::TaskInput& input : model_.row().inputs) {
    inputs.push_back({{"name", input.name}, {"kind", input.kind->name}});
  }
  for (const std::string_view score : model_.row().scores) {
    const Json best = best_of(folder, std::string(score), tasks::score_named(score).better);
    if (!best.is_null()) scores.push_back({{"name", score}, {"title", tasks::score_named(score).title}, {"value", best}});
  }
  Json row = {{"name", name},
              {"inputs", std::move(inputs)},
              {"reads", model_.row().input().name},
              {"answers", model_.row().output->name},
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
  if (!model_.row().input().streamed) row["size"] = options.images.size, row["channels"] = options.images.channels;
  row["search"] = options_json(options.search);
  return row;
}

decode::SearchOptions ServedModel::search_for(const Asked& asked, const Limits& limits) const {
  return search_of(model_.config().options.search, asked.search, limits);
}

std::vector<tasks::Example> ServedModel::examples(const Asked& asked, const Limits& limits) const {
  if (!asked.image.empty()) return {{.inputs = {decoded(asked.image, limits)}}};
  std::vector<tasks::Example> all;
  for (const std::string& text : asked.texts) all.push_back({.inputs = {text}});
  return all;
}

/// Whether it reads what was sent, and can search as it was asked to.
void ServedModel::check_asked(const Asked& asked, const decode::SearchOptions& search) const {
  const bool text = model_.row().input().streamed;
  require(!text || asked.image.empty(), "text: the model ", attend::quoted(name), " reads text, got an image");
  require(text || !asked.image.empty(), "image: the model ", attend::quoted(name),
          " looks at images (a PNG or JPEG file in base64), got a text");
  require(text || (asked.prefix.empty() && asked.prefix_tokens.empty()),
          "prefix: only models that read text take one, not ", attend::quoted(name));
  decode::check(model_.output().search(search));
  const bool attends = text ? known_.attends()
                            : std::ranges::find(known_.methods, "attention") != known_.methods.end();
  require(search.coverage_penalty <= 0 || attends,
          "coverage_penalty: this model's decoder does not attend to its source; ask for 0");
}

void ServedModel::check_prefixes(const RunRequest& request, const decode::SearchOptions& search) const {
  if (request.prefix.empty() && request.prefix_tokens.empty()) return;
  for (const std::string& text : request.texts) {
    const tasks::Ready source = model_.input().ready(text);
    const std::vector<std::vector<int32_t>> prefix{
        request.prefix_tokens.empty() ? model_.output().encode(request.prefix, source) : request.prefix_tokens};
    const int64_t longest = tasks::longest_explained(model_);
    require(request.prefix_tokens.empty() || source.length() <= longest, "prefix_tokens: expected a text of at most ",
            longest, " tokens with them, got ", source.length());
    const tasks::Ready* const all[] = {&source};
    decode::check(model_.model(), model_.source(all), search, prefix);
  }
}

void ServedModel::check(const RunRequest& request, const Limits& limits) const {
  const decode::SearchOptions search = search_for(request, limits);
  refusing([&] {
    check_asked(request, search);
    check_prefixes(request, search);
  });
}

void ServedModel::check(const ExplainRequest& request, const Limits& limits) const {
  const decode::SearchOptions search = search_for(request, limits);
  refusing([&] {
    check_asked(request, search);
    for (const std::string& one : request.named) {
      require(model_.row().input().streamed || one == "method", one, ": only models that read text have this, not ",
              attend::quoted(name));
    }
    tasks::Example example;
    if (!request.texts.empty()) example.inputs = {request.texts[0]};
    tasks::check_explain(model_, known_, example, explain_options(request, request.options, search, {}));
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
  for (const explain::TraceAnswer& answer : tasks::explain_text(model_, example.text(), options).answers) {
    answers.push_back(answer_json(answer));
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
  Json all = Json::array();
  for (size_t begin = 0; begin < examples.size(); begin += kGroup) {
    watch.check();
    const auto group = std::span(examples).subspan(begin, std::min(kGroup, examples.size() - begin));
    std::vector<std::string> prefixes;
    if (!request.prefix.empty()) prefixes.assign(group.size(), request.prefix);
    options.prefixes = prefixes;
    options.search.first_sentence = first + static_cast<int64_t>(begin);
    for (const std::vector<tasks::Answer>& found : model_.answer(group, options)) {
      Json answers = Json::array();
      for (const tasks::Answer& answer : found) answers.push_back(json_of(answer));
      all.push_back(std::move(answers));
    }
  }
  return all;
}

/// What to know before one trusts them; of several texts with the place of each.
Json ServedModel::notes(const std::vector<tasks::Example>& examples, const Json& answers) const {
  Json all = Json::array();
  for (size_t i = 0; i < examples.size(); ++i) {
    const std::string where = examples.size() > 1 ? "texts[" + std::to_string(i) + "]: " : "";
    const int64_t parts = answers[i][0].value("parts", int64_t{1});
    const tasks::Ready source = model_.input().ready(examples[i].inputs[0]);
    for (const std::string& note : tasks::notes_on(model_, source, parts)) all.push_back(where + note);
  }
  return all;
}

std::string ServedModel::run(const RunRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  const decode::SearchOptions search = search_for(request, limits);
  const std::vector<tasks::Example> asked = examples(request, limits);
  // A text in several pieces is answered piece by piece, which nobody can watch.
  const bool text = model_.row().input().streamed;
  const bool one_piece = text && model_.input().parts(asked[0].inputs[0], model_.longest()).size() == 1 &&
                         model_.input().ready(asked[0].inputs[0]).length() <= tasks::longest_explained(model_);
  const bool watched = (watch.partial && one_piece) || !request.prefix_tokens.empty();
  Json answers = watched ? step_by_step(request, asked[0], search, watch) : in_groups(request, asked, search, watch);
  Json told = notes(asked, answers);
  return dumped({{"model", name}, {"answers", std::move(answers)}, {"notes", std::move(told)}});
}

std::string ServedModel::explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  tasks::ExplainOptions options = explain_options(request, request.options, search_for(request, limits), watch);
  options.method = tasks::method_for(known_, options.method);
  options.numbers = static_cast<size_t>(limits.weights);
  const tasks::Example example = examples(request, limits).at(0);
  tasks::Explanation found = within_weights([&] { return tasks::explain(model_, example, options); });
  std::visit([&](auto& one) { one.model = name; }, found);
  if (const auto* look = std::get_if<explain::ImageLook>(&found)) return explain::look_json(*look);
  return explain::trace_json(std::get<explain::Trace>(found));
}

Json ServedModel::images_in_gallery() const {
  std::vector<ValidLine> lines = chosen(valid_lines(folder));
  if (lines.empty()) lines.resize(kGallery);  // what is answered with an image has no words: the first ones
  std::vector<tasks::ValidExample> wanted;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool named = lines[i].said.is_object() && lines[i].said["source"].is_string();
    if (!named) lines[i].number = static_cast<int64_t>(i);
    wanted.push_back({lines[i].number, named ? lines[i].said["source"].get<std::string>() : ""});
  }
  Json images = Json::array();
  for (const tasks::Example& found : tasks::find_images(model_.config(), wanted)) {
    Json row = {{"name", public_name(found.name, model_.config().options.images)}};
    const auto line = std::ranges::find_if(
        lines, [&](const ValidLine& one) { return one.said.is_object() && one.said["source"] == found.name; });
    for (const char* field : {"reference", "output", "chrf"}) {
      row[field] = line == lines.end() ? Json() : line->said[field];
    }
    row.update(image_json(std::get<data::Image>(found.inputs.at(0))));
    images.push_back(std::move(row));
  }
  return images;
}

Json ServedModel::gallery() const {
  if (model_.row().input().streamed) {
    Json result = {{"sentences", Json::array()}};
    std::vector<ValidLine> lines = valid_lines(folder);
    if (lines.size() > kSentences) lines.resize(kSentences);
    for (ValidLine& line : lines) result["sentences"].push_back(std::move(line.said));
    if (lines.empty()) {
      result["note"] = "this model's folder has no valid.jsonl, which training writes where it validates with sentences";
    }
    return result;
  }
  const std::lock_guard lock(mutex_);
  std::error_code none;
  const fs::file_time_type written = fs::last_write_time(folder / "valid.jsonl", none);
  if (gallery_.is_null() || written != gallery_at_) {
    gallery_at_ = written;
    gallery_ = {{"images", Json::array()}};
    try {
      gallery_["images"] = images_in_gallery();
    } catch (const Error&) {  // its files were moved or deleted since
    }
    if (gallery_["images"].empty()) {
      gallery_["note"] = "the images that this model was validated with are no longer where training found them";
    }
  }
  return gallery_;
}

}  // namespace attend::serve
