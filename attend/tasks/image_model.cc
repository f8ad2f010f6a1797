#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/recipe.h"
#include "attend/base/replacement.h"
#include "attend/data/lines.h"
#include "attend/data/resize.h"
#include "attend/data/unicode.h"
#include "attend/models/autoencoder.h"
#include "attend/tasks/image.h"
#include "attend/train/bleu.h"

namespace attend::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLabels = "labels.txt";
constexpr const char* kWords = "target";
constexpr int64_t kAtOnce = 64;  // images of one search
const train::BleuOptions kCaptionBleu{.tokenise = "13a"};

/// What follows from the data: sizes of images and answers.
Settings found_out(const ImageOptions& options, int64_t labels, int64_t words) {
  const std::string side = std::to_string(options.data.size), channels = std::to_string(options.data.channels);
  Settings found{{"channels", channels}, {"height", side}, {"width", side}};
  for (const char* name : {"channels", "height", "width"}) found["encoder." + std::string(name)] = found[name];
  found["labels"] = std::to_string(labels);
  found["target_vocabulary"] = std::to_string(words);
  return found;
}

/// Features [D,h,w] of all examples as [B,D,h,w].
Tensor stacked(std::span<const ImageExample> examples) {
  const Shape& shape = examples[0].features.shape();
  Tensor all({static_cast<int64_t>(examples.size()), shape[0], shape[1], shape[2]});
  real* out = all.data();
  for (const ImageExample& one : examples) {
    require(one.features.defined() && one.features.shape() == shape, one.name, ": features of shape ", shape,
            " are wanted, as those before it have, got another shape or an image");
    out = std::copy(one.features.begin(), one.features.end(), out);
  }
  return all;
}

std::vector<double> probabilities(std::span<const real> logits) {
  const real most = *std::ranges::max_element(logits);
  std::vector<double> p;
  for (const real logit : logits) p.push_back(std::exp(static_cast<double>(logit - most)));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& one : p) one /= sum;
  return p;
}

/// A text as the model would write it.
std::string in_its_letters(const ImageModel& model, const std::string& text) {
  const bool small = model.config().answers() == ImageAnswers::caption && model.config().options.tokeniser.lowercase;
  return small ? data::lowercased(text) : text;
}

/// What may be said of it, in the letters that the model has.
std::vector<std::string> right_answers(const ImageModel& model, const ImageExample& example) {
  if (model.config().answers() == ImageAnswers::label) return {model.labels()[static_cast<size_t>(example.label)]};
  std::vector<std::string> captions = example.captions;
  for (std::string& one : captions) one = in_its_letters(model, one);
  return captions;
}

/// In percent, those answers that are among the right ones.
double share_right(const std::vector<std::string>& outputs, const std::vector<std::vector<std::string>>& right) {
  double count = 0;
  for (size_t i = 0; i < outputs.size(); ++i) count += std::ranges::find(right[i], outputs[i]) != right[i].end();
  return 100 * count / static_cast<double>(outputs.size());
}

void score_captions(ImageScores& result, const std::vector<std::vector<std::string>>& right) {
  result.scores["exact"] = share_right(result.outputs, right);
  const train::BleuScore bleu = train::bleu(result.outputs, right, kCaptionBleu);
  for (size_t k = 1; k <= train::BleuScore::kOrders; ++k) result.scores["bleu" + std::to_string(k)] = bleu.up_to(k);
  const auto other = [&](const auto& one) { return one.size() != right[0].size(); };
  result.signature = train::bleu_signature(kCaptionBleu, std::ranges::any_of(right, other) ? 0 : right[0].size());
}

void score(const ImageModel& model, const std::vector<std::vector<std::string>>& right, ImageScores& result) {
  if (model.config().answers() == ImageAnswers::label) {
    result.scores["accuracy"] = share_right(result.outputs, right);
  } else {
    score_captions(result, right);
  }
}

}  // namespace

ImageModel::ImageModel(ImageConfig config, std::vector<std::string> labels, std::shared_ptr<data::Tokeniser> words)
    : config_(std::move(config)), labels_(std::move(labels)), words_(std::move(words)) {
  config_.model.find_out(found_out(config_.options, static_cast<int64_t>(labels_.size()), words_ ? words_->size() : 0));
  model_ = config_.model.make(config_.options.train.seed);
  for (const nn::NamedParam& p : nn::parameters(*model_)) parameters_ += static_cast<int64_t>(p.var.size());
}

ImageModel ImageModel::load(const fs::path& folder) {
  ImageConfig config(read_config(folder));
  std::vector<std::string> labels;
  std::shared_ptr<data::Tokeniser> words;
  if (config.answers() == ImageAnswers::label) labels = data::read_lines(folder / kLabels);
  if (config.answers() == ImageAnswers::caption) words = data::load_tokeniser(folder, kWords);
  ImageModel model(std::move(config), std::move(labels), std::move(words));
  models::load_weights(*model.model_, folder / "weights.safetensors");
  model.name_ = folder_name(folder);
  return model;
}

void ImageModel::save(const fs::path& folder) const {
  std::string lines;
  for (const std::string& label : labels_) lines += label + "\n";
  if (!labels_.empty()) write_file(folder / kLabels, lines);
  if (words_) words_->save(folder, kWords);
  write_file(folder / kConfig, print_recipe(config_.all(), true));
}

data::Sequences ImageModel::source(std::span<const ImageExample> examples) const {
  const ImageData& data = config_.options.data;
  if (!examples.empty() && examples[0].features.defined()) return data::Sequences::of_images(stacked(examples));
  std::vector<data::Image> ready;
  for (const ImageExample& one : examples) {
    require(!one.features.defined(), one.name, ": an image is wanted as before it, got features");
    ready.push_back(data::fitted(one.image, data.size, data.size, data.channels));
  }
  return data::Sequences::of_images(data::to_tensor(ready));
}

