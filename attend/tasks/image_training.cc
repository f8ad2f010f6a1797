#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/replacement.h"
#include "attend/data/prefetch.h"
#include "attend/data/shuffle.h"
#include "attend/tasks/image.h"
#include "attend/tasks/valid_sentences.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReady = 2;  // batches
constexpr std::string_view kFiles[] = {"images", "labels", "captions"};
constexpr std::string_view kFoundOut[] = {
    "model.labels", "model.target_vocabulary", "model.channels",       "model.height",
    "model.width",  "model.encoder.channels",  "model.encoder.height", "model.encoder.width"};

std::vector<OptionInfo> image_options(const SettingList& settings) { return ImageConfig(settings).all(); }

std::unique_ptr<Run> start_images(const SettingList& settings, const fs::path& folder, bool resume,
                                  const Prepared& prepared) {
  return std::make_unique<ImageTraining>(ImageConfig(settings), folder, resume, prepared);
}

void check_best_by(const ImageConfig& config) {
  std::vector<std::string_view> known{"loss"};
  if (config.answers() == ImageAnswers::label) known.push_back("accuracy");
  if (config.answers() == ImageAnswers::caption)
    known.insert(known.end(), {"bleu1", "bleu2", "bleu3", "bleu4", "exact"});
  const std::string& asked = config.options.train.best_by;
  if (std::ranges::find(known, asked) == known.end()) refuse_name("train.best_by", known, asked);
}

std::shared_ptr<data::Tokeniser> learn_words(const data::TokeniserOptions& options, const ImageExamples& examples) {
  std::vector<std::string> waiting;
  int64_t at = 0;
  return data::train_tokeniser(options, [&](std::string& line) {
    while (waiting.empty()) {
      if (at == examples.count) return false;
      waiting = examples.captions(at++);
    }
    line = std::move(waiting.back());
    waiting.pop_back();
    return true;
  });
}

}  // namespace

constinit const Family kImages{"images", "images", kFiles, kFoundOut, image_options, start_images};

/// Each epoch's images in an order of its own; the next batches are made on another thread.
class ImageTraining::Batches {
 public:
  Batches(const ImageCorpus& corpus, const ImageModel& model) : corpus_(corpus), model_(model) {}

  int64_t count() const { return (corpus_.train.count + size() - 1) / size(); }

  data::Batch batch(int64_t epoch, int64_t index) {
    const int64_t number = epoch * count() + index;
    if (!ready_ || number != next_) {
      ready_.reset();
      ready_ = std::make_unique<data::Prefetched<data::Batch>>(
          [this](int64_t n) { return made(n / count(), n % count()); }, kReady, number);
    }
    next_ = number + 1;
    return ready_->next();
  }

 private:
  const ImageBatchOptions& options() const { return model_.config().options.batch; }
  int64_t size() const { return options().images; }
  Random random(std::string_view what, int64_t number) const {
    return Random(static_cast<uint64_t>(options().seed), static_cast<uint64_t>(number)).named(what);
  }

  data::Batch made(int64_t epoch, int64_t index) {
    const std::vector<int64_t>& order = order_of(epoch);
    const int64_t begin = index * size(), end = std::min(begin + size(), corpus_.train.count);
    Random draws = random("captions", epoch * count() + index);
    std::vector<ImageExample> examples;
    for (int64_t i = begin; i < end; ++i) {
      examples.push_back(corpus_.train.at(order[static_cast<size_t>(i)] + epoch * corpus_.train.count));
      keep_captions(examples.back(), options().captions, draws);
    }
    return image_batch(model_, examples);
  }

  const std::vector<int64_t>& order_of(int64_t epoch) {
    if (epoch == epoch_) return order_;
    order_.resize(static_cast<size_t>(corpus_.train.count));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Random draws = random("images", epoch);
    data::shuffle(order_, draws);
    epoch_ = epoch;
    return order_;
  }

  const ImageCorpus& corpus_;
  const ImageModel& model_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
  int64_t next_ = -1;
  std::unique_ptr<data::Prefetched<data::Batch>> ready_;  // last: its thread uses the others
};

