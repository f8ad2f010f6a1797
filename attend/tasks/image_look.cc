#include "attend/tasks/image_look.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "attend/autograd/ops/glimpse.h"
#include "attend/autograd/tape.h"
#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/data/resize.h"
#include "attend/explain/alignment.h"
#include "attend/explain/recorder.h"
#include "attend/models/glimpse.h"
#include "attend/models/image_classifier.h"
#include "attend/models/source_images.h"
#include "attend/tasks/image_gradients.h"

namespace attend::tasks {
namespace {

using explain::CaptionLook;
using explain::GlimpseLook;
using explain::SaliencyLook;

struct LookMethod {
  std::string_view name;
  bool (*applies)(const models::Model& network);
};

template <class Network>
bool is(const models::Model& network) {
  return dynamic_cast<const Network*>(&network) != nullptr;
}
bool is_other(const models::Model& network) {
  return !is<models::GlimpseNetwork>(network) && !is<models::ImageClassifier>(network) && network.vocabulary() > 0;
}

bool has_grid(const models::Model& network) { return is<models::ImageClassifier>(network) || is_other(network); }
bool says_something(const models::Model& network) { return network.vocabulary() > 0; }

/// "auto" is the first that a network has.
constexpr LookMethod kMethods[] = {
    {"attention", is_other},                   // where each word of the caption looked
    {"glimpses", is<models::GlimpseNetwork>},  // where it looked, glance by glance, and what it saw there
    {"gradcam", has_grid},  // the cells of the last grid that spoke for a label or a word (Selvaraju et al. 2017)
    {"saliency", says_something},  // the pixels that it depended on: their gradient (Simonyan et al. 2014)
    {"jacobian", says_something},  // the same of it and of what else was likeliest (Graves 2012)
};

/// The image in the network's proportions and channels, as fine as it is.
data::Image as_seen(const TaskModel& model, const data::Image& image) {
  const ImageFiles& data = model.config().options.images;
  if (data.keep_size) return data::with_channels(image, data.channels);
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
  require(sum.defined(), "explain: expected a captioner that attends (model.read: attention), got one that does not");
  for (real& value : sum.values()) value /= parts;
  return sum;
}

CaptionLook caption_of(const TaskModel& model, const data::Source& source, const ExplainOptions& options,
                       std::string_view method) {
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
      const std::vector<int32_t> target = model.output().encode(*options.target, {});
      require(!target.empty(), "explain: expected a caption with at least one word, got an empty one");
      answer = decode::score(model.model(), {source, data::Sequences({target})}, &recorder).at(0);
    } else {
      answer = decode::search(model.model(), source, options.search, {}, &recorder).at(0).at(0);
    }
  }
  CaptionLook look;
  look.rows = grid.value().dim(2), look.columns = grid.value().dim(3);
  const int64_t cells = look.rows * look.columns;
  const std::vector<explain::TraceSite> sites = recorder.sites(0, answer.node, cells);
  const explain::TraceSide said = model.output().side(answer.tokens, {});
  look.words = said.words;
  std::vector<int32_t> word_of = said.word_of, cell_of(static_cast<size_t>(cells));
  std::iota(cell_of.begin(), cell_of.end(), 0);
  const Tensor weights =
      method == "attention" ? mean_weights(sites) : Tensor::zeros({static_cast<int64_t>(word_of.size()), cells});
  word_of.resize(static_cast<size_t>(weights.dim(0)), -1);  // the end
  look.weights = explain::word_weights(weights, cell_of, word_of, cells, static_cast<int64_t>(look.words.size()));
  look.log_probabilities.assign(look.words.size(), 0);
  for (size_t t = 0; t < answer.tokens.size(); ++t) {
    if (word_of[t] >= 0) look.log_probabilities[static_cast<size_t>(word_of[t])] += answer.token_log_probabilities[t];
  }
  if (method == "attention") {
    look.hard = std::ranges::any_of(sites, &explain::TraceSite::hard);
  } else {
    look.weights = {};
    add_word_maps(model, source, answer.tokens, options, method, look);
  }
  return look;
}

/// What one glance saw at each scale: numbers [scales·C·patch·patch] as images.
std::vector<data::Image> patches_of(const Tensor& images, const Tensor& location, const PatchOptions& options) {
  const Tensor seen = glimpse_patches(images, location.reshape({1, 2}), options).value();
  return data::to_images(seen.reshape({options.scales, images.dim(1), options.patch, options.patch}));
}

/// How it chose among tiles. What it read a share of all tiles of is no square: there are no patches then.
void add_tiles(const models::GlimpsePath& path, int64_t step, GlimpseLook& look, explain::Glance& glance) {
  const int64_t count = path.tiles.rows * path.tiles.columns;
  if (count == 0) return;
  look.rows = path.tiles.rows, look.columns = path.tiles.columns, look.side = path.tiles.side;
  const real *shares = path.tile_shares.data() + step * count, *weights = path.tile_weights.data() + step * count;
  for (int64_t k = 0; k < count; ++k) {
    glance.tiles.push_back(static_cast<double>(shares[k]));
    // One tile, or one for each head: all others have nothing, though they might have been drawn.
    if (weights[k] > 0 && path.tiles.alone) glance.drawn.push_back(k);
  }
  if (glance.drawn.size() != 1) glance.patches.clear();
}

