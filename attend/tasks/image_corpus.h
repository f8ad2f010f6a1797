// What an image task learns from: images with labels or captions, of files or made, in three parts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attend/base/random.h"
#include "attend/data/image.h"
#include "attend/tensor/tensor.h"

namespace attend::tasks {

/// What a model says of an image.
enum class ImageAnswers { label, caption, image };

/// Where images come from.
struct ImageData {
  std::string images, labels, valid_images, valid_labels;
  std::string captions, names, valid_names;
  double held_out = 0.05;
  std::string corpus;
  std::string scene = "none";
  int64_t pieces = 4;
  int64_t size = 0, channels = 0;
  std::string on_broken = "refuse";

  template <class Visit>
  void fields(Visit&& visit) {
    visit("images", images,
          "an IDX file (.gz too), or a folder of PNG and JPEG files: with a sub-folder for each label");
    visit("labels", labels, "the IDX file of their labels");
    visit("valid_images", valid_images, "the same to validate with; without them, a share of the images is held out");
    visit("valid_labels", valid_labels, "their labels");
    visit("captions", captions, "a file of captions: name#k<tab>caption, or JSON lines");
    visit("names", names, "file with the names of the images to train on, one a line; none: all but valid_names");
    visit("valid_names", valid_names, "file with the names of those to validate with");
    visit("held_out", held_out, "share of the images to validate with, where none are named (at most 5,000)");
    visit("corpus", corpus, "a built-in corpus in place of files (`attend list tasks` names them)");
    visit("scene", scene, "digits: none, translated (anywhere on a larger image) or cluttered (and pieces of others)");
    visit("pieces", pieces, "cluttered: how many");
    visit("size", size,
          "height and width of what the network sees; 0: as the images are (scenes: 60, folders of labels: 64)");
    visit("channels", channels, "1: grey, 3: colour, 0: as the first image is (folders of labels: 3)");
    visit("on_broken", on_broken, "an image that cannot be read: refuse, or skip");
  }
};

/// An image, or the features that another network made of it, with all that is right to say of it.
struct ImageExample {
  data::Image image = {};
  Tensor features = {};  ///< [D,h,w] in place of the image
  int32_t label = -1;
  std::vector<std::string> captions = {};
  std::string name = {};
  std::vector<data::Box> spoken = {};  ///< where that lies which each word of captions[0] speaks of; none: not known
};

/// Leaves it at most so many captions, drawn; 0: all.
void keep_captions(ImageExample& example, int64_t most, Random& random);

/// Examples by number; `at` may be asked by several threads at once. Numbers count on through the epochs: from `count` on
/// they begin again, or bring new ones where these are made.
struct ImageExamples {
  int64_t count = 0;
  std::function<ImageExample(int64_t index)> at;
  std::function<std::vector<std::string>(int64_t index)> captions = {};  ///< without its image
};

struct ImageCorpus {
  ImageExamples train, valid, test;
  std::vector<std::string> labels;  ///< names of the classes
  std::string report;               ///< what was left out, "" if nothing was
};

/// Of a .png or .jpg file; of a .npy file its features.
ImageExample read_example(const std::string& file);

ImageCorpus read_image_corpus(const ImageData& data, ImageAnswers answers, uint64_t seed);
/// A validation image: its number among them, from 0, and its name ("": whatever it is).
struct ValidImage {
  int64_t number = 0;
  std::string name;
};
/// Those that are found again, in this order and as the network sees them: of a built-in corpus or an IDX file by number and
/// name, of a folder by name alone, which costs one file each. Nothing is read that lies outside of what `data` names.
std::vector<ImageExample> found_again(const ImageData& data, ImageAnswers answers, uint64_t seed,
                                      const std::vector<ValidImage>& wanted);
/// Other files of the same kind, all of them, made ready as the training ones were: to test with. `labels`: those that were
/// learned, by whose names and numbers these are read; none: as they come.
ImageExamples read_image_test(const ImageData& data, ImageAnswers answers, uint64_t seed,
                              const std::vector<std::string>& labels = {});

}  // namespace attend::tasks
