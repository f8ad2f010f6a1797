#include "attend/tasks/output.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace attend::tasks {

std::string_view Output::model_option(std::string_view name) const {
  const auto& all = config_->model.options;
  const auto found =
      std::ranges::find_if(all, [&](const OptionInfo& one) { return ModelChoice::own_name(one) == name; });
  return found == all.end() ? std::string_view() : found->value;
}

std::vector<size_t> Output::ranked(std::span<const Candidate> all, int64_t most, double) const {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return all[i].score; });
  order.resize(std::min(order.size(), static_cast<size_t>(most)));
  return order;
}

const std::vector<std::string>& Output::labels() const {
  static const std::vector<std::string> kNone;
  return kNone;
}

}  // namespace attend::tasks
