#include "attend/tasks/image_corpus.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
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

constexpr int64_t kMostHeldOut = 5000;
constexpr int64_t kSceneSize = 60;

using StoredPtr = std::shared_ptr<const data::StoredImages>;

ImageExamples examples_of(data::ImageSetPtr set) {
  return {set->size(), [set](int64_t i) {
            data::LabelledImage one = set->at(i);
            return ImageExample{.image = std::move(one.image), .label = one.label, .name = std::move(one.name)};
          }};
}

StoredPtr some_of(const data::StoredImages& all, std::span<const int64_t> numbers) {
  data::LabelledImages some;
  for (const int64_t number : numbers) some.push_back((*all.images())[static_cast<size_t>(number)]);
  return std::make_shared<data::StoredImages>(std::move(some), all.labels());
}

/// How many of `count` are held out.
int64_t held_count(int64_t count, double share) {
  require(share > 0 && share < 1, "held_out: a share between 0 and 1 is wanted, got ", share);
  const int64_t held = std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(count)), 1, kMostHeldOut);
  require(count > held, "train: at least two images are wanted, one to learn from and one to validate with, got ",
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
};

StoredPtr read_labelled(const ImageData& data, const std::string& images, const std::string& labels,
                        const Wanted& wanted, data::Broken& broken) {
  require(!images.empty(), "images: an IDX file, a folder, or a built-in corpus is wanted, got none");
  require(fs::exists(images), images, ": an IDX file or a folder of images is wanted, got nothing of that name");
  require(!data::is_image_name(images), images, ": an IDX file or a folder of images is wanted, got one image");
  if (fs::is_directory(images)) {
    require(labels.empty(), "labels: a folder's sub-folders are its labels, got ", labels, ", too");
    const int64_t side = data.size > 0 ? data.size : data::FolderOptions{}.height;
    const int64_t channels = data.channels > 0 ? data.channels : data::FolderOptions{}.channels;
    return data::read_folder(
        images, {.height = side, .width = side, .channels = channels, .known = wanted.known, .labelled = wanted.labels},
        broken);
  }
  if (!wanted.labels && labels.empty()) return data::read_idx_unlabelled(images);
  require(!labels.empty(), images, ": the IDX file of its labels is wanted, too (labels)");
  return data::read_idx_pair(images, labels, wanted.labels ? wanted.known : std::vector<std::string>());
}

struct SceneRow {
  std::string_view name;
  bool clutter;
};
constexpr SceneRow kScenes[] = {{"none", false}, {"translated", false}, {"cluttered", true}};

data::SceneOptions scene_options(const ImageData& data) {
  const SceneRow& row = row_named("scene", kScenes, data.scene);
  return {.size = data.size > 0 ? data.size : kSceneSize, .pieces = row.clutter ? data.pieces : 0};
}

/// The parts of a corpus of labelled images.
data::ImageCorpus labelled_corpus(const ImageData& data, bool labels, uint64_t seed, data::Broken& broken) {
  data::ImageCorpus corpus;
  if (!data.corpus.empty()) {
    require(data.images.empty(), "train: files or a built-in corpus are wanted, got both (corpus: ", data.corpus, ")");
    corpus = data::make_image_corpus(data.corpus, seed);
  } else {
    const StoredPtr all = read_labelled(data, data.images, data.labels, {labels}, broken);
    if (data.valid_images.empty()) {
      std::tie(corpus.valid, corpus.train) = held_out(*all, data.held_out, seed);
    } else {
      // A folder comes label by label: shuffled, its first images stand for all of them.
      const StoredPtr valid =
          read_labelled(data, data.valid_images, data.valid_labels, {labels, all->labels()}, broken);
      corpus.train = all, corpus.valid = some_of(*valid, order_of(valid->size(), seed));
    }
    corpus.test = corpus.valid;
  }
  row_named("scene", kScenes, data.scene);
  return data.scene == "none" ? corpus : data::scenes_over(corpus, scene_options(data), seed);
}

