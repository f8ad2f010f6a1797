#include "attend/tasks/image_corpus.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/captions.h"
#include "attend/data/image_file.h"
#include "attend/data/image_set.h"
#include "attend/data/npy.h"
#include "attend/data/resize.h"
#include "attend/data/shapes.h"
#include "attend/data/shuffle.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostImagesHeldOut = 5000;
constexpr int64_t kSceneSize = 60;

using StoredPtr = std::shared_ptr<const data::StoredImages>;

/// With the names of their labels, where they are needed.
Examples examples_of(data::ImageSetPtr set, bool labels) {
  const auto named = [set, labels](const data::LabelledImage& one) {
    return labels ? std::vector{set->labels().at(static_cast<size_t>(one.label))} : std::vector<std::string>();
  };
  return {set->size(),
          [set, named](int64_t i) {
            data::LabelledImage one = set->at(i);
            std::vector<std::string> right = named(one);
            return Example{.inputs = {std::move(one.image)}, .right = std::move(right), .name = std::move(one.name)};
          },
          [set, named](int64_t i) { return named(set->at(i)); }};
}

StoredPtr some_of(const data::StoredImages& all, std::span<const int64_t> numbers) {
  data::LabelledImages some;
  for (const int64_t number : numbers) some.push_back((*all.images())[static_cast<size_t>(number)]);
  return std::make_shared<data::StoredImages>(std::move(some), all.labels());
}

/// How many of `count` are held out.
int64_t held_count(int64_t count, double share) {
  require(share > 0 && share < 1, "held_out: expected a share between 0 and 1, got ", share);
  const int64_t held = std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(count)), 1, kMostImagesHeldOut);
  require(count > held, "train: expected at least two images, one to learn from and one to validate with, got ",
          count);
  return held;
}

std::vector<int64_t> order_of(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random random = Random(seed).named("held out");
  data::shuffle(order, random);
  return order;
}

/// A share of the images, drawn from all of them, to validate with; the rest to train on.
std::pair<StoredPtr, StoredPtr> held_out(const data::StoredImages& all, double share, uint64_t seed) {
  const int64_t held = held_count(all.size(), share);
  const std::vector<int64_t> order = order_of(all.size(), seed);
  const std::span<const int64_t> numbers = order;
  return {some_of(all, numbers.first(static_cast<size_t>(held))),
          some_of(all, numbers.subspan(static_cast<size_t>(held)))};
}

/// What the labels of images have to be.
struct Wanted {
  bool labels = true;                   // else none are
  std::vector<std::string> known = {};  // as they were learned; none: as they come
  bool keep_size = false;               // images of a folder are not fitted
};

StoredPtr read_labelled(const ImageFiles& data, const std::string& images, const std::string& labels,
                        const Wanted& wanted, data::Broken& broken) {
  require(!images.empty(), "images: expected an IDX file, a folder, or a built-in corpus, got none");
  require(fs::exists(images), images, ": expected an IDX file or a folder of images, found nothing of that name");
  require(!data::is_image_name(images), images, ": expected an IDX file or a folder of images, got one image");
  if (fs::is_directory(images)) {
    require(labels.empty(), "labels: the sub-folders of a folder are its labels already, got ", labels, " as well");
    const int64_t fitted_side = data.size > 0 ? data.size : data::FolderOptions{}.height;
    const int64_t side = wanted.keep_size ? 0 : fitted_side;
    const int64_t channels = data.channels > 0 ? data.channels : data::FolderOptions{}.channels;
    return data::read_folder(
        images, {.height = side, .width = side, .channels = channels, .known = wanted.known, .labelled = wanted.labels},
        broken);
  }
  if (!wanted.labels && labels.empty()) return data::read_idx_unlabelled(images);
  require(!labels.empty(), images, ": needs the IDX file of its labels as well (labels)");
  return data::read_idx_pair(images, labels, wanted.labels ? wanted.known : std::vector<std::string>());
}

