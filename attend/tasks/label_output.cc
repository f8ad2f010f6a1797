#include <algorithm>
#include <cmath>

#include "attend/tasks/names_output.h"

namespace attend::tasks {
namespace {

constexpr std::string_view kDerived[] = {"labels"};

class LabelOutput : public NamesOutput {
 public:
  using NamesOutput::NamesOutput;
  bool searches() const override { return false; }
  decode::SearchOptions search(const decode::SearchOptions& asked) const override {
    decode::SearchOptions ranked = asked;
    ranked.n_best = std::clamp<int64_t>(asked.n_best, 1, static_cast<int64_t>(labels().size()));
    ranked.beam = ranked.n_best, ranked.length_penalty = 0, ranked.coverage_penalty = 0, ranked.no_repeat_ngram = 0;
    return ranked;
  }
  /// The probability of the label.
  double score(const decode::Hypothesis& found) const override { return std::exp(found.log_probability); }

 protected:
  std::string_view kind() const override { return "label"; }
  std::vector<std::string> parts_of(const std::string& right) const override { return {right}; }
};

}  // namespace

constinit const OutputRow kLabelOutput{
    "label", [](const TaskConfig& config) -> std::unique_ptr<Output> { return std::make_unique<LabelOutput>(config); },
    kDerived};

}  // namespace attend::tasks
