// Images to labels, to captions, or to themselves: what a run reads, and what a trained model is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attend/base/folder_lock.h"
#include "attend/base/options.h"
#include "attend/data/batch.h"
#include "attend/data/image.h"
#include "attend/data/tokeniser.h"
#include "attend/decode/search.h"
#include "attend/tasks/image_corpus.h"
#include "attend/tasks/model_choice.h"
#include "attend/tasks/run.h"

namespace attend::tasks {

/// glimpse, caption, autoencode.
extern const Family kImages;

struct ImageBatchOptions {
  int64_t images = 64;
  int64_t captions = 0;
  int64_t seed = 1;

  template <class Visit>
  void fields(Visit&& visit) {
    visit("images", images, "images of a batch");
    visit("captions", captions, "caption: most of an image in a batch, drawn anew each time; 0: all");
    visit("seed", seed, "of the order of the images and of such draws");
  }
};

/// All options of a run but those of its model.
struct ImageOptions {
  std::string task = "glimpse";
  ImageData data;
  data::TokeniserOptions tokeniser{.kind = "words", .lowercase = true, .min_count = 2};
  ImageBatchOptions batch;
  train::TrainerOptions train;
  int64_t scored_images = 1000;
  decode::SearchOptions search{.beam = 4, .max_length = 40, .no_unknown = true};

  template <class Visit>
  void fields(Visit&& visit) {
    visit("task", task, "one of those that `attend list tasks` names");
    data.fields(visit);
    visit("tokeniser", tokeniser, "");
    visit("batch", batch, "");
    visit("train", train, "");
    visit("scored_images", scored_images, "most images that a validation takes; 0: all");
    visit("search", search, "");
  }
};

/// As TextConfig, for images.
struct ImageConfig {
  ImageOptions options;
  ModelChoice model;

  explicit ImageConfig(const SettingList& settings);
  std::vector<OptionInfo> all() const;
  /// What the images are answered with.
  ImageAnswers answers() const;
};

/// One answer to one image.
struct ImageAnswer {
  std::string text;
  double score = 0;  ///< of a label its probability, of a caption as decode::search has it
  std::vector<int32_t> tokens;
  double log_probability = 0;
  bool ended = true;  ///< false: a caption that reached the longest length
};

/// A trained model: the network, the names of its labels or its vocabulary, and the options that it was trained with.
class ImageModel {
 public:
  /// With new weights. `labels` name the classes; `words` is the vocabulary of captions; either may be none.
  ImageModel(ImageConfig config, std::vector<std::string> labels, std::shared_ptr<data::Tokeniser> words);
  static ImageModel load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;

  const std::string& name() const { return name_; }
  int64_t parameters() const { return parameters_; }
  const ImageConfig& config() const { return config_; }
  const std::vector<std::string>& labels() const { return labels_; }
  const data::Tokeniser& words() const { return *words_; }
  models::Model& model() { return *model_; }
  const models::Model& model() const { return *model_; }

  /// As the network wants them: its size and channels.
  data::Sequences source(std::span<const ImageExample> examples) const;
  /// The n_best answers to each image, best first; refused where the network answers with images.
  std::vector<std::vector<ImageAnswer>> answer(std::span<const ImageExample> examples,
                                               const decode::SearchOptions& search) const;
  /// What an autoencoder makes of each image; refused where the network is none.
  std::vector<data::Image> rebuilt(std::span<const ImageExample> examples) const;
  /// The same of images that are made ready; a watcher is told of the search for captions.
  std::vector<std::vector<ImageAnswer>> answer(const data::Sequences& source, const decode::SearchOptions& search,
                                               decode::SearchWatcher* watcher = nullptr) const;

 private:
  std::vector<std::vector<ImageAnswer>> labelled(const data::Sequences& source, int64_t n_best) const;

  ImageConfig config_;
  std::vector<std::string> labels_;
  std::shared_ptr<data::Tokeniser> words_;
  std::unique_ptr<models::Model> model_;
  std::string name_;
  int64_t parameters_ = 0;
};

/// What it learns from these: one target per image, or all captions of each.
data::Batch image_batch(const ImageModel& model, std::span<const ImageExample> examples);

/// How right a model is on examples; which of them there are depends on what it answers with.
struct ImageScores {
  int64_t images = 0;
  double loss = 0;
  std::map<std::string, double> scores = {};  ///< accuracy; bleu1 … bleu4, exact; in percent
  std::string signature = {};                 ///< of BLEU, as sacreBLEU has it; "" where there is none
  std::vector<std::string> names = {}, references = {}, outputs = {};
};
/// Told how many are done.
using ImagesDone = std::function<void(int64_t done)>;
ImageScores evaluate(const ImageModel& model, const ImageExamples& examples, const decode::SearchOptions& search,
                     int64_t most = 0, const ImagesDone& done = {});
/// How right it would be to give all of them this one answer, such as the most frequent caption; without a loss.
ImageScores evaluate_answer(const ImageModel& model, const ImageExamples& examples, const std::string& answer);

/// A run made ready.
class ImageTraining : public Run {
 public:
  ImageTraining(const ImageConfig& config, std::filesystem::path folder, bool resume, const Prepared& prepared);
  ~ImageTraining() override;

  ImageModel& model() { return *model_; }
  train::Trainer& trainer() override { return *trainer_; }
  std::string summary() const override;
  int64_t examples() const override;

 private:
  train::Validation validate() const;

  std::optional<FolderLock> lock_;
  ImageCorpus corpus_;
  std::unique_ptr<ImageModel> model_;
  class Batches;
  std::unique_ptr<Batches> batches_;
  mutable int64_t samples_ = 0;
  mutable ImageScores last_;
  std::unique_ptr<train::Trainer> trainer_;
  std::string begun_;  // with which weights; "": new ones
};

}  // namespace attend::tasks