struct SceneRow {
  std::string_view name;
  bool clutter;
};
constexpr SceneRow kScenes[] = {{"none", false}, {"translated", false}, {"cluttered", true}};

data::SceneOptions scene_options(const ImageFiles& data) {
  const SceneRow& row = row_named("scene", kScenes, data.scene);
  return {.size = data.size > 0 ? data.size : kSceneSize, .pieces = row.clutter ? data.pieces : 0};
}

/// The parts of a corpus of labelled images.
data::ImageCorpus labelled_corpus(const TaskOptions& options, bool labels, data::Broken& broken) {
  const ImageFiles& files = options.images;
  data::ImageCorpus corpus;
  if (!options.corpus.empty()) {
    require(files.images.empty(), "train: expected files or a built-in corpus, got both (corpus: ", options.corpus, ")");
    corpus = data::make_image_corpus(options.corpus, options.seed());
  } else {
    const StoredPtr all = read_labelled(files, files.images, files.labels, {labels}, broken);
    if (files.valid_images.empty()) {
      std::tie(corpus.valid, corpus.train) = held_out(*all, options.held_out, options.seed());
    } else {
      // A folder comes label by label: shuffled, its first images stand for all of them.
      const StoredPtr valid =
          read_labelled(files, files.valid_images, files.valid_labels, {labels, all->labels()}, broken);
      corpus.train = all, corpus.valid = some_of(*valid, order_of(valid->size(), options.seed()));
    }
    corpus.test = corpus.valid;
  }
  row_named("scene", kScenes, files.scene);
  return files.scene == "none" ? corpus : data::scenes_over(corpus, scene_options(files), options.seed());
}

Corpus labelled(const TaskOptions& options, bool labels) {
  data::Broken broken(data::on_broken_named(options.images.on_broken));
  const data::ImageCorpus sets = labelled_corpus(options, labels, broken);
  broken.settle("train");
  return {.train = examples_of(sets.train, labels),
          .valid = examples_of(sets.valid, labels),
          .test = examples_of(sets.test, labels),
          .labels = labels ? sets.train->labels() : std::vector<std::string>(),
          .report = broken.summary()};
}

Examples labelled_test(const TaskOptions& options, const Wanted& wanted) {
  const ImageFiles& files = options.images;
  data::Broken broken(data::on_broken_named(files.on_broken));
  if (!options.corpus.empty()) {
    return examples_of(labelled_corpus(options, wanted.labels, broken).test, wanted.labels);
  }
  const StoredPtr all = read_labelled(files, files.images, files.labels, wanted, broken);
  broken.settle("eval");
  if (files.scene == "none") return examples_of(all, wanted.labels);
  return examples_of(data::scenes_over({all, all, all}, scene_options(files), options.seed()).test, wanted.labels);
}

constexpr int64_t kShapesTrain = 20000, kShapesHeldOut = 1000;

/// Scenes of shapes with all captions that are right: those of one scene differ in what they begin with, so that a network
/// has to tell its objects apart to learn from them.
Examples shapes(data::ShapesPart part, const TaskOptions& task) {
  const int64_t size = task.images.size;
  const data::ShapesOptions options{.size = size > 0 ? size : data::ShapesOptions{}.size};
  const uint64_t seed = task.seed();
  const auto spoken = [](const data::ShapeScene& scene) {
    std::vector<data::Box> boxes;
    for (const int32_t object : scene.captions[0].speaks_of) {
      boxes.push_back(object < 0 ? data::Box{} : scene.objects[static_cast<size_t>(object)].box);
    }
    return boxes;
  };
  return {part == data::ShapesPart::kTrain ? kShapesTrain : kShapesHeldOut,
          [=](int64_t i) {
            data::ShapeScene scene = data::shape_scene(part, seed, i, options);
            return Example{.inputs = {scene.image},
                           .right = data::references(scene),
                           .name = "scene " + std::to_string(i),
                           .spoken = spoken(scene)};
          },
          [=](int64_t i) { return data::references(data::shape_scene(part, seed, i, options)); }};
}