std::vector<std::vector<ImageAnswer>> ImageModel::labelled(const data::Sequences& source, int64_t n_best) const {
  const auto state = model_->begin(source);
  const std::vector<int32_t> first(static_cast<size_t>(source.count()), data::kBegin);
  const Tensor logits = model_->next(*state, first);
  const size_t classes = labels_.size(), wanted = std::min(classes, static_cast<size_t>(std::max<int64_t>(1, n_best)));
  std::vector<std::vector<ImageAnswer>> answers;
  for (size_t b = 0; b < first.size(); ++b) {
    const std::vector<double> p = probabilities({logits.data() + b * classes, classes});
    std::vector<int32_t> order(classes);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater{}, [&](int32_t label) { return p[static_cast<size_t>(label)]; });
    std::vector<ImageAnswer>& best = answers.emplace_back();
    for (const int32_t label : std::span(order).first(wanted)) {
      const double chance = p[static_cast<size_t>(label)];
      best.push_back({labels_[static_cast<size_t>(label)], chance, {label}, std::log(chance)});
    }
  }
  return answers;
}

std::vector<std::vector<ImageAnswer>> ImageModel::answer(const data::Sequences& source,
                                                         const decode::SearchOptions& search,
                                                         decode::SearchWatcher* watcher) const {
  require(config_.answers() != ImageAnswers::image, "answer: a model that says what it sees is wanted, got an ",
          config_.model.name, ", which answers with images");
  const TapePause pause;
  if (config_.answers() == ImageAnswers::label) return labelled(source, search.n_best);
  std::vector<std::vector<ImageAnswer>> answers;
  for (const std::vector<decode::Hypothesis>& found : decode::search(*model_, source, search, {}, watcher)) {
    std::vector<ImageAnswer>& best = answers.emplace_back();
    for (const decode::Hypothesis& one : found) {
      best.push_back({words_->decode(one.tokens), one.score, one.tokens, one.log_probability, one.ended});
    }
  }
  return answers;
}

std::vector<std::vector<ImageAnswer>> ImageModel::answer(std::span<const ImageExample> examples,
                                                         const decode::SearchOptions& search) const {
  std::vector<std::vector<ImageAnswer>> answers;
  for (size_t at = 0; at < examples.size(); at += kAtOnce) {
    const auto part = examples.subspan(at, std::min<size_t>(kAtOnce, examples.size() - at));
    std::ranges::move(answer(source(part), search), std::back_inserter(answers));
  }
  return answers;
}

std::vector<data::Image> ImageModel::rebuilt(std::span<const ImageExample> examples) const {
  const auto* network = dynamic_cast<const models::Autoencoder*>(model_.get());
  require(network != nullptr, "rebuilt: an autoencoder is wanted, got the network ", config_.model.name);
  const TapePause pause;
  return data::to_images(network->reconstruct(source(examples).images));
}

data::Batch image_batch(const ImageModel& model, std::span<const ImageExample> examples) {
  std::vector<std::vector<int32_t>> targets;
  data::Batch batch;
  for (size_t i = 0; i < examples.size(); ++i) {
    const ImageExample& one = examples[i];
    if (model.config().answers() != ImageAnswers::caption) {
      targets.push_back({std::max(one.label, 0)});
      continue;
    }
    for (const std::string& caption : one.captions) {
      targets.push_back(model.words().encode(caption));
      batch.image_of.push_back(static_cast<int32_t>(i));
    }
  }
  batch.source = model.source(examples), batch.target = data::Sequences(targets);
  return batch;
}

ImageScores evaluate(const ImageModel& model, const ImageExamples& examples, const decode::SearchOptions& search,
                     int64_t most, const ImagesDone& done) {
  const TapePause pause;
  const ImageAnswers kind = model.config().answers();
  ImageScores result;
  result.images = most > 0 ? std::min(most, examples.count) : examples.count;
  std::vector<std::vector<std::string>> right;
  double counted = 0;
  for (int64_t at = 0; at < result.images; at += kAtOnce) {
    std::vector<ImageExample> some;
    for (int64_t i = at; i < std::min(result.images, at + kAtOnce); ++i) some.push_back(examples.at(i));
    const data::Batch batch = image_batch(model, some);
    const double weight =
        static_cast<double>(kind == ImageAnswers::caption ? target_tokens(batch) : batch.source.count());
    result.loss += weight * static_cast<double>(model.model().loss(batch).item());
    counted += weight;
    if (kind != ImageAnswers::image) {
      const auto answers = model.answer(batch.source, search);
      for (size_t i = 0; i < some.size(); ++i) {
        result.names.push_back(some[i].name), result.outputs.push_back(answers[i].at(0).text);
        right.push_back(right_answers(model, some[i]));
        result.references.push_back(right.back().at(0));
      }
    }
    if (done) done(at + static_cast<int64_t>(some.size()));
  }
  result.loss /= counted;
  if (kind != ImageAnswers::image) score(model, right, result);
  return result;
}

ImageScores evaluate_answer(const ImageModel& model, const ImageExamples& examples, const std::string& answer) {
  require(model.config().answers() != ImageAnswers::image, "answer: a model that answers with words is wanted, got an ",
          model.config().model.name, ", which answers with images");
  ImageScores result{.images = examples.count};
  std::vector<std::vector<std::string>> right;
  for (int64_t i = 0; i < examples.count; ++i) {
    const ImageExample one = examples.at(i);
    result.names.push_back(one.name), result.outputs.push_back(in_its_letters(model, answer));
    right.push_back(right_answers(model, one));
    result.references.push_back(right.back().at(0));
  }
  score(model, right, result);
  return result;
}

}  // namespace attend::tasks