ImageCorpus labelled(const ImageData& data, bool labels, uint64_t seed) {
  data::Broken broken(data::on_broken_named(data.on_broken));
  const data::ImageCorpus sets = labelled_corpus(data, labels, seed, broken);
  broken.settle("train");
  return {examples_of(sets.train), examples_of(sets.valid), examples_of(sets.test),
          labels ? sets.train->labels() : std::vector<std::string>(), broken.summary()};
}

ImageExamples labelled_test(const ImageData& data, const Wanted& wanted, uint64_t seed) {
  data::Broken broken(data::on_broken_named(data.on_broken));
  if (!data.corpus.empty()) return examples_of(labelled_corpus(data, wanted.labels, seed, broken).test);
  const StoredPtr all = read_labelled(data, data.images, data.labels, wanted, broken);
  broken.settle("eval");
  if (data.scene == "none") return examples_of(all);
  return examples_of(data::scenes_over({all, all, all}, scene_options(data), seed).test);
}

constexpr std::string_view kShapes = "shapes";
constexpr int64_t kShapesTrain = 20000, kShapesHeldOut = 1000;

/// Scenes of shapes with all captions that are right: those of one scene differ in what they begin with, so that a network
/// has to tell its objects apart to learn from them.
ImageExamples shapes(data::ShapesPart part, const ImageData& data, uint64_t seed) {
  const data::ShapesOptions options{.size = data.size > 0 ? data.size : data::ShapesOptions{}.size};
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
            return ImageExample{.image = std::move(scene.image),
                                .captions = data::references(scene),
                                .name = "scene " + std::to_string(i),
                                .spoken = spoken(scene)};
          },
          [=](int64_t i) { return data::references(data::shape_scene(part, seed, i, options)); }};
}

constexpr int64_t kMostBytes = int64_t{4} << 30;

/// Images with captions, all in memory, fitted to one size.
ImageExamples captioned(const ImageData& data, const std::string& names, data::Broken& broken) {
  require(!data.captions.empty(), "captions: a file of captions is wanted, got none");
  require(fs::is_directory(data.images), "images: the folder of the images is wanted, got ", quoted(data.images));
  const auto all = std::make_shared<std::vector<ImageExample>>();
  int64_t bytes = 0, side = data.size, channels = data.channels;  // 0: as the first image is
  for (data::CaptionExample& one : data::captioned_images({data.captions, data.images, names}, broken)) {
    try {
      ImageExample read = read_example(one.file);
      if (!read.features.defined()) {
        if (side == 0) side = std::max(read.image.height, read.image.width);
        if (channels == 0) channels = read.image.channels;
        read.image = data::fitted(read.image, side, side, channels);
      }
      read.captions = std::move(one.image.captions), read.name = one.image.name;
      bytes += static_cast<int64_t>(read.image.pixels.size() + sizeof(real) * read.features.size());
      all->push_back(std::move(read));
    } catch (const Error& error) {
      if (broken.refuses()) throw;
      broken.add("images that cannot be read", one.image.name);
    }
    require(bytes <= kMostBytes, "images: at most ", kMostBytes >> 30,
            " GiB are kept in memory; ask for a smaller size");
  }
  return {static_cast<int64_t>(all->size()), [all](int64_t i) { return (*all)[static_cast<size_t>(i) % all->size()]; },
          [all](int64_t i) { return (*all)[static_cast<size_t>(i) % all->size()].captions; }};
}

ImageExamples chosen(const ImageExamples& all, std::vector<int64_t> numbers) {
  const auto which = std::make_shared<const std::vector<int64_t>>(std::move(numbers));
  const auto number = [which](int64_t i) { return (*which)[static_cast<size_t>(i) % which->size()]; };
  return {static_cast<int64_t>(which->size()), [all, number](int64_t i) { return all.at(number(i)); },
          [all, number](int64_t i) { return all.captions(number(i)); }};
}

/// Takes those that are validated with out of those that are trained on; refuses them where both were `listed`.
void keep_apart(ImageCorpus& corpus, bool listed) {
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
  require(!listed, "valid_names: images that are not among names are wanted, got ",
          corpus.train.count - static_cast<int64_t>(rest.size()), " of both, such as ", both);
  require(!rest.empty(), "valid_names: some of the images are wanted, got all of them");
  corpus.train = chosen(corpus.train, std::move(rest));
}

