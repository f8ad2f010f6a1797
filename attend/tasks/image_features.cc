#include "attend/tasks/image_features.h"

#include <algorithm>

#include "attend/base/checksum.h"
#include "attend/base/error.h"
#include "attend/base/folder_file.h"
#include "attend/base/replacement.h"
#include "attend/data/npy.h"
#include "attend/models/image_networks.h"
#include "attend/models/pretrained_encoder.h"
#include "attend/nn/initial.h"
#include "attend/tasks/model_folder.h"
#include "attend/tensor/safetensors.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTogether = 16;  // images that are encoded at once
constexpr std::string_view kNowhere = "no";
constexpr const char *kWeightsFile = "weights.safetensors", *kCheckpointFile = "checkpoint.safetensors";
constexpr std::string_view kPart = "encoder.";

/// An encoder like the model's, with weights of its own, that is needed only while features are computed.
std::unique_ptr<models::Encoder> copied_encoder(TaskModel& model, const models::ImageEncoderOptions& options) {
  Random random(0);
  const nn::Blank blank;
  std::unique_ptr<models::Encoder> encoder = models::make_encoder(options, random);
  const std::vector<nn::NamedParam> all = nn::parameters(model.model());
  for (nn::NamedParam& p : nn::parameters(*encoder)) {
    const auto same = std::ranges::find(all, std::string(kPart) + p.name, &nn::NamedParam::name);
    require(same != all.end() && same->var.shape() == p.var.shape(), "features: this network has no parameter ", kPart,
            p.name, " of an encoder of images");
    std::ranges::copy(std::as_const(same->var).value(), p.var.value().data());
  }
  return encoder;
}

/// The encoder's weights of the run that goes on in this folder.
void take_saved(TaskModel& model, const fs::path& folder) {
  const SafetensorsFile file(file_within(folder, kCheckpointFile));
  for (nn::NamedParam& p : nn::parameters(model.model())) {
    const std::string name = "model." + p.name;
    if (!p.name.starts_with(kPart) || !file.find(name)) continue;
    const Tensor saved = file.read_finite(name);
    if (saved.shape() == p.var.shape()) std::ranges::copy(saved, p.var.value().data());
  }
}

/// Whether examples come again as they are: scenes and drawn images may be new each time.
bool come_again(const TaskOptions& options) { return options.corpus.empty() && options.images.scene == "none"; }

fs::path cache_folder(const TaskOptions& options, const fs::path& out) {
  if (!options.images.cache.empty()) return options.images.cache;
  fs::path whole = fs::absolute(out).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole += ".features";
}

std::string weights_key(const models::ImageEncoderOptions& options, models::Encoder& encoder) {
  Checksum sum;
  for (const nn::NamedParam& p : nn::parameters(encoder)) {
    sum.add(p.name);
    const Tensor& value = std::as_const(p.var).value();
    sum.add(std::as_bytes(std::span(value.data(), value.size())));
  }
  return options.kind + " " + std::to_string(options.stage) + " " + std::to_string(options.narrow) + " " + sum.text();
}

}  // namespace

models::ImageEncoderOptions image_encoder_options(const TaskConfig& config) {
  constexpr std::string_view kPrefix = "model.encoder.";
  models::ImageEncoderOptions options;
  SettingList settings;
  const std::vector<OptionInfo> known = describe_options(options);
  for (const OptionInfo& option : config.model.options) {
    if (!option.name.starts_with(kPrefix)) continue;
    const std::string name = option.name.substr(kPrefix.size());
    const bool is_auto = name == "positions" && option.value == "auto";  // of a network that may read text instead
    const bool is_one = std::ranges::find(known, name, &OptionInfo::name) != known.end();
    if (is_one && !is_auto) settings.push_back({name, option.value, ""});
  }
  set_options(options, settings);
  return options;
}

void check_encoder_weights(const TaskConfig& config) {
  if (!config.row().input().is_image()) return;
  const models::ImageEncoderOptions options = image_encoder_options(config);
  const bool published = models::find_image_network(options.kind) != nullptr;
  const std::string& cache = config.options.images.cache;
  with_places(config.given, "", [&] {
    require_option(
        cache.empty() || cache == kNowhere || (models::gives_fixed_grids(options) && come_again(config.options)),
        "cache",
        "expected images from files and a published network of which no stage is trained, as no other features can be "
        "kept; got "
        "encoder.kind ",
        options.kind, come_again(config.options) ? "" : " and images that are drawn");
  });
  with_places(config.given, "model.", [&] {
    require_option(published || options.weights.empty(), "encoder.weights",
                   "only published networks take weights of others, got encoder.kind ", options.kind);
    if (!published) return;
    const bool begun = !options.weights.empty() || !config.options.train.start_from.empty();
    require_option(begun || options.train_stages > 0, "encoder.kind", options.kind,
                   " is not trained here: give the file of its weights (encoder.weights), or train all of its stages "
                   "(encoder.train_stages)");
    if (!options.weights.empty()) models::check_pretrained(options, options.weights);
  });
}

