#include "attend/explain/image_trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "attend/base/base64.h"
#include "attend/base/joined.h"
#include "attend/data/image_file.h"
#include "attend/explain/trace_json-inl.h"

namespace attend::explain {
namespace {

constexpr const char* kLookFormat = "attend-look/1";
constexpr const char* kKinds[] = {"caption", "glimpses", "saliency"};  // as the variant has them

std::string png_text(const data::Image& image) { return base64(data::encode_png(image)); }

data::Image image_of(const Json& png) {
  const std::string bytes = from_base64(png.get_ref<const std::string&>(), "look: png");
  return data::decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "look: png");
}

Json rounded_list(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(rounded(value));
  return list;
}

Json seen_json(const CaptionLook& look) {
  return {{"words", look.words},
          {"rows", look.rows},
          {"columns", look.columns},
          {"hard", look.hard},
          {"weights", numbers(look.weights)},
          {"log_probabilities", rounded_list(look.log_probabilities)},
          {"references", look.references},
          {"method", look.method},
          {"label", look.label}};
}

Json seen_json(const GlimpseLook& look) {
  Json glances = Json::array();
  for (const Glance& glance : look.glances) {
    Json one{{"x", rounded(glance.x)}, {"y", rounded(glance.y)}, {"sides", glance.sides}};
    one["patches"] = Json::array();
    for (const data::Image& patch : glance.patches) one["patches"].push_back(png_text(patch));
    one["probabilities"] = rounded_list(glance.probabilities);
    if (glance.stop) one["stop"] = rounded(*glance.stop);
    if (look.rows > 0) one["tiles"] = rounded_list(glance.tiles), one["drawn"] = glance.drawn;
    glances.push_back(std::move(one));
  }
  Json json{{"labels", look.labels}, {"answer", look.answer}, {"right", look.right}, {"glances", std::move(glances)}};
  if (look.rows > 0) json["tiles"] = {{"rows", look.rows}, {"columns", look.columns}, {"side", look.side}};
  return json;
}

Json seen_json(const SaliencyLook& look) {
  Json json{{"method", look.method}, {"label", look.label}, {"answer", look.answer}, {"right", look.right}};
  if (look.probability) json["probability"] = rounded(*look.probability);
  json["map"] = numbers(look.map);
  return json;
}

std::optional<double> number_at(const Json& json, const char* key) {
  return json.contains(key) ? std::optional<double>(json.at(key).get<double>()) : std::nullopt;
}

CaptionLook caption_of(const Json& json) {
  return {json.at("words"),      tensor_at(json, "weights", 2),     json.at("rows"),
          json.at("columns"),    json.at("log_probabilities"),      json.at("hard"),
          json.at("references"), json.value("method", "attention"), json.value("label", "")};
}

GlimpseLook glimpses_of(const Json& json) {
  GlimpseLook look{{}, json.at("labels"), json.at("answer"), json.at("right")};
  if (json.contains("tiles")) {
    const Json& tiles = json.at("tiles");
    look.rows = tiles.at("rows"), look.columns = tiles.at("columns"), look.side = tiles.at("side");
  }
  for (const Json& one : json.at("glances")) {
    Glance glance{one.at("x"), one.at("y"), one.at("sides"), {}, one.at("probabilities"), number_at(one, "stop")};
    for (const Json& patch : one.at("patches")) glance.patches.push_back(image_of(patch));
    if (one.contains("tiles")) {
      glance.tiles = one.at("tiles").get<std::vector<double>>();
      glance.drawn = one.at("drawn").get<std::vector<int64_t>>();
    }
    look.glances.push_back(std::move(glance));
  }
  return look;
}

SaliencyLook saliency_of(const Json& json) {
  return {tensor_at(json, "map", 2), json.at("method"), json.at("label"),
          json.at("answer"),         json.at("right"),  number_at(json, "probability")};
}

ImageLook parse_look(const Json& json) {
  require(json.is_object() && json.value("format", "") == kLookFormat, "look: expected \"format\": \"", kLookFormat,
          "\"");
  ImageLook look;
  const Json& model = json.at("model");
  look.model = model.at("name"), look.task = model.at("task"), look.network = model.at("network");
  look.parameters = model.at("parameters");
  look.name = json.at("image").at("name"), look.image = image_of(json.at("image").at("png"));
  const std::string kind = json.at("kind");
  if (kind == kKinds[0]) {
    look.seen = caption_of(json.at(kind));
  } else if (kind == kKinds[1]) {
    look.seen = glimpses_of(json.at(kind));
  } else {
    require(kind == kKinds[2], "look: kind: expected caption, glimpses or saliency, got '", kind, "'");
    look.seen = saliency_of(json.at(kind));
  }
  check_look("look", look);
  return look;
}

bool all_finite(const Tensor& values) {
  return std::ranges::all_of(values, [](real x) { return std::isfinite(x) && x >= 0; });
}

struct Check {
  const char* where;
  const data::Image& image;

  void operator()(const CaptionLook& look) const {
    const auto words = static_cast<int64_t>(look.words.size());
    require(look.rows > 0 && look.columns > 0 && look.rows <= image.height && look.columns <= image.width, where,
            ": expected a grid with no more cells than the image has pixels, got ", look.rows, " × ",
            look.columns, " over ", image.height, " × ", image.width);
    const bool none = words == 0 && look.weights.size() == 0;  // an empty list does not say how wide it would be
    require(look.weights.defined() && (none || look.weights.shape() == Shape{words, look.rows * look.columns}), where,
            ": expected weights [", words, ", ", look.rows * look.columns, "], got ", look.weights.shape());
    require(all_finite(look.weights), where, ": expected weights from 0 on, got others");
    require(look.log_probabilities.empty() || look.log_probabilities.size() == look.words.size(), where,
            ": expected ", words, " log_probabilities, one per word, got ", look.log_probabilities.size());
  }