ImageCorpus captioned_corpus(const ImageData& data, uint64_t seed) {
  if (!data.corpus.empty()) {
    require(data.corpus == kShapes, "corpus: captions are built in for ", kShapes, ", got ", quoted(data.corpus));
    return {shapes(data::ShapesPart::kTrain, data, seed),
            shapes(data::ShapesPart::kValid, data, seed),
            shapes(data::ShapesPart::kTest, data, seed),
            {},
            ""};
  }
  data::Broken broken(data::on_broken_named(data.on_broken));
  ImageCorpus corpus;
  corpus.train = captioned(data, data.names, broken);
  if (!data.valid_names.empty()) {
    corpus.valid = captioned(data, data.valid_names, broken);
    keep_apart(corpus, !data.names.empty());
  } else {
    const std::vector<int64_t> order = order_of(corpus.train.count, seed);
    const int64_t held = held_count(corpus.train.count, data.held_out);
    const ImageExamples all = corpus.train;
    corpus.valid = chosen(all, {order.begin(), order.begin() + held});
    corpus.train = chosen(all, {order.begin() + held, order.end()});
  }
  broken.settle("train");
  corpus.test = corpus.valid, corpus.report = broken.summary();
  return corpus;
}

/// Nothing where it is no image, or lies elsewhere, whatever links lead there.
ImageExample read_inside(const fs::path& folder, const fs::path& file) {
  std::error_code problem;
  const fs::path home = fs::canonical(folder, problem);
  const fs::path whole = problem ? fs::path() : fs::canonical(file, problem);
  if (problem || std::ranges::mismatch(home, whole).in1 != home.end()) return {};
  try {
    return {.image = data::read_image(whole)};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void keep_captions(ImageExample& example, int64_t most, Random& random) {
  std::vector<std::string>& captions = example.captions;
  if (most == 0 || static_cast<int64_t>(captions.size()) <= most) return;
  data::shuffle(captions, random);
  captions.resize(static_cast<size_t>(most));
  example.spoken.clear();  // was of the one that came first
}

ImageExample read_example(const std::string& file) {
  if (fs::path(file).extension() != ".npy") return {.image = data::read_image(file), .name = file};
  const Tensor features = data::read_npy(file);
  require(features.rank() == 3, file, ": features [channels,rows,columns] are wanted, got ", features.shape());
  return {.features = features, .name = file};
}

ImageCorpus read_image_corpus(const ImageData& data, ImageAnswers answers, uint64_t seed) {
  if (answers == ImageAnswers::caption) return captioned_corpus(data, seed);
  return labelled(data, answers == ImageAnswers::label, seed);
}

std::vector<ImageExample> found_again(const ImageData& data, ImageAnswers answers, uint64_t seed,
                                      const std::vector<ValidImage>& wanted) {
  const std::string& images = data.valid_images.empty() ? data.images : data.valid_images;
  const bool by_name = data.corpus.empty() && fs::is_directory(images);
  ImageExamples valid;
  if (!by_name) valid = read_image_corpus(data, answers, seed).valid;
  std::vector<ImageExample> found;
  for (const ValidImage& one : wanted) {
    ImageExample example;
    if (by_name) {
      example =
          read_inside(images, answers == ImageAnswers::caption ? fs::path(images) / one.name : fs::path(one.name));
      example.name = one.name;
    } else if (one.number < valid.count) {
      example = valid.at(one.number);
    }
    if (example.image.pixels.empty() || (!one.name.empty() && example.name != one.name)) continue;
    example.image = data::fitted(example.image, data.size, data.size, data.channels);
    found.push_back(std::move(example));
  }
  return found;
}

ImageExamples read_image_test(const ImageData& data, ImageAnswers answers, uint64_t seed,
                              const std::vector<std::string>& labels) {
  if (answers != ImageAnswers::caption) return labelled_test(data, {answers == ImageAnswers::label, labels}, seed);
  if (!data.corpus.empty()) return captioned_corpus(data, seed).test;
  data::Broken broken(data::on_broken_named(data.on_broken));
  ImageExamples all = captioned(data, data.names, broken);
  broken.settle("eval");
  return all;
}

}  // namespace attend::tasks
