// The files of published networks.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attend/base/error.h"
#include "attend/base/joined.h"
#include "attend/models/image_networks.h"
#include "attend/models/pretrained_encoder.h"

namespace attend::models {
namespace {

constexpr std::string_view kOfNorm[] = {".weight", ".bias", ".running_mean", ".running_var"};
constexpr std::string_view kUnread = ".num_batches_tracked";
constexpr size_t kShownTensors = 5;

/// What the tensors of a network are called, with their shapes.
std::map<std::string, Shape> published_tensors(const ImageNetwork& network) {
  std::map<std::string, Shape> all;
  for (const ImageLayer& layer : network.layers) {
    if (!layer.has_weights()) continue;
    all[layer.convolution + ".weight"] = layer.weight_shape();
    for (const std::string_view end : kOfNorm) {
      all[layer.norm + std::string(end)] = {static_cast<int64_t>(layer.step.outputs)};
    }
  }
  return all;
}

/// Those of the file that belong to an encoder: without the classifier, and without counts of batches.
std::map<std::string, Shape> tensors_of(const SafetensorsFile& file, const ImageNetwork& network) {
  std::map<std::string, Shape> all;
  for (const SafetensorsEntry& entry : file.entries()) {
    const bool unread = entry.name.ends_with(kUnread) || std::ranges::count(network.classifier, entry.name) > 0;
    if (!unread) all[entry.name] = entry.shape;
  }
  return all;
}

/// The published network that, as narrow, has just these tensors; "" if none has.
std::string_view network_with(const SafetensorsFile& file, int64_t narrow) {
  for (const ImageNetworkRow& row : image_networks()) {
    const ImageNetwork network = make_image_network(row, narrow);
    if (tensors_of(file, network) == published_tensors(network)) return row.name;
  }
  return "";
}

/// "a, b, c, … (12 in all)".
std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShownTensors); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > kShownTensors ? text + ", … (" + std::to_string(names.size()) + " in all)" : text;
}

void check_names(const SafetensorsFile& file, const ImageNetwork& network, int64_t narrow, const std::string& path) {
  const std::map<std::string, Shape> wanted = published_tensors(network), given = tensors_of(file, network);
  std::vector<std::string> missing, extra;
  for (const auto& [name, shape] : wanted) {
    if (!given.contains(name)) missing.push_back(name);
  }
  for (const auto& [name, shape] : given) {
    if (!wanted.contains(name)) extra.push_back(name);
  }
  if (!missing.empty() || !extra.empty()) {
    const std::string_view other = network_with(file, narrow);
    if (!other.empty()) fail(path, ": expected the weights of ", network.row->name, ", got those of ", other);
  }
  require(missing.empty(), path, ": expected the weights of ", network.row->name,
          ", which has tensors that are missing: ", some_of(missing),
          extra.empty() ? "" : "; it has others instead: ", some_of(extra));
  require(extra.empty(), path, ": expected the weights of ", network.row->name, ", which has no tensors ",
          some_of(extra));
  for (const auto& [name, shape] : wanted) {
    require(given.at(name) == shape, path, ": expected ", name, " of shape ", shape, " for ", network.row->name,
            ", got ", given.at(name));
  }
}

struct Folded {
  Tensor weight, bias;
};

Folded folded(const SafetensorsFile& file, const ImageLayer& layer, double epsilon, const std::string& path) {
  const auto read = [&](std::string_view end) { return file.read_finite(layer.norm + std::string(end)); };
  const Tensor gain = read(".weight"), shift = read(".bias"), mean = read(".running_mean"),
               variance = read(".running_var");
  Folded both{file.read_finite(layer.convolution + ".weight"), Tensor(gain.shape())};
  const size_t taps = both.weight.size() / both.bias.size();
  for (size_t o = 0; o < both.bias.size(); ++o) {
    require(variance.data()[o] >= 0, path, ": expected variances of at least 0 in ", layer.norm, ".running_var, got ",
            variance.data()[o], " at [", o, "]");
    const double scale =
        static_cast<double>(gain.data()[o]) / std::sqrt(static_cast<double>(variance.data()[o]) + epsilon);
    real* weights = both.weight.data() + o * taps;
    for (size_t t = 0; t < taps; ++t) weights[t] = static_cast<real>(scale * static_cast<double>(weights[t]));
    both.bias.data()[o] =
        static_cast<real>(static_cast<double>(shift.data()[o]) - scale * static_cast<double>(mean.data()[o]));
    const bool finite = std::isfinite(both.bias.data()[o]) &&
                        std::all_of(weights, weights + taps, [](real w) { return std::isfinite(w); });
    require(finite, path, ": the batch norm ", layer.norm, " cannot be folded into ", layer.convolution,
            ": the result is not finite at [", o, "]");
  }
  return both;
}

ImageNetwork network_of(const ImageEncoderOptions& options) {
  const ImageNetworkRow* row = find_image_network(options.kind);
  require_option(row != nullptr, "encoder.weights", "expected a published network (encoder.kind), got ", options.kind);
  return make_image_network(*row, options.narrow);
}

}  // namespace

void check_pretrained(const ImageEncoderOptions& options, const std::filesystem::path& path) {
  const ImageNetwork network = network_of(options);
  check_names(SafetensorsFile(path), network, options.narrow, path.string());
}

std::vector<NamedTensor> read_pretrained(const ImageEncoderOptions& options, const std::filesystem::path& path) {
  const ImageNetwork network = network_of(options);
  const SafetensorsFile file(path);
  check_names(file, network, options.narrow, path.string());
  file.verify();
  std::vector<NamedTensor> tensors;
  for (const ImageLayer& layer : network.layers) {
    if (!layer.has_weights()) continue;
    // All of them, also those after the stage that is asked for: damage anywhere makes the file unfit to be trusted.
    Folded both = folded(file, layer, network.row->epsilon, path.string());
    tensors.push_back({layer.convolution + ".weight", std::move(both.weight)});
    tensors.push_back({layer.convolution + ".bias", std::move(both.bias)});
  }
  return tensors;
}

int64_t take_pretrained(Model& model, const ImageEncoderOptions& options, const std::filesystem::path& path) {
  constexpr std::string_view kPart = "encoder.";
  const std::vector<NamedTensor> tensors = read_pretrained(options, path);
  int64_t taken = 0;
  for (nn::NamedParam& p : nn::parameters(model)) {
    if (!p.name.starts_with(kPart)) continue;
    const auto found = std::ranges::find(tensors, p.name.substr(kPart.size()), &NamedTensor::name);
    if (found == tensors.end()) continue;
    require(found->tensor.shape() == p.var.shape(), path.string(), ": expected ", found->name, " of shape ",
            p.var.shape(), ", got ", found->tensor.shape());
    std::copy(found->tensor.begin(), found->tensor.end(), p.var.value().data());
    ++taken;
  }
  require(taken > 0, path.string(), ": this network has no image encoder that could take these weights");
  return taken;
}

}  // namespace attend::models
