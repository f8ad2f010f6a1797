// Files of weights of published networks, made by the formula of tests/golden/make_image_networks.py.
#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "attend/models/image_networks.h"
#include "attend/tensor/safetensors.h"

namespace attend::test {

/// Number i of the tensor of that name, in [0, 1).
inline double formula_number(const std::string& name, uint64_t i) {
  uint32_t u = 2166136261;
  for (const char byte : name) u = (u ^ static_cast<uint8_t>(byte)) * 16777619;
  u += static_cast<uint32_t>(i * 2654435761);
  u = (u ^ (u >> 15)) * 2246822519;
  u = (u ^ (u >> 13)) * 3266489917;
  return static_cast<double>(u ^ (u >> 16)) / 0x1p32;
}

inline Tensor formula_tensor(const std::string& name, const Shape& shape) {
  Tensor all(shape);
  const bool images = name == "images";
  const double reach = shape.rank() == 4 && !images
                           ? std::sqrt(6.0 / static_cast<double>(all.size() / static_cast<size_t>(shape[0])))
                           : 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const double u = formula_number(name, i);
    const double value = images                           ? u
                         : reach > 0                      ? (2 * u - 1) * reach
                         : name.ends_with(".weight")      ? (name.starts_with("_") ? 0.5 + u : 0.2 + 0.4 * u)
                         : name.ends_with(".running_var") ? 0.5 + u
                                                          : 0.4 * (u - 0.5);
    all.data()[i] = static_cast<real>(static_cast<float>(value));
  }
  return all;
}

/// All tensors of a published file, as narrow as asked for.
inline std::vector<NamedTensor> formula_weights(const std::string& network, int64_t narrow) {
  std::vector<NamedTensor> all;
  const auto add = [&](const std::string& name, const Shape& shape) {
    all.push_back({name, formula_tensor(name, shape)});
  };
  for (const models::ImageLayer& layer :
       models::make_image_network(*models::find_image_network(network), narrow).layers) {
    if (!layer.has_weights()) continue;
    add(layer.convolution + ".weight", layer.weight_shape());
    for (const char* end : {".weight", ".bias", ".running_mean", ".running_var"}) {
      add(layer.norm + end, {static_cast<int64_t>(layer.step.outputs)});
    }
  }
  return all;
}

}  // namespace attend::test
