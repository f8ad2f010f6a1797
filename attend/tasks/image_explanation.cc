#include "attend/tasks/image_explanation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attend/autograd/ops/glimpse.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/resize.h"
#include "attend/explain/alignment.h"
#include "attend/explain/image_saliency.h"
#include "attend/explain/recorder.h"
#include "attend/models/glimpse.h"
#include "attend/models/image_classifier.h"
#include "attend/models/source_images.h"

namespace attend::tasks {
namespace {

using explain::CaptionLook;
using explain::GlimpseLook;
using explain::SaliencyLook;

constexpr LookMethod kMethods[] = {
    {"attention", "where each word of the caption looked", "captioner"},
    {"glimpses", "where it looked, glance by glance, and what it saw there", "glimpse"},
    {"gradcam", "the cells of the last grid that spoke for the label (Selvaraju et al. 2017)", "image_classifier"},
    {"saliency", "the pixels that the label hung on: their gradient (Simonyan et al. 2014)", "image_classifier"},
};

/// The image in the network's proportions and channels, as fine as it is.
data::Image as_seen(const ImageModel& model, const data::Image& image) {
  const ImageData& data = model.config().options.data;
  if (std::min(image.height, image.width) < data.size) return data::fitted(image, data.size, data.size, data.channels);
  return data::with_channels(data::centre_cropped(image, data.size, data.size), data.channels);
}

/// Of all heads and layers that looked at the image the mean, [steps, cells].
Tensor mean_weights(const std::vector<explain::TraceSite>& sites) {
  Tensor sum;
  real parts = 0;
  for (const explain::TraceSite& site : sites) {
    if (site.keys != "source" || site.queries != "target" || !site.weights.defined()) continue;
    for (int64_t head = 0; head < site.heads; ++head) {
      const Tensor one = site.weights[head];
      if (!sum.defined()) sum = Tensor::zeros(one.shape());
      for (size_t i = 0; i < sum.size(); ++i) sum.data()[i] += one.data()[i];
      ++parts;
    }
  }
  require(sum.defined(), "explain: a captioner that attends is wanted (model.read: attention), got one that does not");
  for (real& value : sum.values()) value /= parts;
  return sum;
}

CaptionLook caption_of(const ImageModel& model, const data::Sequences& source, const LookOptions& options) {
  explain::Recorder recorder(
      [&](const explain::Recorder&) {
        if (options.check) options.check();
      },
      {.numbers = options.numbers});
  const models::SourceImages grid(models::SourceImages::Look::grid);
  decode::Hypothesis answer;
  {
    const Observing observing(recorder);
    const TapePause pause;
    if (options.target) {
      const std::vector<int32_t> target = model.words().encode(*options.target);
      require(!target.empty(), "explain: a caption with at least one word is wanted, got an empty one");
      answer = decode::score(model.model(), {source, data::Sequences({target})}, &recorder).at(0);
    } else {
      decode::SearchOptions search = options.search;
      if (search.sample) search.beam = 1;  // the beam that a recipe names is for the likeliest answers
      answer = decode::search(model.model(), source, search, {}, &recorder).at(0).at(0);
    }
  }
  CaptionLook look;
  look.rows = grid.value().dim(2), look.columns = grid.value().dim(3);
  const int64_t cells = look.rows * look.columns;
  const std::vector<explain::TraceSite> sites = recorder.sites(0, answer.node, cells);
  const data::TokenisedWords said = model.words().words(answer.tokens);
  look.words = said.words;
  std::vector<int32_t> word_of = said.word_of, cell_of(static_cast<size_t>(cells));
  std::iota(cell_of.begin(), cell_of.end(), 0);
  const Tensor weights = mean_weights(sites);
  word_of.resize(static_cast<size_t>(weights.dim(0)), -1);  // the end
  look.weights = explain::word_weights(weights, cell_of, word_of, cells, static_cast<int64_t>(look.words.size()));
  look.log_probabilities.assign(look.words.size(), 0);
  for (size_t t = 0; t < answer.tokens.size(); ++t) {
    if (word_of[t] >= 0) look.log_probabilities[static_cast<size_t>(word_of[t])] += answer.token_log_probabilities[t];
  }
  look.hard = std::ranges::any_of(sites, &explain::TraceSite::hard);
  return look;
}

/// What one glance saw at each scale: numbers [scales·C·patch·patch] as images.
std::vector<data::Image> patches_of(const Tensor& images, const Tensor& location, const PatchOptions& options) {
  const Tensor seen = glimpse_patches(images, location.reshape({1, 2}), options).value();
  return data::to_images(seen.reshape({options.scales, images.dim(1), options.patch, options.patch}));
}

GlimpseLook glimpses_of(const ImageModel& model, const data::Sequences& source) {
  const auto& network = dynamic_cast<const models::GlimpseNetwork&>(model.model());
  const TapePause pause;
  const models::GlimpsePath path = network.look(source.images).at(0);
  const models::EyeOptions& eye = network.options().eye;
  const PatchOptions patch{eye.patch, static_cast<int64_t>(path.pixels.size()), eye.growth};
  GlimpseLook look{{}, model.labels(), model.answer(source, {}).at(0).at(0).text, {}};
  const int64_t labels = path.probabilities.dim(1);
  for (int64_t t = 0; t < path.steps; ++t) {
    const Tensor place = path.locations[t];
    const auto pixel = [&](int at, int axis) {
      return (static_cast<double>(place.data()[at]) + 1) / 2 * static_cast<double>(source.images.dim(axis));
    };
    explain::Glance glance{pixel(0, 3), pixel(1, 2), path.pixels, patches_of(source.images, place, patch), {}, {}};
    const real* shares = path.probabilities.data() + t * labels;
    glance.probabilities.assign(shares, shares + labels);
    if (path.stop.defined()) glance.stop = static_cast<double>(path.stop.data()[t]);
    look.glances.push_back(std::move(glance));
  }
  return look;
}

int32_t label_named(const ImageModel& model, const std::string& name) {
  const std::vector<std::string>& labels = model.labels();
  const auto found = std::ranges::find(labels, name);
  if (found == labels.end())
    refuse_name("explain: target", std::vector<std::string_view>(labels.begin(), labels.end()), name);
  return static_cast<int32_t>(found - labels.begin());
}

SaliencyLook map_of(const ImageModel& model, const data::Sequences& source, const LookOptions& options, bool cells) {
  const auto& network = dynamic_cast<const models::ImageClassifier&>(model.model());
  const std::vector<ImageAnswer> answers =
      model.answer(source, {.n_best = static_cast<int64_t>(model.labels().size())}).at(0);
  const int32_t label = options.target ? label_named(model, *options.target) : answers[0].tokens[0];
  const auto said = std::ranges::find(answers, std::vector{label}, &ImageAnswer::tokens);
  const explain::Seen seen = explain::image_saliency(network, source.images, std::span(&label, 1));
  if (options.method == "auto") cells = seen.cam.defined();
  require(!cells || seen.cam.defined(),
          "explain: gradcam: a network with a grid is wanted (encoder.kind: convolutional), got one without");
  SaliencyLook look{cells ? seen.cam[0] : explain::pixel_saliency(seen.input_gradient)[0]};
  look.method = cells ? "gradcam" : "saliency";
  look.label = cells ? "Grad-CAM: the cells of the last grid that spoke for “" + said->text + "”"
                     : "gradient of “" + said->text + "” in the pixels, summed over colours";
  look.answer = said->text, look.probability = said->score;
  return look;
}

/// The method by its name, or the first that the network has.
const LookMethod& method_of(const ImageModel& model, const std::string& name) {
  const std::string& network = model.config().model.name;
  std::string there;
  for (const LookMethod& method : kMethods) {
    if (method.network != network) continue;
    if (name == "auto" || name == method.name) return method;
    there += (there.empty() ? "" : ", ") + std::string(method.name);
  }
  require(!there.empty(), "explain: a captioner, glimpse network or image classifier is wanted, got the network ",
          network);
  fail("explain: method: ", there, " is wanted of the network ", network, ", got ", name);
}

}  // namespace

std::span<const LookMethod> look_methods() { return kMethods; }

std::vector<std::string> look_methods(const ImageModel& model) {
  const ImageData& data = model.config().options.data;
  const ImageExample black{.image = data::Image(data.size, data.size, data.channels)};
  std::vector<std::string> there;
  for (const LookMethod& method : kMethods) {
    if (method.network != model.config().model.name) continue;
    LookOptions options{.method = std::string(method.name)};
    if (method.name == "attention") options.target = "a";  // its own caption may have no word
    try {
      look(model, black, options);
      there.emplace_back(method.name);
    } catch (const Error&) {  // it has no grid, or does not attend
    }
  }
  return there;
}

void check_explain(const ImageModel& model, const std::vector<std::string>& methods, const LookOptions& options) {
  std::string names;
  for (const std::string& name : methods) names += (names.empty() ? "" : ", ") + name;
  require(!methods.empty(), "explain: a model that looks somewhere is wanted, got the network ",
          model.config().model.name);
  require(options.method == "auto" || std::ranges::find(methods, options.method) != methods.end(), "method: ", names,
          " is wanted of the network ", model.config().model.name, ", got ", quoted(options.method));
  decode::check(options.search);
  if (!options.target) return;
  require(model.config().model.name != "glimpse",
          "target: a captioner or a classifier is wanted, got a glimpse network");
  if (model.config().answers() == ImageAnswers::label) label_named(model, *options.target);
  if (model.config().answers() == ImageAnswers::caption) {
    require(!model.words().encode(*options.target).empty(),
            "target: a caption with at least one word is wanted, got an empty one");
  }
}

explain::ImageLook look(const ImageModel& model, const ImageExample& example, const LookOptions& options) {
  const LookMethod& method = method_of(model, options.method);
  require(!example.image.pixels.empty(), "explain: an image to look at is wanted, got features alone");
  const data::Sequences source = model.source(std::span(&example, 1));
  const std::string right = example.label >= 0 ? model.labels().at(static_cast<size_t>(example.label)) : "";
  explain::ImageLook look{model.name(),
                          model.config().options.task,
                          model.config().model.name,
                          model.parameters(),
                          example.name,
                          as_seen(model, example.image),
                          {}};
  if (method.name == "attention") {
    CaptionLook seen = caption_of(model, source, options);
    seen.references = example.captions;
    look.seen = std::move(seen);
  } else if (method.name == "glimpses") {
    require(!options.target, "explain: target: a captioner or a classifier is wanted, got a glimpse network");
    look.image = data::to_images(source.images).at(0);
    GlimpseLook seen = glimpses_of(model, source);
    seen.right = right;
    look.seen = std::move(seen);
  } else {
    SaliencyLook seen = map_of(model, source, options, method.name == "gradcam");
    seen.right = right;
    look.seen = std::move(seen);
  }
  return look;
}

}  // namespace attend::tasks
