// Labelled images to train on, wherever they come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/data/broken.h"
#include "attend/data/digit_scenes.h"
#include "attend/data/image.h"
#include "attend/data/image_file.h"

namespace attend::data {

class ImageSet {
 public:
  explicit ImageSet(std::vector<std::string> labels) : labels_(std::move(labels)) {}
  virtual ~ImageSet() = default;

  /// Images of one epoch.
  virtual int64_t size() const = 0;
  /// A pure function of the index; safe to call from any thread. Indices keep counting through the epochs: from size()
  /// on the set starts over, or gives new images if it can generate them.
  virtual LabelledImage at(int64_t index) const = 0;
  /// The names of the labels 0, 1, …
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  std::vector<std::string> labels_;
};

using ImageSetPtr = std::shared_ptr<const ImageSet>;

/// All of them in memory.
class StoredImages : public ImageSet {
 public:
  StoredImages(LabelledImages images, std::vector<std::string> labels);

  int64_t size() const override { return static_cast<int64_t>(images_->size()); }
  LabelledImage at(int64_t index) const override;
  const std::shared_ptr<const LabelledImages>& images() const { return images_; }

 private:
  std::shared_ptr<const LabelledImages> images_;
};

/// An IDX file of images and one of as many labels; the labels are named 0, 1, … up to the largest.
/// With `known` labels, as learned in training, these are the names, and no label may lie beyond them.
std::shared_ptr<const StoredImages> read_idx_pair(const std::filesystem::path& images,
                                                  const std::filesystem::path& labels,
                                                  const std::vector<std::string>& known = {});
/// The images alone: all have the label 0, which has no name.
std::shared_ptr<const StoredImages> read_idx_unlabelled(const std::filesystem::path& images);

struct FolderOptions {
  int64_t height = 64, width = 64,
          channels = 3;  ///< every image is fitted to these; without sizes (0) each keeps its own
  ImageLimits limits = {};
  int64_t most_bytes = int64_t{4} << 30;  ///< of all images together, fitted
  std::vector<std::string> known = {};  ///< the labels allowed, in order; none: those of the sub-folders
  bool labelled = true;                 ///< if not, all images of the folder and its sub-folders have the label 0
};

/// A folder with a sub-folder of PNG and JPEG files per label; labels and files are in the order of their names. A
/// sub-folder without such files is not a label. All are read at once, so that a broken one is found before training
/// starts.
std::shared_ptr<const StoredImages> read_folder(const std::filesystem::path& folder, const FolderOptions& options,
                                                Broken& broken);

/// `count` digits drawn from our strokes, generated each time they are requested.
class DrawnDigits : public ImageSet {
 public:
  DrawnDigits(int64_t count, uint64_t seed);

  int64_t size() const override { return count_; }
  LabelledImage at(int64_t index) const override;

 private:
  int64_t count_;
  uint64_t seed_;
};

/// Every image of a set at once, in memory.
std::shared_ptr<const StoredImages> stored(const ImageSet& set);

/// Scenes over stored digits; if `fresh`, every epoch places them anew.
class SceneImages : public ImageSet {
 public:
  SceneImages(const StoredImages& digits, SceneOptions options, uint64_t seed, bool fresh);

  int64_t size() const override { return scenes_.size(); }
  LabelledImage at(int64_t index) const override;
  const DigitScenes& scenes() const { return scenes_; }

 private:
  DigitScenes scenes_;
  bool fresh_;
};

/// Three parts with no image in common.
struct ImageCorpus {
  ImageSetPtr train, valid, test;
};

struct ImageCorpusRow {
  std::string_view name, summary;
  ImageCorpus (*make)(uint64_t seed);
};

/// The built-in ones, as a menu: digits, and scenes over them.
std::span<const ImageCorpusRow> image_corpora();
/// Throws Error, suggesting the nearest name, if there is no such corpus.
ImageCorpus make_image_corpus(std::string_view name, uint64_t seed);

/// MNIST's four files (train-images-idx3-ubyte, …; plain or .gz) from one folder; its last 5,000 training images are for
/// validation.
ImageCorpus read_mnist(const std::filesystem::path& folder);

/// Scenes over all parts of a corpus of digits: new ones in every epoch of training, fixed ones elsewhere.
ImageCorpus scenes_over(const ImageCorpus& digits, SceneOptions options, uint64_t seed);

}  // namespace attend::data