ImageTraining::ImageTraining(const ImageConfig& asked, fs::path folder, bool resume, const Prepared& prepared) {
  ImageConfig config = asked;
  check_best_by(config);
  require(config.options.batch.images >= 1, "batch.images: at least 1 is wanted, got ", config.options.batch.images);
  require(config.options.batch.captions >= 0, "batch.captions: a number of at least 0 is wanted, got ",
          config.options.batch.captions);
  if (fs::is_directory(folder)) lock_.emplace(folder);
  prepared("reading the images");
  corpus_ = read_image_corpus(config.options.data, config.answers(), static_cast<uint64_t>(config.options.train.seed));
  require(corpus_.train.count > 0, "train: at least one image is wanted, got none");
  const ImageExample first = corpus_.train.at(0);
  ImageData& data = config.options.data;
  if (first.features.defined()) {
    const auto kind = std::ranges::find(config.model.options, "model.encoder.kind", &OptionInfo::name);
    require(kind != config.model.options.end() && kind->value == "none", first.name,
            ": features are read as they are by model.encoder.kind none, got ",
            kind == config.model.options.end() ? "the network " + config.model.name : kind->value);
    data.size = first.features.dim(1) == first.features.dim(2) ? first.features.dim(1) : 0;
    data.channels = first.features.dim(0);
  } else {
    if (data.size == 0) data.size = std::max(first.image.height, first.image.width);
    if (data.channels == 0) data.channels = first.image.channels;
  }
  require_writable(folder);
  if (!lock_) lock_.emplace(folder);
  std::shared_ptr<data::Tokeniser> words;
  if (config.answers() == ImageAnswers::caption) {
    if (!resume) prepared("learning the vocabulary");
    words = resume ? data::load_tokeniser(folder, "target") : learn_words(config.options.tokeniser, corpus_.train);
  }
  model_ = std::make_unique<ImageModel>(config, corpus_.labels, words);
  batches_ = std::make_unique<Batches>(corpus_, *model_);
  trainer_ = std::make_unique<train::Trainer>(
      model_->model(),
      train::BatchSource{[this](int64_t) { return batches_->count(); },
                         [this](int64_t epoch, int64_t index) { return batches_->batch(epoch, index); },
                         [](const data::Batch& batch) { return batch.source.count(); }},
      [this](const models::Model&) { return validate(); }, config.options.train, folder);
  trainer_->when_best([this, folder] { ValidSentences{last_.names, last_.references, last_.outputs}.save(folder); });
  trainer_->check_room();
  if (resume) {
    trainer_->resume();
  } else {
    begun_ = trainer_->take_start();
    fs::remove(folder / kConfig);  // killed while a model is replaced, it is none rather than a mixture
    data::remove_tokeniser(folder, "target");
    trainer_->save_start();
  }
  model_->save(folder);
}

ImageTraining::~ImageTraining() = default;

int64_t ImageTraining::examples() const { return corpus_.train.count; }

std::string ImageTraining::summary() const {
  std::string text = std::to_string(corpus_.train.count) + " images";
  if (!corpus_.labels.empty()) text += ", " + std::to_string(corpus_.labels.size()) + " labels";
  if (model_->config().answers() == ImageAnswers::caption)
    text += ", vocabulary " + std::to_string(model_->words().size());
  text += "; " + std::to_string(corpus_.valid.count) + " validation images; " + std::to_string(model_->parameters()) +
          " parameters";
  for (const std::string& more : {begun_, corpus_.report}) text += more.empty() ? "" : "\n" + more;
  return text;
}

train::Validation ImageTraining::validate() const {
  decode::SearchOptions greedy = model_->config().options.search;
  greedy.beam = greedy.n_best = 1, greedy.sample = false;
  last_ = evaluate(*model_, corpus_.valid, greedy, model_->config().options.scored_images);
  train::Validation result{.loss = last_.loss, .scores = last_.scores};
  if (model_->config().answers() != ImageAnswers::caption) return result;
  const size_t shown = static_cast<size_t>(samples_++) % last_.outputs.size();
  result.source = last_.names[shown], result.reference = last_.references[shown], result.output = last_.outputs[shown];
  return result;
}

}  // namespace attend::tasks
