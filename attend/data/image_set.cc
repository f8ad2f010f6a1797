#include "attend/data/image_set.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/random.h"
#include "attend/data/digits.h"
#include "attend/data/idx.h"
#include "attend/data/puzzles.h"
#include "attend/data/resize.h"

namespace attend::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kTrain = 50'000, kValid = 5'000, kTest = 10'000;

std::vector<std::string> digit_labels() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem)) {
    entries.push_back(entry->path());
  }
  require(!problem, folder.native(), ": cannot list the folder: ", problem.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

struct LabelledFile {
  fs::path path;
  int32_t label = 0;
};

std::vector<fs::path> images_in(const fs::path& folder) {
  std::vector<fs::path> images = sorted_entries(folder);
  std::erase_if(images, [](const fs::path& entry) { return fs::is_directory(entry) || !is_image_name(entry); });
  return images;
}

/// The number of a sub-folder's label: one of the known ones, or a new one.
int32_t label_of(const fs::path& entry, const std::vector<std::string>& known, std::vector<std::string>& labels) {
  const std::string name = entry.filename().native();
  if (known.empty()) labels.push_back(name);
  const auto found = std::ranges::find(labels, name);
  if (found == labels.end()) {
    std::string list;
    for (const std::string& label : known) list += (list.empty() ? "" : ", ") + label;
    fail(entry.native(), ": expected a label that was learned as the sub-folder's name, one of ", list, ", got ",
         quoted(name));
  }
  return static_cast<int32_t>(found - labels.begin());
}

std::vector<LabelledFile> files_by_label(const fs::path& folder, const std::vector<std::string>& known,
                                         std::vector<std::string>& labels) {
  std::vector<LabelledFile> files;
  labels = known;
  for (const fs::path& entry : sorted_entries(folder)) {
    const std::vector<fs::path> images = fs::is_directory(entry) ? images_in(entry) : std::vector<fs::path>();
    if (images.empty()) continue;
    const int32_t label = label_of(entry, known, labels);
    for (const fs::path& file : images) files.push_back({file, label});
  }
  require(labels.size() >= 2, folder.native(),
          ": expected a sub-folder for each of two labels or more, with PNG or JPEG files in it, got ", labels.size());
  require(!files.empty(), folder.native(), ": expected sub-folders with PNG or JPEG files, got none");
  return files;
}

std::vector<LabelledFile> all_files(const fs::path& folder) {
  std::vector<LabelledFile> files;
  for (const fs::path& file : images_in(folder)) files.push_back({file});
  for (const fs::path& entry : sorted_entries(folder)) {
    if (!fs::is_directory(entry)) continue;
    for (const fs::path& file : images_in(entry)) files.push_back({file});
  }
  require(!files.empty(), folder.native(), ": expected PNG or JPEG files in it or in its sub-folders, got none");
  return files;
}

std::vector<std::string> numbered(int32_t last) {
  std::vector<std::string> names;
  for (int32_t i = 0; i <= last; ++i) names.push_back(std::to_string(i));
  return names;
}

LabelledImages named_after(const fs::path& file, std::vector<Image> images, std::span<const int32_t> labels) {
  LabelledImages both;
  both.reserve(images.size());
  for (size_t i = 0; i < images.size(); ++i) {
    both.push_back({std::move(images[i]), labels[i], file.filename().native() + ":" + std::to_string(i)});
  }
  return both;
}

/// Images [begin, end) of a set.
std::shared_ptr<const StoredImages> part_of(const StoredImages& set, int64_t begin, int64_t end) {
  return std::make_shared<StoredImages>(LabelledImages(set.images()->begin() + begin, set.images()->begin() + end),
                                        set.labels());
}

uint64_t seed_named(uint64_t seed, std::string_view name) { return Random(seed).named(name).next_key(); }

/// Plain, or with ".gz".
fs::path mnist_file(const fs::path& folder, const std::string& name) {
  fs::path packed = folder / (name + ".gz");
  return fs::exists(packed) ? packed : folder / name;
}

ImageCorpus make_digits(uint64_t seed) {
  const auto part = [&](int64_t count, std::string_view name) {
    return std::make_shared<DrawnDigits>(count, seed_named(seed, name));
  };
  return {part(kTrain, "train"), part(kValid, "valid"), part(kTest, "test")};
}

/// Images that are drawn each time they are asked for.
class DrawnPuzzles : public ImageSet {
 public:
  using Draw = LabelledImage (*)(uint64_t seed, int64_t index);
  DrawnPuzzles(std::vector<std::string> labels, Draw draw, int64_t count, uint64_t seed)
      : ImageSet(std::move(labels)), draw_(draw), count_(count), seed_(seed) {}

  int64_t size() const override { return count_; }
  LabelledImage at(int64_t index) const override { return draw_(seed_, index % count_); }

 private:
  Draw draw_;
  int64_t count_;
  uint64_t seed_;
};

ImageCorpus make_puzzles(const std::vector<std::string>& labels, DrawnPuzzles::Draw draw, uint64_t seed) {
  const auto part = [&](int64_t count, std::string_view name) {
    return std::make_shared<DrawnPuzzles>(labels, draw, count, seed_named(seed, name));
  };
  return {part(kTrain, "train"), part(kValid, "valid"), part(kTest, "test")};
}

ImageCorpus make_odd_one(uint64_t seed) {
  return make_puzzles({"upper left", "upper right", "lower left", "lower right"}, odd_one, seed);
}

ImageCorpus make_dots(uint64_t seed) { return make_puzzles({"1", "2", "3", "4", "5"}, dots, seed); }

template <int64_t size, int64_t pieces>
ImageCorpus make_scenes(uint64_t seed) {
  return scenes_over(make_digits(seed), {.size = size, .pieces = pieces}, seed);
}

constexpr ImageCorpusRow kImageCorpora[] = {
    {"digits", "handwriting-like digits, 28×28", make_digits},
    {"translated", "a digit anywhere on 60×60", make_scenes<60, 0>},
    {"cluttered", "a digit anywhere on 60×60 among 4 pieces of others", make_scenes<60, 4>},
    {"cluttered-100", "a digit anywhere on 100×100 among 8 pieces of others", make_scenes<100, 8>},
    {"odd-one", "four bars on 48×48, one of which lies across the others: where is it?", make_odd_one},
    {"dots", "one to five dots on 48×48: how many?", make_dots},
};

}  // namespace

