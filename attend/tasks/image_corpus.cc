#include "attend/tasks/image_corpus.h"

#include <algorithm>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/idx.h"
#include "attend/data/shuffle.h"

namespace attend::tasks {
namespace {

constexpr int64_t kMostHeldOut = 5000;

/// Some of the examples, by their numbers.
ImageExamples chosen(const ImageExamples& all, std::vector<int64_t> numbers) {
  const auto which = std::make_shared<const std::vector<int64_t>>(std::move(numbers));
  const auto number = [which](int64_t i) { return (*which)[static_cast<size_t>(i)]; };
  return {static_cast<int64_t>(which->size()), [all, number](int64_t i) { return all.at(number(i)); },
          [all, number](int64_t i) { return all.captions(number(i)); }};
}

/// Holds a share of the training examples out to validate with.
void hold_out(ImageCorpus& corpus, double share, uint64_t seed) {
  const int64_t count = corpus.train.count;
  require(share > 0 && share < 1, "held_out: a share between 0 and 1 is wanted, got ", share);
  const int64_t held = std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(count)), 1, kMostHeldOut);
  require(count > held, "train: at least two images are wanted, one to learn from and one to validate with, got ",
          count);
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random random = Random(seed).named("held out");
  data::shuffle(order, random);
  const ImageExamples all = corpus.train;
  corpus.valid = chosen(all, {order.begin(), order.begin() + held});
  corpus.train = chosen(all, {order.begin() + held, order.end()});
}

ImageExamples idx_examples(const std::string& images, const std::string& labels, std::vector<std::string>& names) {
  struct Read {
    std::vector<data::Image> images;
    std::vector<int32_t> labels;
  };
  const auto read = std::make_shared<Read>();
  read->images = data::read_idx_images(images);
  if (!labels.empty()) read->labels = data::read_idx_labels(labels);
  require(labels.empty() || read->images.size() == read->labels.size(), images, " and ", labels,
          ": as many images as labels are wanted, got ", read->images.size(), " and ", read->labels.size());
  for (const int32_t label : read->labels) {
    while (static_cast<int32_t>(names.size()) <= label) names.push_back(std::to_string(names.size()));
  }
  return {static_cast<int64_t>(read->images.size()),
          [read](int64_t i) {
            const size_t at = static_cast<size_t>(i);
            return ImageExample{read->images[at], read->labels.empty() ? -1 : read->labels[at], {}, std::to_string(i)};
          },
          {}};
}

}  // namespace

ImageCorpus read_image_corpus(const ImageData& data, ImageAnswers answers, uint64_t seed) {
  ImageCorpus corpus;
  corpus.train = idx_examples(data.images, data.labels, corpus.labels);
  if (answers == ImageAnswers::label) require(!data.labels.empty(), "labels: the file of the labels is wanted");
  if (!data.valid_images.empty()) {
    corpus.valid = idx_examples(data.valid_images, data.valid_labels, corpus.labels);
  } else {
    hold_out(corpus, data.held_out, seed);
  }
  return corpus;
}

ImageExamples read_image_test(const ImageData& data, ImageAnswers, uint64_t) {
  std::vector<std::string> names;
  return idx_examples(data.images, data.labels, names);
}

}  // namespace attend::tasks
