// Models that look at images, and answer with a label, a caption or an image.
#include <algorithm>
#include <mutex>
#include <span>

#include "attend/base/base64.h"
#include "attend/base/names.h"
#include "attend/data/image_file.h"
#include "attend/tasks/image.h"
#include "attend/tasks/image_explanation.h"
#include "attend/tasks/task.h"
#include "serve/history.h"
#include "serve/served_model.h"

namespace attend::serve {
namespace {

namespace fs = std::filesystem;
using tasks::ImageAnswers;

constexpr int64_t kLeastSide = 4;             // pixels; there is nothing to see in less
constexpr size_t kWorst = 16, kGallery = 24;  // the others are spread over all that are better

std::string_view name_of(ImageAnswers answers) {
  constexpr std::string_view kNames[] = {"label", "caption", "image"};  // as the enumeration has them
  return kNames[static_cast<size_t>(answers)];
}

/// The image in the bytes of a request: what is wrong with them is the client's.
tasks::ImageExample decoded(const std::string& bytes, const Limits& limits) {
  return refusing([&] {
    try {
      const std::span file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      data::Image image = data::decode_image(file, "image", {.most_pixels = limits.image_pixels});
      require(std::min(image.height, image.width) >= kLeastSide, "image: at least ", kLeastSide,
              " pixels each way are wanted, got ", image.height, "×", image.width);
      return tasks::ImageExample{.image = std::move(image)};
    } catch (const data::TooManyPixels& error) {
      refuse(413, "too_large", error.what(), "; send a smaller one (this server's limit is --image-pixels)");
    }
  });
}

Json image_json(const data::Image& image) {
  return {{"image", base64(data::encode_png(image))}, {"width", image.width}, {"height", image.height}};
}

/// The worst, and some of the rest, the best last.
std::vector<ValidLine> chosen(std::vector<ValidLine> lines) {
  if (lines.size() <= kGallery) return lines;
  const size_t rest = lines.size() - kWorst, some = kGallery - kWorst;
  for (size_t i = 1; i <= some; ++i) lines[kWorst + i - 1] = std::move(lines[kWorst + i * rest / some - 1]);
  lines.resize(kGallery);
  return lines;
}

/// Without the folder before it, which is nobody's business.
std::string public_name(const std::string& name, const tasks::ImageData& data) {
  for (const std::string& folder : {data.valid_images, data.images}) {
    if (!folder.empty() && name.starts_with(folder))
      return name.substr(std::min(name.find_first_not_of('/', folder.size()), name.size()));
  }
  return name;
}

class ServedImages : public ServedModel {
 public:
  ServedImages(const std::string& name, const fs::path& folder)
      : ServedModel(name, folder), model_(tasks::ImageModel::load(folder)) {
    const tasks::ImageData& data = model_.config().options.data;
    require(data.size > 0 && (data.channels == 1 || data.channels == 3), folder.string(),
            ": a model that looks at images is wanted, got one that reads the features of another network");
    methods_ = tasks::look_methods(model_);
    description = describe();
  }

  void check(const RunRequest& request, const Limits& limits) const override;
  void check(const ExplainRequest& request, const Limits& limits) const override;
  std::string run(const RunRequest& request, const Limits& limits, const Watch& watch) const override;
  std::string explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const override;
  Json gallery() const override;

 private:
  Json describe() const;
  void check_asked(const Asked& asked, const decode::SearchOptions& search) const;
  decode::SearchOptions search_for(const Asked& asked, const Limits& limits) const;
  tasks::LookOptions look_for(const ExplainRequest& request, const Limits& limits) const;
  Json said(const tasks::ImageExample& example, const decode::SearchOptions& search, const Watch& watch) const;
  Json found_images() const;