StoredImages::StoredImages(LabelledImages images, std::vector<std::string> labels) : ImageSet(std::move(labels)) {
  require(!images.empty(), "image set: expected at least one image, got none");
  const auto count = static_cast<int32_t>(this->labels().size());
  for (const LabelledImage& image : images) {
    require(image.label >= 0 && image.label < count, image.name, ": expected a label below ", count, ", got ",
            image.label);
  }
  images_ = std::make_shared<const LabelledImages>(std::move(images));
}

LabelledImage StoredImages::at(int64_t index) const {
  require(index >= 0, "image set: expected an index of at least 0, got ", index);
  return (*images_)[static_cast<size_t>(index % size())];
}

std::shared_ptr<const StoredImages> read_idx_pair(const fs::path& images, const fs::path& labels,
                                                  const std::vector<std::string>& known) {
  std::vector<Image> pictures = read_idx_images(images);
  const std::vector<int32_t> numbers = read_idx_labels(labels);
  require(pictures.size() == numbers.size(), labels.native(), ": expected a label for each of the ", pictures.size(),
          " images of ", images.native(), ", got ", numbers.size());
  require(!numbers.empty(), labels.native(), ": expected at least one label, got none");
  return std::make_shared<StoredImages>(named_after(images, std::move(pictures), numbers),
                                        known.empty() ? numbered(*std::ranges::max_element(numbers)) : known);
}

std::shared_ptr<const StoredImages> read_idx_unlabelled(const fs::path& images) {
  std::vector<Image> pictures = read_idx_images(images);
  const std::vector<int32_t> none(pictures.size());
  return std::make_shared<StoredImages>(named_after(images, std::move(pictures), none), std::vector<std::string>(1));
}

