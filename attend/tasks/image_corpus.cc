#include "attend/tasks/image_corpus.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/image_set.h"
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
            return ImageExample{std::move(one.image), one.label, {}, std::move(one.name), one.box};
          }};
}

StoredPtr some_of(const data::StoredImages& all, std::span<const int64_t> numbers) {
  data::LabelledImages some;
  for (const int64_t number : numbers) some.push_back((*all.images())[static_cast<size_t>(number)]);
  return std::make_shared<data::StoredImages>(std::move(some), all.labels());
}

/// A share of the images, drawn from all of them, to validate with; the rest to train on.
std::pair<StoredPtr, StoredPtr> held_out(const data::StoredImages& all, double share, uint64_t seed) {
  require(share > 0 && share < 1, "held_out: a share between 0 and 1 is wanted, got ", share);
  const int64_t held =
      std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(all.size())), 1, kMostHeldOut);
  require(all.size() > held, "train: at least two images are wanted, one to learn from and one to validate with, got ",
          all.size());
  std::vector<int64_t> order(static_cast<size_t>(all.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random random = Random(seed).named("held out");
  data::shuffle(order, random);
  const std::span<const int64_t> numbers = order;
  return {some_of(all, numbers.first(static_cast<size_t>(held))),
          some_of(all, numbers.subspan(static_cast<size_t>(held)))};
}

StoredPtr read_labelled(const ImageData& data, const std::string& images, const std::string& labels,
                        data::Broken& broken) {
  require(!images.empty(), "images: an IDX file, a folder, or a built-in corpus is wanted, got none");
  if (fs::is_directory(images)) {
    require(labels.empty(), "labels: a folder's sub-folders are its labels, got ", labels, ", too");
    const int64_t side = data.size > 0 ? data.size : data::FolderOptions{}.height;
    const int64_t channels = data.channels > 0 ? data.channels : data::FolderOptions{}.channels;
    return data::read_folder(images, {.height = side, .width = side, .channels = channels}, broken);
  }
  require(!labels.empty(), images, ": the IDX file of its labels is wanted, too (labels)");
  return data::read_idx_pair(images, labels);
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
data::ImageCorpus labelled_corpus(const ImageData& data, uint64_t seed, data::Broken& broken) {
  data::ImageCorpus corpus;
  if (!data.corpus.empty()) {
    require(data.images.empty(), "train: files or a built-in corpus are wanted, got both (corpus: ", data.corpus, ")");
    corpus = data::make_image_corpus(data.corpus, seed);
  } else {
    const StoredPtr all = read_labelled(data, data.images, data.labels, broken);
    if (data.valid_images.empty()) {
      std::tie(corpus.valid, corpus.train) = held_out(*all, data.held_out, seed);
    } else {
      corpus.train = all, corpus.valid = read_labelled(data, data.valid_images, data.valid_labels, broken);
    }
    corpus.test = corpus.valid;
  }
  row_named("scene", kScenes, data.scene);
  return data.scene == "none" ? corpus : data::scenes_over(corpus, scene_options(data), seed);
}

}  // namespace

ImageCorpus read_image_corpus(const ImageData& data, ImageAnswers, uint64_t seed) {
  data::Broken broken(data::on_broken_named(data.on_broken));
  const data::ImageCorpus sets = labelled_corpus(data, seed, broken);
  broken.settle("train");
  return {examples_of(sets.train), examples_of(sets.valid), examples_of(sets.test), sets.train->labels(),
          broken.summary()};
}

ImageExamples read_image_test(const ImageData& data, ImageAnswers, uint64_t seed) {
  data::Broken broken(data::on_broken_named(data.on_broken));
  if (!data.corpus.empty()) return examples_of(labelled_corpus(data, seed, broken).test);
  const StoredPtr all = read_labelled(data, data.images, data.labels, broken);
  broken.settle("eval");
  if (data.scene == "none") return examples_of(all);
  return examples_of(data::scenes_over({all, all, all}, scene_options(data), seed).test);
}

}  // namespace attend::tasks