  tasks::ImageModel model_;
  std::vector<std::string> methods_;
  // Finding images again may cost seconds; while it trains, valid.jsonl is written again and again.
  mutable std::mutex mutex_;
  mutable fs::file_time_type found_at_;
  mutable Json found_;
};

Json ServedImages::describe() const {
  const tasks::ImageOptions& options = model_.config().options;
  Json row = {{"name", name},
              {"reads", "image"},
              {"answers", name_of(model_.config().answers())},
              {"task", options.task},
              {"network", model_.config().model.name},
              {"parameters", model_.parameters()},
              {"size", options.data.size},
              {"channels", options.data.channels},
              {"methods", methods_}};
  if (!model_.labels().empty()) row["labels"] = model_.labels();
  if (model_.config().answers() == ImageAnswers::caption) row["target_vocabulary"] = model_.words().size();
  row["search"] = options_json(options.search);
  const std::string score(tasks::task_of(tasks::read_config(folder)).score);
  if (!score.empty()) row[score] = best_of(folder, score);
  return row;
}

decode::SearchOptions ServedImages::search_for(const Asked& asked, const Limits& limits) const {
  decode::SearchOptions search = search_of(model_.config().options.search, asked.search, limits);
  if (search.sample) search.beam = 1;  // the beam that a recipe names is for the likeliest answers
  return search;
}

void ServedImages::check_asked(const Asked& asked, const decode::SearchOptions& search) const {
  require(!asked.image.empty(), "image: the model ", attend::quoted(name),
          " looks at images (a PNG or JPEG file in base64), got a text");
  require(asked.prefix.empty() && asked.prefix_tokens.empty(), "prefix: a model that reads text is wanted, got ",
          attend::quoted(name));
  decode::check(search);
  require(search.coverage_penalty <= 0 || std::ranges::find(methods_, "attention") != methods_.end(),
          "coverage_penalty: a model whose decoder attends to its image is wanted; ask this one for 0");
}

tasks::LookOptions ServedImages::look_for(const ExplainRequest& request, const Limits& limits) const {
  return {.method = request.options.method,
          .search = search_for(request, limits),
          .target = request.options.target,
          .numbers = static_cast<size_t>(limits.weights)};
}

void ServedImages::check(const RunRequest& request, const Limits& limits) const {
  refusing([&] { check_asked(request, search_for(request, limits)); });
}

void ServedImages::check(const ExplainRequest& request, const Limits& limits) const {
  refusing([&] {
    const tasks::LookOptions options = look_for(request, limits);
    check_asked(request, options.search);
    for (const std::string& one : request.named) {
      require(one == "method", one, ": a model that reads text is wanted, got ", attend::quoted(name));
    }
    tasks::check_explain(model_, methods_, options);
  });
}

Json ServedImages::said(const tasks::ImageExample& example, const decode::SearchOptions& search,
                        const Watch& watch) const {
  Json answers = Json::array();
  const std::span one(&example, 1);
  if (model_.config().answers() == ImageAnswers::image) {
    answers.push_back(image_json(model_.rebuilt(one).at(0)));
    return answers;
  }
  explain::Recorder steps(
      [&](const explain::Recorder& heard) {
        watch.check();
        if (watch.partial) watch.partial(model_.words().decode(heard.likeliest(0)));
      },
      {.weights = false});
  const std::vector<std::vector<tasks::ImageAnswer>> found = model_.answer(model_.source(one), search, &steps);
  for (const tasks::ImageAnswer& answer : found.at(0)) answers.push_back(answer_json(answer));
  return answers;
}

std::string ServedImages::run(const RunRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  const tasks::ImageExample example = decoded(request.image, limits);
  Json answers = said(example, search_for(request, limits), watch);
  return dumped({{"model", name}, {"answers", Json::array({std::move(answers)})}, {"notes", Json::array()}});
}

std::string ServedImages::explain(const ExplainRequest& request, const Limits& limits, const Watch& watch) const {
  watch.check();
  const tasks::ImageExample example = decoded(request.image, limits);
  tasks::LookOptions options = look_for(request, limits);
  options.check = watch.check;
  explain::ImageLook look = within_weights([&] { return tasks::look(model_, example, options); });
  look.model = name;
  return explain::look_json(look);
}

Json ServedImages::found_images() const {
  std::vector<ValidLine> lines = chosen(valid_lines(folder));
  if (lines.empty()) lines.resize(kGallery);  // what is answered with an image has no words: the first ones
  std::vector<tasks::ValidImage> wanted;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool named = lines[i].said.is_object() && lines[i].said["source"].is_string();
    if (!named) lines[i].number = static_cast<int64_t>(i);
    wanted.push_back({lines[i].number, named ? lines[i].said["source"].get<std::string>() : ""});
  }
  const tasks::ImageOptions& options = model_.config().options;
  Json images = Json::array();
  for (const tasks::ImageExample& found :
       tasks::found_again(options.data, model_.config().answers(), static_cast<uint64_t>(options.train.seed), wanted)) {
    Json row = {{"name", public_name(found.name, options.data)}};
    const auto line = std::ranges::find_if(
        lines, [&](const ValidLine& one) { return one.said.is_object() && one.said["source"] == found.name; });
    for (const char* field : {"reference", "output", "chrf"}) {
      row[field] = line == lines.end() ? Json() : line->said[field];
    }
    row.update(image_json(found.image));
    images.push_back(std::move(row));
  }
  return images;
}

Json ServedImages::gallery() const {
  const std::lock_guard lock(mutex_);
  std::error_code none;
  const fs::file_time_type written = fs::last_write_time(folder / "valid.jsonl", none);
  if (found_.is_null() || written != found_at_) {
    found_at_ = written;
    found_ = {{"images", Json::array()}};
    try {
      found_["images"] = found_images();
    } catch (const Error&) {  // its files were moved or deleted since
    }
    if (found_["images"].empty()) {
      found_["note"] = "the images that this model was validated with are no longer where training found them";
    }
  }
  return found_;
}

}  // namespace

std::unique_ptr<ServedModel> load_images(const std::string& name, const fs::path& folder) {
  return std::make_unique<ServedImages>(name, folder);
}

}  // namespace attend::serve