std::string take_features(TaskModel& model, Corpus& corpus, const RunPlace& place, const Prepared& prepared) {
  const TaskOptions& run = model.config().options;
  if (!model.row().input().is_image()) return "";
  const models::ImageEncoderOptions options = image_encoder_options(model.config());
  if (!models::find_image_network(options.kind)) return "";
  std::string note;
  if (place.resume) {
    take_saved(model, place.folder);
  } else {
    if (!options.weights.empty()) {
      models::take_pretrained(model.model(), options, options.weights);
      note = "the encoder begins with the weights of " + options.weights;
    }
    if (!run.train.start_from.empty())
      models::take_weights(model.model(), file_within(run.train.start_from, kWeightsFile));
  }
  if (!models::gives_fixed_grids(options) || !come_again(run) || run.images.cache == kNowhere) return note;
  const std::unique_ptr<models::Encoder> encoder = copied_encoder(model, options);
  FeatureCache cache(cache_folder(run, place.out), options, *encoder);
  const int64_t total = corpus.train.count + corpus.valid.count;
  int64_t before = 0;
  const Done done = [&](int64_t count) { prepared("features", before + count, total); };
  corpus.train = cache.encoded(corpus.train, model.input(), done);
  before = corpus.train.count;
  corpus.valid = cache.encoded(corpus.valid, model.input(), done);
  corpus.test = corpus.valid;
  return note + (note.empty() ? "" : "; ") + std::to_string(cache.computed()) + " of " + std::to_string(total) +
         " images were encoded, the others found in " + cache_folder(run, place.out).string();
}

FeatureCache::FeatureCache(fs::path folder, const models::ImageEncoderOptions& options, models::Encoder& encoder)
    : folder_(std::move(folder)), options_(options), encoder_(encoder), key_(weights_key(options, encoder)) {
  require_writable(folder_);
}

fs::path FeatureCache::file_of(const data::Image& image) const {
  std::string name;
  for (const char* half : {"1 ", "2 "}) {  // 128 bits: with 64, some pair of a billion images could be taken for one
    Checksum sum;
    sum.add(half).add(key_).add(" " + std::to_string(image.height) + "×" + std::to_string(image.width) + " ");
    name += sum.add(std::as_bytes(std::span(image.pixels))).text();
  }
  return folder_ / (name + ".npy");
}

bool FeatureCache::has(const fs::path& file, const data::Image& image) const {
  if (!fs::exists(file)) return false;
  const models::GridSize grid = models::grid_size(options_, image.height, image.width);
  try {
    return data::read_npy(file).shape() == Shape{encoder_.output_size(), grid.height, grid.width};
  } catch (const Error&) {
    return false;
  }
}

void FeatureCache::compute(std::span<const data::Image> images, std::span<const fs::path> files) {
  if (images.empty()) return;
  const Tensor grids = models::fixed_grids(encoder_, data::to_tensor(images));
  const int64_t D = grids.dim(1), h = grids.dim(2), w = grids.dim(3);
  for (size_t i = 0; i < files.size(); ++i) {
    Tensor one({D, h, w});
    std::copy_n(grids.data() + static_cast<int64_t>(i) * D * h * w, D * h * w, one.data());
    write_file(files[i], data::encode_npy(one));
  }
  computed_ += std::ssize(images);
}

Examples FeatureCache::encoded(const Examples& examples, const Input& input, const Done& done) {
  std::vector<Example> kept;  // with the names of files in place of inputs
  auto files = std::make_shared<std::vector<fs::path>>();
  std::vector<data::Image> images;
  std::vector<fs::path> missing;
  const auto flush = [&] {
    compute(images, missing);
    images.clear(), missing.clear();
  };
  done(0);
  for (int64_t i = 0; i < examples.count; ++i) {
    Example example = examples.at(i);
    data::Image image = input.ready(example.inputs.at(0)).image;
    files->push_back(file_of(image));
    if (std::ranges::find(missing, files->back()) == missing.end() && !has(files->back(), image)) {
      if (!images.empty() && (images[0].height != image.height || images[0].width != image.width)) flush();
      images.push_back(std::move(image)), missing.push_back(files->back());
    }
    if (images.size() == kTogether) flush();
    example.inputs.clear();
    kept.push_back(std::move(example));
    if (i + 1 < examples.count) done(i + 1);
  }
  flush();
  done(examples.count);
  const Examples rest = examples_of(std::move(kept));
  const auto at = [rest, files](int64_t i) {
    Example example = rest.at(i);
    example.inputs = {data::read_npy((*files)[static_cast<size_t>(i) % files->size()])};
    return example;
  };
  return {rest.count, at, rest.right};
}

}  // namespace attend::tasks
