#include "attend/tasks/image_gradients.h"

#include <algorithm>
#include <vector>

#include "attend/autograd/ops.h"
#include "attend/base/error.h"
#include "attend/explain/image_saliency.h"
#include "attend/models/encoder_decoder.h"
#include "attend/models/glimpse.h"
#include "attend/models/image_classifier.h"

namespace attend::tasks {
namespace {

using explain::ImageLogits;

struct GradientMethod {
  std::string_view name;
  std::string_view what;  // of an answer: "what<answer>rest"
  std::string_view rest;
  Tensor (*map)(const ImageLogits& logits, std::span<const int32_t> classes);  // [1,rows,columns]
};

Tensor cells_of(const ImageLogits& logits, std::span<const int32_t> classes) {
  const explain::Seen seen = explain::image_saliency(logits, classes);
  require(seen.cam.defined(),
          "explain: gradcam: expected a network with a grid (encoder.kind: convolutional), got one without");
  return seen.cam;
}

Tensor pixels_of(const ImageLogits& logits, std::span<const int32_t> classes) {
  return explain::pixel_saliency(explain::image_saliency(logits, classes).input_gradient);
}

constexpr GradientMethod kGradients[] = {
    {"gradcam", "Grad-CAM: the cells of the last grid that spoke for ", "", cells_of},
    {"saliency", "gradient of ", " in the pixels, summed over colours", pixels_of},
    {"jacobian", "the pixels that ", " and what else was likeliest depended on: the norm of their gradients",
     explain::image_jacobian},
};

const GradientMethod& gradient_named(std::string_view name) {
  const auto* const found = std::ranges::find(kGradients, name, &GradientMethod::name);
  require(found != std::end(kGradients), "explain: expected gradcam, saliency or jacobian, got ", name);
  return *found;
}

std::string label_of(const GradientMethod& method, const std::string& answer) {
  return std::string(method.what) + answer + std::string(method.rest);
}

ImageLogits label_logits(const TaskModel& model, const data::Source& source) {
  if (const auto* glimpses = dynamic_cast<const models::GlimpseNetwork*>(&model.model())) {
    return [=, &source] { return glimpses->logits(source); };
  }
  const auto& classifier = dynamic_cast<const models::ImageClassifier&>(model.model());
  return [&] { return classifier.logits(source); };
}

}  // namespace

explain::SaliencyLook label_map(const TaskModel& model, const Example& example, const data::Source& source,
                                const ExplainOptions& options, std::string_view name) {
  const GradientMethod& method = gradient_named(name);
  AnswerOptions all;
  all.search.n_best = static_cast<int64_t>(model.output().labels().size());
  const std::vector<Answer> answers = model.answer(std::span(&example, 1), all).at(0);
  const int32_t label = options.target ? model.output().encode(*options.target, {}).at(0) : answers[0].tokens[0];
  const auto said = std::ranges::find(answers, std::vector{label}, &Answer::tokens);
  explain::SaliencyLook look{method.map(label_logits(model, source), std::span(&label, 1))[0]};
  look.method = method.name;
  look.label = label_of(method, "“" + said->text + "”");
  look.answer = said->text, look.probability = said->score;
  return look;
}

void add_word_maps(const TaskModel& model, const data::Source& source, std::span<const int32_t> tokens,
                   const ExplainOptions& options, std::string_view name, explain::CaptionLook& look) {
  const GradientMethod& method = gradient_named(name);
  const auto& network = dynamic_cast<const models::EncoderDecoder&>(model.model());
  const data::Batch batch{source, data::Sequences({std::vector<int32_t>(tokens.begin(), tokens.end())})};
  const std::vector<int32_t> word_of = model.output().side(tokens, {}).word_of;
  const auto words = static_cast<int64_t>(look.words.size());
  look.method = method.name, look.label = label_of(method, "each word");
  look.rows = source.pixels().dim(2), look.columns = source.pixels().dim(3);
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (options.check) options.check();
    if (word_of[t] < 0) continue;
    const auto step = static_cast<int64_t>(t);
    const Tensor map = method.map([&] { return select(network.logits(batch), step); }, tokens.subspan(t, 1))[0];
    if (!look.weights.defined()) {
      look.rows = map.dim(0), look.columns = map.dim(1);
      look.weights = Tensor::zeros({words, look.rows * look.columns});
    }
    const int64_t cells = look.rows * look.columns;
    for (int64_t i = 0; i < cells; ++i) look.weights.data()[word_of[t] * cells + i] += map.data()[i];
  }
  if (!look.weights.defined()) look.weights = Tensor::zeros({words, look.rows * look.columns});
  for (int64_t word = 0; word < words; ++word) {
    const int64_t cells = look.rows * look.columns;
    real* row = look.weights.data() + word * cells;
    real sum = 0;
    for (int64_t i = 0; i < cells; ++i) sum += row[i];
    for (int64_t i = 0; i < cells && sum > 0; ++i) row[i] /= sum;
  }
}

}  // namespace attend::tasks
