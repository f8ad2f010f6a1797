#include <algorithm>

#include "attend/base/error.h"
#include "attend/data/resize.h"
#include "attend/tasks/image_corpus.h"
#include "attend/tasks/input.h"
#include "attend/tasks/model_folder.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kImageFiles[] = {"images", "labels", "captions"};
constexpr std::string_view kImageDerived[] = {"channels",         "height",         "width",
                                         "encoder.channels", "encoder.height", "encoder.width"};

constexpr int64_t kMostSide = 4096, kMostNumbers = int64_t{1} << 26;
constexpr int64_t kLeastKept = 8, kMostKept = 2048;  // sides of images that keep their size

/// Features [D,h,w] of all examples as [B,D,h,w].
Tensor stacked(std::span<const Ready* const> batch) {
  const Shape& shape = batch[0]->features.shape();
  Tensor all({static_cast<int64_t>(batch.size()), shape[0], shape[1], shape[2]});
  real* out = all.data();
  for (const Ready* one : batch) {
    require(one->features.defined() && one->features.shape() == shape, "image: expected features of shape ", shape,
            " as before, got another shape or an image");
    out = std::copy(one->features.begin(), one->features.end(), out);
  }
  return all;
}

/// An image that is not scaled: neither so small that nothing can be seen, nor so large that memory would not do.
data::Image kept(const data::Image& image, int64_t channels, const std::string& name) {
  const auto [least, most] = std::minmax(image.height, image.width);
  require(least >= kLeastKept && most <= kMostKept, name, ": images keep their size here (keep_size): expected ",
          kLeastKept, " to ", kMostKept, " pixels a side, got ", image.height, " × ", image.width,
          "; scale the image, or train with keep_size false");
  return data::with_channels(image, channels);
}

class ImageInput : public Input {
 public:
  using Input::Input;

  void learn(const Corpus& corpus, TaskConfig& config, const Prepared&) override {
    require(corpus.train.count > 0, "train: expected at least one image, got none");
    const Example first = corpus.train.at(0);
    ImageFiles& files = config.options.images;
    if (const auto* features = std::get_if<Tensor>(&first.inputs.at(0))) {
      const auto kind = std::ranges::find(config.model.options, "model.encoder.kind", &OptionInfo::name);
      require(kind != config.model.options.end() && kind->value == "none", first.name,
              ": features are read as they are by model.encoder.kind none, got ",
              kind == config.model.options.end() ? "the network " + config.model.name : kind->value);
      files.size = features->dim(1) == features->dim(2) ? features->dim(1) : 0;
      files.channels = features->dim(0);
      return;
    }
    const data::Image& image = std::get<data::Image>(first.inputs[0]);
    if (files.size == 0) files.size = std::max(image.height, image.width);
    if (files.channels == 0) files.channels = image.channels;
  }

  void share(const Input&) override {}  // the configuration has it all
  void load(const std::filesystem::path& folder) override {
    const int64_t size = files().size, channels = files().channels;
    require(size >= 0 && channels >= 0 && size <= kMostSide &&
                channels <= kMostNumbers / std::max<int64_t>(1, size * size),
            (folder / kConfig).native(), ": expected images of at most ", kMostSide, "×", kMostSide, " pixels and ",
            kMostNumbers, " numbers, got size ", size, " and ", channels, " channels");
  }
  void save(const std::filesystem::path&) const override {}

  Settings sizes() const override {
    const std::string side = files().keep_size ? "0" : std::to_string(files().size);  // 0: of any size
    const std::string channels = std::to_string(files().channels);
    return {{"channels", channels},         {"height", side},         {"width", side},
            {"encoder.channels", channels}, {"encoder.height", side}, {"encoder.width", side}};
  }

  Ready ready(const Value& value) const override {
    const auto* image = std::get_if<data::Image>(&value);
    require(image || std::holds_alternative<Tensor>(value), name(), ": expected an image, got a ",
            std::holds_alternative<std::string>(value) ? "text" : "sound");
    if (const auto* features = std::get_if<Tensor>(&value)) return {.features = *features};
    if (files().keep_size) return {.image = kept(*image, files().channels, name())};
    return {.image = data::fitted(*image, files().size, files().size, files().channels)};
  }

  std::vector<Ready> parts(const Value& value, int64_t) const override { return {ready(value)}; }
  std::vector<Ready> windows(const Value& value, int64_t, int64_t) const override { return {ready(value)}; }

  void add_to(data::Source& source, std::span<const Ready* const> batch) const override {
    if (batch[0]->features.defined()) {
      source.add(name(), stacked(batch));
      return;
    }
    std::vector<data::Image> images;
    for (const Ready* one : batch) {
      require(!one->features.defined(), "image: expected an image as before, got features");
      images.push_back(one->image);
    }
    source.add(name(), data::to_tensor(images));
  }

  Value typed(const std::string& given) const override { return read_image_value(given); }
  Value trial() const override { return data::Image(files().size, files().size, files().channels); }
  explain::TraceSide side(const Ready&, int64_t) const override { return {}; }

 private:
  const ImageFiles& files() const { return options().images; }
};

Examples image_test(const TaskConfig& config, const TestFiles& files, const std::vector<std::string>& labels) {
  return read_image_test(config, files.images, labels);
}

}  // namespace

constinit const InputRow kImageInput{
    "image", models::Reads::images, "images", "images", "PNG or JPEG files, or .npy features", false, 64, kImageFiles,
    kImageDerived, make_input<ImageInput>, read_image_corpus, image_test};

}  // namespace attend::tasks