std::shared_ptr<const StoredImages> read_folder(const fs::path& folder, const FolderOptions& options, Broken& broken) {
  const bool keep = options.height == 0 && options.width == 0;
  require((keep || (options.height > 0 && options.width > 0)) && (options.channels == 1 || options.channels == 3),
          "read_folder: expected a size of at least 1×1 with 1 or 3 channels, got ", options.height, "×", options.width,
          "×", options.channels);
  std::vector<std::string> labels(1);
  const std::vector<LabelledFile> files =
      options.labelled ? files_by_label(folder, options.known, labels) : all_files(folder);
  const int64_t bytes = options.height * options.width * options.channels;
  require(bytes <= options.most_bytes / static_cast<int64_t>(files.size()), folder.native(), ": expected at most ",
          options.most_bytes, " bytes, got ", files.size(), " images of ", bytes, "; a smaller size needs less");
  LabelledImages images;
  int64_t kept = 0;
  for (const LabelledFile& file : files) {
    require(kept <= options.most_bytes, folder.native(), ": expected at most ", options.most_bytes,
            " bytes, got more of images that keep their size");
    try {
      Image image = read_image(file.path, options.limits);
      image = keep ? with_channels(image, options.channels)
                   : fitted(image, options.height, options.width, options.channels);
      kept += static_cast<int64_t>(image.pixels.size());
      images.push_back({std::move(image), file.label, file.path.native()});
    } catch (const Error& error) {
      if (broken.refuses()) throw;
      broken.add("images that cannot be read", error.what());
    }
  }
  require(!images.empty(), folder.native(), ": expected images, got ", broken.summary());
  return std::make_shared<StoredImages>(std::move(images), std::move(labels));
}

DrawnDigits::DrawnDigits(int64_t count, uint64_t seed) : ImageSet(digit_labels()), count_(count), seed_(seed) {
  require(count > 0, "digits: expected at least one, got ", count);
}

LabelledImage DrawnDigits::at(int64_t index) const { return digit(seed_, index < 0 ? index : index % count_); }

std::shared_ptr<const StoredImages> stored(const ImageSet& set) {
  LabelledImages images;
  images.reserve(static_cast<size_t>(set.size()));
  for (int64_t i = 0; i < set.size(); ++i) images.push_back(set.at(i));
  return std::make_shared<StoredImages>(std::move(images), set.labels());
}

SceneImages::SceneImages(const StoredImages& digits, SceneOptions options, uint64_t seed, bool fresh)
    : ImageSet(digits.labels()), scenes_(digits.images(), options, seed), fresh_(fresh) {}

LabelledImage SceneImages::at(int64_t index) const { return scenes_.at(fresh_ || index < 0 ? index : index % size()); }

std::span<const ImageCorpusRow> image_corpora() { return kImageCorpora; }

ImageCorpus make_image_corpus(std::string_view name, uint64_t seed) {
  return row_named("image corpus", image_corpora(), name).make(seed);
}

ImageCorpus read_mnist(const fs::path& folder) {
  const auto part = [&](const std::string& name) {
    return read_idx_pair(mnist_file(folder, name + "-images-idx3-ubyte"),
                         mnist_file(folder, name + "-labels-idx1-ubyte"));
  };
  const std::shared_ptr<const StoredImages> train = part("train");
  require(train->size() > 2 * kValid, folder.native(), ": expected more than ", 2 * kValid,
          " training images, of which ", kValid, " are held out, got ", train->size());
  const int64_t held_out = train->size() - kValid;
  return {part_of(*train, 0, held_out), part_of(*train, held_out, train->size()), part("t10k")};
}

ImageCorpus scenes_over(const ImageCorpus& digits, SceneOptions options, uint64_t seed) {
  const auto part = [&](const ImageSetPtr& set, std::string_view name, bool fresh) {
    auto images = std::dynamic_pointer_cast<const StoredImages>(set);
    if (images == nullptr) images = stored(*set);
    return std::make_shared<SceneImages>(*images, options, seed_named(seed, name), fresh);
  };
  return {part(digits.train, "train scenes", true), part(digits.valid, "valid scenes", false),
          part(digits.test, "test scenes", false)};
}

}  // namespace attend::data
