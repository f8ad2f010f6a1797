// What every layer has besides operator(): `params(visit)`, which names its parameters. Optimisers, checkpoints and all
// other code that needs the parameters use it and nothing else.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attend/autograd/var.h"

namespace attend::nn {

using VisitParams = std::function<void(const std::string& name, Var& parameter)>;

/// Visits a part's parameters as "part.name".
template <class Layer>
void visit_part(const VisitParams& visit, const std::string& part, Layer& layer) {
  layer.params([&](const std::string& name, Var& parameter) { visit(part + "." + name, parameter); });
}

struct NamedParam {
  std::string name;
  Var var;
};

/// All parameters of a layer, in the order in which it names them. The Vars share value and gradient with the layer's.
template <class Layer>
std::vector<NamedParam> parameters(Layer& layer) {
  std::vector<NamedParam> all;
  layer.params([&](const std::string& name, Var& parameter) { all.push_back({name, parameter}); });
  return all;
}

}  // namespace attend::nn