constexpr int64_t kMostBytes = int64_t{4} << 30;

/// Images with captions, all in memory, fitted to one size unless they keep theirs.
Examples captioned(const ImageFiles& data, const std::string& names, data::Broken& broken, bool keep_size = false) {
  require(!data.captions.empty(), "captions: expected a file of captions, got none");
  require(fs::is_directory(data.images), "images: expected the folder of the images, got ", quoted(data.images));
  std::vector<Example> all;
  int64_t bytes = 0, side = data.size, channels = data.channels;  // 0: as the first image is
  for (data::CaptionExample& one : data::captioned_images({data.captions, data.images, names}, broken)) {
    try {
      Value value = read_image_value(one.file);
      if (auto* image = std::get_if<data::Image>(&value)) {
        if (side == 0) side = std::max(image->height, image->width);
        if (channels == 0) channels = image->channels;
        *image = keep_size ? data::with_channels(*image, channels) : data::fitted(*image, side, side, channels);
        bytes += static_cast<int64_t>(image->pixels.size());
      } else {
        bytes += static_cast<int64_t>(sizeof(real) * std::get<Tensor>(value).size());
      }
      all.push_back({.inputs = {std::move(value)}, .right = std::move(one.image.captions), .name = one.image.name});
    } catch (const Error& error) {
      if (broken.refuses()) throw;
      broken.add("images that cannot be read", one.image.name);
    }
    require(bytes <= kMostBytes, "images: more than ", kMostBytes >> 30,
            " GiB would be kept in memory; choose a smaller size");
  }
  return tasks::examples_of(std::move(all));
}

Examples chosen(const Examples& all, std::vector<int64_t> numbers) {
  const auto which = std::make_shared<const std::vector<int64_t>>(std::move(numbers));
  const auto number = [which](int64_t i) { return (*which)[static_cast<size_t>(i) % which->size()]; };
  return {static_cast<int64_t>(which->size()), [all, number](int64_t i) { return all.at(number(i)); },
          [all, number](int64_t i) { return all.right(number(i)); }};
}

/// Takes those that are validated with out of those that are trained on; refuses them where both were `listed`.
void keep_apart(Corpus& corpus, bool listed) {
  std::set<std::string> held;
  for (int64_t i = 0; i < corpus.valid.count; ++i) held.insert(corpus.valid.at(i).name);
  std::vector<int64_t> rest;
  std::string both;
  for (int64_t i = 0; i < corpus.train.count; ++i) {
    const std::string name = corpus.train.at(i).name;
    if (held.contains(name)) both = name;
    if (!held.contains(name)) rest.push_back(i);
  }
  if (both.empty()) return;
  require(!listed, "valid_names: expected images that are not among names, got ",
          corpus.train.count - static_cast<int64_t>(rest.size()), " that are in both, such as ", both);
  require(!rest.empty(), "valid_names: expected some of the images, got all of them");
  corpus.train = chosen(corpus.train, std::move(rest));
}

Corpus captioned_corpus(const TaskOptions& options) {
  const ImageFiles& files = options.images;
  if (!options.corpus.empty()) {
    require(options.corpus == kShapesCorpus, "corpus: captions are built in for ", kShapesCorpus, ", got ", quoted(options.corpus));
    return {.train = shapes(data::ShapesPart::kTrain, options),
            .valid = shapes(data::ShapesPart::kValid, options),
            .test = shapes(data::ShapesPart::kTest, options)};
  }
  data::Broken broken(data::on_broken_named(files.on_broken));
  Corpus corpus;
  corpus.train = captioned(files, files.names, broken);
  if (!files.valid_names.empty()) {
    corpus.valid = captioned(files, files.valid_names, broken);
    keep_apart(corpus, !files.names.empty());
  } else {
    const std::vector<int64_t> order = order_of(corpus.train.count, options.seed());
    const int64_t held = held_count(corpus.train.count, options.held_out);
    const Examples all = corpus.train;
    corpus.valid = chosen(all, {order.begin(), order.begin() + held});
    corpus.train = chosen(all, {order.begin() + held, order.end()});
  }
  broken.settle("train");
  corpus.test = corpus.valid, corpus.report = broken.summary();
  return corpus;
}