GlimpseLook glimpses_of(const TaskModel& model, const Example& example, const data::Source& source) {
  const auto& network = dynamic_cast<const models::GlimpseNetwork&>(model.model());
  const TapePause pause;
  const models::GlimpsePath path = network.look(source.pixels()).at(0);
  const models::EyeOptions& eye = network.options().eye;
  const PatchOptions patch{eye.patch, static_cast<int64_t>(path.pixels.size()), eye.growth};
  GlimpseLook look{{}, model.output().labels(), model.answer(std::span(&example, 1), {}).at(0).at(0).text, {}};
  const int64_t labels = path.probabilities.dim(1);
  for (int64_t t = 0; t < path.steps; ++t) {
    const Tensor place = path.locations[t];
    const auto pixel = [&](int at, int axis) {
      return (static_cast<double>(place.data()[at]) + 1) / 2 * static_cast<double>(source.pixels().dim(axis));
    };
    explain::Glance glance{pixel(0, 3), pixel(1, 2), path.pixels, patches_of(source.pixels(), place, patch), {}, {}};
    const real* shares = path.probabilities.data() + t * labels;
    glance.probabilities.assign(shares, shares + labels);
    if (path.stop.defined()) glance.stop = static_cast<double>(path.stop.data()[t]);
    add_tiles(path, t, look, glance);
    look.glances.push_back(std::move(glance));
  }
  return look;
}

/// Whether the network makes a grid of this image.
bool shows_grid(const TaskModel& model, const data::Source& source) {
  const TapePause pause;
  const models::SourceImages grid(models::SourceImages::Look::grid);
  model.model().begin(source);
  return grid.shown();
}

/// The method by its name, or the first that the network has.
const LookMethod& method_of(const TaskModel& model, const std::string& name) {
  for (const LookMethod& method : kMethods) {
    if (method.applies(model.model()) && (name == "auto" || name == method.name)) return method;
  }
  const std::vector<std::string> there = look_methods(model.model());
  const std::string& network = model.config().model.name;
  require(!there.empty(), "explain: the network ", network, " answers with images: nothing can be shown");
  fail("explain: method: the network ", network, " has ", joined(there), "; got ", name);
}

}  // namespace

std::vector<std::string> look_methods(const models::Model& network) {
  std::vector<std::string> there;
  for (const LookMethod& method : kMethods) {
    if (method.applies(network)) there.emplace_back(method.name);
  }
  return there;
}

void check_look_target(const TaskModel& model, const ExplainOptions& options) {
  if (!options.target) return;
  const bool gradients = options.method == "saliency" || options.method == "jacobian";
  require(gradients || !is<models::GlimpseNetwork>(model.model()),
          "target: expected a captioner or a classifier, got a glimpse network; of its label there are saliency and "
          "jacobian");
  require(!model.output().encode(*options.target, {}).empty(),
          "target: expected a caption with at least one word, got an empty one");
}

explain::ImageLook look(const TaskModel& model, const Example& example, const ExplainOptions& options) {
  const LookMethod& method = method_of(model, options.method);
  const auto* image = std::get_if<data::Image>(&example.inputs.at(0));
  require(image != nullptr, "explain: expected an image to look at, got features alone");
  const Ready ready = model.input().ready(*image);
  const Ready* const all[] = {&ready};
  const data::Source source = model.source(all);
  const std::string right = example.right.empty() ? "" : example.right[0];
  explain::ImageLook look{model.name(),
                          model.config().options.task,
                          model.config().model.name,
                          model.parameters(),
                          example.name,
                          as_seen(model, *image),
                          {}};
  if (is_other(model.model())) {
    CaptionLook seen = caption_of(model, source, options, method.name);
    seen.references = example.right;
    look.seen = std::move(seen);
  } else if (method.name == "glimpses") {
    check_look_target(model, options);
    look.image = data::to_images(source.pixels()).at(0);
    GlimpseLook seen = glimpses_of(model, example, source);
    seen.right = right;
    look.seen = std::move(seen);
  } else {
    check_look_target(model, options);
    const bool cells = method.name == "gradcam" && (options.method != "auto" || shows_grid(model, source));
    SaliencyLook seen =
        label_map(model, example, source, options, method.name == "gradcam" && !cells ? "saliency" : method.name);
    seen.right = right;
    look.seen = std::move(seen);
  }
  return look;
}

bool has_gaze(const TaskModel& model, const Examples& examples) {
  if (!model.row().input().is_image() || !model.output().words() || examples.count == 0) return false;
  if (examples.at(0).spoken.empty()) return false;
  const std::vector<std::string> methods = explainable(model).methods;
  return std::ranges::find(methods, "attention") != methods.end();
}

explain::Gaze gaze(const TaskModel& model, const Examples& examples, const Done& done) {
  explain::Gaze sum;
  for (int64_t i = 0; i < examples.count; ++i) {
    const Example example = examples.at(i);
    ExplainOptions options;
    options.method = "attention", options.target = example.right.at(0);
    sum.add(std::get<CaptionLook>(look(model, example, options).seen), std::get<data::Image>(example.inputs.at(0)),
            example.spoken);
    if (done) done(i + 1);
  }
  require(sum.words > 0, "gaze: expected a caption with a word that speaks of an object, got none");
  return sum;
}

}  // namespace attend::tasks