  /// Tiles that cover the image, and what each glance says of them.
  void check_tiles(const GlimpseLook& look) const {
    const auto covers = [&](int64_t tiles, int64_t pixels) {
      return tiles > 0 && tiles <= pixels && (tiles - 1) * look.side < pixels && tiles * look.side >= pixels;
    };
    const bool none = look.rows == 0 && look.columns == 0;
    const bool fits = look.side > 0 && look.side <= std::max(image.height, image.width) &&
                      covers(look.rows, image.height) && covers(look.columns, image.width);
    require(none || fits, where, ": expected tiles that cover ", image.height, " × ", image.width, ", got ", look.rows,
            " × ", look.columns, " of ", look.side, " pixels");
    const auto count = static_cast<size_t>(look.rows * look.columns);
    for (const Glance& glance : look.glances) {
      require(glance.tiles.size() == count, where, ": expected ", count, " tiles, got ", glance.tiles.size());
      require(std::ranges::all_of(glance.tiles, [](double share) { return std::isfinite(share) && share >= 0; }), where,
              ": expected tiles from 0 on, got others");
      require(std::ranges::all_of(glance.drawn, [&](int64_t t) { return t >= 0 && static_cast<size_t>(t) < count; }),
              where, ": expected drawn tiles below ", count, ", got others");
    }
  }

  void operator()(const GlimpseLook& look) const {
    require(!look.glances.empty(), where, ": expected a glance, got none");
    check_tiles(look);
    for (const Glance& glance : look.glances) {
      require(std::isfinite(glance.x) && std::isfinite(glance.y), where, ": expected glances somewhere, got one at (",
              glance.x, ", ", glance.y, ")");
      require(!glance.sides.empty() && std::ranges::all_of(glance.sides, [](int64_t side) { return side > 0; }), where,
              ": expected sides of at least a pixel, one per scale");
      require(glance.patches.empty() || glance.patches.size() == glance.sides.size(), where, ": expected ",
              glance.sides.size(), " patches, one per scale, got ", glance.patches.size());
      require(std::ranges::all_of(glance.patches, [](const data::Image& patch) { return !patch.pixels.empty(); }),
              where, ": expected patches with pixels, got one without");
      require(glance.probabilities.size() == look.labels.size(), where, ": expected ", look.labels.size(),
              " probabilities, one per label, got ", glance.probabilities.size());
    }
  }

  void operator()(const SaliencyLook& look) const {
    require(look.map.defined() && look.map.rank() == 2 && look.map.size() > 0, where,
            ": expected a map [height, width], got ", look.map.shape());
    require(look.map.dim(0) <= image.height && look.map.dim(1) <= image.width, where,
            ": expected a map no finer than the image, [", image.height, ", ", image.width, "], got ",
            look.map.shape());
    require(all_finite(look.map), where, ": expected a map of numbers from 0 on, got others");
  }
};

}  // namespace

std::string answer_of(const ImageLook& look) {
  if (const auto* caption = std::get_if<CaptionLook>(&look.seen)) return joined(caption->words, " ");
  const auto* glimpses = std::get_if<GlimpseLook>(&look.seen);
  return glimpses ? glimpses->answer : std::get<SaliencyLook>(look.seen).answer;
}

std::vector<size_t> likeliest(const Glance& glance, size_t most) {
  std::vector<size_t> classes(glance.probabilities.size());
  std::iota(classes.begin(), classes.end(), size_t{0});
  std::ranges::stable_sort(classes, std::greater<>(), [&](size_t i) { return glance.probabilities[i]; });
  classes.resize(std::min(classes.size(), most));
  return classes;
}

size_t steps_of(const ImageLook& look) {
  if (const auto* caption = std::get_if<CaptionLook>(&look.seen)) return caption->words.size();
  if (const auto* glimpses = std::get_if<GlimpseLook>(&look.seen)) return glimpses->glances.size();
  return 1;
}

void check_look(const char* where, const ImageLook& look) {
  const data::Image& image = look.image;
  require(image.height > 0 && image.width > 0 && (image.channels == 1 || image.channels == 3) &&
              image.pixels.size() == static_cast<size_t>(image.height * image.width * image.channels),
          where, ": expected an image with 1 or 3 channels, got ", image.height, " × ", image.width, " × ",
          image.channels, " with ", image.pixels.size(), " numbers");
  std::visit(Check{where, image}, look.seen);
}

std::string look_json(const ImageLook& look) {
  check_look("look", look);
  const std::string kind = kKinds[look.seen.index()];
  Json json{{"format", kLookFormat},
            {"kind", kind},
            {"model",
             {{"name", look.model}, {"task", look.task}, {"network", look.network}, {"parameters", look.parameters}}},
            {"image",
             {{"name", look.name},
              {"width", look.image.width},
              {"height", look.image.height},
              {"png", png_text(look.image)}}}};
  json[kind] = std::visit([](const auto& seen) { return seen_json(seen); }, look.seen);
  return dumped(json);
}

ImageLook parse_look(const std::string& json) {
  return parsed(json, [](const Json& look) { return parse_look(look); });
}

}  // namespace attend::explain