/// Whether a task's images have captions, else labels or nothing.
bool has_captions(const TaskRow& row) { return row.output == &kWordsOutput; }
bool has_labels(const TaskRow& row) { return row.output == &kLabelOutput; }

/// The image of a file within that folder; nothing where it is none, or lies elsewhere, whatever links lead there.
std::optional<data::Image> read_inside(const fs::path& folder, const fs::path& file) {
  std::error_code problem;
  const fs::path home = fs::canonical(folder, problem);
  const fs::path whole = problem ? fs::path() : fs::canonical(file, problem);
  if (problem || std::ranges::mismatch(home, whole).in1 != home.end()) return {};
  try {
    return data::read_image(whole);
  } catch (const Error&) {
    return {};
  }
}

bool is_features(const std::string& file) { return fs::path(file).extension() == ".npy"; }

}  // namespace

void keep_some(Example& example, int64_t most, Random& random) {
  if (most == 0 || static_cast<int64_t>(example.right.size()) <= most) return;
  data::shuffle(example.right, random);
  example.right.resize(static_cast<size_t>(most));
  example.spoken.clear();  // belonged to the one that came first
}

bool is_image_file(const std::string& file) { return is_features(file) || data::is_image_name(file); }

Value read_image_value(const std::string& file) {
  if (!is_features(file)) return data::read_image(file);
  Tensor features = data::read_npy(file);
  require(features.rank() == 3, file, ": expected features [channels,rows,columns], got ", features.shape());
  return features;
}

Corpus read_image_corpus(const TaskConfig& config) {
  if (has_captions(config.row())) return captioned_corpus(config.options);
  return labelled(config.options, has_labels(config.row()));
}

std::vector<Example> find_images(const TaskConfig& config, const std::vector<ValidExample>& wanted) {
  const ImageFiles& files = config.options.images;
  const std::string& images = files.valid_images.empty() ? files.images : files.valid_images;
  const bool by_name = config.options.corpus.empty() && fs::is_directory(images);
  Examples valid;
  if (!by_name) valid = read_image_corpus(config).valid;
  std::vector<Example> found;
  for (const ValidExample& one : wanted) {
    Example example;
    if (by_name) {
      const fs::path file = has_captions(config.row()) ? fs::path(images) / one.name : fs::path(one.name);
      if (std::optional<data::Image> image = read_inside(images, file)) example.inputs = {std::move(*image)};
      example.name = one.name;
    } else if (one.number < valid.count) {
      example = valid.at(one.number);
    }
    auto* image = example.inputs.empty() ? nullptr : std::get_if<data::Image>(&example.inputs[0]);
    if (!image || (!one.name.empty() && example.name != one.name)) continue;
    *image = data::fitted(*image, files.size, files.size, files.channels);
    found.push_back(std::move(example));
  }
  return found;
}

Examples read_image_test(const TaskConfig& config, const ImageFiles& files, const std::vector<std::string>& labels) {
  TaskOptions options = config.options;
  if (!files.images.empty()) {
    options.corpus.clear();
    options.images.images = files.images, options.images.labels = files.labels;
    options.images.captions = files.captions, options.images.names = files.names;
    if (!files.on_broken.empty()) options.images.on_broken = files.on_broken;
  }
  const bool keep = options.images.keep_size;
  if (!has_captions(config.row())) return labelled_test(options, {has_labels(config.row()), labels, keep});
  if (!options.corpus.empty()) return captioned_corpus(options).test;
  data::Broken broken(data::on_broken_named(options.images.on_broken));
  Examples all = captioned(options.images, options.images.names, broken, keep);
  broken.settle("eval");
  return all;
}

}  // namespace attend::tasks
